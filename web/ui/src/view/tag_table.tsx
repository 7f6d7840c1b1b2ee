import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useObservable } from "../model/observable.ts";
import { filterTags, type Tag } from "../model/tag_filter.ts";
import { visibleWindow } from "../model/window.ts";
import type { Words } from "../words/en.ts";
import type { Parts } from "./page.tsx";
import { TagFilterBar } from "./tag_filter_bar.tsx";
import { TagTableRow } from "./tag_row.tsx";

/** Rows above and below what is seen that exist, too. */
const margin = 8;
/** How long the rows must stand still before their values are subscribed to, in ms. */
const settle = 120;

/** Fingers need more room than a mouse. */
const rowHeight = matchMedia("(pointer: coarse)").matches ? 44 : 34;

interface View {
  top: number;
  height: number;
}

/** Where the body is scrolled to and how high it is. */
function useView(rows: number) {
  const body = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = body.current;
    if (element === null) {
      return;
    }
    const look = () =>
      setView((before) =>
        before.top === element.scrollTop && before.height === element.clientHeight
          ? before
          : { top: element.scrollTop, height: element.clientHeight },
      );
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [rows === 0]);
  return { body, view };
}

/** The tags that pass the filter. With a filter on quality, values decide and are looked at again. */
function useFiltered({ plant, values, selection }: Parts): Tag[] {
  const { filter } = selection;
  const byQuality = filter.quality !== "all";
  const [look, setLook] = useState(0);
  useEffect(() => {
    values.watchAll(byQuality, plant.tags.length);
    if (!byQuality) {
      return;
    }
    const timer = setInterval(() => setLook((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [byQuality, plant.tagsComplete]);
  return useMemo(
    () => filterTags(plant.tags, filter, (path) => values.quality(path)),
    [plant.tags, filter, byQuality && look],
  );
}

interface EmptyProps {
  parts: Parts;
  words: Words;
}

function Empty({ parts: { plant, selection }, words }: EmptyProps) {
  if (!plant.tagsComplete) {
    return <p class="empty">{words.loading}</p>;
  }
  if (plant.tags.length === 0) {
    return <p class="empty">{words.noTags}</p>;
  }
  const { quality, text } = selection.filter;
  return (
    <p class="empty">
      {quality !== "all" && text === "" ? words.noMatchQuality : words.noMatch}{" "}
      <button
        type="button"
        class="link"
        onClick={() =>
          selection.setFilter({ text: "", quality: "all", connection: "", writableOnly: false })
        }
      >
        {words.resetFilter}
      </button>
    </p>
  );
}

export function TagTable(parts: Parts & { words: Words }) {
  const { plant, values, selection, words } = parts;
  useObservable(values);
  const tags = useFiltered(parts);
  const { body, view } = useView(tags.length);
  const rows = visibleWindow(view.top, view.height, rowHeight, tags.length, margin);
  const visible = tags.slice(rows.first, rows.end);
  const wanted = visible.map((tag) => tag.path);
  if (selection.tag !== "" && !wanted.includes(selection.tag)) {
    wanted.push(selection.tag);
  }
  const wantedKey = wanted.join("\n");
  useEffect(() => {
    const timer = setTimeout(() => values.show(wanted), settle);
    return () => clearTimeout(timer);
  }, [wantedKey]);

  const selected = useMemo(
    () => tags.findIndex((tag) => tag.path === selection.tag),
    [tags, selection.tag],
  );
  const moveTo = (position: number) => {
    const to = Math.max(0, Math.min(tags.length - 1, position));
    const tag = tags[to];
    const element = body.current;
    if (tag === undefined || element === null) {
      return;
    }
    selection.select(tag.path);
    const top = to * rowHeight;
    if (top < element.scrollTop) {
      element.scrollTop = top;
    } else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  };
  const press = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const from = selected < 0 ? rows.first + margin - 1 : selected;
    const targets: Record<string, number> = {
      ArrowDown: selected < 0 ? rows.first : from + 1,
      ArrowUp: from - 1,
      PageDown: from + page,
      PageUp: from - page,
      Home: 0,
      End: tags.length - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) {
      event.preventDefault();
      moveTo(target);
    } else if (event.key === "Enter" && selection.tag !== "") {
      event.preventDefault();
      selection.openTag(selection.tag, true);
    }
  };

  // Ages have whole seconds: between two of them rows stay as they are.
  const now = Math.floor(plant.clock.now() / 1000) * 1000;
  const connected = plant.goneSince === null && values.link.state === "open";
  return (
    <section class="tags" aria-label={words.tags}>
      <TagFilterBar
        plant={plant}
        selection={selection}
        words={words}
        shown={tags.length}
        enterRows={() => {
          body.current?.focus();
          moveTo(Math.max(0, selected));
        }}
      />
      <div class="table" role="grid" aria-rowcount={tags.length + 1} aria-label={words.tags}>
        <div class="head row" role="row" aria-rowindex={1}>
          <span role="columnheader" class="path">
            {words.columnPath}
          </span>
          <span role="columnheader" class="value-cell">
            {words.columnValue}
          </span>
          <span role="columnheader" class="edit-cell">
            <span class="for-screen-readers">{words.write}</span>
          </span>
          <span role="columnheader" class="quality-cell">
            {words.columnQuality}
          </span>
          <span role="columnheader" class="age">
            {words.columnAge}
          </span>
          <span role="columnheader" class="address">
            {words.columnAddress}
          </span>
          <span role="columnheader" class="type">
            {words.columnType}
          </span>
        </div>
        {tags.length === 0 ? (
          <Empty parts={parts} words={words} />
        ) : (
          <div
            ref={body}
            class="body"
            role="rowgroup"
            tabIndex={0}
            aria-activedescendant={selected >= 0 ? `tag-${selected}` : undefined}
            onKeyDown={press}
          >
            <div class="all-rows" style={{ height: `${tags.length * rowHeight}px` }}>
              {visible.map((tag, index) => {
                const position = rows.first + index;
                return (
                  <TagTableRow
                    key={tag.path}
                    tag={tag}
                    position={position}
                    top={position * rowHeight}
                    shown={values.find(tag.path)}
                    connected={connected}
                    selected={position === selected}
                    now={now}
                    words={words}
                    selection={selection}
                  />
                );
              })}
            </div>
          </div>
        )}
      </div>
    </section>
  );
}
