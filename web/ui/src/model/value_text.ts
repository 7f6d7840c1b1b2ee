// A value as people read it.
import type { TagValue } from "../gateway/types.ts";
import type { TagType } from "./tag_type.ts";

/**
 * Enough digits to see a value move and few enough that it keeps its width: four significant
 * ones, at most four places. The details show all of them.
 */
function shortFloat(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) {
    return value.toExponential(4);
  }
  const places = size >= 10_000 ? 0 : size >= 1000 ? 1 : size >= 100 ? 2 : size >= 1 ? 3 : 4;
  return value.toFixed(places);
}

function hexadecimal(value: number | string, bits: number): string {
  return `16#${BigInt(value).toString(16).toUpperCase().padStart(bits / 4, "0")}`;
}

function localised(text: string, decimalComma: boolean): string {
  return decimalComma ? text.replace(".", ",") : text;
}

export interface TextOptions {
  /** All digits, all elements. */
  exact: boolean;
  decimalComma: boolean;
}

function element(value: TagValue, type: TagType, options: TextOptions): string {
  if (value === null) {
    return "";
  }
  if (typeof value === "boolean") {
    return value ? "TRUE" : "FALSE";
  }
  if (type.kind === "float") {
    if (typeof value === "number") {
      const text = options.exact ? String(value) : shortFloat(value);
      return localised(text, options.decimalComma);
    }
    return value === "Infinity" ? "+∞" : value === "-Infinity" ? "−∞" : String(value);
  }
  if (type.kind === "bits" && (typeof value === "number" || /^\d+$/.test(String(value)))) {
    return hexadecimal(value as number | string, type.bits);
  }
  if (type.kind === "text" && type.length !== null) {
    return JSON.stringify(value);
  }
  return String(value);
}

/** Texts of more than this many elements end with how many there are. */
const shownElements = 16;

/** Empty for null: there is no value. */
export function valueText(value: TagValue, type: TagType, options: TextOptions): string {
  if (!Array.isArray(value)) {
    return element(value, type, options);
  }
  const shown = options.exact ? value : value.slice(0, shownElements);
  const separator = options.decimalComma && type.kind === "float" ? "; " : ", ";
  const parts = shown.map((each) => element(each, type, options));
  const rest = value.length - shown.length;
  return `[${parts.join(separator)}${rest > 0 ? `${separator}… ${value.length}` : ""}]`;
}
