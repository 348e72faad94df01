// Uploads one file. Connects the stages, one module each: open, plan, hash, presign, upload, commit.

import { UploaderError } from '../core/errors.ts';
import type {
  Chunk,
  ContinueHash,
  HashedChunk,
  Session,
  SessionInput,
  StoredChunk,
  Ticket,
} from '../core/types.ts';
import { awaitedLater } from '../core/wait.ts';
import { type CommitParts, commit } from './commit.ts';
import { FileHash } from './file-hash.ts';
import { type HashParts, hash, hashAhead, readAgain } from './hash.ts';
import { type OpenFile, type OpenParts, open } from './open.ts';
import { MAX_CHUNKS, plan } from './plan.ts';
import { type PresignParts, presign } from './presign.ts';
import { ChunkTooLarge, type UploadParts, upload } from './upload.ts';
import { SessionLost, type UploadSession } from './upload-session.ts';

/** Parameters of all stages. */
export type RunParts = Omit<
  OpenParts & CommitParts & HashParts & PresignParts & UploadParts,
  'ahead' | 'ask' | 'canHalve' | 'giveUp' | 'proven' | 'ready' | 'renew' | 'receipts' | 'receiptOf'
> & {
  /** Smallest size of chunks to try after the storage rejected larger ones, in bytes, unless the service says a larger one. */
  readonly minChunkBytes: number;
  /**
   * Called with all chunks before the first chunk is hashed, and again in each new session; `isSamePlan` if the chunks are the
   * same. Chunks that an earlier run stored are `recorded`.
   */
  readonly onOpened: (chunks: readonly Chunk[], isSamePlan?: boolean) => void;
  readonly onStored: (chunk: StoredChunk) => void;
  /** Called when the file is divided into smaller chunks, because larger ones fail. */
  readonly onSmallerChunks: (beforeBytes: number, chunkSizeBytes: number) => void;
  /** True if the browser refuses to send a file that has changed since it was picked. */
  readonly isWatched: boolean;
  /** Present to hash the whole file, too (`profile.sendFileHash`). */
  readonly continueHash: ContinueHash | undefined;
  /** Called when every chunk is stored, before the commit. */
  readonly onCommit: () => void;
};

/** Parts of a run without a setting of the page or the profile. */
export const RUN_DEFAULTS = { commitDeadlineMs: 3_600_000, minChunkBytes: 2 ** 20 } as const;

export interface RunResult {
  readonly session: Session;
  /** Chunks of the file, in order. */
  readonly chunks: readonly StoredChunk[];
  /** SHA-256 of the whole file, as hex; `undefined` without `continueHash`. */
  readonly fileHash?: string | undefined;
  /** JSON of the commit response. */
  readonly body?: unknown;
}

/** Uploads one file. Rejects with `UploaderError`, or with the signal's reason if the signal aborts. */
export async function run(file: OpenFile, given: RunParts): Promise<RunResult> {
  const over = new AbortController();
  const minChunkBytes = Math.max(given.minChunkBytes, Math.ceil(file.body.size / MAX_CHUNKS));
  const signal = AbortSignal.any([given.signal, over.signal]);
  const parts: RunParts = { ...given, minChunkBytes, signal };
  try {
    let ahead: HashParts['ahead'];
    let firstHash: Promise<string> | undefined;
    /** Starts to hash the first chunk, once. The bytes stay with `ahead`, whose budget counts them. */
    const startHash = (): typeof firstHash => {
      if (!parts.hasRecord) ahead ??= hashAhead(parts);
      firstHash ??= ahead?.found && awaitedLater(ahead.found.then(({ hash }) => hash));
      return firstHash;
    };
    // The session is requested first, unless it waits for the hash.
    const opening = open(file, { ...parts, firstChunks: firstChunksOf(startHash, parts) });
    startHash();
    const session = await opening;
    signal.throwIfAborted();
    // The chunks of a saved upload may have another size, and are hashed again only after the others.
    const isAhead = !session.isResumed && session.chunkSizeBytes === parts.chunkSizeBytes;
    if (!isAhead) {
      ahead?.cancel();
      parts.budget.releaseAll();
    }
    const chunks = planOf(session, parts).map(
      // Without a commit, presigns the first chunk again to check that the session still exists on the service.
      (chunk, at) => (at === 0 && !parts.calls.commit ? withoutTicket(chunk) : chunk),
    );
    parts.onOpened(chunks);
    const result = await transfer(chunks, session, parts, isAhead ? ahead : undefined);
    // Not awaited: if the user paused the upload before `done`, the upload would run again.
    void session.forget();
    return result;
  } finally {
    over.abort();
    parts.budget.releaseAll();
  }
}

/** Returns what resolves with the chunks of a file that has only one; `undefined` for a larger file. */
function firstChunksOf(
  startHash: () => Promise<string> | undefined,
  { file, chunkSizeBytes, hasRecord }: RunParts,
): SessionInput['firstChunks'] {
  if (hasRecord || file.size > chunkSizeBytes) return undefined;
  return async () => {
    const hash = await startHash();
    return hash !== undefined && file.size > 0 ? [{ hash, sizeBytes: file.size }] : [];
  };
}

const planOf = ({ chunkSizeBytes, stored }: UploadSession, { file }: RunParts): Chunk[] =>
  plan(file.size, chunkSizeBytes, stored);

/** Returns the smallest size of chunks that may be tried, in bytes. */
const smallestOf = (session: UploadSession, { minChunkBytes }: Pick<RunParts, 'minChunkBytes'>): number =>
  Math.max(minChunkBytes, session.minChunkBytes);

/** Ends a round whose chunks have another size than the session allows. */
class OtherChunkSize {}

/**
 * Uploads the chunks. If the session is given up, uploads them again in the next one. If chunks are too large, halves the chunk
 * size; smaller chunks have other hashes, so they need a new session, too. If a session turns out to have another chunk size,
 * divides the file again.
 */
async function transfer(
  planned: readonly Chunk[],
  session: UploadSession,
  parts: RunParts,
  ahead: HashParts['ahead'],
): Promise<RunResult> {
  let chunks = planned;
  const recorded = planned.filter((chunk) => chunk.recorded);
  const proven = { sizeBytes: Math.max(0, ...recorded.map(({ sizeBytes }) => sizeBytes)) };
  const { continueHash } = parts;
  const hashWhole = (): FileHash | undefined =>
    continueHash && new FileHash(chunks, { ...parts, continueHash });
  let fileHash = hashWhole();
  /** What the storage has rejected last. */
  let rejected: { readonly sizeBytes: number; readonly cause: unknown } | undefined;
  for (let first = ahead; ; first = undefined) {
    const known = [...chunks];
    const stop = new AbortController();
    const signal = AbortSignal.any([parts.signal, stop.signal]);
    const { chunkSizeBytes } = session;
    // Each call in the session rejects with the error of a session that cannot be opened.
    session.session
      .then(() => session.chunkSizeBytes === chunkSizeBytes || stop.abort(new OtherChunkSize()))
      .catch(() => undefined);
    fileHash?.result.catch((error) => stop.abort(error));
    try {
      const giveUp = (): void => stop.abort();
      const round = { ...parts, fileHash, signal, giveUp, proven, ...(first && { ahead: first }) };
      return await sendAll(chunks, known, session, round);
    } catch (error) {
      if (error instanceof ChunkTooLarge) {
        // The only chunk of a small file is smaller than the chunk size.
        const largestBytes = Math.min(chunkSizeBytes, parts.file.size);
        // Smaller than `largestBytes`, because the rejected chunk could be halved.
        const smallerBytes = Math.max(smallestOf(session, parts), Math.ceil(largestBytes / 2));
        parts.onSmallerChunks(largestBytes, smallerBytes);
        proven.sizeBytes = 0;
        rejected = { sizeBytes: largestBytes, cause: error.cause };
        await session.shrink(smallerBytes, error.cause);
      } else if (error instanceof SessionLost) {
        // In a new session, only the hashes remain valid.
        chunks = known.map(withoutTicket);
        await session.open();
      } else if (!(error instanceof OtherChunkSize)) throw error;
      if (rejected && !session.isResumed && session.chunkSizeBytes >= rejected.sizeBytes)
        throw rejected.cause;
      const isSamePlan = error instanceof SessionLost && session.chunkSizeBytes === chunkSizeBytes;
      if (!isSamePlan) {
        chunks = planOf(session, parts);
        fileHash = hashWhole();
      }
      parts.onOpened(chunks, isSamePlan);
    } finally {
      stop.abort();
      first?.cancel();
      parts.budget.releaseAll();
    }
  }
}

/** Runs the other stages, saves and reports each stored chunk, and commits. */
async function sendAll(
  planned: readonly Chunk[],
  known: Chunk[],
  session: UploadSession,
  parts: RunParts &
    Pick<UploadParts, 'giveUp' | 'proven'> &
    Pick<HashParts, 'ahead'> & { readonly fileHash: FileHash | undefined },
): Promise<RunResult> {
  const ask = (chunks: readonly HashedChunk[]): Promise<ReadonlyMap<string, Ticket>> =>
    session.ask(async (handle) => {
      const { calls, retrying, signal } = parts;
      return (
        calls.takeTickets?.(handle, chunks) ?? retrying(() => calls.presign(handle, chunks, signal), signal)
      );
    }, parts.signal);
  const receipts = new Map<string, string>();
  const positions = new Map(planned.map((chunk, position) => [chunk.index, position]));
  const stages = {
    ...parts,
    ask,
    ready: session.session,
    receipts,
    receiptOf: (hash: string) => receipts.get(hash),
    canHalve: (sizeBytes: number) => sizeBytes > smallestOf(session, parts),
    renew: async (chunk: HashedChunk) => (await ask([chunk])).get(chunk.hash) as Ticket,
    onHashed: (chunk: HashedChunk) => {
      // Drops `body`, which would otherwise stay in memory until the end.
      known[positions.get(chunk.index) as number] = withoutTicket(chunk);
      parts.fileHash?.onHashed(chunk);
      parts.onHashed(chunk);
    },
  };
  const stored: StoredChunk[] = [];
  let todo = planned;
  for (let isSecondRound = false; ; isSecondRound = true) {
    for await (const chunk of upload(presign(hash(todo, stages), stages), stages)) {
      stored[chunk.index] = chunk;
      session.onStored(chunk);
      parts.onStored(chunk);
    }
    const handle = await session.session;
    if (!parts.isWatched) await readAgain(stored, parts);
    const fileHash = await parts.fileHash?.result;
    parts.signal.throwIfAborted();
    parts.onCommit();
    const { missing, body } = await commit(session, stored, parts, fileHash);
    if (missing.length === 0) return { session: handle, chunks: stored, fileHash, body };
    if (isSecondRound)
      throw new UploaderError(
        'service-failed',
        `The service lacks ${missing.length} of ${stored.length} chunks, also after they were sent again`,
      );
    for (const hash of missing) receipts.delete(hash);
    const lacking = new Set(missing);
    todo = stored.filter(({ hash }) => lacking.has(hash)).map(withoutTicket);
  }
}

/** Returns the fields of a chunk that do not depend on the session. */
function withoutTicket({ index, start, sizeBytes, hash }: Chunk): Chunk {
  return { index, start, sizeBytes, ...(hash !== undefined && { hash }) };
}
