import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { durationText } from "../model/age.ts";
import { useObservable } from "../model/observable.ts";
import { isWritable } from "../model/tag_filter.ts";
import { parseType } from "../model/tag_type.ts";
import type { Shown } from "../model/tag_values.ts";
import type { TagType } from "../model/tag_type.ts";
import { valueText } from "../model/value_text.ts";
import type { Words } from "../words/en.ts";
import { sentence, translated } from "../words/language.ts";
import { CopyButton } from "./copy_button.tsx";
import type { Parts } from "./page.tsx";
import { TrendLine } from "./trend_line.tsx";
import { QualityChip, Value } from "./value_cell.tsx";
import { WriteForm } from "./write_form.tsx";

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface TroubleProps {
  shown: Shown;
  type: TagType;
  unit: string | null;
  now: number;
  words: Words;
}

/** Why a value is not good, what to do about it, and what it was before. */
function Trouble({ shown, type, unit, now, words }: TroubleProps) {
  const { lastGood } = shown;
  return (
    <div class={`trouble ${shown.quality}`}>
      {shown.reason !== "" && <p>{sentence(translated(shown.reason, words))}</p>}
      {shown.remedy !== "" && (
        <p>
          <strong>{words.remedy}:</strong> {sentence(translated(shown.remedy, words))}
        </p>
      )}
      {lastGood !== null && (
        <p>
          <strong>{words.lastGood}:</strong>{" "}
          {valueText(lastGood.value, type, { exact: true, decimalComma: words.decimalComma })}{" "}
          {unit ?? ""}
          {lastGood.timestamp !== null &&
            ` (${words.age(durationText(now - lastGood.timestamp))})`}
        </p>
      )}
    </div>
  );
}

export function TagDetails(parts: Parts & { words: Words; path: string }) {
  const { plant, values, words, path } = parts;
  useObservable(values);
  const tag = useMemo(() => plant.tags.find((each) => each.path === path), [plant.tags, path]);
  if (tag === undefined) {
    return null;
  }
  const type = parseType(tag.type);
  const shown = values.find(path);
  const now = plant.clock.now();
  const connected = plant.goneSince === null && values.link.state === "open";
  const timestamp = shown?.timestamp ?? null;
  return (
    <section class="tag-details" aria-label={words.details}>
      <h2>{tag.path}</h2>
      {tag.description && <p class="description">{tag.description}</p>}
      <p class="present">
        <Value shown={shown} type={type} unit={tag.unit} now={now} words={words} exact />
        <QualityChip shown={shown} connected={connected} words={words} />
      </p>
      {connected && shown !== null && shown.quality !== "good" && (
        <Trouble shown={shown} type={type} unit={tag.unit} now={now} words={words} />
      )}
      {type.length === null && type.kind !== "text" && (
        <TrendLine path={path} type={type} values={values} now={now} words={words} />
      )}
      {isWritable(tag) ? (
        <WriteForm {...parts} tag={tag} type={type} present={shown?.value ?? null} />
      ) : (
        <p class="hint">{words.readOnlyHint}</p>
      )}
      <dl class="tag-facts">
        <Fact name={words.sourceTime}>
          {timestamp === null ? "–" : new Date(timestamp).toLocaleString(words.locale)}
        </Fact>
        {tag.address && <Fact name={words.address}>{tag.address}</Fact>}
        <Fact name={words.type}>{tag.type}</Fact>
        <Fact name={words.scanClass}>{tag.scan_class}</Fact>
        <Fact name={words.access}>{words.accesses[tag.access]}</Fact>
        <Fact name={words.nodeId}>
          <code>{tag.node_id}</code>
          <CopyButton text={tag.node_id} what={words.nodeId} words={words} />
        </Fact>
      </dl>
    </section>
  );
}
