// How the gateway and its connections are, asked over and over, and which tags there are.
import { getJson, pagesOf } from "../gateway/rest.ts";
import type { ConnectionRow, List, StatusRow, TagRow } from "../gateway/types.ts";
import { GatewayClock } from "./age.ts";
import { Observable } from "./observable.ts";
import { latencyBetween, type Latency } from "./read_latency.ts";
import { prepareTag, type Tag } from "./tag_filter.ts";

const askEvery = 1000;
/** One lost answer says nothing yet. */
const goneAfter = 2;
/** Readings of the histogram that one figure spans. */
const latencySpan = 10;

export class Plant extends Observable {
  readonly clock = new GatewayClock();
  connections: ConnectionRow[] | null = null;
  status: StatusRow | null = null;
  latency: Latency | null = null;
  /** By the gateway's clock; null while it answers. */
  goneSince: number | null = null;
  tags: Tag[] = [];
  tagsComplete = false;
  /** The gateway was started again while this page was open. */
  restarted = false;

  private failures = 0;
  private lastAnswer = 0;
  private readings: { at: number; status: StatusRow }[] = [];
  private revision: string | null = null;
  private loading: AbortController | null = null;

  start(): void {
    void this.ask();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) {
        void this.ask();
      }
    });
    setInterval(() => {
      if (!document.hidden) {
        void this.ask();
      }
    }, askEvery);
  }

  private asking = false;

  private async ask(): Promise<void> {
    if (this.asking) {
      return;
    }
    this.asking = true;
    try {
      const sent = Date.now();
      const [status, connections] = await Promise.all([
        getJson<StatusRow>("/api/v1/status"),
        getJson<List<ConnectionRow>>("/api/v1/connections?limit=1000"),
      ]);
      this.clock.hear(status.now, sent, Date.now());
      this.hear(status, connections.items);
    } catch {
      this.failures += 1;
      if (this.failures >= goneAfter && this.goneSince === null) {
        this.goneSince = this.lastAnswer || this.clock.now();
      }
    } finally {
      this.asking = false;
      this.changed();
    }
  }

  private hear(status: StatusRow, connections: ConnectionRow[]): void {
    const now = this.clock.now();
    const before = this.status;
    this.failures = 0;
    this.goneSince = null;
    this.lastAnswer = now;
    if (before !== null && before.started !== status.started) {
      this.readings = [];
      this.restarted = true;
    }
    this.status = status;
    this.connections = connections;
    this.readings.push({ at: now, status });
    if (this.readings.length > latencySpan) {
      this.readings.shift();
    }
    const first = this.readings[0];
    if (first !== undefined && first.status !== status) {
      this.latency = latencyBetween(
        first.status.reads,
        status.reads,
        (now - first.at) / 1000,
      );
    }
    // A restarted gateway counts its revisions from the beginning.
    const revision = `${status.started} ${status.revision}`;
    if (revision !== this.revision) {
      this.revision = revision;
      void this.loadTags();
    }
  }

  private async loadTags(): Promise<void> {
    this.loading?.abort();
    const loading = new AbortController();
    this.loading = loading;
    const tags: Tag[] = [];
    const first = this.tags.length === 0;
    this.tagsComplete = false;
    try {
      for await (const page of pagesOf<TagRow>("/api/v1/tags", loading.signal)) {
        tags.push(...page.map(prepareTag));
        // The first load shows what there is; a later one replaces the old tags at its end.
        if (first) {
          this.tags = [...tags];
          this.changed();
        }
      }
      this.tags = tags;
      this.tagsComplete = true;
      this.changed();
    } catch {
      if (!loading.signal.aborted) {
        this.revision = null;
      }
    }
  }
}
