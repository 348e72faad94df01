// Uploads one file. Connects the stages, one module each: open, plan, hash, presign, upload, commit.

import { UploaderError } from '../core/errors.ts';
import type {
  Chunk,
  CommitAnswer,
  ContinueHash,
  HashedChunk,
  Session,
  StoredChunk,
  Ticket,
} from '../core/types.ts';
import { type CommitParts, commit } from './commit.ts';
import { FileHash } from './file-hash.ts';
import { type HashParts, hash, hashAhead, readAgain } from './hash.ts';
import { type Opened, type OpenFile, type OpenParts, open } from './open.ts';
import { MAX_CHUNKS, plan } from './plan.ts';
import { type PresignParts, presign } from './presign.ts';
import { inSession, SessionLost } from './session-lost.ts';
import { ChunkTooLarge, type UploadParts, upload } from './upload.ts';

/** Parameters of all stages. */
export type RunParts = Omit<
  OpenParts & CommitParts & HashParts & PresignParts & UploadParts,
  'ask' | 'giveUp' | 'proven' | 'ready' | 'renew' | 'receipts' | 'receiptOf' | 'saveAccepted'
> & {
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
  const parts: RunParts & Pick<HashParts, 'ahead'> = { ...given, minChunkBytes, signal };
  try {
    const opening = open(file, parts);
    if (!parts.hasRecord && !parts.chosenChunkSize) parts.ahead = hashAhead(parts);
    const opened = await opening;
    signal.throwIfAborted();
    // The chunks of a saved upload may have another size.
    if (opened.isResumed) {
      delete parts.ahead;
      parts.budget.releaseAll();
    }
    const chunks = plan(file.body.size, opened.chunkSizeBytes, opened.stored).map(
      // Without a commit, presigns the first chunk again to check that the session still exists on the service.
      (chunk, at) => (at === 0 && !parts.calls.commit ? withoutTicket(chunk) : chunk),
    );
    parts.onOpened(chunks);
    const result = await transfer(chunks, opened, parts);
    // Not awaited: if the user paused the upload before `done`, the upload would run again.
    opened.forget().catch(() => undefined);
    return result;
  } finally {
    over.abort();
    parts.budget.releaseAll();
  }
}

/**
 * Uploads the chunks. If the service has lost the session, uploads the chunks a second time in a new session. If chunks are too
 * large, halves the chunk size; smaller chunks have other hashes, so they need a new session, too.
 */
async function transfer(planned: readonly Chunk[], opened: Opened, parts: RunParts): Promise<RunResult> {
  let chunks = planned;
  let isSecondSession = false;
  const recorded = planned.filter((chunk) => chunk.recorded);
  const proven = { sizeBytes: Math.max(0, ...recorded.map(({ sizeBytes }) => sizeBytes)) };
  const { continueHash } = parts;
  const hashWhole = (): FileHash | undefined =>
    continueHash && new FileHash(chunks, { ...parts, continueHash });
  let fileHash = hashWhole();
  for (;;) {
    const known = [...chunks];
    const stop = new AbortController();
    const signal = AbortSignal.any([parts.signal, stop.signal]);
    fileHash?.result.catch((error) => stop.abort(error));
    try {
      const giveUp = (): void => stop.abort();
      return await sendAll(chunks, known, opened, { ...parts, fileHash, signal, giveUp, proven });
    } catch (error) {
      const { chunkSizeBytes } = opened;
      if (error instanceof ChunkTooLarge) {
        // The only chunk of a small file is smaller than the chunk size.
        const largestBytes = Math.min(chunkSizeBytes, parts.file.size);
        // Smaller than `largestBytes`, because the rejected chunk has more than `minChunkBytes`.
        const smallerBytes = Math.max(parts.minChunkBytes, Math.ceil(largestBytes / 2));
        parts.onSmallerChunks(largestBytes, smallerBytes);
        proven.sizeBytes = 0;
        await opened.reopen(smallerBytes);
      } else if (error instanceof SessionLost && (!isSecondSession || error.cause.code === 'name-taken')) {
        isSecondSession = true;
        // In a new session, only the hashes remain valid.
        chunks = known.map(withoutTicket);
        await opened.reopen();
      } else throw error instanceof SessionLost ? error.cause : error;
      if (opened.chunkSizeBytes !== chunkSizeBytes) {
        chunks = plan(parts.file.size, opened.chunkSizeBytes);
        fileHash = hashWhole();
      }
      parts.onOpened(chunks, opened.chunkSizeBytes === chunkSizeBytes);
    } finally {
      stop.abort();
      parts.budget.releaseAll();
    }
  }
}

/** Runs the other stages, saves and reports each stored chunk, and commits. */
async function sendAll(
  planned: readonly Chunk[],
  known: Chunk[],
  opened: Opened,
  parts: RunParts & Pick<UploadParts, 'giveUp' | 'proven'> & { readonly fileHash: FileHash | undefined },
): Promise<RunResult> {
  const ask = async (chunks: readonly HashedChunk[]): Promise<ReadonlyMap<string, Ticket>> => {
    const session = await opened.session;
    const presigned = (): Promise<ReadonlyMap<string, Ticket>> =>
      parts.calls.presign(session, chunks, parts.signal);
    return inSession(() => parts.retrying(presigned, parts.signal), opened.isResumed, parts);
  };
  const receipts = new Map<string, string>();
  const positions = new Map(planned.map((chunk, position) => [chunk.index, position]));
  const stages = {
    ...parts,
    ask,
    ready: opened.session,
    receipts,
    receiptOf: (hash: string) => receipts.get(hash),
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
      if (!isRecorded(chunk, opened)) opened.save(chunk);
      parts.onStored(chunk);
    }
    const session = await opened.session;
    if (!parts.isWatched) await readAgain(stored, parts);
    const fileHash = await parts.fileHash?.result;
    parts.signal.throwIfAborted();
    parts.onCommit();
    const saveAccepted = (atMs: number): void => opened.accept(session, stored, atMs, fileHash);
    const send = (): Promise<CommitAnswer> =>
      commit(session, stored, { ...parts, saveAccepted }, { fileHash });
    const { missing, body } = await inSession(send, opened.isResumed, parts);
    if (missing.length === 0) return { session, chunks: stored, fileHash, body };
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

function isRecorded(chunk: StoredChunk, opened: Opened): boolean {
  const record = opened.stored.get(chunk.index);
  return record?.hash === chunk.hash && record.receipt === chunk.receipt;
}
