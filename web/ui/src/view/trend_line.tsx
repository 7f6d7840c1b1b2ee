import { useEffect, useRef } from "preact/hooks";
import { durationText } from "../model/age.ts";
import { qualityOf } from "../model/quality.ts";
import type { TagType } from "../model/tag_type.ts";
import type { TagValues } from "../model/tag_values.ts";
import { Trend } from "../model/trend.ts";
import { valueText } from "../model/value_text.ts";
import type { Words } from "../words/en.ts";

const minutes = 3;
const width = 280;
const height = 56;

interface Props {
  path: string;
  type: TagType;
  values: TagValues;
  now: number;
  words: Words;
}

function numberOf(value: unknown): number | null {
  const number = typeof value === "boolean" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

export function TrendLine({ path, type, values, now, words }: Props) {
  const trend = useRef(new Trend(minutes * 60_000)).current;
  useEffect(() => {
    const present = values.find(path);
    if (present?.quality === "good" && present.timestamp !== null) {
      trend.add(present.timestamp, numberOf(present.value));
    }
    return values.watch(path, (sample) => {
      const good = qualityOf(sample.status) === "good";
      trend.add(sample.timestamp ?? Date.now(), good ? numberOf(sample.value) : null);
    });
  }, [path]);
  const range = trend.range();
  if (range === null) {
    return null;
  }
  const text = (value: number) =>
    valueText(value, type, { exact: false, decimalComma: words.decimalComma });
  return (
    <figure class="trend">
      <svg viewBox={`0 -3 ${width} ${height + 6}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={trend.path(now, width, height)} vector-effect="non-scaling-stroke" />
      </svg>
      {type.kind !== "boolean" && (
        <p class="range">
          <span>{text(range.most)}</span>
          <span>{text(range.least)}</span>
        </p>
      )}
      <figcaption>{words.trend(durationText(trend.seen(now)))}</figcaption>
    </figure>
  );
}
