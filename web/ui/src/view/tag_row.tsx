import { Component } from "preact";
import type { Selection } from "../model/selection.ts";
import { isWritable, partsOfPath, type Tag } from "../model/tag_filter.ts";
import { parseType } from "../model/tag_type.ts";
import type { Shown } from "../model/tag_values.ts";
import type { Words } from "../words/en.ts";
import { Icon } from "./icons.tsx";
import { ageText, QualityChip, Value } from "./value_cell.tsx";

interface Props {
  tag: Tag;
  position: number;
  top: number;
  shown: Shown | null;
  connected: boolean;
  selected: boolean;
  now: number;
  words: Words;
  selection: Selection;
}

/** Drawn again only when something of it changed: scrolling moves most rows as they are. */
export class TagTableRow extends Component<Props> {
  override shouldComponentUpdate(next: Readonly<Props>): boolean {
    return (Object.keys(next) as (keyof Props)[]).some((key) => next[key] !== this.props[key]);
  }

  override render(props: Props) {
    return row(props);
  }
}

function row(props: Props) {
  const { tag, position, top, shown, connected, selected, now, words, selection } = props;
  const { groups, name } = partsOfPath(tag.path);
  return (
    <div
      id={`tag-${position}`}
      class={selected ? "row selected" : "row"}
      role="row"
      aria-rowindex={position + 2}
      aria-selected={selected}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => selection.openTag(tag.path, false)}
    >
      <span role="gridcell" class="path" title={tag.description || tag.path}>
        <span class="groups">{groups}</span>
        <span class="name">{name}</span>
      </span>
      <span role="gridcell" class="value-cell">
        <Value shown={shown} type={parseType(tag.type)} unit={tag.unit} now={now} words={words} />
      </span>
      <span role="gridcell" class="edit-cell">
        {isWritable(tag) && (
          <button
            type="button"
            class="plain edit"
            tabIndex={-1}
            aria-label={words.edit(tag.path)}
            title={words.write}
            onClick={(event) => {
              event.stopPropagation();
              selection.openTag(tag.path, true);
            }}
          >
            <Icon shape="edit" />
          </button>
        )}
      </span>
      <span role="gridcell" class="quality-cell">
        <QualityChip shown={shown} connected={connected} words={words} />
      </span>
      <span role="gridcell" class="age">
        {connected || shown === null ? ageText(shown, now, words) : "–"}
      </span>
      <span role="gridcell" class="address">
        {tag.address}
      </span>
      <span role="gridcell" class="type" title={tag.type}>
        {tag.type}
      </span>
    </div>
  );
}
