// The kind of what a function of the page threw, without its text, which may contain a token.

/** The name of an error that may be shown. */
export const PLAIN_WORD = /^[A-Za-z]{1,32}$/;
/** Returns a field of what was thrown; `undefined` if reading it throws. */
export function read(thrown: unknown, field: 'name' | 'message' | 'stack' | 'accessToken'): unknown {
  try {
    return (Object(thrown) as Record<typeof field, unknown>)[field];
  } catch {
    return undefined;
  }
}

/** Returns the name of an error, or the type of a value that is no error. A name that is no plain word is not returned. */
export function kindOf(thrown: unknown): string {
  const name = read(thrown, 'name');
  return typeof name === 'string' && PLAIN_WORD.test(name) ? name : typeof thrown;
}
