import { useState } from "preact/hooks";
import type { Words } from "../words/en.ts";
import { Icon } from "./icons.tsx";

/** Browsers offer the clipboard only to pages over TLS or on the same machine. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "for-screen-readers";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

interface Props {
  text: string;
  what: string;
  words: Words;
}

export function CopyButton({ text, what, words }: Props) {
  const [copied, setCopied] = useState(false);
  const press = async () => {
    setCopied(await copy(text));
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button
      type="button"
      class="copy plain"
      aria-label={`${words.copy}: ${what}`}
      title={words.copy}
      onClick={() => void press()}
    >
      {copied ? <span role="status">{words.copied}</span> : <Icon shape="copy" />}
    </button>
  );
}
