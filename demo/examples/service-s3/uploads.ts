// The upload operations as a function from `Request` to `Response`. docs/openapi.json has their bodies.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  allFiles,
  answerOf,
  type Body,
  End,
  eachFile,
  FILES_AT_ONCE,
  MAX_HASHES,
  only,
  readBatch,
  type Step,
} from './batch.ts';
import type { Database } from './database.ts';
import { type createFiles, keyOf, WrongChunks } from './files.ts';
import { authorize, type Right } from './hooks.ts';
import { kindOf, notes, within } from './log.ts';
import { createGate, must, reply } from './requests.ts';
import { type Addition, digestOf, type Opening, type Session, type Sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { BRIEF, forEach, presignPut, sizeOf } from './store.ts';

const MIN_PART_BYTES = 5 * 2 ** 20;
// Limits of one user. Those of a day count all files that were started, canceled ones too.
const LIMITS = { unfinishedFiles: 1000, filesPerDay: 20_000, bytesPerDay: 500 * 2 ** 30 };
/** A commit that takes longer is answered with 202, and the browser repeats it. */
const COMMIT_MS = 20_000;
/** In a batch, other files wait for the response: chunks that aren't presigned in this time are left out, and commits are a 202. */
const BATCH_MS = 1000;

export type Operation = 'open' | 'presign' | 'commit' | 'cancel' | 'batch';
const OPERATIONS: Record<string, Operation> = {
  'POST /files/uploadsession': 'open',
  'POST /files/uploadsession/chunks': 'presign',
  'POST /files/uploadsession/commit': 'commit',
  'POST /files/uploadsession/batch': 'batch',
  'DELETE /files/uploadsession': 'cancel',
};
export const operationOf = (request: Request): Operation | undefined =>
  OPERATIONS[`${request.method} ${/\/files\/.*$/.exec(new URL(request.url).pathname)?.[0]}`];
/** Enough for 100 chunks, or for a name with only escaped characters; for the 10,000 chunks of a commit; and for 64 names. */
const MAX_BODY_BYTES = {
  ...{ open: 64 * 2 ** 10, presign: 64 * 2 ** 10 },
  ...{ commit: 1.5 * 2 ** 20, batch: 512 * 2 ** 10 },
};

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

/** A file, and what the request says of it. */
interface File {
  session: Session;
  body: Body;
}

export function createUploads(
  sessions: Sessions,
  files: ReturnType<typeof createFiles>,
  report: (error: Error) => void,
  rates?: Database,
) {
  const gate = createGate(rates);

  function openingOf({ user, freeBytes, maxFileBytes }: Right, folder: string, body: Body): Opening {
    const { file_name: name, file_size: sizeBytes } = body;
    must(isText(name, NAME) && !/^\.\.?$/.test(name), 400, 'file_name must be a name');
    must(isCount(sizeBytes), 400, 'file_size must be a whole number');
    must(sizeBytes <= maxFileBytes, 413, `a file has at most ${maxFileBytes} bytes`);
    const [id, fileId] = [randomBytes(24), randomBytes(18)].map((bytes) => bytes.toString('base64url'));
    const session = { id: `${id}`, fileId: `${fileId}`, user, folder, name, sizeBytes };
    return {
      session: { ...session, state: 'open', digest: '', sentence: '' },
      limits: { ...LIMITS, freeBytes },
    };
  }

  /** Opens the sessions of files of one user. */
  async function open(request: Request, user: string, bodies: readonly Body[]): Promise<Step<File>[]> {
    const rightTo = rightsOf(request, 'open');
    const openings = await eachFile(bodies, async (body) => {
      const { parent_id: folder } = body;
      must(isText(folder, TEXT), 400, 'parent_id must be a text');
      return { ...openingOf({ ...(await rightTo(folder)), user }, folder, body), body };
    });
    const opened = await allFiles(openings, async (some) => {
      const results = await sessions.open(some);
      return some.map((opening, at) => ({ ...opening, result: results[at] }));
    });
    return eachFile(opened, ({ session, body, result }) => {
      must(result !== 'many', 429, 'too many unfinished uploads', { 'retry-after': '60' });
      must(result !== 'day', 429, 'too many files or bytes in a day', { 'retry-after': '3600' });
      must(result !== 'full', 507, 'the user has no space left');
      return { session, body };
    });
  }

  /** Reads the chunks to add to a session. The session of a finished file takes no more: its receipts are for a repeated commit. */
  function additionOf(
    { id, user, sizeBytes, state }: Session,
    { hashes, sizes }: Body,
    isOpening: boolean,
  ): Addition & { user: string; isOver: boolean } {
    must(isHashes(hashes) && hashes.length > 0, 400, 'hashes must be SHA-256 in lower-case hex');
    must(hashes.length <= MAX_HASHES, 413, `more than ${MAX_HASHES} hashes`);
    must(Array.isArray(sizes) && sizes.length === hashes.length, 400, 'set profile.sendSizes');
    const isPossible = (size: unknown) => isCount(size) && size > 0 && size <= sizeBytes;
    must(sizes.every(isPossible), 400, 'a size is not possible');
    const given = new Map<string, number>(hashes.map((hash, index) => [hash, sizes[index]]));
    const isOnce = hashes.every((hash, index) => given.get(hash) === sizes[index]);
    must(isOnce, 400, 'a chunk has two sizes');
    // A file that changes during the upload is sent again in the same session.
    const most = 100 + Math.ceil((2 * sizeBytes) / MIN_PART_BYTES);
    const isOver = state !== 'open' && state !== 'committing';
    return { id, user, sizes: given, most, mostBytes: 2 * sizeBytes, isOpening, isOver };
  }

  /**
   * Resolves with the entries of chunks, for each of different sessions. `late` aborts when those of an opening are no longer
   * waited for.
   */
  async function presign(asked: readonly Step<File>[], late?: AbortSignal): Promise<Step<object>[]> {
    const isOpening = late !== undefined;
    const additions = await eachFile(asked, ({ session, body }) => additionOf(session, body, isOpening));
    const added = await allFiles(additions, async (some) => {
      const open = some.filter(({ isOver }) => !isOver);
      const results = open.length > 0 ? await sessions.addChunks(open) : [];
      return some.map((each) => ({ ...each, isAdded: each.isOver || results[open.indexOf(each)] }));
    });
    const allowed = await eachFile(added, (each) => {
      must(each.isAdded, 413, 'more chunks than the file can need, or another size than before');
      return each;
    });
    const chunks = allowed.flatMap((each, at) =>
      each instanceof End ? [] : [...each.sizes].map(([hash, size]) => ({ ...each, at, hash, size })),
    );
    const entryOf = async ({ id, user, hash, size, isOver }: (typeof chunks)[number]) => {
      const key = keyOf('chunks', user, hash);
      const isStored = isOver || (await sizeOf(key, { ...BRIEF, signal: late })) === size;
      const ticket = isStored ? { upload_url: null } : await presignPut(key, hash, size);
      return [hash, { receipt: receiptOf(id, hash), ...ticket }] as const;
    };
    const entries = allowed.map((): (readonly [string, object])[] => []);
    const ends = new Map<number, End>();
    await forEach(chunks, async (chunk) => {
      if (ends.has(chunk.at)) return;
      const end = (error: unknown) => void ends.set(chunk.at, new End(error));
      await entryOf(chunk).then((entry) => entries[chunk.at]?.push(entry), end);
    });
    return allowed.map((each, at) =>
      each instanceof End ? each : (ends.get(at) ?? Object.fromEntries(entries[at] ?? [])),
    );
  }

  /** Waits for a place until `placeBy`, and for the end until `endBy`. `isLeft` says that there was none. */
  async function commit(session: Session, { hashes, receipts }: Body, placeBy: number, endBy: number) {
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
    let isLeft = false;
    if (session.state === 'open' || session.state === 'committing') {
      const begun = await files.begin(session, hashes, placeBy);
      isLeft = begun === undefined;
      // If the response is sent before the work ends, the work continues. If it fails then, the next commit tries it again.
      begun?.work.catch(() => undefined);
      const waitMs = Math.max(0, endBy - Date.now());
      await Promise.race([begun?.work, sleep(waitMs, undefined, { ref: false })]);
      found = await sessions.find(session.id);
      // Another commit may have been first.
      if (found) mustBeSame(found);
    }
    must(found?.state !== 'refused', 422, found?.sentence ?? '');
    const { fileId: file_id, name: file_name, sizeBytes: file_size, state } = found ?? session;
    const isDone = state === 'done' || state === 'delivered';
    const pending = () => reply(202, {}, { 'retry-after': isLeft ? '1' : '2' });
    return { response: isDone ? reply(200, { file_id, file_name, file_size }) : pending(), isLeft };
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

  /** Returns a function that asks for the right to each folder once. */
  function rightsOf(request: Request, operation: Operation) {
    const known = new Map<string, Promise<Right>>();
    return (folder: string) => {
      const right = known.get(folder) ?? rightOf(request, operation, folder);
      known.set(folder, right);
      return right;
    };
  }

  /** Resolves with a session, if it is of this user, who may still upload to its folder. */
  async function sessionOf(id: unknown, user: string, rightTo: ReturnType<typeof rightsOf>) {
    const session = typeof id === 'string' && /^[\w-]{32}$/.test(id) ? await sessions.find(id) : undefined;
    must(session?.user === user, 404, 'no such upload session of this user');
    await rightTo(session.folder);
    return session;
  }

  /** Opens files with their first chunks. What prevents only the presigning leaves a session without `chunks`. */
  async function openAll(request: Request, user: string, bodies: readonly Body[]) {
    const opened = await open(request, user, bodies);
    const late = AbortSignal.timeout(BATCH_MS);
    const rightTo = rightsOf(request, 'presign');
    const asked = await eachFile(opened, async (file) => {
      const { hashes } = file.body;
      // Without any, this is no presign request.
      if (!Array.isArray(hashes) || hashes.length > 0) await rightTo(file.session.folder);
      return file;
    });
    // A problem of the database is one of all files: the browser asks for the chunks of each alone.
    const presigned = await presign(asked, late).catch((error) => asked.map(() => new End(error)));
    const steps = await eachFile(opened, ({ session: { id }, body: { hashes } }, at) => {
      const isEmpty = Array.isArray(hashes) && hashes.length === 0;
      const chunks = isEmpty ? {} : presigned[at];
      return reply(201, { session_id: id, ...(!(chunks instanceof End) && { chunks }) });
    });
    return { steps, hidden: presigned, left: 0 };
  }

  async function commitAll(request: Request, user: string, bodies: readonly Body[]) {
    const rightTo = rightsOf(request, 'commit');
    const requests = await eachFile(bodies, async ({ session: id, ...body }) => ({
      ...{ session: await sessionOf(id, user, rightTo), body },
    }));
    const endsAt = Date.now() + BATCH_MS;
    const ends = await eachFile(requests, ({ session, body }) => commit(session, body, endsAt, endsAt));
    const left = ends.filter((end) => !(end instanceof End) && end.isLeft).length;
    return { steps: await eachFile(ends, ({ response }) => response), hidden: [], left };
  }

  async function batch(
    request: Request,
    user: string,
    { isOpen, files: bodies }: ReturnType<typeof readBatch>,
  ) {
    const { steps, hidden, left } = await (isOpen ? openAll : commitAll)(request, user, bodies);
    const responses = steps.map((step) => (step instanceof End ? replyTo(step.error) : step));
    const errors = [...steps, ...hidden].flatMap((step) => (step instanceof End ? [step.error] : []));
    const known = new Set<string>();
    for (const error of errors) {
      const { status } = replyTo(error);
      // The token has ended meanwhile.
      if (status === 401) throw error;
      if (status < 500 || !(error instanceof Error)) continue;
      // Of 64 files, one line for what is the same.
      const kind = JSON.stringify(kindOf(error));
      if (!known.has(kind)) report(error);
      known.add(kind);
    }
    const counts: Record<string, number> = {};
    for (const { status } of responses) {
      const group = `${Math.floor(status / 100)}xx`;
      counts[group] = (counts[group] ?? 0) + 1;
    }
    const response = reply(200, { answers: await Promise.all(responses.map(answerOf)) });
    notes.set(response, { files: responses.length, answers: counts });
    return { response, left };
  }

  return async (request: Request): Promise<Response> => {
    const operation = operationOf(request);
    // Without `debuginfo`, the uploader says that the page has a wrong URL.
    if (!operation) throw reply(404, { error: 'no such operation' });
    // Before the body is read and the database is asked: strangers must cost little.
    const { user } = await rightOf(request, operation, undefined);
    return gate.pass(user, async (more) => {
      const body = operation === 'cancel' ? {} : await gate.read(request, user, MAX_BODY_BYTES[operation]);
      if (operation === 'batch') {
        const asked = readBatch(body);
        const atOnce = asked.isOpen ? 1 : Math.min(asked.files.length, FILES_AT_ONCE);
        await more(asked.requests - 1, atOnce - 1);
        const { response, left } = await batch(request, user, asked);
        // Their repetitions count.
        await more(-left, 0);
        return response;
      }
      if (operation === 'open') {
        const { session } = only(await open(request, user, [body]));
        return reply(201, { session_id: session.id });
      }
      const id = request.headers.get('x-service-uploadsession');
      const session = await sessionOf(id, user, rightsOf(request, operation));
      if (operation === 'presign') return reply(200, { chunks: only(await presign([{ session, body }])) });
      if (operation === 'cancel') return cancel(session);
      return (await commit(session, body, 0, Date.now() + COMMIT_MS)).response;
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
