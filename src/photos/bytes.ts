// Helpers for the bytes of files.

/** `kind` is zero or more for bytes that are kept, and negative for others. Ranges of the same kind may overlap. */
export type Range = readonly [start: number, end: number, kind: number];

/** Ends the work on a malformed file. */
export function fail(): never {
  throw new RangeError();
}

/** Returns bytes as text, with one character for each byte. */
export const textOf = (bytes: Uint8Array, start = 0, end = bytes.length): string =>
  String.fromCharCode(...bytes.subarray(start, end));

/**
 * Zeros all bytes that are not in a kept range. Returns false, and changes nothing, if ranges of different kinds overlap: what is
 * kept would have bytes of something else.
 */
export function keepOnly(bytes: Uint8Array, ranges: Range[]): boolean {
  ranges.sort(([a], [b]) => a - b);
  let last = 0;
  let lastKind = 0;
  for (const [start, end, kind] of ranges) {
    if (start < last && kind !== lastKind) return false;
    if (end > last) [last, lastKind] = [end, kind];
  }
  last = 0;
  for (const [start, end, kind] of ranges) {
    if (kind < 0) continue;
    if (start > last) bytes.fill(0, last, start);
    last = Math.max(last, end);
  }
  bytes.fill(0, last);
  return true;
}
