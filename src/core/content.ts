// Compares settings by content, because pages often create equal objects with each rendering.

import { createId } from './create-id.ts';

const functionIds = new WeakMap<object, string>();

/** Returns a string that is the same for values with equal content. Functions are equal only if they are identical. */
export const contentOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'function') return part;
    if (!functionIds.has(part)) functionIds.set(part, createId());
    return `function ${functionIds.get(part)}`;
  });
