// A list of paths that is too long for one message.

/** Lists of paths whose characters, escaped for JSON, stay below a size; never an empty one. */
export function inParts(paths: string[], size: number): string[][] {
  const parts: string[][] = [];
  let left = 0;
  for (const path of paths) {
    // A character is at most three bytes of UTF-8; quotes and comma come on top.
    const needed = 3 * path.length + 3;
    if (needed > left || parts.length === 0) {
      parts.push([]);
      left = size;
    }
    parts.at(-1)?.push(path);
    left -= needed;
  }
  return parts;
}
