// Limits of the pipeline: memory, and which chunks are read again at the end.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { HashedChunk, HashSlice } from '../../src/core/types.ts';
import { ByteBudget, readAgain, readBody } from '../../src/pipeline/hash.ts';
import { rejection } from '../support/collect.ts';
import { forever } from './pools.ts';

describe('the budget of memory', () => {
  it('grants what is free, to the last byte, and takes back no more than it granted', () => {
    const pool = { freeBytes: 10 };
    const [one, other] = [new ByteBudget(pool), new ByteBudget(pool)];
    expect([
      one.reserve(4),
      other.reserve(7),
      other.reserve(6),
      other.reserve(1),
      other.reserve(0),
    ]).to.deep.equal([true, false, true, false, true]);
    expect(pool.freeBytes).to.equal(0);
    one.release(100);
    expect(pool.freeBytes).to.equal(4);
    other.release(2);
    other.releaseAll();
    other.releaseAll();
    expect(pool.freeBytes).to.equal(10);
  });
});

describe('the chunks that are read again at the end', () => {
  const file = new Blob([new Uint8Array(100)]);
  const chunksOf = (count: number): HashedChunk[] =>
    Array.from({ length: count }, (_, index) => ({ index, start: index, sizeBytes: 1, hash: 'same' }));

  async function readBy(count: number, changedAt = -1): Promise<number[]> {
    const read: number[] = [];
    const { slice } = file;
    const watched = Object.assign(new Blob([file]), {
      slice: (start: number, end: number) => {
        read.push(start);
        return slice.call(file, start, end);
      },
    });
    const hashSlice: HashSlice = async () => ({ hash: read.at(-1) === changedAt ? 'other' : 'same' });
    await readAgain(chunksOf(count), { file: watched, hashSlice, signal: forever });
    return read;
  }

  it('are none of one chunk, all of a few, and eight at most of many, spread over the file', async () => {
    expect(await readBy(0)).to.deep.equal([]);
    expect(await readBy(1)).to.deep.equal([]);
    expect(await readBy(2)).to.deep.equal([0, 1]);
    expect(await readBy(8)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await readBy(9)).to.deep.equal([0, 2, 4, 6, 8]);
    expect(await readBy(64)).to.deep.equal([0, 8, 16, 24, 32, 40, 48, 56]);
  });

  it('identify the one that changed', async () => {
    const error = await rejection<UploaderError>(readBy(9, 4));
    expect(error).to.include({ code: 'file-changed', chunkIndex: 4 });
  });

  it('must have the same hash when their bytes are read for sending', async () => {
    const [chunk] = chunksOf(1) as [HashedChunk];
    const body = new Blob(['x']);
    const read = (found: Awaited<ReturnType<HashSlice>>): Promise<Blob> =>
      readBody(chunk, file, async () => found, forever);
    expect(await read({ hash: 'same', body })).to.equal(body);
    for (const found of [{ hash: 'same' }, { hash: 'other', body }])
      expect(await rejection(read(found))).to.include({ code: 'file-changed', chunkIndex: 0 });
  });
});
