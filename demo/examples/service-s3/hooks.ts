// What you write: who may upload what, what happens with a file, and which files are refused. And the keys of the store.
import { type Keys, settings } from './settings.ts';

export interface Right {
  /** At most 100 characters. */
  user: string;
  /**
   * Bytes that the user may still upload. Count finished files when `onCompleted` reports them; unfinished ones are counted for
   * you.
   */
  freeBytes: number;
  maxFileBytes: number;
}

export interface CompletedFile {
  /** The same in each repetition. */
  id: string;
  user: string;
  folder: string;
  name: string;
  sizeBytes: number;
  /** Key of the object in the bucket. */
  key: string;
}

const { DEMO_TOKEN = '', DEMO_FOLDER = '', NODE_ENV } = process.env;
// Delete this check when you have replaced `authorize`. Until then, the service runs only for a trial.
if (DEMO_TOKEN.length < 32 || !DEMO_FOLDER || NODE_ENV === 'production')
  throw new Error('Write authorize() in hooks.ts; for a trial, fill in DEMO_TOKEN and DEMO_FOLDER');

/**
 * Returns what the user of this request may do, 401 if the token is not valid, or 403 if the user may not upload to the folder. Is
 * called twice for each request: without `folder` before the body is read, so that strangers cost little, and then with it. A batch
 * is a `batch` before its body is read, then an `open` (and a `presign`, if it has chunks) or a `commit` for each of its folders.
 */
export async function authorize(
  request: Request,
  { folder }: { operation: 'open' | 'presign' | 'commit' | 'cancel' | 'batch'; folder: string | undefined },
): Promise<Right | 401 | 403> {
  const token = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token !== DEMO_TOKEN) return 401;
  if (folder !== undefined && folder !== DEMO_FOLDER) return 403;
  return { user: 'demo-user', freeBytes: 500 * 2 ** 30, maxFileBytes: 50 * 2 ** 30 };
}

/** Is called at least once for each file, also after a crash, until it resolves. A repetition has the same `id`. */
export async function onCompleted(_file: CompletedFile): Promise<void> {}

/**
 * Returns why an assembled file is refused, as a sentence; then it is deleted. `undefined` accepts it. A place for a virus scan.
 */
export async function refuse(_file: CompletedFile): Promise<string | undefined> {
  return undefined;
}

const { keys, chunkKeys } = settings.store;
// Delete this check, too, if you replace `credentials`.
if (!keys) throw new Error('Wrong settings:\nS3_ACCESS_KEY_ID must be the access key of the store.');

/**
 * Returns the keys that sign requests of the service, or `urls` for browsers. Is called for each signature, so keep keys that you
 * have read: `keptKeys` of keys.ts does so. A URL ends before its key.
 */
export const credentials = async (use: 'service' | 'urls'): Promise<Keys> =>
  use === 'urls' && chunkKeys ? chunkKeys : keys;
