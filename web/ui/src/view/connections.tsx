import type { ConnectionRow, TagCounts } from "../gateway/types.ts";
import { durationText, timeOf } from "../model/age.ts";
import type { Severity } from "../model/headline.ts";
import type { Plant } from "../model/plant.ts";
import type { Selection } from "../model/selection.ts";
import type { Words } from "../words/en.ts";
import { sentence, translated } from "../words/language.ts";
import { Icon } from "./icons.tsx";

function severityOf(row: ConnectionRow): Severity {
  if (!row.up) {
    return row.state === "connecting" && row.connect_failures === 0 ? "unknown" : "bad";
  }
  return row.tags.bad > 0 ? "bad" : row.tags.uncertain > 0 ? "uncertain" : "good";
}

const order: Record<Severity, number> = { bad: 0, uncertain: 1, unknown: 2, good: 3 };

/** A share of good, uncertain and bad tags as one line. */
function QualityBar({ tags }: { tags: TagCounts }) {
  let start = 0;
  const total = Math.max(1, tags.total);
  const parts = (["good", "uncertain", "bad"] as const).map((kind) => {
    const width = (100 * tags[kind]) / total;
    const part = <rect class={kind} x={start} y="0" width={width} height="4" />;
    start += width;
    return part;
  });
  return (
    <svg class="quality-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      {parts}
    </svg>
  );
}

interface FactProps {
  name: string;
  value: string;
  hint?: string;
  alarming?: boolean;
}

function Fact({ name, value, hint, alarming = false }: FactProps) {
  return (
    <div class={alarming ? "fact alarming" : "fact"} title={hint}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Condition({ row, now, words }: { row: ConnectionRow; now: number; words: Words }) {
  const since = timeOf(row.since);
  const next = timeOf(row.next_attempt);
  // Between two attempts a connection that was lost is as unreachable as while it tries.
  const state = row.state === "connecting" && row.connect_failures > 0 ? "waiting" : row.state;
  return (
    <p class="condition">
      <strong>{words.states[state]}</strong>
      {since !== null && ` ${words.upFor(durationText(now - since))}`}
      {row.reason && <span class="reason">{sentence(translated(row.reason, words))}</span>}
      {!row.up && row.state !== "stopped" && (
        <span class="retry">
          {next !== null && next > now
            ? words.retryIn(durationText(next - now + 999))
            : words.retryNow}
        </span>
      )}
    </p>
  );
}

interface CardProps {
  row: ConnectionRow;
  now: number;
  words: Words;
  selection: Selection;
}

function Card({ row, now, words, selection }: CardProps) {
  const chosen = selection.filter.connection === row.name;
  const severity = severityOf(row);
  const count = (kind: "good" | "uncertain" | "bad") => (
    <span class={`count ${kind}`}>
      {`${row.tags[kind].toLocaleString(words.locale)} ${words[kind].toLowerCase()}`}
    </span>
  );
  return (
    <li class={`card ${severity}${chosen ? " chosen" : ""}`}>
      <h3>
        <button
          type="button"
          title={words.showTags(row.name)}
          aria-pressed={chosen}
          onClick={() => selection.setFilter({ connection: chosen ? "" : row.name })}
        >
          <Icon shape={severity} />
          {row.name}
        </button>
        <span class="endpoint">{row.endpoint}</span>
      </h3>
      <div>
        <p class="counts">
          {(row.tags.good > 0 || row.tags.total === 0) && count("good")}
          {row.tags.uncertain > 0 && count("uncertain")}
          {row.tags.bad > 0 && count("bad")}
        </p>
        <Condition row={row} now={now} words={words} />
      </div>
      <QualityBar tags={row.tags} />
      <dl class="facts">
        <Fact name={words.pdu} value={row.up ? String(row.pdu_size) : "–"} hint={words.pduHint} />
        <Fact name={words.jobs} value={row.up ? String(row.window) : "–"} hint={words.jobsHint} />
        <Fact
          name={words.reconnects}
          value={String(Math.max(0, row.connects - 1))}
          hint={words.reconnectsHint}
        />
        <Fact name={words.failures} value={String(row.connect_failures)} />
        <Fact
          name={words.overruns}
          value={String(row.overruns)}
          hint={words.overrunsHint}
          alarming={row.overruns > 0}
        />
      </dl>
    </li>
  );
}

interface ConnectionsProps {
  plant: Plant;
  selection: Selection;
  words: Words;
}

export function Connections({ plant, selection, words }: ConnectionsProps) {
  const rows = plant.connections;
  if (rows === null || rows.length === 0) {
    return null;
  }
  const now = plant.clock.now();
  // What needs somebody stands first; among few, cards keep their place.
  const sorted =
    rows.length <= 6
      ? rows
      : [...rows].sort((a, b) => order[severityOf(a)] - order[severityOf(b)]);
  return (
    <section class="connections" aria-label={words.connections}>
      <ul class={rows.length > 6 ? "cards many" : "cards"}>
        {sorted.map((row) => (
          <Card key={row.name} row={row} now={now} words={words} selection={selection} />
        ))}
      </ul>
    </section>
  );
}
