// When two settings say the same: pages make new objects of the same content for each rendering. It knows no setting.

const functionIds = new WeakMap<object, number>();
let functionCount = 0;

/** The same text for values of the same content; functions count as the same only if they are. */
export const contentOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'function') return part;
    if (!functionIds.has(part)) functionIds.set(part, ++functionCount);
    return `function ${functionIds.get(part)}`;
  });
