// The log: lines of JSON for the start, for each request, and for each error of the background work. Has no tokens, URLs of files,
// names, users and session headers.
import { fileURLToPath } from 'node:url';

export type Part = 'hook' | 'store' | 'database';

interface Origin {
  part: Part;
  /** What was called, such as `onCompleted` or `DeleteObject chunks/`. */
  call: string;
}
const origins = new WeakMap<object, Origin>();

/** Remembers where an error of `work` comes from, unless a part that `work` has called does. */
export async function within<T>(part: Part, call: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = thrown instanceof Object ? thrown : new Error('something else than an error was thrown');
    if (!origins.has(error)) origins.set(error, { part, call });
    throw error;
  }
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** The first line of code that is not of a package or of Node. */
function placeOf(stack: string): string | undefined {
  const frames = stack.replaceAll(FOLDER, '/').split('\n');
  const own = frames.filter((frame) => /^ +at /.test(frame) && !/node:|\/node_modules\//.test(frame));
  return /\/([\w.-]+:\d+):\d+/.exec(own.join('\n'))?.[1];
}

/** What the log says of an error. Only messages of the store and of connections to the database have no values of users. */
export function kindOf(error: Error) {
  const { name, cause, stack = '', message } = error;
  const code = (error as { code?: string }).code ?? (cause as { code?: string } | undefined)?.code;
  const isSafe = name === 'StoreError' || /^08/.test(code ?? '');
  const said = isSafe ? message : undefined;
  return { error: name, code, ...origins.get(error), at: placeOf(stack), message: said };
}

/** What the line of a request says of its response: the number of files of a batch, and how many answers begin with which digit. */
export const notes = new WeakMap<Response, object>();

export const log = (line: object) => console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));
