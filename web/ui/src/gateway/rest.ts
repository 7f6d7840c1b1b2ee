// Requests to the gateway that served this page.
import type { List, Problem } from "./types.ts";

/** The gateway answered, and refuses. */
export class RefusedError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }
}

/** How long an answer may take before the gateway counts as gone, in ms. */
const patience = 8000;

export async function getJson<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  const limits = [AbortSignal.timeout(patience), ...(signal ? [signal] : [])];
  const response = await fetch(path, {
    headers: { Accept: "application/json" },
    cache: "no-store",
    signal: AbortSignal.any(limits),
  });
  if (!response.ok) {
    throw new RefusedError(await problemOf(response));
  }
  return (await response.json()) as Answer;
}

export async function problemOf(response: Response): Promise<Problem> {
  try {
    return (await response.json()) as Problem;
  } catch {
    return { type: "about:blank", title: response.statusText, status: response.status };
  }
}

const pageSize = 1000;

/** All rows of a list, page by page as they come. */
export async function* pagesOf<Row>(path: string, signal: AbortSignal): AsyncGenerator<Row[]> {
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: List<Row> = await getJson(`${path}?limit=${pageSize}${at}`, signal);
    yield page.items;
    cursor = page.next;
  } while (cursor !== null);
}

/** A tag's path in a URL: slashes between names stay, everything else is encoded. */
export function pathInUrl(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
