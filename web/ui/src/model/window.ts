// Which rows of a long table exist at a scroll position.

export interface Window {
  first: number;
  /** One past the last. */
  end: number;
}

export function visibleWindow(
  scrollTop: number,
  height: number,
  rowHeight: number,
  rows: number,
  margin: number,
): Window {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - margin);
  const end = Math.min(rows, Math.ceil((scrollTop + height) / rowHeight) + margin);
  return { first: Math.min(first, end), end };
}
