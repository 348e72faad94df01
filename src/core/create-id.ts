// Ids of uploads and rejections.

import type { FileId } from './types.ts';

/** Returns a random id. Does not use `crypto.randomUUID`, which exists only in secure contexts. */
export function createId(): FileId {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return `f${high.toString(36)}${low.toString(36)}`;
}
