// The client of `/api/v1/stream`: connects, subscribes, notices gaps, connects again for ever.
import type { StreamEntry, StreamMessage, TagValue } from "./types.ts";

export interface Sample {
  path: string;
  value: TagValue;
  status: string;
  /** Source time in ms since 1970; null: never read. */
  timestamp: number | null;
  /** Key of `Stream.reasons`; 0: none. */
  reason: number;
}

export interface Subscriber {
  /** Changes, latest wins. The array is the stream's own: keep the samples, not the array. */
  values(samples: Sample[]): void;
  /** Everything subscribed to has been sent once. */
  complete?(): void;
  /** The gateway's tags changed; the subscription has been made again already. */
  changed?(): void;
}

export interface Subscription {
  close(): void;
}

export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
}

export type LinkState = "connecting" | "open" | "waiting";

export interface Link {
  state: LinkState;
  /** When the state was entered, in ms of this machine. */
  since: number;
  /** Close code of the connection before; 0: there was none. */
  code: number;
}

export interface Environment {
  open(): Socket;
  later(callback: () => void, milliseconds: number): void;
  now(): number;
}

const firstWait = 500;
const longestWait = 5000;
const subscribeAgainAfter = 1000;

interface Live {
  id: number;
  tags: string[];
  interval: number;
  subscriber: Subscriber;
  paths: string[];
  seq: number;
}

export class Stream {
  readonly reasons = new Map<number, { words: string; remedy: string }>();
  link: Link;

  private readonly environment: Environment;
  private readonly linkChanged: () => void;
  private readonly live = new Map<number, Live>();
  private socket: Socket | null = null;
  private nextId = 1;
  private wait = firstWait;
  /** Samples that this browser or its intervals were too slow to see. */
  conflated = 0;

  constructor(environment: Environment, linkChanged: () => void) {
    this.environment = environment;
    this.linkChanged = linkChanged;
    this.link = { state: "connecting", since: environment.now(), code: 0 };
    this.connect();
  }

  /** @param tags paths or patterns. @param interval the shortest time between messages, in ms. */
  subscribe(tags: string[], interval: number, subscriber: Subscriber): Subscription {
    const live: Live = { id: 0, tags, interval, subscriber, paths: [], seq: 0 };
    this.begin(live);
    return {
      close: () => {
        if (this.live.delete(live.id)) {
          this.send({ op: "unsubscribe", id: live.id });
        }
      },
    };
  }

  private enter(state: LinkState, code: number): void {
    this.link = { state, since: this.environment.now(), code };
    this.linkChanged();
  }

  private connect(): void {
    const socket = this.environment.open();
    this.socket = socket;
    socket.onopen = () => {
      this.wait = firstWait;
      this.enter("open", 0);
      for (const live of [...this.live.values()]) {
        this.again(live);
      }
    };
    socket.onmessage = ({ data }) => this.receive(JSON.parse(String(data)) as StreamMessage);
    socket.onclose = ({ code }) => {
      socket.onmessage = null;
      this.socket = null;
      this.enter("waiting", code);
      this.environment.later(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, longestWait);
    };
  }

  private send(message: object): void {
    if (this.link.state === "open") {
      this.socket?.send(JSON.stringify(message));
    }
  }

  private begin(live: Live): void {
    live.id = this.nextId++;
    live.paths = [];
    live.seq = 0;
    this.live.set(live.id, live);
    this.send({ op: "subscribe", id: live.id, tags: live.tags, min_interval_ms: live.interval });
  }

  private again(live: Live): void {
    this.live.delete(live.id);
    this.begin(live);
  }

  private receive(message: StreamMessage): void {
    if (message.op === "reasons") {
      this.reasons.clear();
      for (const [id, words, remedy] of message.reasons) {
        this.reasons.set(id, { words, remedy });
      }
      return;
    }
    const live = message.id === undefined ? undefined : this.live.get(message.id);
    if (live === undefined) {
      return;
    }
    switch (message.op) {
      case "subscribed":
        for (const [index, path] of message.tags) {
          live.paths[index] = path;
        }
        break;
      case "snapshot":
        if (this.takeValues(live, message.seq, message.values) && !message.more) {
          live.subscriber.complete?.();
        }
        break;
      case "delta":
        this.conflated += message.conflated ?? 0;
        this.takeValues(live, message.seq, message.values);
        break;
      case "changed":
        this.send({ op: "unsubscribe", id: live.id });
        this.again(live);
        live.subscriber.changed?.();
        break;
      case "error":
        // A bound is reached or the gateway is busy: what is wanted stays wanted.
        this.environment.later(() => {
          if (this.live.get(live.id) === live) {
            this.again(live);
          }
        }, subscribeAgainAfter);
        break;
      case "unsubscribed":
        break;
    }
  }

  /** False: something was missed, the subscription is made again. */
  private takeValues(live: Live, seq: number, values: StreamEntry[]): boolean {
    if (seq !== live.seq + 1) {
      this.send({ op: "unsubscribe", id: live.id });
      this.again(live);
      return false;
    }
    live.seq = seq;
    const samples: Sample[] = [];
    for (const [index, value, status, timestamp, reason] of values) {
      const path = live.paths[index];
      if (path !== undefined) {
        samples.push({
          path,
          value,
          status: typeof status === "string" ? status : "Good",
          timestamp: timestamp ?? null,
          reason: reason ?? 0,
        });
      }
    }
    live.subscriber.values(samples);
    return true;
  }
}
