// The top line: what is wrong now, in words.
import type { ConnectionRow } from "../gateway/types.ts";
import { translated } from "../words/language.ts";
import type { Words } from "../words/en.ts";
import { durationText, timeOf } from "./age.ts";

export type Severity = "unknown" | "good" | "uncertain" | "bad";

export interface HeadlinePart {
  text: string;
  strong?: boolean;
}

export interface Headline {
  severity: Severity;
  parts: HeadlinePart[];
  /** For screen readers: says it once, without the seconds that count. */
  announcement: string;
}

export interface PlantState {
  /** Null until the gateway first answered. */
  connections: readonly ConnectionRow[] | null;
  /** Since when, in ms, the gateway does not answer; null: it does. */
  goneSince: number | null;
}

/** A connection that only just began, or waits for its first attempt, is no problem yet. */
const patience = 3000;

interface Issue {
  severity: Severity;
  rank: number;
  parts: HeadlinePart[];
  announcement: string;
}

/** Reasons say what happened and, after a colon, what to do. */
export function causeOf(reason: string): string {
  return reason.split(": ")[0] ?? reason;
}

function linkIssue(row: ConnectionRow, now: number, words: Words): Issue | null {
  const since = timeOf(row.since) ?? now;
  if (row.up || (row.state === "connecting" && row.connect_failures === 0 && now - since < patience)) {
    return null;
  }
  const duration = durationText(now - since);
  const condition =
    row.state === "stopped"
      ? words.stoppedConnection
      : row.connects === 0
        ? words.neverReached(duration)
        : words.unreachable(duration);
  // What to do about it stands on the card of the connection.
  const reason = row.reason ? causeOf(translated(row.reason, words)) : "";
  const next = timeOf(row.next_attempt);
  const parts: HeadlinePart[] = [
    { text: row.name, strong: true },
    { text: ` ${condition} (${reason ? `${reason}, ` : ""}${row.endpoint}).` },
  ];
  if (next !== null && next > now) {
    parts.push({ text: ` ${words.retryIn(durationText(next - now + 999))}` });
  } else if (row.state === "connecting" || row.state === "waiting") {
    parts.push({ text: ` ${words.retryNow}` });
  }
  return { severity: "bad", rank: 0, parts, announcement: words.announceUnreachable(row.name) };
}

function tagIssue(row: ConnectionRow, words: Words): Issue | null {
  const { bad, uncertain } = row.tags;
  if (!row.up || bad + uncertain === 0) {
    return null;
  }
  return {
    severity: bad > 0 ? "bad" : "uncertain",
    rank: bad > 0 ? 1 : 2,
    parts: [
      { text: row.name, strong: true },
      { text: `: ${words.tagsNotGood(bad, uncertain)}.` },
    ],
    announcement: words.announceTags(row.name),
  };
}

export function headlineOf(state: PlantState, now: number, words: Words): Headline {
  if (state.goneSince !== null) {
    return {
      severity: "bad",
      parts: [
        { text: words.gatewayGone(durationText(now - state.goneSince)), strong: true },
        { text: ` ${words.gatewayGoneHint}` },
      ],
      announcement: words.announceGone,
    };
  }
  if (state.connections === null) {
    return { severity: "unknown", parts: [{ text: words.loading }], announcement: "" };
  }
  const plcs = state.connections.length;
  if (plcs === 0) {
    return {
      severity: "uncertain",
      parts: [{ text: words.noConnections, strong: true }, { text: ` ${words.noConnectionsHint}` }],
      announcement: words.noConnections,
    };
  }
  const issues = state.connections
    .map((row) => linkIssue(row, now, words) ?? tagIssue(row, words))
    .filter((issue) => issue !== null)
    .sort((a, b) => a.rank - b.rank);
  const first = issues[0];
  if (first === undefined) {
    const good = state.connections.reduce((sum, row) => sum + row.tags.good, 0);
    return {
      severity: "good",
      parts: [{ text: words.allWell(plcs), strong: true }, { text: ` ${words.allWellTags(good)}` }],
      announcement: words.announceWell,
    };
  }
  const parts = [{ text: `${words.problems(plcs, issues.length)} ` }, ...first.parts];
  if (issues.length > 1) {
    parts.push({ text: ` ${words.andMore(issues.length - 1)}` });
  }
  return {
    severity: first.severity,
    parts,
    announcement: issues.map((issue) => issue.announcement).join(" "),
  };
}
