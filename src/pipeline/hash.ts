// The stage that hashes chunks, and the memory budget for their bytes.

import { UploaderError } from '../core/errors.ts';
import { mapAhead } from '../core/streams.ts';
import type { Chunk, HashedChunk, HashSlice } from '../core/types.ts';

/** Memory for the bytes of chunks that are not being sent yet; the pool is shared by all runs of a page. */
export class ByteBudget {
  readonly #pool: { freeBytes: number };
  #takenBytes = 0;

  constructor(pool: { freeBytes: number }) {
    this.#pool = pool;
  }

  /** Returns false if there is not enough memory. The caller has to release what it reserved. */
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

  /** Releases everything that this budget has reserved, at the end of a run. */
  releaseAll(): void {
    this.release(this.#takenBytes);
  }
}

export interface HashParts {
  readonly file: Blob;
  readonly hashSlice: HashSlice;
  readonly budget: ByteBudget;
  /** How many slices are read and hashed at once. */
  readonly width: number;
  readonly signal: AbortSignal;
  readonly onHashed: (chunk: HashedChunk) => void;
}

/**
 * Adds `hash`, and `body` if the budget allows. A chunk that is recorded as stored gets its receipt if its bytes still have the
 * recorded hash; if not, it is uploaded. Rejects with `file-unreadable` or `hash-failed`.
 */
export function hash(
  chunks: Iterable<Chunk>,
  parts: HashParts,
): AsyncGenerator<HashedChunk, void, undefined> {
  return mapAhead(chunks, parts.width, (chunk) => hashChunk(chunk, parts));
}

async function hashChunk(chunk: Chunk, parts: HashParts): Promise<HashedChunk> {
  const { file, hashSlice, budget, signal, onHashed } = parts;
  // Hashed by this run already, in a session that was lost.
  if (chunk.hash !== undefined) return chunk as HashedChunk;
  const keepBytes = !chunk.recorded && budget.reserve(chunk.sizeBytes);
  try {
    const found = await hashSlice(sliceOf(file, chunk), { keepBytes, signal });
    // An aborted run must not report.
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

/** Reads the bytes of a chunk again. Rejects with `file-changed` if their hash differs. */
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

/** Number of chunks that `readAgain` reads, spread over the file. */
const READ_AGAIN = 8;

/**
 * Detects a file that changed while it was uploaded, in browsers that do not detect it themselves, by reading some chunks again.
 * Rejects with `file-changed`.
 */
export async function readAgain(
  chunks: readonly HashedChunk[],
  { file, hashSlice, signal }: Pick<HashParts, 'file' | 'hashSlice' | 'signal'>,
): Promise<void> {
  // A single chunk was read at once.
  if (chunks.length < 2) return;
  const step = Math.ceil(chunks.length / READ_AGAIN);
  const some = chunks.filter((_, position) => position % step === 0);
  const hashes = await Promise.all(
    some.map((chunk) => hashSlice(sliceOf(file, chunk), { keepBytes: false, signal })),
  );
  const other = some.find(({ hash }, position) => hash !== hashes[position]?.hash);
  if (other) throw changed(other);
}

const changed = ({ index }: HashedChunk): UploaderError =>
  new UploaderError('file-changed', `Chunk ${index} changed on disk after it was hashed`, {
    chunkIndex: index,
  });

const sliceOf = (file: Blob, chunk: Chunk): Blob => file.slice(chunk.start, chunk.start + chunk.sizeBytes);
