// What somebody typed into the write form, as the JSON value that the gateway takes. The gateway
// checks types and ranges again; here it is about saying at once what is wrong.
import type { TagValue } from "../gateway/types.ts";
import type { TagType } from "./tag_type.ts";

export type InputFault =
  | { fault: "empty" }
  | { fault: "not_boolean"; text: string }
  | { fault: "not_integer"; text: string }
  | { fault: "not_number"; text: string }
  | { fault: "range"; text: string; least: string; most: string }
  | { fault: "too_long"; characters: number; most: number }
  | { fault: "elements"; given: number; wanted: number };

export type Input = { value: TagValue } | InputFault;

export function isFault(input: Input): input is InputFault {
  return "fault" in input;
}

/** `16#FF`, `0xFF`, `2#1010`, or decimal; null when it is none of them. */
function parseInteger(text: string): bigint | null {
  const sized = /^([+-]?)(?:16#|0x)([0-9a-f]+)$/i.exec(text);
  if (sized) {
    const value = BigInt(`0x${sized[2]}`);
    return sized[1] === "-" ? -value : value;
  }
  const binary = /^2#([01]+)$/.exec(text);
  if (binary) {
    return BigInt(`0b${binary[1]}`);
  }
  return /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")) : null;
}

function integerInput(text: string, type: TagType): Input {
  const value = parseInteger(text);
  if (value === null) {
    return { fault: "not_integer", text };
  }
  const width = BigInt(type.bits);
  const least = type.signed ? -(1n << (width - 1n)) : 0n;
  const most = (1n << (type.signed ? width - 1n : width)) - 1n;
  if (value < least || value > most) {
    return { fault: "range", text, least: String(least), most: String(most) };
  }
  return { value: type.bits === 64 ? String(value) : Number(value) };
}

const largestReal = 3.4028234663852886e38;

function floatInput(text: string, type: TagType): Input {
  const special = /^([+-]?)(nan|inf(?:inity)?|∞)$/i.exec(text.replace("−", "-"));
  if (special) {
    if (special[2]?.toLowerCase() === "nan") {
      return { value: "NaN" };
    }
    return { value: special[1] === "-" ? "-Infinity" : "Infinity" };
  }
  // One comma is a decimal comma: nobody writes thousands in a set point.
  const plain = /^[^.,]*,[^.,]*$/.test(text) ? text.replace(",", ".") : text;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) {
    return { fault: "not_number", text };
  }
  const value = Number(plain);
  if (!Number.isFinite(value) || (type.bits === 32 && Math.abs(value) > largestReal)) {
    const most = type.bits === 32 ? "3.402823e38" : "1.797693e308";
    return { fault: "range", text, least: `-${most}`, most };
  }
  return { value };
}

function textInput(text: string, type: TagType): Input {
  const characters = [...text].length;
  if (type.characters !== null && characters > type.characters) {
    return { fault: "too_long", characters, most: type.characters };
  }
  return { value: text };
}

function elementInput(text: string, type: TagType): Input {
  if (type.kind === "text") {
    return textInput(text, type);
  }
  const trimmed = text.trim();
  if (trimmed === "") {
    return { fault: "empty" };
  }
  switch (type.kind) {
    case "boolean":
      if (/^(true|1|on|ein|wahr)$/i.test(trimmed)) {
        return { value: true };
      }
      return /^(false|0|off|aus|falsch)$/i.test(trimmed)
        ? { value: false }
        : { fault: "not_boolean", text: trimmed };
    case "integer":
    case "long":
    case "bits":
      return integerInput(trimmed, type);
    case "float":
      return floatInput(trimmed, type);
    default:
      return { value: trimmed };
  }
}

/** Elements of `[1, 2, 3]`, `1; 2; 3` or `"a", "b"`; where a `;` stands, commas are decimal. */
function splitElements(text: string): string[] {
  const inner = text.trim().replace(/^\[/, "").replace(/\]$/, "").trim();
  if (inner === "") {
    return [];
  }
  const separator = /;/.test(inner.replace(/"(?:\\.|[^"\\])*"/g, "")) ? ";" : ",";
  const elements = new RegExp(`\\s*("(?:\\\\.|[^"\\\\])*"|[^${separator}]*)\\s*(?:${separator}|$)`, "gy");
  const found: string[] = [];
  for (const match of inner.matchAll(elements)) {
    if (match[0] === "" && found.length > 0) {
      break;
    }
    const part = (match[1] ?? "").trim();
    found.push(/^".*"$/s.test(part) ? unquoted(part) : part);
  }
  return found;
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}

export function parseInput(text: string, type: TagType): Input {
  if (type.length === null) {
    return elementInput(text, type);
  }
  const parts = splitElements(text);
  if (parts.length !== type.length) {
    return { fault: "elements", given: parts.length, wanted: type.length };
  }
  const single = { ...type, length: null };
  const values: TagValue[] = [];
  for (const part of parts) {
    const input = elementInput(part, single);
    if (isFault(input)) {
      return input;
    }
    values.push(input.value);
  }
  return { value: values };
}

/** What the form starts with: the present value, as it would be typed. */
export function inputText(value: TagValue, type: TagType): string {
  if (Array.isArray(value)) {
    return value
      .map((each) => (type.kind === "text" ? JSON.stringify(each) : String(each)))
      .join(", ");
  }
  return value === null ? "" : String(value);
}
