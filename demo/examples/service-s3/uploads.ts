// The upload operations as a function from `Request` to `Response`. docs/openapi.json has their bodies.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import { type createFiles, keyOf, WrongChunks } from './files.ts';
import { authorize, type Right } from './hooks.ts';
import { within } from './log.ts';
import { createGate, must, reply } from './requests.ts';
import { digestOf, type Session, type Sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { forEach, presignPut, sizeOf } from './store.ts';

const MIN_PART_BYTES = 5 * 2 ** 20;
// Limits of one user. Those of a day count all files that were started, canceled ones too.
const LIMITS = { unfinishedFiles: 1000, filesPerDay: 20_000, bytesPerDay: 500 * 2 ** 30 };
/** A commit that takes longer is answered with 202, and the browser repeats it. */
const COMMIT_MS = 20_000;

type Body = Record<string, unknown>;
type Operation = 'open' | 'presign' | 'commit' | 'cancel';
const OPERATIONS: Record<string, Operation> = {
  'POST /files/uploadsession': 'open',
  'POST /files/uploadsession/chunks': 'presign',
  'POST /files/uploadsession/commit': 'commit',
  'DELETE /files/uploadsession': 'cancel',
};
export const operationOf = (request: Request): Operation | undefined =>
  OPERATIONS[`${request.method} ${/\/files\/.*$/.exec(new URL(request.url).pathname)?.[0]}`];
/** Enough for 100 chunks, or for a name with only escaped characters; and for the 10,000 chunks of a commit. */
const MAX_BODY_BYTES = { open: 64 * 2 ** 10, presign: 64 * 2 ** 10, commit: 1.5 * 2 ** 20 };

const HASH = /^[0-9a-f]{64}$/;
/**
 * Emoji and Persian words need some invisible characters. Those that change the direction or make a line could hide an extension.
 */
const NAME = /^[^/\\\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\ufeff]{1,255}$/u;
const TEXT = /^[^\p{C}]{1,255}$/u;
const isText = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isHashes = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => isText(text, HASH));
const receiptOf = (id: string, hash: string) =>
  createHmac('sha256', settings.receiptKey)
    .update(id + hash)
    .digest('hex');
const isSame = (a: string, b: string) => timingSafeEqual(Buffer.from(a), Buffer.from(b));

export function createUploads(sessions: Sessions, files: ReturnType<typeof createFiles>, rates?: Database) {
  const gate = createGate(rates);

  async function open({ user, freeBytes, maxFileBytes }: Right, folder: string, body: Body) {
    const { file_name: name, file_size: sizeBytes } = body;
    must(isText(name, NAME) && !/^\.\.?$/.test(name), 400, 'file_name must be a name');
    must(isCount(sizeBytes), 400, 'file_size must be a whole number');
    must(sizeBytes <= maxFileBytes, 413, `a file has at most ${maxFileBytes} bytes`);
    const [id, fileId] = [randomBytes(24), randomBytes(18)].map((bytes) => bytes.toString('base64url'));
    const session = { id: `${id}`, fileId: `${fileId}`, user, folder, name, sizeBytes };
    const fresh: Session = { ...session, state: 'open', digest: '', sentence: '' };
    const opened = await sessions.open(fresh, { ...LIMITS, freeBytes });
    must(opened !== 'many', 429, 'too many unfinished uploads', { 'retry-after': '60' });
    must(opened !== 'day', 429, 'too many files or bytes in a day', { 'retry-after': '3600' });
    must(opened !== 'full', 507, 'the user has no space left');
    return reply(201, { session_id: id });
  }

  async function presign({ id, user, sizeBytes, state }: Session, { hashes, sizes }: Body) {
    must(isHashes(hashes) && hashes.length > 0, 400, 'hashes must be SHA-256 in lower-case hex');
    must(hashes.length <= 100, 413, 'more than 100 hashes');
    must(Array.isArray(sizes) && sizes.length === hashes.length, 400, 'set profile.sendSizes');
    const isPossible = (size: unknown) => isCount(size) && size > 0 && size <= sizeBytes;
    must(sizes.every(isPossible), 400, 'a size is not possible');
    const given = new Map<string, number>(hashes.map((hash, index) => [hash, sizes[index]]));
    const isOnce = hashes.every((hash, index) => given.get(hash) === sizes[index]);
    must(isOnce, 400, 'a chunk has two sizes');
    // A file that changes during the upload is sent again in the same session.
    const most = 100 + Math.ceil((2 * sizeBytes) / MIN_PART_BYTES);
    // The session of a finished file takes no more bytes: its receipts are for a repeated commit.
    const isOver = state !== 'open' && state !== 'committing';
    const isAdded = isOver || (await sessions.addChunks(id, given, most, 2 * sizeBytes));
    must(isAdded, 413, 'more chunks than the file can need, or another size than before');
    const entries = await forEach(hashes, async (hash) => {
      const size = given.get(hash) ?? 0;
      const key = keyOf('chunks', user, hash);
      const isStored = isOver || (await sizeOf(key)) === size;
      const ticket = isStored ? { upload_url: null } : await presignPut(key, hash, size);
      return [hash, { receipt: receiptOf(id, hash), ...ticket }];
    });
    return reply(200, { chunks: Object.fromEntries(entries) });
  }

  async function commit(session: Session, { hashes, receipts }: Body) {
    must(isHashes(hashes) && hashes.length <= 10_000, 400, 'hashes must be at most 10,000 SHA-256');
    must(isHashes(receipts) && receipts.length === hashes.length, 400, 'send one receipt for each hash');
    const isProven = hashes.every((hash, at) => isSame(receiptOf(session.id, hash), receipts[at] ?? ''));
    must(isProven, 400, 'a receipt is of another session or chunk');
    const digest = digestOf(hashes);
    const mustBeSame = (known: Session) => {
      const isKnown = known.state === 'open' || known.digest === digest;
      must(isKnown, 422, 'the upload was committed with other chunks');
    };
    mustBeSame(session);
    let found: Session | undefined = session;
    if (session.state === 'open' || session.state === 'committing') {
      const work = files.commit(session, hashes);
      // If the response is sent before the work ends, the work continues. If it fails then, the next commit tries it again.
      work.catch(() => undefined);
      await Promise.race([work, sleep(COMMIT_MS, undefined, { ref: false })]);
      found = await sessions.find(session.id);
      // Another commit may have been first.
      if (found) mustBeSame(found);
    }
    must(found?.state !== 'refused', 422, found?.sentence ?? '');
    const { fileId: file_id, name: file_name, sizeBytes: file_size, state } = found ?? session;
    if (state !== 'done' && state !== 'delivered') return reply(202, {}, { 'retry-after': '2' });
    return reply(200, { file_id, file_name, file_size });
  }

  async function cancel({ id }: Session) {
    must(await sessions.move(id, '', 'expired'), 409, 'the upload is being committed, or is done');
    return new Response(null, { status: 204 });
  }

  async function rightOf(request: Request, operation: Operation, folder: string | undefined): Promise<Right> {
    const right = await within('hook', 'authorize', () => authorize(request, { operation, folder }));
    must(right !== 401, 401, 'the token is missing or wrong', { 'www-authenticate': 'Bearer' });
    must(right !== 403, 403, 'the user may not upload to this folder');
    // A key in the store has at most 1,024 bytes.
    must(right.user.length <= 100, 500, 'authorize() returned a user with more than 100 characters');
    return right;
  }

  return async (request: Request): Promise<Response> => {
    const operation = operationOf(request);
    // Without `debuginfo`, the uploader says that the page has a wrong URL.
    if (!operation) throw reply(404, { error: 'no such operation' });
    // Before the body is read and the database is asked: strangers must cost little.
    const { user } = await rightOf(request, operation, undefined);
    return gate.pass(user, async () => {
      const body = operation === 'cancel' ? {} : await gate.read(request, user, MAX_BODY_BYTES[operation]);
      if (operation === 'open') {
        const { parent_id: folder } = body;
        must(isText(folder, TEXT), 400, 'parent_id must be a text');
        return open(await rightOf(request, operation, folder), folder, body);
      }
      const id = request.headers.get('x-service-uploadsession') ?? '';
      const session = /^[\w-]{32}$/.test(id) ? await sessions.find(id) : undefined;
      must(session?.user === user, 404, 'no such upload session of this user');
      await rightOf(request, operation, session.folder);
      if (operation === 'presign') return presign(session, body);
      return operation === 'commit' ? commit(session, body) : cancel(session);
    });
  };
}

/** The response to an error. */
export function replyTo(error: unknown): Response {
  // Several requests may wait for the same commit, and a response can be sent once.
  if (error instanceof Response) return error.clone();
  if (error instanceof WrongChunks) {
    const { message: debuginfo, missing } = error;
    return missing.length > 0 ? reply(409, { debuginfo, missing }) : reply(422, { debuginfo });
  }
  const { isFull, isPassing, code } = error as { isFull?: boolean; isPassing?: boolean; code?: string };
  // 53100: the disk of the database is full.
  if (isFull || code === '53100') return reply(507, { debuginfo: 'the store or the database is full' });
  const debuginfo =
    isPassing === false
      ? 'the store refuses a request of the service: see its log'
      : 'the store or the database is not available';
  return reply(503, { debuginfo }, { 'retry-after': '5' });
}
