// The upload operations: open a session, presign chunks, commit, cancel. All operations check the bearer token. Operations on a
// session also check that the passport belongs to the token's user. storage-server.ts receives the bytes.
import { type Context, Hono } from 'hono';
import { requireUser } from './accounts.ts';
import { checkFileHash, checkReceipts, commitFile } from './commit.ts';
import { readFileName } from './file-name.ts';
import { requireFolder } from './folders.ts';
import type { Env, Parts, UploadSession } from './parts.ts';
import { Refusal, readJson, readString, readStrings } from './refusal.ts';
import { isHash, randomId } from './seal.ts';
import type { User } from './seed.ts';
import { CANCELED_MS } from './usage.ts';

const KIB = 1024;
const HEADER = 'x-service-uploadsession';
const MAX_CHUNKS = 20_000;
/** The storage takes chunks of any size. Smaller ones would only cost requests. */
const MIN_CHUNK_BYTES = 1024 * KIB;

/** Creates the routes under `/files/uploadsession`. */
export function uploadRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { tables, seal, storage, clock, settings } = parts;

  app.post('/files/uploadsession', async (c) => {
    const user = await requireUser(c, parts);
    const body = await readJson(c.req.raw, 16 * KIB);
    const folder = requireFolder(user, readString(body, 'parent_id', 200), 'write');
    const fileName = readFileName(body.file_name);
    const sizeBytes = readSize(body.file_size, folder.maxFileBytes ?? settings.maxFileBytes);
    if (folder.conflict === 'fail') {
      const sameName = await tables.files.listBy('name', fileName);
      const isTaken = sameName.some(({ folderId }) => folderId === folder.id);
      if (isTaken) throw new Refusal(409, 'name_taken', 'the folder has a file of this name');
    }
    const now = clock.now();
    const session: UploadSession = {
      id: randomId('session'),
      userId: user.id,
      folderId: folder.id,
      fileName,
      sizeBytes,
      fileId: randomId('file'),
      expiresAt: now + settings.uploadSessionLifetimeMs,
      phase: 'open',
      keepUntil: now + 2 * settings.uploadSessionLifetimeMs,
    };
    await parts.locks.shared(user.id, async () => {
      claim(parts, session);
      await tables.sessions.put(session.id, session);
    });
    const passport = await seal.sealPassport({
      sessionId: session.id,
      userId: user.id,
      folderId: folder.id,
      fileName,
      sizeBytes,
      expiresAt: session.expiresAt,
    });
    c.header(HEADER, passport);
    return c.json({ session_id: session.id, passport, min_chunk_size: MIN_CHUNK_BYTES }, 201);
  });

  app.post('/files/uploadsession/chunks', async (c) => {
    const { user, session } = await requireSession(c, parts);
    requireOpen(session);
    const body = await readJson(c.req.raw, 64 * KIB);
    const hashes = readHashes(body, settings.maxHashesPerBatch);
    if (hashes.length === 0) throw new Refusal(400, 'invalid_request', 'hashes is empty');
    checkSizes(body, hashes.length);
    return c.json({ chunks: await presign(user, session, hashes) });
  });

  app.post('/files/uploadsession/commit', async (c) => {
    const { user, session } = await requireSession(c, parts);
    const body = await readJson(c.req.raw, 16 * KIB * KIB);
    const hashes = readHashes(body, MAX_CHUNKS);
    const receipts = readStrings(body, 'receipts');
    const fileHash = readFileHash(body);
    await checkReceipts(parts, session, hashes, receipts);
    if (fileHash !== undefined && session.phase === 'open') {
      await checkFileHash(parts, session, hashes, fileHash, c.get('gone'));
    }
    // With the shared lock, other commits of this user can run at the same time, but `sweepChunks` cannot.
    const file = await parts.locks.shared(user.id, async () => {
      const current = await requireCurrent(parts, session.id);
      if (current.phase === 'canceled') throw new Refusal(410, 'gone', 'the upload was canceled');
      return commitFile(parts, current, hashes);
    });
    return c.json({
      file_id: file.id,
      parent_id: file.folderId,
      file_name: file.name,
      file_size: file.sizeBytes,
      created_at: new Date(file.createdAt).toISOString(),
    });
  });

  app.delete('/files/uploadsession', async (c) => {
    const { user, session } = await requireSession(c, parts);
    await parts.locks.exclusive(user.id, async () => {
      const { phase } = await requireCurrent(parts, session.id);
      if (phase === 'finished') throw new Refusal(409, 'finished', 'the upload is finished');
      await tables.sessions.update(session.id, (row) =>
        row?.phase === 'open'
          ? { ...row, phase: 'canceled', keepUntil: clock.now() + CANCELED_MS }
          : undefined,
      );
      parts.usage.close(session.id, user.id, 'canceled');
      await sweepChunks(parts, user.id);
    });
    return c.body(null, 204);
  });

  async function presign(
    user: User,
    session: UploadSession,
    hashes: string[],
  ): Promise<Record<string, { upload_url: string | null; receipt: string; expires_at?: string }>> {
    const expiresAt = clock.now() + settings.urlLifetimeMs;
    const maxBytes = Math.min(session.sizeBytes, settings.maxChunkBytes);
    const entries = hashes.map(async (hash) => {
      const receipt = await seal.signReceipt(session.id, hash);
      const isStored = (await storage.chunkSize(user.id, hash)) !== undefined;
      if (isStored) return [hash, { upload_url: null, receipt }] as const;
      const grant = { sessionId: session.id, userId: user.id, hash, maxBytes, expiresAt };
      const ticket = {
        upload_url: parts.storageUrl + seal.signUrl(grant, !settings.urlTellsExpiry),
        receipt,
      };
      if (!settings.urlTellsExpiry) return [hash, ticket] as const;
      return [hash, { ...ticket, expires_at: new Date(expiresAt).toISOString() }] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  return app;
}

// Reserves the bytes of a new session. Throws a refusal if the session exceeds a limit of its user.
function claim({ usage }: Parts, session: UploadSession): void {
  const claimed = usage.open(session);
  if (claimed === 'no-room')
    throw new Refusal(413, 'no_room', 'this user’s uploads would take too many bytes or files');
  if (claimed === 'too-many') {
    const headers = { 'retry-after': '60' };
    throw new Refusal(429, 'too_many', 'this user has too many open or canceled uploads', { headers });
  }
}

/**
 * Removes the user's chunks that are in no finished file. Does nothing while the user has an open upload, which may need such
 * chunks. The caller must hold the user's exclusive lock, except before the first request.
 */
export async function sweepChunks({ tables, storage, clock, usage }: Parts, userId: string): Promise<void> {
  const sessions = await tables.sessions.listBy('userId', userId);
  if (sessions.some(({ phase, expiresAt }) => phase === 'open' && expiresAt > clock.now())) return;
  const files = await tables.files.listBy('userId', userId);
  const kept = new Set(files.flatMap((file) => file.chunks.map(({ hash }) => hash)));
  await storage.sweep(userId, (hash) => kept.has(hash));
  usage.swept(userId);
}

async function requireSession(
  c: Context<Env>,
  parts: Parts,
): Promise<{ user: User; session: UploadSession }> {
  const { seal } = parts;
  const user = await requireUser(c, parts);
  const sealed = c.req.header(HEADER);
  if (!sealed) throw new Refusal(400, 'invalid_request', `the header ${HEADER} is missing`);
  const passport = await seal.openPassport(sealed);
  if (!passport) throw new Refusal(404, 'not_found', 'not a passport of this service');
  if (passport.userId !== user.id) throw new Refusal(403, 'forbidden', 'the passport is not this user’s');
  const session = await requireCurrent(parts, passport.sessionId);
  requireFolder(user, session.folderId, 'write');
  return { user, session };
}

/** Resolves with the session. Throws a 404 refusal if the session does not exist, and a 410 refusal if it has expired. */
async function requireCurrent({ tables, clock }: Parts, id: string): Promise<UploadSession> {
  const session = await tables.sessions.get(id);
  if (!session) throw new Refusal(404, 'not_found', 'no such upload session');
  if (session.expiresAt <= clock.now()) throw new Refusal(410, 'gone', 'the upload session has expired');
  return session;
}

function requireOpen(session: UploadSession): void {
  if (session.phase !== 'open') throw new Refusal(410, 'gone', `the upload is ${session.phase}`);
}

function readHashes(body: Record<string, unknown>, limit: number): string[] {
  const hashes = readStrings(body, 'hashes');
  if (hashes.length > limit) throw new Refusal(413, 'too_many', `more than ${limit} hashes`);
  if (!hashes.every(isHash)) throw new Refusal(400, 'invalid_request', 'a hash is 64 lower-case hex digits');
  return hashes;
}

/** Sizes are optional, and nothing here needs them. */
function checkSizes({ sizes }: Record<string, unknown>, count: number): void {
  if (sizes === undefined) return;
  const isSize = (size: unknown): boolean => Number.isSafeInteger(size) && Number(size) > 0;
  if (!Array.isArray(sizes) || sizes.length !== count || !sizes.every(isSize))
    throw new Refusal(400, 'invalid_request', 'sizes must be one positive integer for each hash');
}

function readFileHash({ file_hash: hash }: Record<string, unknown>): string | undefined {
  if (hash === undefined) return undefined;
  if (typeof hash === 'string' && isHash(hash)) return hash;
  throw new Refusal(400, 'invalid_request', 'file_hash is 64 lower-case hex digits');
}

function readSize(value: unknown, limit: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Refusal(400, 'invalid_request', 'file_size must be an integer of 0 or more');
  }
  if (value > limit) throw new Refusal(413, 'too_large', `a file here has at most ${limit} bytes`);
  return value;
}
