// Compares settings by content, because pages often create equal objects with each rendering.

const ids = new WeakMap<object, number>();
let count = 0;

/**
 * Returns a string that is the same for values with equal content. Functions and instances of classes are equal only if they are
 * identical, because their content is not visible.
 */
export const contentOf = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, name) {
    // Not the second parameter, which `toJSON` of an instance has replaced.
    const part = this[name];
    if (Object(part) !== part || isPlain(part as object)) return part;
    const id = ids.get(part as object) ?? ++count;
    ids.set(part as object, id);
    return `#${id}`;
  });

const isPlain = (part: object): boolean =>
  Array.isArray(part) || [Object.prototype, null].includes(Object.getPrototypeOf(part));
