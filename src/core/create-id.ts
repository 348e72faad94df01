// Ids of uploads and rejections. They are random and contain nothing of the file.

import type { FileId } from './types.ts';

/** Random, and also where `crypto.randomUUID` is not to be had (no secure context). */
export function createId(): FileId {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return `f${high.toString(36)}${low.toString(36)}`;
}
