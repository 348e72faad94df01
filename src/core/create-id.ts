// Ids of uploads and rejections.

import type { FileId } from './types.ts';

/** Random. `crypto.randomUUID` exists in secure contexts only. */
export function createId(): FileId {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return `f${high.toString(36)}${low.toString(36)}`;
}
