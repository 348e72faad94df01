// The stage that divides a file into chunks. Needs only its size.

import type { Chunk, UploadRecord } from '../core/types.ts';
import type { Warn } from '../core/warn.ts';

const MIB = 2 ** 20;
/** The smallest chunk that S3 and similar storage take, except the last one of a file. Smaller ones fail at the commit. */
export const SAFE_CHUNK_BYTES = 5 * MIB;
/** Chunk sizes for storage that takes smaller ones. Each is a multiple of the one before. */
const SMALL_SIZES = [MIB, 2 * MIB, 4 * MIB];
/** A small chunk size is used for files of at most this many chunks: each chunk costs two requests. */
const MOST_SMALL_CHUNKS = 32;
/** Chunks of files up to 480 MiB have a multiple of this size, so that a file that grows a little keeps its chunks. */
const STEP = MIB / 4;
/** S3 and similar storage allow at most this many parts per object. */
export const MAX_CHUNKS = 10_000;
/** Each chunk has to fit into memory. */
const LARGEST = 512 * MIB;
/** Larger files are rejected. */
export const MAX_FILE_BYTES = MAX_CHUNKS * LARGEST;
const SLOTS = 6;
const GRID = 8 * MIB;
const ROUND = 60 * MIB;

/**
 * Returns the size of all chunks except the last, in bytes. With `auto`, a file of up to 5 MiB is one chunk, files up to 480 MiB
 * get chunks of 5 to 10 MiB that keep all slots busy until the end, and larger files get chunks of 8 MiB. If the storage takes
 * chunks of `minBytes`, files up to 128 MiB get chunks of 1, 2 or 4 MiB, because a connection that breaks loses what is under way.
 * Doubles any size until there are at most 10,000 chunks, and limits it to 512 MiB. Depends on nothing that changes from day to
 * day, so that a file has the same chunks when it is uploaded again.
 */
export function chunkSizeFor(
  sizeBytes: number,
  setting: number | 'auto',
  minBytes: number = SAFE_CHUNK_BYTES,
  warn: Warn = () => undefined,
): number {
  const wanted = setting === 'auto' ? automatic(sizeBytes, minBytes) : setting;
  let chunkBytes = wanted;
  while (Math.ceil(sizeBytes / chunkBytes) > MAX_CHUNKS) chunkBytes *= 2;
  chunkBytes = Math.min(chunkBytes, LARGEST);
  if (setting !== 'auto' && chunkBytes !== wanted) {
    warn(`chunk-size ${wanted} is not possible for this file; using ${chunkBytes}.`);
  }
  return chunkBytes;
}

function automatic(sizeBytes: number, minBytes: number): number {
  if (sizeBytes <= SAFE_CHUNK_BYTES) return balanced(sizeBytes);
  const fits = (bytes: number): boolean => bytes >= minBytes && sizeBytes <= MOST_SMALL_CHUNKS * bytes;
  return SMALL_SIZES.find(fits) ?? Math.max(minBytes, balanced(sizeBytes));
}

function balanced(sizeBytes: number): number {
  const rounds = Math.ceil(sizeBytes / ROUND);
  if (rounds > 8) return GRID;
  const count = sizeBytes < 30 * MIB ? Math.max(1, Math.floor(sizeBytes / SAFE_CHUNK_BYTES)) : SLOTS * rounds;
  return Math.max(STEP, Math.ceil(sizeBytes / count / STEP) * STEP);
}

/**
 * Returns the chunks of a file. Chunks that an earlier run stored are `recorded`. They come last, so that sending new chunks does
 * not wait until the recorded ones are checked.
 */
export function plan(
  sizeBytes: number,
  chunkSizeBytes: number,
  stored: UploadRecord['stored'] = new Map(),
): Chunk[] {
  const fresh: Chunk[] = [];
  const toCheck: Chunk[] = [];
  for (let index = 0, start = 0; start < sizeBytes; index += 1, start += chunkSizeBytes) {
    const recorded = stored.get(index);
    const chunk = { index, start, sizeBytes: Math.min(chunkSizeBytes, sizeBytes - start) };
    if (recorded) toCheck.push({ ...chunk, recorded });
    else fresh.push(chunk);
  }
  return [...fresh, ...toCheck];
}
