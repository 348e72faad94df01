// The stage that divides a file into chunks. Needs only its size.

import type { Warn } from '../core/config.ts';
import type { Chunk, UploadRecord } from '../core/types.ts';

const MIB = 2 ** 20;
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
const SMALLEST = 5 * MIB;
const ROUND = 60 * MIB;

/**
 * Returns the size of all chunks except the last, in bytes. With `auto`, files up to 480 MiB get chunks of 5 to 10 MiB that keep
 * all slots busy until the end, and larger files get chunks of 8 MiB. Doubles any size until there are at most 10,000 chunks,
 * and limits it to 512 MiB.
 */
export function chunkSizeFor(
  sizeBytes: number,
  setting: number | 'auto',
  warn: Warn = () => undefined,
): number {
  const wanted = setting === 'auto' ? automatic(sizeBytes) : setting;
  let chunkBytes = wanted;
  while (Math.ceil(sizeBytes / chunkBytes) > MAX_CHUNKS) chunkBytes *= 2;
  chunkBytes = Math.min(chunkBytes, LARGEST);
  if (setting !== 'auto' && chunkBytes !== wanted) {
    warn(`chunk-size ${wanted} is not possible for this file; using ${chunkBytes}.`);
  }
  return chunkBytes;
}

function automatic(sizeBytes: number): number {
  const rounds = Math.ceil(sizeBytes / ROUND);
  if (rounds > 8) return GRID;
  const count = sizeBytes < 30 * MIB ? Math.max(1, Math.floor(sizeBytes / SMALLEST)) : SLOTS * rounds;
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
