import { de } from "./de.ts";
import { en, type Words } from "./en.ts";
import { reasonsInGerman } from "./reasons_de.ts";

export type Language = "en" | "de";

export const wordsOf: Readonly<Record<Language, Words>> = { en, de };

/** The first of the wanted languages that the page speaks; English otherwise. */
export function chooseLanguage(wanted: readonly string[]): Language {
  for (const each of wanted) {
    const language = each.toLowerCase().split("-")[0];
    if (language === "de" || language === "en") {
      return language;
    }
  }
  return "en";
}

/** What the gateway said, in the page's language. */
export function translated(text: string, words: Words): string {
  return words.locale === "de" ? (reasonsInGerman[text] ?? text) : text;
}

/** The gateway's words begin small and end without a full stop, as parts of sentences do. */
export function sentence(text: string): string {
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}
