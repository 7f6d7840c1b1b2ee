// Which of the tags are shown. 50,000 rows are searched on every key stroke, so each tag's text is
// prepared once.
import type { TagRow } from "../gateway/types.ts";
import type { Quality } from "./quality.ts";

export interface Tag extends TagRow {
  /** Lower-case text that is searched. */
  text: string;
}

export function prepareTag(row: TagRow): Tag {
  const parts = [row.path, row.description, row.address, row.type, row.unit];
  return { ...row, text: parts.filter(Boolean).join("\n").toLowerCase() };
}

export type QualityFilter = Quality | "all" | "not_good";

export interface Filter {
  text: string;
  quality: QualityFilter;
  /** Only this connection's; empty: all. */
  connection: string;
  writableOnly: boolean;
}

/** Every word must occur, anywhere. `qualityOf` is asked only while there is a filter on it. */
export function filterTags(
  tags: readonly Tag[],
  filter: Filter,
  qualityOf: (path: string) => Quality | null,
): Tag[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const prefix = filter.connection === "" ? "" : `${filter.connection}/`;
  const fits = (tag: Tag): boolean => {
    if (!tag.path.startsWith(prefix) || (filter.writableOnly && !isWritable(tag))) {
      return false;
    }
    if (!words.every((word) => tag.text.includes(word))) {
      return false;
    }
    if (filter.quality === "all") {
      return true;
    }
    const quality = qualityOf(tag.path);
    return filter.quality === "not_good"
      ? quality !== null && quality !== "good"
      : quality === filter.quality;
  };
  return tags.filter(fits);
}

export function isWritable(tag: TagRow): boolean {
  return tag.access === "read_write" || tag.access === "write";
}

/** Groups and name of a path, and the names unescaped for people. */
export function partsOfPath(path: string): { groups: string; name: string } {
  const readable = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const slash = path.lastIndexOf("/");
  return { groups: readable(path.slice(0, slash + 1)), name: readable(path.slice(slash + 1)) };
}
