import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Selection } from "../model/selection.ts";
import type { Words } from "../words/en.ts";
import { Icon } from "./icons.tsx";

interface Props {
  selection: Selection;
  words: Words;
  children: ComponentChildren;
}

/** A rail on wide screens; on narrow ones it slides over the page when it is opened. */
export function SidePanel({ selection, words, children }: Props) {
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        selection.closePanel();
      }
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, [selection]);
  return (
    <aside class={`side-panel ${selection.panel}`}>
      <button
        type="button"
        class="close plain"
        aria-label={words.close}
        title={words.close}
        onClick={() => selection.closePanel()}
      >
        <Icon shape="close" />
      </button>
      {children}
    </aside>
  );
}
