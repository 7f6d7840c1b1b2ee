// Times and how long ago they were, by the gateway's clock: that of a panel PC may be anything.

export class GatewayClock {
  private offset = 0;
  private best = Number.POSITIVE_INFINITY;

  /** The gateway said `now` in an answer that took from `sent` to `received`, in local ms. */
  hear(now: string, sent: number, received: number): void {
    const said = Date.parse(now);
    const doubt = received - sent;
    // The quickest answer says it best; older ones fade, as clocks drift.
    if (Number.isNaN(said) || doubt > this.best) {
      this.best += 10;
      return;
    }
    this.best = doubt;
    this.offset = said - (sent + received) / 2;
  }

  now(): number {
    return Date.now() + this.offset;
  }
}

/** Milliseconds since 1970 of an RFC 3339 time; null where there is none. */
export function timeOf(text: string | null | undefined): number | null {
  const time = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** `14 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const pair = (large: number, unit: string, small: number, smallUnit: string) =>
    small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
  if (seconds < 60) {
    return `${seconds} s`;
  }
  if (seconds < 3600) {
    return pair(Math.floor(seconds / 60), "min", seconds % 60, "s");
  }
  if (seconds < 86_400) {
    return pair(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  }
  return pair(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}
