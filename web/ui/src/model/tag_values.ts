// The last sample of every tag the page has seen, and of the visible ones what only REST tells:
// how old a value that does not change is, and the last good one of a tag that is not good.
import { getJson } from "../gateway/rest.ts";
import type { Link, Sample, Stream, Subscription } from "../gateway/stream.ts";
import type { List, TagValue, ValueRow } from "../gateway/types.ts";
import { timeOf } from "./age.ts";
import { Observable } from "./observable.ts";
import { inParts } from "./parts.ts";
import { qualityOf, type Quality } from "./quality.ts";

export interface LastGood {
  value: TagValue;
  timestamp: number | null;
}

export interface Shown {
  value: TagValue;
  status: string;
  quality: Quality;
  timestamp: number | null;
  reason: string;
  remedy: string;
  lastGood: LastGood | null;
}

const visibleInterval = 250;
const askEvery = 2000;
/** A request target is at most 4 KiB, and a request names at most 128 tags. */
const targetSize = 3000;
const tagsPerRequest = 100;
/** A look at all tags gets slower with their number: their deltas stay below some 10,000 a second. */
const wholeIntervalFloor = 500;
const wholeIntervalPerTag = 0.1;
/** A message to the stream is at most 32 KiB. */
const messageSize = 24_000;

export class TagValues extends Observable {
  readonly stream: Stream;
  private readonly samples = new Map<string, Sample>();
  private readonly lastGood = new Map<string, LastGood>();
  /** What `find` said, as long as it is so: rows that show the same object need no drawing. */
  private readonly found = new Map<string, Shown>();
  private visible: string[] = [];
  private visibleSubscriptions: Subscription[] = [];
  private readonly leaving: Subscription[] = [];
  private whole: Subscription | null = null;
  private readonly watchers = new Map<string, Set<(sample: Sample) => void>>();
  /** True once every tag has been heard of, while all are watched. */
  wholeKnown = false;

  constructor(makeStream: (linkChanged: () => void) => Stream) {
    super();
    this.stream = makeStream(() => this.changed());
    setInterval(() => {
      if (!document.hidden && this.link.state === "open") {
        void this.askVisible();
      }
    }, askEvery);
  }

  get link(): Link {
    return this.stream.link;
  }

  /** Null: nothing is known of this tag yet. */
  find(path: string): Shown | null {
    const sample = this.samples.get(path);
    if (sample === undefined) {
      return null;
    }
    const before = this.found.get(path);
    if (before !== undefined) {
      return before;
    }
    const reason = this.stream.reasons.get(sample.reason);
    const shown: Shown = {
      value: sample.value,
      status: sample.status,
      quality: qualityOf(sample.status),
      timestamp: sample.timestamp,
      reason: sample.reason === 0 ? "" : (reason?.words ?? ""),
      remedy: sample.reason === 0 ? "" : (reason?.remedy ?? ""),
      lastGood: this.lastGood.get(path) ?? null,
    };
    this.found.set(path, shown);
    return shown;
  }

  quality(path: string): Quality | null {
    const sample = this.samples.get(path);
    return sample === undefined ? null : qualityOf(sample.status);
  }

  /** The rows on the screen, and the tag whose details are open. */
  show(paths: string[]): void {
    if (paths.length === this.visible.length && paths.every((path, i) => path === this.visible[i])) {
      return;
    }
    this.visible = paths;
    // The rows before stay live until the new ones are.
    this.leaving.push(...this.visibleSubscriptions);
    const parts = inParts(paths, messageSize);
    const incomplete = new Set(parts);
    const end = () => {
      if (incomplete.size === 0 && this.visible === paths) {
        this.leaving.splice(0).forEach((subscription) => subscription.close());
      }
    };
    this.visibleSubscriptions = parts.map((part) =>
      this.stream.subscribe(part, visibleInterval, {
        values: (samples) => this.take(samples),
        complete: () => {
          incomplete.delete(part);
          end();
        },
      }),
    );
    end();
    void this.askVisible();
  }

  /** All tags, at a slower pace, for a filter on quality. */
  watchAll(wanted: boolean, tagCount: number): void {
    if (wanted === (this.whole !== null)) {
      return;
    }
    this.wholeKnown = false;
    this.whole?.close();
    this.whole = null;
    if (wanted) {
      const interval = Math.max(wholeIntervalFloor, Math.round(tagCount * wholeIntervalPerTag));
      this.whole = this.stream.subscribe(["**"], interval, {
        values: (samples) => this.take(samples),
        complete: () => {
          this.wholeKnown = true;
          this.changed();
        },
      });
    }
  }

  /** Every sample of one tag as it comes. */
  watch(path: string, watcher: (sample: Sample) => void): () => void {
    const watchers = this.watchers.get(path) ?? new Set();
    watchers.add(watcher);
    this.watchers.set(path, watchers);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) {
        this.watchers.delete(path);
      }
    };
  }

  private take(samples: Sample[]): void {
    for (const sample of samples) {
      const before = this.samples.get(sample.path);
      this.samples.set(sample.path, sample);
      this.found.delete(sample.path);
      const quality = qualityOf(sample.status);
      if (quality === "good") {
        this.lastGood.delete(sample.path);
      } else if (before !== undefined && qualityOf(before.status) === "good") {
        this.lastGood.set(sample.path, { value: before.value, timestamp: before.timestamp });
      }
      for (const watcher of this.watchers.get(sample.path) ?? []) {
        watcher(sample);
      }
    }
    this.changed();
  }

  private async askVisible(): Promise<void> {
    const paths = [...this.visible];
    let start = 0;
    while (start < paths.length) {
      let query = "";
      let count = 0;
      for (const path of paths.slice(start, start + tagsPerRequest)) {
        const more = `${query === "" ? "?" : "&"}tag=${encodeURIComponent(path)}`;
        if (query !== "" && query.length + more.length > targetSize) {
          break;
        }
        query += more;
        count += 1;
      }
      start += count;
      try {
        this.takeRows((await getJson<List<ValueRow>>(`/api/v1/values${query}`)).items);
      } catch {
        return;
      }
    }
  }

  private takeRows(rows: ValueRow[]): void {
    for (const row of rows) {
      this.found.delete(row.path);
      if (row.last_good !== undefined) {
        this.lastGood.set(row.path, {
          value: row.last_good.value,
          timestamp: timeOf(row.last_good.source_timestamp),
        });
      }
      const sample = this.samples.get(row.path);
      const timestamp = timeOf(row.source_timestamp);
      // The stream is quicker; REST only says that an unchanged value is still fresh.
      if (
        sample !== undefined &&
        sample.status === row.status &&
        timestamp !== null &&
        timestamp > (sample.timestamp ?? 0)
      ) {
        sample.timestamp = timestamp;
      }
    }
    this.changed();
  }
}
