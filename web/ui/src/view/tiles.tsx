import type { ComponentChildren } from "preact";
import { durationText, timeOf } from "../model/age.ts";
import type { Severity } from "../model/headline.ts";
import type { Plant } from "../model/plant.ts";
import { secondsText } from "../model/read_latency.ts";
import type { Words } from "../words/en.ts";

interface TileProps {
  name: string;
  value: string;
  of?: string;
  detail: ComponentChildren;
  severity?: Severity;
  /** Narrow screens do without the detail. */
  brief?: boolean;
}

function Tile({ name, value, of, detail, severity = "unknown", brief }: TileProps) {
  return (
    <div class={brief ? `tile brief ${severity}` : `tile ${severity}`}>
      <dt>{name}</dt>
      <dd>
        <span class="figure">
          {value}
          {of !== undefined && <small>{of}</small>}
        </span>
        <span class="detail">{detail}</span>
      </dd>
    </div>
  );
}

function TagsTile({ plant, words }: { plant: Plant; words: Words }) {
  const counts = plant.status?.tags;
  if (counts === undefined) {
    return <Tile name={words.tileTags} value="–" detail="" />;
  }
  const number = (count: number) => count.toLocaleString(words.locale);
  const part = (kind: "good" | "uncertain" | "bad") =>
    counts[kind] > 0 && (
      <span class={`count ${kind}`}>{`${number(counts[kind])} ${words[kind].toLowerCase()}`}</span>
    );
  return (
    <Tile
      name={words.tileTags}
      value={number(counts.total)}
      severity={counts.bad > 0 ? "bad" : counts.uncertain > 0 ? "uncertain" : "good"}
      detail={[part("bad"), part("uncertain"), part("good")]}
    />
  );
}

export function Tiles({ plant, words }: { plant: Plant; words: Words }) {
  const { status, latency } = plant;
  const started = timeOf(status?.started);
  const up = status?.connections.up ?? 0;
  const total = status?.connections.total ?? 0;
  const seconds = (value: number) => secondsText(value, words.decimalComma);
  const rate = (value: number) =>
    Math.round(value).toLocaleString(words.locale);
  return (
    <dl class="tiles">
      <Tile
        name={words.tilePlcs}
        value={status === null ? "–" : String(up)}
        of={status === null ? "" : ` / ${total}`}
        severity={status === null || total === 0 ? "unknown" : up < total ? "bad" : "good"}
        detail={status === null ? "" : up < total ? words.tileDown(total - up) : words.tileAllUp}
      />
      <TagsTile plant={plant} words={words} />
      <Tile
        name={words.tileRead}
        value={latency?.mean == null ? "–" : seconds(latency.mean)}
        detail={
          // One reading tells no rate yet.
          latency === null
            ? ""
            : latency.mean === null
              ? words.tileNoReads
              : words.tileReadDetail(
                  latency.p95 === null ? null : seconds(latency.p95),
                  rate(latency.perSecond),
                )
        }
      />
      <Tile
        brief
        name={words.tileSessions}
        value={status === null ? "–" : String(status.opcua.sessions)}
        detail={status === null ? "" : words.tileSessionsDetail(status.opcua.sessions)}
      />
      <Tile
        brief
        name={words.tileUptime}
        value={started === null ? "–" : durationText(plant.clock.now() - started)}
        detail={started === null ? "" : new Date(started).toLocaleString(words.locale)}
      />
    </dl>
  );
}
