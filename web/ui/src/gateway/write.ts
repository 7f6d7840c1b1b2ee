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
  | { kind: "token_wrong"; detail: string; hint: string }
  /** The gateway itself did not answer. */
  | { kind: "no_answer" };

/** Longer than the gateway waits for a device: it says itself when the outcome is unknown. */
const patience = 20_000;

interface Said {
  detail?: string;
  reason?: string | null;
  hint?: string;
  bytes_written?: number;
}

/** @param token null: none is known, the gateway says whether it wants one. */
export async function writeValue(
  path: string,
  value: TagValue,
  token: string | null,
): Promise<WriteOutcome> {
  let response: Response;
  try {
    response = await fetch(`/api/v1/values/${pathInUrl(path)}`, {
      method: "PUT",
      headers: {
        "Content-Type": "application/json",
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ value }),
      cache: "no-store",
      signal: AbortSignal.timeout(patience),
    });
  } catch {
    return { kind: "no_answer" };
  }
  if (response.ok) {
    return { kind: "written" };
  }
  return outcomeOf(await problemOf(response), token !== null);
}

/** What a problem says about the value: changed, not changed, or nobody knows. */
export function outcomeOf(problem: Problem & Said, hadToken: boolean): WriteOutcome {
  const detail = problem.detail ?? problem.title;
  const hint = problem.hint ?? "";
  if (problem.status === 401) {
    return hadToken ? { kind: "token_wrong", detail, hint } : { kind: "token_missing" };
  }
  return { kind: "refused", detail, hint };
}
