// The upload operations as a function from `Request` to `Response`. hono.ts, express.ts and next.ts connect it to a server.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { assemble, presignPut, sizeOf } from './store.ts';

const { DEMO_TOKEN, RECEIPT_KEY = '' } = process.env;
if (RECEIPT_KEY.length < 32) throw new Error('RECEIPT_KEY needs 32 random characters');
// Replace these two functions: the first returns the user of a token, the second checks the user's right to a folder.
const checkToken = async (token: string) => (token === DEMO_TOKEN ? 'demo-user' : undefined);
const mayWrite = async (_user: string, folder: string) => folder.startsWith('folder-');

interface Session {
  id: string;
  user: string;
  name: string;
  sizeBytes: number;
  chunkSizes: Map<string, number>;
  commit?: { hashes: string; result: Promise<{ status: number; body: object }> };
}
// In memory: lost with the process, and not shared between processes. Put sessions and finished files into your database.
const sessions = new Map<string, Session>();
type Body = Record<string, unknown>;
const HASH = /^[0-9a-f]{64}$/;
const reply = (status: number, body: object, headers = {}) => Response.json(body, { status, headers });
function must(condition: unknown, status: number, debuginfo: string): asserts condition {
  if (!condition) throw reply(status, { debuginfo });
}
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts = (value: unknown, pattern: RegExp): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string' && pattern.test(text));
// The user is part of the key, so that no user gets or learns of the bytes of another user.
const keyOf = (kind: string, user: string, name: string) => `${kind}/u-${encodeURIComponent(user)}/${name}`;
const hmacOf = (text: string) => createHmac('sha256', RECEIPT_KEY).update(text).digest('hex');
const isSame = (a: string, b: string) => timingSafeEqual(Buffer.from(a), Buffer.from(b));

async function open(user: string, { parent_id: folder, file_name: name, file_size: sizeBytes }: Body) {
  must(typeof folder === 'string', 400, 'parent_id must be a text');
  must(typeof name === 'string' && /^[^/\\\p{C}]{1,255}$/u.test(name), 400, 'file_name must be a name');
  must(isCount(sizeBytes), 400, 'file_size must be a whole number');
  must(await mayWrite(user, folder), 403, 'the user may not upload to this folder');
  const id = randomBytes(24).toString('base64url');
  sessions.set(id, { id, user, name, sizeBytes, chunkSizes: new Map() });
  return reply(201, { session_id: id });
}

async function presign(session: Session, { hashes, sizes }: Body) {
  must(isTexts(hashes, HASH) && hashes.length, 400, 'hashes must be SHA-256 in lower-case hex');
  must(hashes.length <= 1000 && session.chunkSizes.size < 20_000, 413, 'too many hashes');
  must(Array.isArray(sizes) && sizes.length === hashes.length, 400, 'set profile.sendSizes');
  const entries = hashes.map(async (hash, index) => {
    const size: unknown = sizes[index];
    must(isCount(size) && size > 0 && size <= session.sizeBytes, 400, `size ${index} is not possible`);
    session.chunkSizes.set(hash, size);
    const key = keyOf('chunks', session.user, hash);
    const ticket = (await sizeOf(key)) === size ? { upload_url: null } : await presignPut(key, hash, size);
    return [hash, { receipt: hmacOf(session.id + hash), ...ticket }];
  });
  return reply(200, { chunks: Object.fromEntries(await Promise.all(entries)) });
}

async function commit(session: Session, { hashes, receipts }: Body) {
  must(isTexts(hashes, HASH) && hashes.length <= 10_000, 400, 'hashes must be at most 10,000 SHA-256');
  must(isTexts(receipts, HASH) && receipts.length === hashes.length, 400, 'send one receipt for each hash');
  const isProven = hashes.every((hash, index) => isSame(hmacOf(session.id + hash), receipts[index] ?? ''));
  must(isProven, 400, 'a receipt is of another session or chunk');
  const sizes = hashes.map((hash) => session.chunkSizes.get(hash) ?? 0);
  const sum = sizes.reduce((total, size) => total + size, 0);
  must(sum === session.sizeBytes, 422, `the chunks have ${sum} bytes, not file_size`);
  const isLarge = sizes.slice(0, -1).every((size) => size >= 5 * 2 ** 20);
  must(isLarge, 422, 'all chunks but the last need 5 MiB: set chunk-size');
  session.commit ??= { hashes: hashes.join(), result: createFile(session, hashes) };
  must(session.commit.hashes === hashes.join(), 422, 'the upload was committed with other chunks');
  const result = await Promise.race([session.commit.result, sleep(20_000, undefined, { ref: false })]);
  return result ? reply(result.status, result.body) : reply(202, {}, { 'retry-after': '5' });
}

async function createFile(session: Session, hashes: string[]) {
  const { user, name, sizeBytes } = session;
  const fileId = randomBytes(18).toString('base64url');
  const target = keyOf('files', user, fileId);
  const keys = hashes.map((hash) => keyOf('chunks', user, hash));
  try {
    await assemble(target, keys);
    const isWhole = (await sizeOf(target)) === sizeBytes;
    if (!isWhole) return { status: 422, body: { debuginfo: 'the sizes of the chunks were wrong' } };
    return { status: 200, body: { file_id: fileId, file_name: name, file_size: sizeBytes } };
  } catch (error) {
    delete session.commit;
    const sizes = await Promise.all(keys.map(sizeOf));
    const missing = hashes.filter((_, index) => sizes[index] === undefined);
    if (missing.length === 0) throw error;
    return { status: 409, body: { debuginfo: `${missing.length} chunks are not stored`, missing } };
  }
}

async function route(request: Request): Promise<Response> {
  const token = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  const user = token && (await checkToken(token));
  must(user, 401, 'the token is missing or wrong');
  const operation = `${request.method} ${/\/files\/.*$/.exec(new URL(request.url).pathname)?.[0]}`;
  const body = request.method === 'POST' ? ((await request.json().catch(() => undefined)) as Body) : {};
  must(typeof body === 'object' && body, 400, 'the body must be a JSON object');
  if (operation === 'POST /files/uploadsession') return open(user, body);
  const session = sessions.get(request.headers.get('x-service-uploadsession') ?? '');
  must(session, 404, 'no such upload session');
  must(session.user === user, 403, 'the upload session belongs to another user');
  if (operation === 'POST /files/uploadsession/chunks') return presign(session, body);
  if (operation === 'POST /files/uploadsession/commit') return commit(session, body);
  must(operation === 'DELETE /files/uploadsession', 404, 'no such operation');
  sessions.delete(session.id);
  return reply(200, {});
}

/** Handles a request below `/files`. The server has to limit the size of the body, and to add the headers for CORS. */
export const handleUpload = (request: Request): Promise<Response> =>
  route(request).catch((error: unknown) => {
    if (error instanceof Response) return error;
    console.error(request.method, error);
    return reply(503, { debuginfo: 'the store is not available' }, { 'retry-after': '5' });
  });
