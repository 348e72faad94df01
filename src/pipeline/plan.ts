// How a file is cut into chunks: decided before the first byte, from its size alone, and kept with the saved record.

import type { Warn } from '../core/config.ts';
import type { Chunk, UploadRecord } from '../core/types.ts';

const MIB = 2 ** 20;
const PAGE = 4096;
/** Stores cap the parts of one object at this. */
export const MAX_CHUNKS = 10_000;
/** A chunk is read whole to be hashed: no more than every engine, and a page's memory, can hold. */
const LARGEST = 512 * MIB;
/** No larger file can be cut into chunks that can be read. */
export const MAX_FILE_BYTES = MAX_CHUNKS * LARGEST;
const SLOTS = 6;
const GRID = 8 * MIB;
const SMALLEST = 5 * MIB;
const ROUND = 60 * MIB;

/**
 * Bytes of every chunk but the last. `auto`: equal chunks of 5-10 MiB up to 480 MiB, so that no slot idles in the last
 * round; above, a grid of 8 MiB. Either is doubled until the file has at most 10,000 chunks, a fixed size too. None is larger than
 * 512 MiB.
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
    warn(`chunk-size ${wanted} is no size for this file; ${chunkBytes} is used.`);
  }
  return chunkBytes;
}

function automatic(sizeBytes: number): number {
  const rounds = Math.ceil(sizeBytes / ROUND);
  if (rounds > 8) return GRID;
  const count = sizeBytes < 30 * MIB ? Math.max(1, Math.floor(sizeBytes / SMALLEST)) : SLOTS * rounds;
  return Math.max(PAGE, Math.ceil(sizeBytes / count / PAGE) * PAGE);
}

/**
 * The chunks of a file, with what an earlier run recorded as stored. Those that have to be sent come first; those that are
 * recorded as stored come after, so that they are only checked once the bytes flow.
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
