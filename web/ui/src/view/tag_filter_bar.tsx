import { useEffect, useRef } from "preact/hooks";
import type { Plant } from "../model/plant.ts";
import type { Selection } from "../model/selection.ts";
import type { QualityFilter } from "../model/tag_filter.ts";
import type { Words } from "../words/en.ts";
import { Icon } from "./icons.tsx";

interface Props {
  plant: Plant;
  selection: Selection;
  words: Words;
  shown: number;
  /** From the search field into the rows. */
  enterRows: () => void;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select") !== null;
}

function Search({ selection, words, enterRows }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !isTyping(event.target)) {
        event.preventDefault();
        field.current?.focus();
        field.current?.select();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape" && selection.filter.text !== "") {
      event.stopPropagation();
      selection.setFilter({ text: "" });
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      enterRows();
    }
  };
  return (
    <div class="search" role="search">
      <Icon shape="search" />
      <input
        ref={field}
        type="search"
        value={selection.filter.text}
        placeholder={words.searchPlaceholder}
        aria-label={words.searchLabel}
        aria-keyshortcuts="/"
        title={words.searchLabel}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => selection.setFilter({ text: event.currentTarget.value })}
        onKeyDown={press}
      />
      {selection.filter.text === "" ? (
        <kbd title={words.keys}>/</kbd>
      ) : (
        <button
          type="button"
          class="plain"
          aria-label={words.clearSearch}
          title={words.clearSearch}
          onClick={() => selection.setFilter({ text: "" })}
        >
          <Icon shape="close" />
        </button>
      )}
    </div>
  );
}

export function TagFilterBar(props: Props) {
  const { plant, selection, words, shown } = props;
  const { filter } = selection;
  const counts = plant.status?.tags;
  const choices: [QualityFilter, string, number | undefined][] = [
    ["all", words.filterAll, undefined],
    ["not_good", words.filterNotGood, counts && counts.bad + counts.uncertain],
    ["good", words.good, counts?.good],
    ["uncertain", words.uncertain, counts?.uncertain],
    ["bad", words.bad, counts?.bad],
  ];
  return (
    <div class="filter-bar">
      <Search {...props} />
      <div class="segments" role="group" aria-label={words.qualityLabel}>
        {choices.map(([quality, word, count]) => (
          <button
            type="button"
            class={`segment ${quality}${count ? " some" : ""}`}
            aria-pressed={filter.quality === quality}
            onClick={() => selection.setFilter({ quality })}
          >
            {word}
            {count !== undefined && <small>{count.toLocaleString(words.locale)}</small>}
          </button>
        ))}
      </div>
      <button
        type="button"
        class="segment alone"
        aria-pressed={filter.writableOnly}
        onClick={() => selection.setFilter({ writableOnly: !filter.writableOnly })}
      >
        <Icon shape="edit" />
        {words.filterWritable}
      </button>
      {filter.connection !== "" && (
        <button
          type="button"
          class="segment alone on"
          aria-label={words.showAllConnections}
          title={words.showAllConnections}
          onClick={() => selection.setFilter({ connection: "" })}
        >
          {words.onlyConnection(filter.connection)}
          <Icon shape="close" />
        </button>
      )}
      <output class="row-count">
        {plant.tagsComplete || plant.tags.length === 0
          ? words.rowsShown(shown, plant.tags.length)
          : words.rowsLoading(plant.tags.length)}
      </output>
    </div>
  );
}
