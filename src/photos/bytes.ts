// Helpers for the bytes of files.

/** The most parts of a file that are looked at: segments, chunks, boxes, items. Photos have some hundred. */
const MAX_PARTS = 5000;
/** The most parts of what is kept, which need some hundred bytes each. */
const MAX_KEPT_PARTS = 100_000;

/** `kind` is zero or more for bytes that are kept, and negative for others. Ranges of the same kind may overlap. */
export type Range = readonly [start: number, end: number, kind: number];

export type Bytes = Uint8Array<ArrayBuffer>;

/** Width and height, in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Ends the work on a malformed file. */
export function fail(): never {
  throw new RangeError();
}

/** Returns bytes as text, with one character for each byte. */
export const textOf = (bytes: Uint8Array, start = 0, end = bytes.length): string =>
  String.fromCharCode(...bytes.subarray(start, end));

export const bytesOf = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));

/** Returns a view that throws outside of the bytes. */
export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** Returns a function that reads integers of some bits, the highest bit first. It throws behind the last one. */
export function bitReader(content: ArrayLike<number>): (bits: number) => number {
  let at = 0;
  return (bits) => {
    let value = 0;
    for (let remainingBits = bits; remainingBits > 0; remainingBits--, at++)
      value = value * 2 + (((content[at >> 3] ?? fail()) >> (7 - (at & 7))) & 1);
    return value;
  };
}

/** Returns a function that throws when it is called too often. */
export function countTo(maxCount = MAX_PARTS): () => void {
  let remainingCount = maxCount;
  return () => {
    if (remainingCount-- <= 0) fail();
  };
}

/** Collects the parts of a file that are kept. Neighbors become one part: their number does not grow with that of their pieces. */
export class KeptParts {
  readonly parts: Bytes[] = [];
  readonly #source: Bytes;
  readonly #count = countTo(MAX_KEPT_PARTS);
  /** Where the last part ends, if it is one of the source. */
  #end = -1;

  constructor(source: Bytes) {
    this.#source = source;
  }

  /** Keeps a range of the source. */
  keep(start: number, end: number): void {
    if (start === end) return;
    const lastPart = this.#end === start ? this.parts.pop() : undefined;
    if (!lastPart) this.#count();
    this.parts.push(this.#source.subarray(start - (lastPart?.length ?? 0), end));
    this.#end = end;
  }

  /** Adds other bytes. */
  add(bytes: Bytes): void {
    this.#count();
    this.parts.push(bytes);
    this.#end = -1;
  }
}

/**
 * Zeros all bytes that are not in a kept range. Returns false, and changes nothing, if ranges of different kinds overlap: what is
 * kept would have bytes of something else.
 */
export function keepOnly(bytes: Uint8Array, ranges: Range[]): boolean {
  ranges.sort(([a], [b]) => a - b);
  let lastEnd = 0;
  let lastKind = 0;
  for (const [start, end, kind] of ranges) {
    if (start < lastEnd && kind !== lastKind) return false;
    if (end > lastEnd) [lastEnd, lastKind] = [end, kind];
  }
  lastEnd = 0;
  for (const [start, end, kind] of ranges) {
    if (kind < 0) continue;
    if (start > lastEnd) bytes.fill(0, lastEnd, start);
    lastEnd = Math.max(lastEnd, end);
  }
  bytes.fill(0, lastEnd);
  return true;
}
