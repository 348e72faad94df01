// The upload operations: open a session, presign chunks, commit, cancel. All operations check the bearer token. Operations on a
// session also check that the passport belongs to the token's user. batch.ts has those for many files, and storage-server.ts
// receives the bytes.
import { type Context, Hono } from 'hono';
import { requireUser } from './accounts.ts';
import { checkFileHash, checkReceipts, commitFile } from './commit.ts';
import { readFileName } from './file-name.ts';
import { requireFolder } from './folders.ts';
import type { Env, Parts, UploadSession } from './parts.ts';
import { type Answer, Refusal, readJson, readString, readStrings } from './refusal.ts';
import { isHash, randomId } from './seal.ts';
import type { User } from './seed.ts';
import { CANCELED_MS } from './usage.ts';

type Body = Record<string, unknown>;

const KIB = 1024;
const HEADER = 'x-service-uploadsession';
const MAX_CHUNKS = 20_000;
/** The storage takes chunks of any size. Smaller ones would only cost requests. */
const MIN_CHUNK_BYTES = 1024 * KIB;

/** The operations on an upload: alone, or on a file of a batch. They throw refusals. */
export interface Uploads {
  open(user: User, body: Body): Promise<Answer>;
  /** Resolves with the session of a passport. */
  find(user: User, passport: string): Promise<UploadSession>;
  presign(session: UploadSession, body: Body): Promise<Answer>;
  /** Stops checking `file_hash` when `gone` aborts. */
  commit(session: UploadSession, body: Body, gone: AbortSignal): Promise<Answer>;
}

export function createUploads(parts: Parts): Uploads {
  const { tables, seal, storage, clock, settings } = parts;
  return {
    async open(user, body) {
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
      const answer = { session_id: session.id, passport, min_chunk_size: MIN_CHUNK_BYTES };
      return { status: 201, body: answer, headers: { [HEADER]: passport } };
    },
    async find(user, sealed) {
      if (!sealed) throw new Refusal(400, 'invalid_request', `the header ${HEADER} is missing`);
      const passport = await seal.openPassport(sealed);
      if (!passport) throw new Refusal(404, 'not_found', 'not a passport of this service');
      if (passport.userId !== user.id) throw new Refusal(403, 'forbidden', 'the passport is not this user’s');
      const session = await requireCurrent(parts, passport.sessionId);
      requireFolder(user, session.folderId, 'write');
      return session;
    },
    async presign(session, body) {
      requireOpen(session);
      const hashes = readHashes(body, settings.maxHashesPerBatch);
      if (hashes.length === 0) throw new Refusal(400, 'invalid_request', 'hashes is empty');
      checkSizes(body, hashes.length);
      const expiresAt = clock.now() + settings.urlLifetimeMs;
      const maxBytes = Math.min(session.sizeBytes, settings.maxChunkBytes);
      const entries = hashes.map(async (hash) => {
        const receipt = await seal.signReceipt(session.id, hash);
        const isStored = (await storage.chunkSize(session.userId, hash)) !== undefined;
        if (isStored) return [hash, { upload_url: null, receipt }] as const;
        const grant = { sessionId: session.id, userId: session.userId, hash, maxBytes, expiresAt };
        const ticket = {
          upload_url: parts.storageUrl + seal.signUrl(grant, !settings.urlTellsExpiry),
          receipt,
        };
        if (!settings.urlTellsExpiry) return [hash, ticket] as const;
        return [hash, { ...ticket, expires_at: new Date(expiresAt).toISOString() }] as const;
      });
      return { status: 200, body: { chunks: Object.fromEntries(await Promise.all(entries)) } };
    },
    async commit(session, body, gone) {
      const hashes = readHashes(body, MAX_CHUNKS);
      const receipts = readStrings(body, 'receipts');
      const fileHash = readFileHash(body);
      await checkReceipts(parts, session, hashes, receipts);
      if (fileHash !== undefined && session.phase === 'open') {
        await checkFileHash(parts, session, hashes, fileHash, gone);
      }
      // With the shared lock, other commits of this user can run at the same time, but `sweepChunks` cannot.
      const file = await parts.locks.shared(session.userId, async () => {
        const current = await requireCurrent(parts, session.id);
        if (current.phase === 'canceled') throw new Refusal(410, 'gone', 'the upload was canceled');
        return commitFile(parts, current, hashes);
      });
      const { id, folderId, name, sizeBytes, createdAt } = file;
      const said = { file_id: id, parent_id: folderId, file_name: name, file_size: sizeBytes };
      return { status: 200, body: { ...said, created_at: new Date(createdAt).toISOString() } };
    },
  };
}

/** Creates the routes under `/files/uploadsession`. */
export function uploadRoutes(parts: Parts, uploads: Uploads): Hono<Env> {
  const app = new Hono<Env>();
  const { tables, clock } = parts;
  const requireSession = async (c: Context<Env>): Promise<UploadSession> =>
    uploads.find(await requireUser(c, parts), c.req.header(HEADER) ?? '');

  app.post('/files/uploadsession', async (c) => {
    const user = await requireUser(c, parts);
    const { body, status, headers } = await uploads.open(user, await readJson(c.req.raw, 16 * KIB));
    return c.json(body, status, headers);
  });

  app.post('/files/uploadsession/chunks', async (c) => {
    const session = await requireSession(c);
    const { body, status } = await uploads.presign(session, await readJson(c.req.raw, 64 * KIB));
    return c.json(body, status);
  });

  app.post('/files/uploadsession/commit', async (c) => {
    const session = await requireSession(c);
    const sent = await readJson(c.req.raw, 16 * KIB * KIB);
    const { body, status } = await uploads.commit(session, sent, c.get('gone'));
    return c.json(body, status);
  });

  app.delete('/files/uploadsession', async (c) => {
    const session = await requireSession(c);
    await parts.locks.exclusive(session.userId, async () => {
      const { phase } = await requireCurrent(parts, session.id);
      if (phase === 'finished') throw new Refusal(409, 'finished', 'the upload is finished');
      await tables.sessions.update(session.id, (row) =>
        row?.phase === 'open'
          ? { ...row, phase: 'canceled', keepUntil: clock.now() + CANCELED_MS }
          : undefined,
      );
      parts.usage.close(session.id, session.userId, 'canceled');
      await sweepChunks(parts, session.userId);
    });
    return c.body(null, 204);
  });

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
