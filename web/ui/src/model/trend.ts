// The course of one value while somebody looks at it, as the path of a line.

export interface TrendPoint {
  time: number;
  /** Null: no good value, the line has a gap. */
  value: number | null;
}

const leastSpan = 10_000;

export class Trend {
  readonly points: TrendPoint[] = [];
  private readonly span: number;

  constructor(span: number) {
    this.span = span;
  }

  add(time: number, value: number | null): void {
    const last = this.points.at(-1);
    if (last !== undefined && (time < last.time || (value === null && last.value === null))) {
      return;
    }
    this.points.push({ time, value });
    // The point before the span stays: the line comes in from the left.
    while (this.points.length > 1 && (this.points[1]?.time ?? time) < time - this.span) {
      this.points.shift();
    }
  }

  range(): { least: number; most: number } | null {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const { value } of this.points) {
      if (value !== null) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
    }
    return least <= most ? { least, most } : null;
  }

  /** How much of the span there is to see, in ms; what just begins is not drawn in a corner. */
  seen(now: number): number {
    const first = this.points[0]?.time ?? now;
    return Math.min(this.span, Math.max(leastSpan, now - first));
  }

  /** A path over what is seen until `now`, values held until the next one, as they were. */
  path(now: number, width: number, height: number): string {
    const range = this.range();
    if (range === null) {
      return "";
    }
    const span = this.seen(now);
    const start = now - span;
    const spread = range.most - range.least;
    const x = (time: number) => round((Math.max(0, time - start) / span) * width);
    const y = (value: number) =>
      round(spread === 0 ? height / 2 : height - ((value - range.least) / spread) * height);
    let text = "";
    let drawing = false;
    for (const { time, value } of this.points) {
      if (value === null) {
        text += drawing ? `H${x(time)}` : "";
        drawing = false;
      } else if (drawing) {
        text += `H${x(time)}V${y(value)}`;
      } else {
        text += `M${x(time)} ${y(value)}`;
        drawing = true;
      }
    }
    return drawing ? `${text}H${round(width)}` : text;
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
