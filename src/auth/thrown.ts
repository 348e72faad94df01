// Describes what a function of the page threw, without its text, which may contain a token: the kind, and the place in the page's
// code. In doubt, there is no place. Describes in the same way what it returned instead of a token.

import { record } from './calls.ts';

/** V8 writes the text of an error before the lines of its stack. Other engines write only the lines. */
const HAS_TEXT = String(new Error('text').stack).startsWith('Error: text');

const PLAIN_WORD = /^[A-Za-z]{1,32}$/;
/** A line of a stack in V8: `    at name (url:line:column)`, or without the name and the parentheses, perhaps after `async`. */
const LINE_V8 = /^ {4}at (?:async |.* \()?(https?:\/\/[^\s()]+):(\d{1,7}):(\d{1,7})\)?$/;
/** A line of a stack in other engines: `name@url:line:column`. */
const LINE = /^.*@(https?:\/\/[^\s()]+):(\d{1,7}):(\d{1,7})$/;

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

/** Returns the lines of a stack without the text of the error; none if they may contain it. */
function linesOf(stack: string, message: string, hasText: boolean): string[] {
  const [first = '', ...rest] = stack.split('\n');
  if (!hasText) return message !== '' && stack.includes(message) ? [] : [first, ...rest];
  // A text of several lines may look like a stack.
  const name = message === '' ? first : first.slice(0, -`: ${message}`.length);
  const isText = first === (message === '' ? name : `${name}: ${message}`) && PLAIN_WORD.test(name);
  return isText ? rest : [];
}

/**
 * Returns the first place with a URL in the stack of an error, as `url:line:column`; without the query, the fragment and the names
 * of functions.
 */
export function placeOf(thrown: unknown, hasText = HAS_TEXT): string | undefined {
  const stack = read(thrown, 'stack');
  const message = read(thrown, 'message');
  if (typeof stack !== 'string' || typeof message !== 'string') return undefined;
  for (const line of linesOf(stack, message, hasText)) {
    if (hasText && !line.startsWith('    at ')) return undefined;
    const [, url, row, column] = (hasText ? LINE_V8 : LINE).exec(line) ?? [];
    if (!url || !URL.canParse(url)) continue;
    const { origin, pathname } = new URL(url);
    return `${origin}${pathname}:${row}:${column}`;
  }
  return undefined;
}

/** Says what a page has returned instead of a token, and never a part of it. */
export function insteadOfToken(returned: unknown): string {
  if (typeof returned === 'string') {
    const text = returned.trimStart();
    if (text === '') return 'Got an empty text';
    if (text.startsWith('<')) return 'Got an HTML page: the session of your site may have ended';
    if (text.startsWith('{')) return 'Got JSON as a text: return the object';
    if (text.startsWith('Bearer ')) return 'Got a text that begins with "Bearer": return the token alone';
    return 'Got a text that is no token';
  }
  if (returned instanceof Response) return 'Got a Response: return response.json() or response.text()';
  if (typeof returned !== 'object') return `Got ${typeof returned}: does getToken return its result?`;
  if ('accessToken' in record(returned)) return 'Got accessToken: return { token: result.accessToken }';
  return 'Got an object without a valid token in token or access_token';
}
