// Batches: up to 64 files in one request, for many small files. Each file is answered as by the single operations of uploads.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { requireUser } from './accounts.ts';
import type { Background } from './background.ts';
import type { Env, Parts, UploadSession } from './parts.ts';
import { type Answer, answerTo, Refusal, readJson } from './refusal.ts';
import type { User } from './seed.ts';
import type { Uploads } from './uploads.ts';

type Body = Record<string, unknown>;
/** Returns the answer for a file. Never rejects. */
type Work = (user: User, file: Body) => Promise<Answer>;

export const BATCH_PATH = '/files/uploadsession/batch';
const MAX_FILES = 64;
const MAX_BODY_BYTES = 1024 * 1024;
/** A commit that takes longer is answered with 202, so that it delays no other file. */
const COMMIT_MS = 1000;
const PENDING: Answer = { status: 202, body: {}, headers: { 'retry-after': '2' } };

/** Creates the route of batches. */
export function batchRoutes({ settings, ...parts }: Parts, uploads: Uploads): Hono<Env> {
  const app = new Hono<Env>();
  const works = { open: createOpen(uploads), commit: createCommit(uploads, parts.background) };

  app.post(BATCH_PATH, async (c) => {
    const user = await requireUser(c, { settings, ...parts });
    const { kind, files } = readBatch(await readJson(c.req.raw, MAX_BODY_BYTES), settings.maxHashesPerBatch);
    const answers = files.map(async (file) => shown(await works[kind](user, file)));
    return c.json({ answers: await Promise.all(answers) });
  });
  return app;
}

/** Opens a session and presigns its first chunks. What prevents only the second of these leaves the session open. */
function createOpen(uploads: Uploads): Work {
  return async (user, file) => {
    const opened = await attempt(() => uploads.open(user, file));
    const { hashes, sizes } = file;
    if (opened.status !== 201) return opened;
    if (Array.isArray(hashes) && hashes.length === 0) return withChunks(opened, {});
    const presigned = await attempt(async () => {
      const session = await uploads.find(user, String(opened.body.passport));
      return uploads.presign(session, { hashes, ...(sizes !== undefined && { sizes }) });
    });
    return presigned.status === 200 ? withChunks(opened, presigned.body.chunks) : opened;
  };
}

function createCommit(uploads: Uploads, background: Background): Work {
  // Commits that may continue after their batch was answered, and when their client leaves. One of a session at a time, so that
  // repetitions cost no more, and of each user one that reads its file: a single commit waits for no more than that.
  const running = new Map<string, Promise<Answer>>();

  return async (user, { session: sealed, ...body }) => {
    const passport = typeof sealed === 'string' ? sealed : '';
    const late = sleep(COMMIT_MS, undefined, { ref: false });
    const find = (): Promise<UploadSession> => uploads.find(user, passport);
    const commit = async ({ id, phase }: UploadSession): Promise<Answer> => {
      const keys = body.file_hash !== undefined && phase === 'open' ? [id, user.id] : [id];
      const earlier = keys.map((key) => running.get(key)).find(Boolean);
      if (earlier) return (await Promise.race([earlier, late])) ? commit(await find()) : PENDING;
      const work = attempt(async () => uploads.commit(await find(), body, background.signal), background);
      const ended = work.finally(() => {
        for (const key of keys) running.delete(key);
      });
      for (const key of keys) running.set(key, ended);
      background.add(ended);
      return (await Promise.race([ended, late])) ?? PENDING;
    };
    return attempt(async () => commit(await find()));
  };
}

async function attempt(work: () => Promise<Answer>, { signal }: Partial<Background> = {}): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) && !signal?.aborted) console.error(`POST ${BATCH_PATH}:`, error);
    return answerTo(error);
  }
}

const withChunks = (opened: Answer, chunks: unknown): Answer => ({
  ...opened,
  body: { ...opened.body, chunks },
});

/** Returns what the response has of an answer. */
function shown({ status, body, headers }: Answer): Body {
  const seconds = Number(headers?.['retry-after']);
  return { status, body, ...(seconds > 0 && { retry_after: seconds }) };
}

/** Returns the files of a batch. Throws the refusals of the whole request. */
function readBatch(body: Body, maxHashes: number): { kind: 'open' | 'commit'; files: Body[] } {
  const kind = body.open === undefined ? 'commit' : 'open';
  const files = body[kind];
  const isOne = body.open === undefined || body.commit === undefined;
  if (!isOne || !Array.isArray(files) || files.length === 0)
    throw new Refusal(400, 'invalid_request', 'the body must have a list of files, either open or commit');
  if (files.length > MAX_FILES) throw new Refusal(413, 'too_many', `more than ${MAX_FILES} files`);
  // What is no object has no field that an operation needs.
  const objects = files.map((file) => Object(file) as Body);
  const hashCount = objects.reduce((sum, { hashes }) => sum + (Array.isArray(hashes) ? hashes.length : 0), 0);
  if (hashCount > maxHashes) throw new Refusal(413, 'too_many', `more than ${maxHashes} hashes`);
  return { kind, files: objects };
}
