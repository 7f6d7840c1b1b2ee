// One write and what came of it, never guessed.
import { pathInUrl, problemOf } from "./rest.ts";
import type { Problem, TagValue } from "./types.ts";

export type WriteOutcome =
  | { kind: "written" }
  /** Refused by the device or the gateway: nothing was changed. */
  | { kind: "refused"; detail: string; hint: string }
  | { kind: "not_sent"; detail: string; hint: string }
  /** Sent, and nobody knows whether the device took it. */
  | { kind: "unknown"; detail: string; hint: string }
  | { kind: "partial"; bytes: number; detail: string; hint: string }
  | { kind: "token_missing" }
  | { kind: "token_wrong" }
  /** The gateway itself did not answer. */
  | { kind: "no_answer" };

/** Longer than the gateway waits for a device: it says itself when the outcome is unknown. */
const patience = 20_000;

/** What the gateway says about a write: a problem, or the row of an accepted one. */
export interface WriteAnswer extends Partial<Problem> {
  outcome?: string;
  reason?: string | null;
  bytes_written?: number;
}

/** @param token null: none is known, the gateway says whether it wants one. */
export async function writeValue(
  path: string,
  value: TagValue,
  token: string | null,
): Promise<WriteOutcome> {
  try {
    const response = await fetch(`/api/v1/values/${pathInUrl(path)}`, {
      method: "PUT",
      headers: {
        "Content-Type": "application/json",
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ value }),
      cache: "no-store",
      signal: AbortSignal.timeout(patience),
    });
    const answer = (await problemOf(response)) as WriteAnswer;
    return outcomeOf(response.status, answer, token !== null);
  } catch {
    return { kind: "no_answer" };
  }
}

/** What an answer says about the value: changed, not changed, or nobody knows. */
export function outcomeOf(status: number, answer: WriteAnswer, hadToken: boolean): WriteOutcome {
  const said = {
    detail: answer.detail ?? answer.reason ?? answer.title ?? `HTTP ${status}`,
    hint: answer.hint ?? "",
  };
  switch (answer.outcome) {
    case "not_sent":
    case "unknown":
      return { kind: answer.outcome, ...said };
    case "partial":
    case "partly_written":
      return { kind: "partial", bytes: answer.bytes_written ?? 0, ...said };
    case undefined:
      break;
    default:
      return status < 300 ? { kind: "written" } : { kind: "refused", ...said };
  }
  if (status < 300) {
    return { kind: "written" };
  }
  if (status === 401) {
    return { kind: hadToken ? "token_wrong" : "token_missing" };
  }
  // Without the word for it: the gateway was busy before it sent, or waited in vain after.
  return { kind: status === 503 ? "not_sent" : status === 504 ? "unknown" : "refused", ...said };
}
