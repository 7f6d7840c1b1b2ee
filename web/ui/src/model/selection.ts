// What is looked at: filter, selected tag, panel. The filter is part of the address, so that a
// view can be kept as a bookmark and survives a reload.
import { Observable } from "./observable.ts";
import type { Filter, QualityFilter } from "./tag_filter.ts";

const qualities: readonly QualityFilter[] = ["all", "not_good", "good", "uncertain", "bad"];

export function filterOfHash(hash: string): Filter {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const quality = given.get("quality") as QualityFilter;
  return {
    text: given.get("search") ?? "",
    quality: qualities.includes(quality) ? quality : "all",
    connection: given.get("connection") ?? "",
    writableOnly: given.has("writable"),
  };
}

export function hashOfFilter(filter: Filter): string {
  const said = new URLSearchParams();
  if (filter.text !== "") {
    said.set("search", filter.text);
  }
  if (filter.quality !== "all") {
    said.set("quality", filter.quality);
  }
  if (filter.connection !== "") {
    said.set("connection", filter.connection);
  }
  if (filter.writableOnly) {
    said.set("writable", "");
  }
  const text = said.toString();
  return text === "" ? "" : `#${text}`;
}

export type Panel = "none" | "tag" | "connect";

export class Selection extends Observable {
  filter: Filter = filterOfHash(location.hash);
  /** Path; empty: none. */
  tag = "";
  panel: Panel = "none";
  /** The write form is to take the focus. */
  editing = false;

  constructor() {
    super();
    addEventListener("hashchange", () => {
      this.filter = filterOfHash(location.hash);
      this.changed();
    });
  }

  setFilter(change: Partial<Filter>): void {
    this.filter = { ...this.filter, ...change };
    history.replaceState(null, "", hashOfFilter(this.filter) || location.pathname);
    this.changed();
  }

  select(path: string): void {
    this.tag = path;
    this.editing = false;
    if (this.panel === "connect") {
      this.panel = "none";
    }
    this.changed();
  }

  openTag(path: string, editing: boolean): void {
    this.tag = path;
    this.editing = editing;
    this.panel = "tag";
    this.changed();
  }

  openConnect(): void {
    this.panel = "connect";
    this.changed();
  }

  closePanel(): void {
    this.panel = "none";
    this.editing = false;
    this.changed();
  }
}
