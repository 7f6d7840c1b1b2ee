import { durationText } from "../model/age.ts";
import type { Shown } from "../model/tag_values.ts";
import type { TagType } from "../model/tag_type.ts";
import { valueText } from "../model/value_text.ts";
import type { Words } from "../words/en.ts";
import { translated } from "../words/language.ts";
import { Icon } from "./icons.tsx";

interface ValueProps {
  shown: Shown | null;
  type: TagType;
  unit: string | null;
  now: number;
  words: Words;
  exact?: boolean;
}

/** A value that is not current never looks like one: the last good one is marked as such. */
export function Value({ shown, type, unit, now, words, exact = false }: ValueProps) {
  const options = { exact, decimalComma: words.decimalComma };
  if (shown === null) {
    return <span class="value waiting">…</span>;
  }
  const text = valueText(shown.value, type, options);
  const unitText = unit ? <span class="unit">{unit}</span> : null;
  if (text !== "" || shown.quality === "good") {
    const kind = type.kind === "boolean" && type.length === null ? ` boolean-${text}` : "";
    return (
      <span class={`value ${shown.quality}${kind}`} title={exact ? undefined : text}>
        {text}
        {unitText}
      </span>
    );
  }
  if (shown.lastGood === null) {
    return <span class="value none">{words.noValue}</span>;
  }
  const { timestamp, value } = shown.lastGood;
  const age = timestamp === null ? "?" : durationText(now - timestamp);
  return (
    <span class="value last-good" title={words.lastGoodTitle(age)}>
      <span class="mark">{words.last}</span>
      {valueText(value, type, options)}
      {unitText}
    </span>
  );
}

interface ChipProps {
  shown: Shown | null;
  /** The gateway is connected: what is shown is what it says now. */
  connected: boolean;
  words: Words;
}

export function QualityChip({ shown, connected, words }: ChipProps) {
  if (!connected) {
    return (
      <span class="quality unknown" title={words.unknownReason}>
        <Icon shape="unknown" />
        <span class="word">{words.unknown}</span>
      </span>
    );
  }
  if (shown === null) {
    return null;
  }
  const reason = translated(shown.reason, words);
  const remedy = translated(shown.remedy, words);
  return (
    <span
      class={`quality ${shown.quality}`}
      title={[shown.status, reason, remedy].filter(Boolean).join("\n")}
    >
      <Icon shape={shown.quality} />
      <span class="word">{words[shown.quality]}</span>
      {shown.quality !== "good" && <span class="reason">{reason || shown.status}</span>}
    </span>
  );
}

/** Below this age a value counts as current: its seconds would only flicker. */
const current = 5000;

/** How old what the value cell shows is. */
export function ageText(shown: Shown | null, now: number, words: Words): string {
  if (shown === null) {
    return "";
  }
  const timestamp =
    shown.value === null && shown.lastGood !== null ? shown.lastGood.timestamp : shown.timestamp;
  if (timestamp === null) {
    return "–";
  }
  return shown.quality === "good" && now - timestamp < current
    ? words.now
    : durationText(now - timestamp);
}
