// Compares settings by content, because pages often create equal objects with each rendering.

const functionIds = new WeakMap<object, number>();
let functionCount = 0;

/** Returns a string that is the same for values with equal content. Functions are equal only if they are identical. */
export const contentOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'function') return part;
    if (!functionIds.has(part)) functionIds.set(part, ++functionCount);
    return `function ${functionIds.get(part)}`;
  });
