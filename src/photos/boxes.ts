// Reads boxes of ISO files: HEIC, AVIF, MP4, QuickTime. ISO/IEC 14496-12, 4.2.

import { textOf, viewOf } from './bytes.ts';

export interface Box {
  readonly type: string;
  readonly start: number;
  /** Where its content starts and ends. */
  readonly from: number;
  readonly to: number;
}

/** The most bytes of the start of a box. */
export const BOX_HEAD_BYTES = 16;

/**
 * Returns the box whose first bytes these are: it starts at `start`, and lies in something that ends at `end`. Returns `undefined`
 * if it is malformed.
 */
export function boxAt(head: Uint8Array, start: number, end: number): Box | undefined {
  if (head.length < 8) return undefined;
  const view = viewOf(head);
  const size32 = view.getUint32(0);
  const isLarge = size32 === 1;
  if (isLarge && head.length < BOX_HEAD_BYTES) return undefined;
  // Zero is the rest.
  const size = isLarge ? Number(view.getBigUint64(8)) : size32 || end - start;
  const from = start + (isLarge ? BOX_HEAD_BYTES : 8);
  const to = start + size;
  return to < from || to > end ? undefined : { type: textOf(head, 4, 8), start, from, to };
}
