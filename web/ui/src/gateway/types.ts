// What the gateway says: rows of the REST interface and messages of the stream, as they arrive.

/** 64-bit integers, NaN and infinities arrive as strings, byte strings as base64. */
export type TagValue = null | boolean | number | string | TagValue[];

export interface TagRow {
  path: string;
  node_id: string;
  type: string;
  access: "read" | "read_write" | "write" | "none";
  address: string | null;
  scan_class: string;
  unit: string | null;
  description: string | null;
}

export interface ValueRow {
  path: string;
  value: TagValue;
  status: string;
  reason: string | null;
  source_timestamp: string | null;
  server_timestamp: string | null;
  last_good?: { value: TagValue; source_timestamp: string | null };
}

export interface TagCounts {
  total: number;
  good: number;
  uncertain: number;
  bad: number;
}

export interface ConnectionRow {
  name: string;
  protocol: string;
  endpoint: string;
  state: "up" | "connecting" | "waiting" | "stopped";
  up: boolean;
  reason: string | null;
  since: string | null;
  next_attempt: string | null;
  connects: number;
  connect_failures: number;
  requests: number;
  request_failures: number;
  overruns: number;
  pdu_size: number;
  window: number;
  tags: TagCounts;
}

/** How many operations there were and how long they took, since the gateway started. */
export interface Durations {
  operations: number;
  seconds: number;
  /** Operations by upper bound in seconds, not cumulative; the last bound is null: no bound. */
  buckets: [number | null, number][];
}

export interface StatusRow {
  now: string;
  version: string;
  started: string;
  /** Counts up whenever tags were added, changed or removed. */
  revision: number;
  connections: { total: number; up: number };
  tags: TagCounts;
  opcua: { endpoints: string[]; sessions: number };
  reads: Durations;
}

export interface List<Row> {
  items: Row[];
  next: string | null;
}

/** RFC 9457. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  hint?: string;
  subject?: string;
}

/** `[index, value, status, source timestamp in ms, reason id]`, shorter where the rest says nothing. */
export type StreamEntry = [number, TagValue, (string | number)?, (number | null)?, number?];

export type StreamMessage =
  | { op: "reasons"; reasons: [number, string, string][] }
  | { op: "subscribed"; id: number; tags: [number, string, string, string | null][]; more: boolean }
  | { op: "snapshot"; id: number; seq: number; values: StreamEntry[]; more: boolean }
  | { op: "delta"; id: number; seq: number; values: StreamEntry[]; conflated?: number }
  | { op: "changed"; id: number }
  | { op: "unsubscribed"; id: number }
  | { op: "error"; id?: number; code: string; detail: string; hint?: string };
