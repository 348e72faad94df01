// Messages for developers that are loaded on demand, since pages that work never need them (`explain.ts`). They quote
// nothing that a page threw or returned, because it may contain a token. In doubt, an error has no place. Without imports: a module
// that is shared would be a file of its own for every page.

const PLAIN_WORD = /^[A-Za-z]{1,32}$/;
/** V8 writes the text of an error before the lines of its stack. Other engines write only the lines. */
const HAS_TEXT = String(new Error('text').stack).startsWith('Error: text');

/** A line of a stack in V8: `    at name (url:line:column)`, or without the name and the parentheses, perhaps after `async`. */
const LINE_V8 = /^ {4}at (?:async |.* \()?(https?:\/\/[^\s()]+):(\d{1,7}):(\d{1,7})\)?$/;
/** A line of a stack in other engines: `name@url:line:column`. */
const LINE = /^.*@(https?:\/\/[^\s()]+):(\d{1,7}):(\d{1,7})$/;

/** Returns a field of what was thrown; `undefined` if reading it throws. */
function read(thrownValue: unknown, field: 'name' | 'message' | 'stack' | 'accessToken'): unknown {
  try {
    return (Object(thrownValue) as Record<typeof field, unknown>)[field];
  } catch {
    return undefined;
  }
}

/** Returns the name of an error, or the type of a value that is no error. A name that is no plain word is not returned. */
export function kindOf(thrownValue: unknown): string {
  const name = read(thrownValue, 'name');
  return typeof name === 'string' && PLAIN_WORD.test(name) ? name : typeof thrownValue;
}

/** Returns the lines of a stack without the text of the error; none if they may contain it. */
function linesOf(stack: string, message: string, hasText: boolean): string[] {
  const [firstLine = '', ...otherLines] = stack.split('\n');
  if (!hasText) return message !== '' && stack.includes(message) ? [] : [firstLine, ...otherLines];
  // A text of several lines may look like a stack.
  const name = message === '' ? firstLine : firstLine.slice(0, -`: ${message}`.length);
  const isText = firstLine === (message === '' ? name : `${name}: ${message}`) && PLAIN_WORD.test(name);
  return isText ? otherLines : [];
}

/**
 * Returns the first place with a URL in the stack of an error, as `url:line:column`; without the query, the fragment and the names
 * of functions.
 */
export function placeOf(thrownValue: unknown, hasText = HAS_TEXT): string | undefined {
  const stack = read(thrownValue, 'stack');
  const message = read(thrownValue, 'message');
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

/** Says which error `getToken` has thrown, and where. */
export function failureOf(thrownValue: unknown): string {
  const place = placeOf(thrownValue);
  return ` (${kindOf(thrownValue)}${place === undefined ? '' : ` at ${place}`})`;
}

/** Says what a page has returned instead of a token, and never a part of it. */
export function insteadOfToken(result: unknown): string {
  if (typeof result === 'string') {
    const text = result.trimStart();
    if (text === '') return 'Got an empty text';
    if (text.startsWith('<')) return 'Got an HTML page: the session of your site may have ended';
    if (text.startsWith('{')) return 'Got JSON as a text: return the object';
    if (text.startsWith('Bearer ')) return 'Got a text that begins with "Bearer": return the token alone';
    return 'Got a text that is no token';
  }
  if (result instanceof Response) return 'Got a Response: return response.json() or response.text()';
  if (typeof result !== 'object') return `Got ${typeof result}: getToken must return the token`;
  if (read(result, 'accessToken') !== undefined)
    return 'Got accessToken: return { token: result.accessToken }';
  return 'Got an object without a valid token in token or access_token';
}

/** What to pass instead of an object of this type. */
const PASS: Readonly<Record<string, string>> = {
  HTMLInputElement: 'Pass input.files.',
  FileList: 'Pass it without a list around it.',
  DataTransfer: 'Pass dataTransfer.files.',
  DragEvent: 'Pass event.dataTransfer.files.',
  ClipboardEvent: 'Pass event.clipboardData.files.',
  Event: 'Pass event.target.files.',
  InputEvent: 'Pass event.target.files.',
  Blob: 'Pass new File([blob], name).',
  Promise: 'Await it.',
  FileSystemFileHandle: 'Pass await handle.getFile().',
  Object: 'Pass a File, or { file, relativePath }.',
};

/** Says what a page has passed instead of a file, and what to pass. */
export function insteadOfFile(value: unknown): string {
  const isEmpty = value === null || value === undefined;
  const type = typeof value === 'object' ? Object.prototype.toString.call(value).slice(8, -1) : typeof value;
  // A page can give its objects any type.
  const kind = PLAIN_WORD.test(type) ? type : 'Object';
  const article = /^(?:[AEIO]|HTML)/i.test(kind) ? 'an ' : 'a ';
  return `Not a file, but ${isEmpty ? value : article + kind}. ${(!isEmpty && PASS[kind]) || ''}`.trimEnd();
}

/** Says what to check if an origin gives no response. `addedNames` are the headers that a script of the page has added. */
export function whyNoAnswer(
  { protocol, port }: URL,
  setting: string,
  addedNames?: readonly string[],
): string {
  const scheme = protocol === 'https:' && port !== '' ? ' Is it https there, or http?' : '';
  return `Check ${setting}, CORS and connect-src.${scheme}${addedNames ? hintOf(addedNames) : ''}`;
}

/** Says which headers a script of the page has added, or that it may have. */
function hintOf(addedNames: readonly string[]): string {
  if (addedNames.length > 0) return ` A script of this page adds the header ${addedNames.join(', ')}.`;
  const isNative = Function.prototype.toString.call(fetch).includes('[native code]');
  return isNative ? '' : ' A script of this page has replaced fetch: does it add headers?';
}
