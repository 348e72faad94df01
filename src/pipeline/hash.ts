// The stage that hashes chunks, and the memory budget for their bytes.

import { UploaderError } from '../core/errors.ts';
import { mapAhead } from '../core/streams.ts';
import type { Chunk, HashedChunk, HashSlice } from '../core/types.ts';
import { awaitedLater, whenSettled } from '../core/wait.ts';

/** Limits the memory for chunks that are hashed but not being sent yet. Each run has its own budget; all budgets share one pool. */
export class ByteBudget {
  readonly #pool: { freeBytes: number };
  #takenBytes = 0;

  constructor(pool: { freeBytes: number }) {
    this.#pool = pool;
  }

  /** Reserves bytes. Returns false if there is not enough memory. The caller has to release the reserved bytes. */
  reserve(sizeBytes: number): boolean {
    if (sizeBytes > this.#pool.freeBytes) return false;
    this.#pool.freeBytes -= sizeBytes;
    this.#takenBytes += sizeBytes;
    return true;
  }

  release(sizeBytes: number): void {
    const bytes = Math.min(sizeBytes, this.#takenBytes);
    this.#pool.freeBytes += bytes;
    this.#takenBytes -= bytes;
  }

  /** Releases all bytes that this run still has reserved. */
  releaseAll(): void {
    this.release(this.#takenBytes);
  }
}

export interface HashParts {
  readonly file: Blob;
  readonly hashSlice: HashSlice;
  readonly budget: ByteBudget;
  /** Number of slices that are read and hashed in parallel. */
  readonly width: number;
  readonly signal: AbortSignal;
  readonly onHashed: (chunk: HashedChunk) => void;
  /** The first chunk, if it is being hashed already. */
  ahead?: Ahead;
}

/**
 * Adds `hash` to each chunk, and `body` if the budget allows. A chunk that is recorded as stored keeps its receipt if the bytes
 * still have the recorded hash. Otherwise, the chunk is uploaded again. Throws `file-unreadable`, `hash-failed` or `bad-config`.
 */
export function hash(
  chunks: Iterable<Chunk>,
  parts: HashParts,
): AsyncGenerator<HashedChunk, void, undefined> {
  return mapAhead(chunks, parts.width, (chunk) => hashChunk(chunk, parts));
}

async function hashChunk(chunk: Chunk, parts: HashParts): Promise<HashedChunk> {
  const { ahead, file, hashSlice, budget, signal, onHashed } = parts;
  // This run has already hashed the chunk, before the session was lost.
  if (chunk.hash !== undefined) return chunk as HashedChunk;
  const early = ahead?.found;
  const isEarly = early && chunk.start === 0;
  const keepBytes = !isEarly && !chunk.recorded && budget.reserve(chunk.sizeBytes);
  try {
    if (early && !isEarly) await whenSettled(early);
    const found = await (isEarly ? early : hashSlice(sliceOf(file, chunk), { keepBytes, signal }));
    if (isEarly) ahead.found = undefined;
    // `onHashed` must not be called after an abort.
    signal.throwIfAborted();
    const { recorded, ...plain } = chunk;
    const isAsRecorded = recorded?.hash === found.hash;
    const hashed: HashedChunk = {
      ...plain,
      hash: found.hash,
      ...(isAsRecorded && { receipt: recorded.receipt, skipped: true }),
      ...(found.body && { body: found.body }),
    };
    if (keepBytes && !found.body) budget.release(chunk.sizeBytes);
    onHashed(hashed);
    return hashed;
  } catch (error) {
    if (keepBytes) budget.release(chunk.sizeBytes);
    throw error;
  }
}

interface Ahead {
  /**
   * The result, with its bytes if the budget has room for them; `undefined` after its use. Other chunks wait for it, since sending
   * starts with this chunk.
   */
  found: ReturnType<HashSlice> | undefined;
  /** Ends the work if the chunks have another size. */
  readonly cancel: () => void;
}

/** Starts to hash the first chunk, so that it does not wait for the session. */
export function hashAhead({
  budget,
  file,
  hashSlice,
  signal,
  chunkSizeBytes,
}: Pick<HashParts, 'budget' | 'file' | 'hashSlice' | 'signal'> & { readonly chunkSizeBytes: number }): Ahead {
  const slice = file.slice(0, chunkSizeBytes);
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const found = awaitedLater(hashSlice(slice, { keepBytes: budget.reserve(slice.size), signal: either }));
  return { found, cancel: () => over.abort() };
}

/** Reads a chunk again if its bytes are no longer in memory. Rejects with `file-changed` if the hash differs. */
export async function readBody(
  chunk: HashedChunk,
  file: Blob,
  hashSlice: HashSlice,
  signal: AbortSignal,
): Promise<Blob> {
  const found = await hashSlice(sliceOf(file, chunk), { keepBytes: true, signal });
  if (found.hash !== chunk.hash || !found.body) throw changed(chunk);
  return found.body;
}

/** Maximum number of chunks that `readAgain` reads. */
const READ_AGAIN = 8;

/**
 * Detects that a file changed during the upload, for browsers that do not detect this themselves. Reads some chunks again, spread
 * over the file. Rejects with `file-changed`.
 */
export async function readAgain(
  chunks: readonly HashedChunk[],
  { file, hashSlice, signal }: Pick<HashParts, 'file' | 'hashSlice' | 'signal'>,
): Promise<void> {
  // A single chunk is read only once, so its bytes are consistent.
  if (chunks.length < 2) return;
  const step = Math.ceil(chunks.length / READ_AGAIN);
  const some = chunks.filter((_, position) => position % step === 0);
  const hashes = await Promise.all(
    some.map((chunk) => hashSlice(sliceOf(file, chunk), { keepBytes: false, signal })),
  );
  const other = some.find(({ hash }, position) => hash !== hashes[position]?.hash);
  if (other) throw changed(other);
}

export const changed = ({ index }: Chunk): UploaderError =>
  new UploaderError('file-changed', `Chunk ${index} changed on disk after it was hashed`, {
    chunkIndex: index,
  });

export const sliceOf = (file: Blob, chunk: Chunk): Blob =>
  file.slice(chunk.start, chunk.start + chunk.sizeBytes);
