// The upload operations as a function from `Request` to `Response`. hono.ts, express.ts and next.ts connect it to a server.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { assemble, forEach, presignPut, sizeOf } from './store.ts';

const { DEMO_TOKEN = '', DEMO_FOLDER, RECEIPT_KEY = '', NODE_ENV } = process.env;
if (RECEIPT_KEY.length < 32) throw new Error('RECEIPT_KEY needs 32 random characters');
// Replace these two functions and delete the check: the first returns the user of a token, the second checks the user's right to a
// folder. Until then, the service runs only for a trial, with a token and a folder of your own.
if (DEMO_TOKEN.length < 32 || !DEMO_FOLDER || NODE_ENV === 'production')
  throw new Error('Replace checkToken and mayWrite; for a trial, fill in DEMO_TOKEN and DEMO_FOLDER');
const checkToken = async (token: string) => (token === DEMO_TOKEN ? 'demo-user' : undefined);
const mayWrite = async (_user: string, folder: string) => folder === DEMO_FOLDER;

const DAY_MS = 86_400_000;
const GIB = 2 ** 30;
const MIN_PART_BYTES = 5 * 2 ** 20;
// Limits of one user. `bytes` counts all files that were started, canceled ones too. Add a limit for all files of a user.
const MAX_FILE_BYTES = 50 * GIB;
const MAX_OPEN_SESSIONS = 1000;
const RATES = { requests: { most: 3000, ms: 60_000 }, bytes: { most: 500 * GIB, ms: DAY_MS } };

interface Session {
  user: string;
  name: string;
  sizeBytes: number;
  expiresAt: number;
  chunkSizes: Map<string, number>;
  commit?: { hashes: string; result: Promise<object> };
}
interface Account {
  sessions: Map<string, Session>;
  used: { [rate in keyof typeof RATES]?: { amount: number; endsAt: number } };
}
// In memory: lost with the process, and not shared between processes. Put sessions and finished files into your database.
const accounts = new Map<string, Account>();
type Body = Record<string, unknown>;
const HASH = /^[0-9a-f]{64}$/;
const reply = (status: number, body: object, headers = {}) => Response.json(body, { status, headers });
function must(condition: unknown, status: number, debuginfo: string, headers = {}): asserts condition {
  if (!condition) throw reply(status, { debuginfo }, headers);
}
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts = (value: unknown, pattern: RegExp): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string' && pattern.test(text));
// The user is part of the key, so that no user gets or learns of the bytes of another user.
const keyOf = (kind: string, user: string, name: string) => `${kind}/u-${encodeURIComponent(user)}/${name}`;
const hmacOf = (text: string) => createHmac('sha256', RECEIPT_KEY).update(text).digest('hex');
const isSame = (a: string, b: string) => timingSafeEqual(Buffer.from(a), Buffer.from(b));
const sumOf = (sizes: Iterable<number>) => [...sizes].reduce((sum, size) => sum + size, 0);

function count({ used }: Account, rate: keyof typeof RATES, amount: number) {
  const now = Date.now();
  let period = used[rate];
  if (!period || period.endsAt <= now) period = { amount: 0, endsAt: now + RATES[rate].ms };
  const retryAfter = { 'retry-after': `${Math.ceil((period.endsAt - now) / 1000)}` };
  must(period.amount + amount <= RATES[rate].most, 429, `too many ${rate}`, retryAfter);
  used[rate] = { ...period, amount: period.amount + amount };
}

async function open(user: string, account: Account, body: Body) {
  const { parent_id: folder, file_name: name, file_size: sizeBytes } = body;
  must(typeof folder === 'string', 400, 'parent_id must be a text');
  must(typeof name === 'string' && /^[^/\\\p{C}]{1,255}$/u.test(name), 400, 'file_name must be a name');
  must(isCount(sizeBytes), 400, 'file_size must be a whole number');
  must(sizeBytes <= MAX_FILE_BYTES, 413, `a file has at most ${MAX_FILE_BYTES} bytes`);
  must(await mayWrite(user, folder), 403, 'the user may not upload to this folder');
  const now = Date.now();
  for (const [id, { expiresAt }] of account.sessions) if (expiresAt <= now) account.sessions.delete(id);
  const isFree = [...account.sessions.values()].filter(({ commit }) => !commit).length < MAX_OPEN_SESSIONS;
  must(isFree, 429, 'too many open uploads', { 'retry-after': '60' });
  count(account, 'bytes', sizeBytes);
  const id = randomBytes(24).toString('base64url');
  account.sessions.set(id, { user, name, sizeBytes, expiresAt: now + 7 * DAY_MS, chunkSizes: new Map() });
  return reply(201, { session_id: id });
}

async function presign(id: string, { user, sizeBytes, chunkSizes }: Session, { hashes, sizes }: Body) {
  must(isTexts(hashes, HASH) && hashes.length, 400, 'hashes must be SHA-256 in lower-case hex');
  must(hashes.length <= 100, 413, 'more than 100 hashes');
  must(chunkSizes.size < 100 + (2 * sizeBytes) / MIN_PART_BYTES, 413, 'more chunks than the file can need');
  must(Array.isArray(sizes) && sizes.length === hashes.length, 400, 'set profile.sendSizes');
  for (const [index, hash] of hashes.entries()) {
    const size: unknown = sizes[index];
    const isPossible = isCount(size) && size > 0 && size <= sizeBytes;
    must(isPossible && size === (chunkSizes.get(hash) ?? size), 400, `size ${index} is not possible`);
    chunkSizes.set(hash, size);
  }
  // A file that changes during the upload is sent again in the same session.
  must(sumOf(chunkSizes.values()) <= 2 * sizeBytes, 413, 'more bytes than the file can need');
  const entries = await forEach(hashes, async (hash) => {
    const size = chunkSizes.get(hash) ?? 0;
    const key = keyOf('chunks', user, hash);
    const ticket = (await sizeOf(key)) === size ? { upload_url: null } : await presignPut(key, hash, size);
    return [hash, { receipt: hmacOf(id + hash), ...ticket }];
  });
  return reply(200, { chunks: Object.fromEntries(entries) });
}

async function commit(id: string, session: Session, { hashes, receipts }: Body) {
  must(isTexts(hashes, HASH) && hashes.length <= 10_000, 400, 'hashes must be at most 10,000 SHA-256');
  must(isTexts(receipts, HASH) && receipts.length === hashes.length, 400, 'send one receipt for each hash');
  const isProven = hashes.every((hash, index) => isSame(hmacOf(id + hash), receipts[index] ?? ''));
  must(isProven, 400, 'a receipt is of another session or chunk');
  if (!session.commit) {
    session.commit = { hashes: hmacOf(hashes.join()), result: createFile(session, hashes) };
    // The browser may have lost the response, and may ask again for an hour.
    const finish = () => (session.expiresAt = Date.now() + DAY_MS / 24);
    session.commit.result.then(finish, () => delete session.commit);
  }
  must(session.commit.hashes === hmacOf(hashes.join()), 422, 'the upload was committed with other chunks');
  const result = await Promise.race([session.commit.result, sleep(20_000, undefined, { ref: false })]);
  return result ? reply(200, result) : reply(202, {}, { 'retry-after': '5' });
}

async function createFile({ user, name, sizeBytes }: Session, hashes: string[]) {
  const distinct = [...new Set(hashes)];
  const sizeOfChunk = async (hash: string) => [hash, await sizeOf(keyOf('chunks', user, hash))] as const;
  const stored = new Map(await forEach(distinct, sizeOfChunk));
  const missing = distinct.filter((hash) => stored.get(hash) === undefined);
  if (missing.length) throw reply(409, { debuginfo: `${missing.length} chunks are not stored`, missing });
  // Without this check, one large chunk that is listed 10,000 times would become 10,000 copies.
  const sizes = hashes.map((hash) => stored.get(hash) ?? 0);
  must(sumOf(sizes) === sizeBytes, 422, `the chunks have ${sumOf(sizes)} bytes, not file_size`);
  const isLarge = sizes.slice(0, -1).every((size) => size >= MIN_PART_BYTES);
  must(isLarge, 422, 'all chunks but the last need 5 MiB: set chunk-size');
  const fileId = randomBytes(18).toString('base64url');
  const keys = hashes.map((hash) => keyOf('chunks', user, hash));
  await assemble(keyOf('files', user, fileId), keys);
  return { file_id: fileId, file_name: name, file_size: sizeBytes };
}

async function route(request: Request): Promise<Response> {
  const token = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  const user = token && (await checkToken(token));
  must(user, 401, 'the token is missing or wrong');
  const account = accounts.get(user) ?? { sessions: new Map(), used: {} };
  accounts.set(user, account);
  count(account, 'requests', 1);
  const operation = `${request.method} ${/\/files\/.*$/.exec(new URL(request.url).pathname)?.[0]}`;
  const body = request.method === 'POST' ? ((await request.json().catch(() => undefined)) as Body) : {};
  must(typeof body === 'object' && body, 400, 'the body must be a JSON object');
  if (operation === 'POST /files/uploadsession') return open(user, account, body);
  const id = request.headers.get('x-service-uploadsession') ?? '';
  const session = account.sessions.get(id);
  must(session && session.expiresAt > Date.now(), 404, 'no such upload session of this user');
  if (operation === 'POST /files/uploadsession/chunks') return presign(id, session, body);
  if (operation === 'POST /files/uploadsession/commit') return commit(id, session, body);
  must(operation === 'DELETE /files/uploadsession', 404, 'no such operation');
  account.sessions.delete(id);
  return reply(200, {});
}

/** Handles a request below `/files`. The server has to limit the size of the body, and to add the headers for CORS. */
export const handleUpload = (request: Request): Promise<Response> =>
  route(request).catch((error: unknown) => {
    // Several requests may wait for the same commit, and a response can be sent once.
    if (error instanceof Response) return error.clone();
    console.error(request.method, error);
    return reply(503, { debuginfo: 'the store is not available' }, { 'retry-after': '5' });
  });
