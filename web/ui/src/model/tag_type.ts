// IEC 61131 type names as the configuration writes them.

export type Kind = "boolean" | "integer" | "long" | "bits" | "float" | "text" | "other";

export interface TagType {
  kind: Kind;
  /** Width of integers and bit strings. */
  bits: number;
  signed: boolean;
  /** Elements of an array; null: a single value. */
  length: number | null;
  /** Characters a STRING takes; null where there is no such limit. */
  characters: number | null;
}

const integers: Record<string, [number, boolean]> = {
  SINT: [8, true],
  USINT: [8, false],
  INT: [16, true],
  UINT: [16, false],
  DINT: [32, true],
  UDINT: [32, false],
  LINT: [64, true],
  ULINT: [64, false],
};
const bitStrings: Record<string, number> = { BYTE: 8, WORD: 16, DWORD: 32, LWORD: 64 };

export function parseType(text: string): TagType {
  const array = /^ARRAY\s*\[\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*\]\s*OF\s+(.+)$/i.exec(text.trim());
  if (array) {
    const length = Number(array[2]) - Number(array[1]) + 1;
    return { ...parseType(array[3] ?? ""), length };
  }
  const single = (kind: Kind, bits = 0, signed = false, characters: number | null = null) => ({
    kind,
    bits,
    signed,
    length: null,
    characters,
  });
  const name = text.trim().toUpperCase();
  const integer = integers[name];
  if (integer) {
    return single(integer[0] === 64 ? "long" : "integer", integer[0], integer[1]);
  }
  const bits = bitStrings[name];
  if (bits) {
    return single("bits", bits);
  }
  if (name === "BOOL") {
    return single("boolean", 1);
  }
  if (name === "REAL" || name === "LREAL") {
    return single("float", name === "REAL" ? 32 : 64, true);
  }
  const string = /^W?STRING(?:\s*\[\s*(\d+)\s*\])?$/.exec(name);
  if (string) {
    return single("text", 0, false, string[1] ? Number(string[1]) : 254);
  }
  return name === "CHAR" || name === "WCHAR" ? single("text", 0, false, 1) : single("other");
}
