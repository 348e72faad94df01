// Describes what a function of the page threw, without its text, which may contain a token.

import { record } from './calls.ts';

const PLAIN_WORD = /^[A-Za-z]{1,32}$/;

/** Returns a field of what was thrown; `undefined` if reading it throws. */
function read(thrown: unknown, field: 'name' | 'message' | 'stack'): unknown {
  try {
    return record(thrown)[field];
  } catch {
    return undefined;
  }
}

/** Returns the name of an error, or the type of a value that is no error. A name that is no plain word is not returned. */
export function kindOf(thrown: unknown): string {
  const name = read(thrown, 'name');
  return typeof name === 'string' && PLAIN_WORD.test(name) ? name : typeof thrown;
}
