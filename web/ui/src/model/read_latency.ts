// How long reads take now: the difference of two readings of the gateway's histogram.
import type { Durations } from "../gateway/types.ts";

export interface Latency {
  /** Seconds; null while nothing is read. */
  mean: number | null;
  /** 95 of 100 reads took at most this many seconds: the upper bound of a histogram's bucket. */
  p95: number | null;
  perSecond: number;
}

export function latencyBetween(before: Durations, after: Durations, seconds: number): Latency {
  const operations = after.operations - before.operations;
  if (operations <= 0 || seconds <= 0) {
    return { mean: null, p95: null, perSecond: 0 };
  }
  const mean = (after.seconds - before.seconds) / operations;
  let seen = 0;
  let p95: number | null = null;
  for (const [position, [bound, count]] of after.buckets.entries()) {
    seen += count - (before.buckets[position]?.[1] ?? 0);
    if (seen >= operations * 0.95) {
      p95 = bound;
      break;
    }
  }
  return { mean, p95, perSecond: operations / seconds };
}

export function secondsText(seconds: number, decimalComma: boolean): string {
  const [value, unit] =
    seconds < 1e-3
      ? [seconds * 1e6, "µs"]
      : seconds < 1
        ? [seconds * 1e3, "ms"]
        : [seconds, "s"];
  const text = value >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
  return `${decimalComma ? text.replace(".", ",") : text} ${unit}`;
}
