// Names each chunk by its content. Bytes are read and hashed in workers; this stage only says which, and how far ahead.

import { UploaderError } from '../core/errors.ts';
import { mapAhead } from '../core/streams.ts';
import type { Chunk, HashedChunk, HashSlice } from '../core/types.ts';

/** Memory for chunk bytes that wait to be sent, shared by the whole page. Bytes on their way are a slot's, not the budget's. */
export class ByteBudget {
  readonly #pool: { freeBytes: number };
  #takenBytes = 0;

  constructor(pool: { freeBytes: number }) {
    this.#pool = pool;
  }

  /** True where the bytes may be kept; whoever takes gives back. */
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

  /** Gives back what a run that ended early had taken. */
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
 * Fills `hash`, and `body` while the budget lasts. A chunk that was recorded as stored gets its receipt back when its
 * bytes still have the recorded hash; else it is a chunk like any other. Rejects with `file-unreadable` or `hash-failed`.
 */
export function hash(
  chunks: Iterable<Chunk>,
  parts: HashParts,
): AsyncGenerator<HashedChunk, void, undefined> {
  return mapAhead(chunks, parts.width, (chunk) => hashChunk(chunk, parts));
}

async function hashChunk(chunk: Chunk, parts: HashParts): Promise<HashedChunk> {
  const { file, hashSlice, budget, signal, onHashed } = parts;
  // Known from this very run: the session was lost and every chunk is asked for again.
  if (chunk.hash !== undefined) return chunk as HashedChunk;
  const keepBytes = !chunk.recorded && budget.reserve(chunk.sizeBytes);
  try {
    const found = await hashSlice(sliceOf(file, chunk), { keepBytes, signal });
    // A run that is over tells nothing more: whoever comes after it hashes this chunk again.
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

/** The bytes of a chunk whose memory was not kept: read again, and refused where they are no longer what was hashed. */
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

/** So many chunks, spread over the file, are read once more at the end. */
const READ_AGAIN = 8;

/**
 * For browsers that do not tell when a file changed while it was read, so that chunks from before and after could stand side by side.
 * Rejects with `file-changed`.
 */
export async function readAgain(
  chunks: readonly HashedChunk[],
  { file, hashSlice, signal }: Pick<HashParts, 'file' | 'hashSlice' | 'signal'>,
): Promise<void> {
  // What was read at once is of one time.
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
