// What somebody chose for this browser, and what is kept for this tab only.
import { chooseLanguage, wordsOf, type Language } from "../words/language.ts";
import type { Words } from "../words/en.ts";
import { Observable } from "./observable.ts";

export type Theme = "auto" | "light" | "dark";

/** Storage may be forbidden; then things last as long as the page. */
function stored(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key);
  } catch {
    return null;
  }
}

function store(storage: () => Storage, key: string, value: string | null): void {
  try {
    if (value === null) {
      storage().removeItem(key);
    } else {
      storage().setItem(key, value);
    }
  } catch {
    return;
  }
}

const browser = () => localStorage;
const tab = () => sessionStorage;

export class Settings extends Observable {
  language: Language;
  theme: Theme;
  /** For writes; null: not given yet. */
  token: string | null;
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    super();
    const language = stored(browser, "tagferry.language");
    this.language =
      language === "en" || language === "de" ? language : chooseLanguage(navigator.languages);
    const theme = stored(browser, "tagferry.theme");
    this.theme = theme === "light" || theme === "dark" ? theme : "auto";
    this.token = stored(tab, "tagferry.token");
    this.dark.addEventListener("change", () => this.apply());
    this.apply();
  }

  get words(): Words {
    return wordsOf[this.language];
  }

  setLanguage(language: Language): void {
    this.language = language;
    store(browser, "tagferry.language", language);
    this.apply();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    store(browser, "tagferry.theme", theme === "auto" ? null : theme);
    this.apply();
  }

  setToken(token: string | null): void {
    this.token = token;
    store(tab, "tagferry.token", token);
    this.changed();
  }

  private apply(): void {
    const dark = this.theme === "dark" || (this.theme === "auto" && this.dark.matches);
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    document.documentElement.lang = this.language;
    this.changed();
  }
}
