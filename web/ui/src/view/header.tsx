import type { Theme } from "../model/settings.ts";
import { useObservable } from "../model/observable.ts";
import type { Language } from "../words/language.ts";
import { wordsOf } from "../words/language.ts";
import type { Words } from "../words/en.ts";
import { Icon } from "./icons.tsx";
import type { Parts } from "./page.tsx";

const themes: readonly Theme[] = ["auto", "light", "dark"];
const languages: readonly Language[] = ["en", "de"];

function LiveMark({ plant, values, words }: Parts & { words: Words }) {
  useObservable(values);
  const state = plant.goneSince !== null ? "waiting" : values.link.state;
  return <span class={`live-mark ${state}`}>{words.streamStates[state]}</span>;
}

export function Header(parts: Parts & { words: Words }) {
  const { plant, settings, selection, words } = parts;
  return (
    <header class="header">
      <span class="brand">
        <img src="/icon.svg" alt="" width="22" height="22" />
        Tagferry
      </span>
      <span class="version">{plant.status?.version ?? ""}</span>
      <LiveMark {...parts} />
      <span class="space" />
      <button type="button" class="connect-button" onClick={() => selection.openConnect()}>
        <Icon shape="plug" />
        {words.connectClient}
      </button>
      <label class="choice">
        <span>{words.theme}</span>
        <select
          value={settings.theme}
          onChange={(event) => settings.setTheme(event.currentTarget.value as Theme)}
        >
          {themes.map((theme) => (
            <option value={theme}>{words.themes[theme]}</option>
          ))}
        </select>
      </label>
      <label class="choice">
        <span class="for-screen-readers">{words.language}</span>
        <select
          value={settings.language}
          onChange={(event) => settings.setLanguage(event.currentTarget.value as Language)}
        >
          {languages.map((language) => (
            <option value={language} lang={language}>
              {wordsOf[language].languageName}
            </option>
          ))}
        </select>
      </label>
    </header>
  );
}
