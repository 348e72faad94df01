// The story of one upload, to be read first: plan, open, hash, presign, upload, commit. Each stage is a verb in its own
// file; this one only says in which order they stand and what is kept and told on the way.

import { codeFacts, UploaderError } from '../core/errors.ts';
import type { Chunk, HashedChunk, Session, StoredChunk, Ticket } from '../core/types.ts';
import { type CommitParts, commit } from './commit.ts';
import { type HashParts, hash, readAgain } from './hash.ts';
import { type Opened, type OpenFile, type OpenParts, open } from './open.ts';
import { plan } from './plan.ts';
import { type PresignParts, presign } from './presign.ts';
import { type UploadParts, upload } from './upload.ts';

/** All that a run needs from outside, as functions and plain values. */
export type RunParts = Omit<
  OpenParts & CommitParts & HashParts & PresignParts & UploadParts,
  'ask' | 'giveUp' | 'renew' | 'receipts' | 'receiptOf'
> & {
  /** The plan, with what an earlier run recorded as stored. */
  readonly onOpened: (chunks: readonly Chunk[]) => void;
  readonly onStored: (chunk: StoredChunk) => void;
  /** The browser itself refuses a file that changed while it was read. */
  readonly isWatched: boolean;
  /** Every chunk is stored; the service is asked to agree. */
  readonly onCommit: () => void;
};

export interface RunResult {
  readonly session: Session;
  /** In chunk order. */
  readonly chunks: readonly StoredChunk[];
  /** What the commit answered. */
  readonly body?: unknown;
}

/** Uploads one file. Rejects with `UploaderError`, or with the signal's reason when it was aborted. */
export async function run(file: OpenFile, given: RunParts): Promise<RunResult> {
  const over = new AbortController();
  const parts = { ...given, signal: AbortSignal.any([given.signal, over.signal]) };
  try {
    const opened = await open(file, parts);
    parts.signal.throwIfAborted();
    const chunks = plan(file.file.size, opened.chunkSizeBytes, opened.stored).map(
      // Where no commit asks the service, one question at least is asked: its session may be long gone.
      (chunk, at) => (at === 0 && !parts.calls.commit ? withoutTicket(chunk) : chunk),
    );
    parts.onOpened(chunks);
    const result = await transfer(chunks, opened, parts);
    // Nobody waits for the store: a pause between the service's word and ours would do it all again.
    opened.forget().catch(() => undefined);
    return result;
  } finally {
    over.abort();
  }
}

/** Sends everything, under one session, or where the service lost that, once more under another. */
async function transfer(planned: readonly Chunk[], opened: Opened, parts: RunParts): Promise<RunResult> {
  let chunks = planned;
  for (let isSecondSession = false; ; isSecondSession = true) {
    const known = [...chunks];
    const stop = new AbortController();
    const signal = AbortSignal.any([parts.signal, stop.signal]);
    try {
      return await sendAll(chunks, known, opened, { ...parts, signal, giveUp: () => stop.abort() });
    } catch (error) {
      if (!(error instanceof SessionLost)) throw error;
      if (isSecondSession) throw error.cause;
      // The hashes of this run still hold; all else is asked for again under a new session.
      chunks = known.map(withoutTicket);
      opened.reopen();
    } finally {
      stop.abort();
      parts.budget.releaseAll();
    }
  }
}

/** One expression of stages, and a loop that keeps and tells each stored chunk; then the commit. */
async function sendAll(
  planned: readonly Chunk[],
  known: Chunk[],
  opened: Opened,
  parts: RunParts & Pick<UploadParts, 'giveUp'>,
): Promise<RunResult> {
  const ask = async (chunks: readonly HashedChunk[]): Promise<ReadonlyMap<string, Ticket>> => {
    const session = await opened.session;
    const askedAt = async (): Promise<ReadonlyMap<string, Ticket>> => {
      const askedAfter = parts.inFlight.storedCount;
      const tickets = await parts.calls.presign(session, chunks, parts.signal);
      return new Map([...tickets].map(([hash, ticket]) => [hash, { ...ticket, askedAfter }]));
    };
    return parts.retrying(askedAt, parts.signal).catch(orLost(opened));
  };
  const receipts = new Map<string, string>();
  const positions = new Map(planned.map((chunk, position) => [chunk.index, position]));
  const stages = {
    ...parts,
    ask,
    receipts,
    receiptOf: (hash: string) => receipts.get(hash),
    renew: async (chunk: HashedChunk) => (await ask([chunk])).get(chunk.hash) as Ticket,
    onHashed: (chunk: HashedChunk) => {
      // Without the bytes: what is kept here is kept to the end.
      known[positions.get(chunk.index) as number] = withoutTicket(chunk);
      parts.onHashed(chunk);
    },
  };
  const stored: StoredChunk[] = [];
  let todo = planned;
  for (let isSecondRound = false; ; isSecondRound = true) {
    for await (const chunk of upload(presign(hash(todo, stages), stages), stages)) {
      stored[chunk.index] = chunk;
      if (!isRecorded(chunk, opened)) opened.save(chunk);
      parts.onStored(chunk);
    }
    const session = await opened.session;
    if (!parts.isWatched) await readAgain(stored, parts);
    parts.signal.throwIfAborted();
    parts.onCommit();
    const { missing, body } = await commit(session, stored, parts).catch(orLost(opened));
    if (missing.length === 0) return { session, chunks: stored, body };
    if (isSecondRound)
      throw new UploaderError('service-failed', 'The service lacks chunks that it was sent twice');
    for (const hash of missing) receipts.delete(hash);
    const lacking = new Set(missing);
    todo = stored.filter(({ hash }) => lacking.has(hash)).map(withoutTicket);
  }
}

/** What stays true of a chunk when its session is gone, or its bytes are wanted again: its place, and its content's name. */
function withoutTicket({ index, start, sizeBytes, hash }: Chunk): Chunk {
  return { index, start, sizeBytes, ...(hash !== undefined && { hash }) };
}

function isRecorded(chunk: StoredChunk, opened: Opened): boolean {
  const record = opened.stored.get(chunk.index);
  return record?.hash === chunk.hash && record.receipt === chunk.receipt;
}

/** The service no longer has the session; `cause` is how it said so. */
class SessionLost extends Error {
  override readonly cause: UploaderError;
  constructor(cause: UploaderError) {
    super('The upload session is gone');
    this.cause = cause;
  }
}

/** A second 401, a 404 or 410, and on a session of an earlier visit a 403 too, mean that the session is gone. */
const orLost =
  (opened: Opened) =>
  (error: unknown): never => {
    const isLost =
      error instanceof UploaderError &&
      (codeFacts(error.code).endsSession || (opened.isResumed && error.code === 'forbidden'));
    throw isLost ? new SessionLost(error) : error;
  };
