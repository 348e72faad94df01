// Limits of the pipeline: memory, equal chunks that are being sent, and which chunks are read again at the end.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { HashedChunk, HashSlice, Ticket } from '../../src/core/types.ts';
import { ByteBudget, readAgain, readBody } from '../../src/pipeline/hash.ts';
import { InFlightChunks } from '../../src/pipeline/upload.ts';
import { rejection, settled } from '../support/collect.ts';
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

describe('inFlight on chunks', () => {
  const RUN = {};
  const ticket = (askedAfter?: number): Ticket => ({
    receipt: 'r',
    ...(askedAfter !== undefined && { askedAfter }),
  });

  it('makes others wait until the holder is done, and returns whether a ticket is older than the stored chunk', async () => {
    const inFlight = new InFlightChunks();
    expect(inFlight.whenSettled('a', RUN)).to.equal(undefined);
    const end = inFlight.track('a', RUN);
    let isOver = false;
    void inFlight.whenSettled('a', RUN)?.then(() => {
      isOver = true;
    });
    await settled();
    expect([isOver, inFlight.isTicketOutdated(ticket(), 'a')]).to.deep.equal([false, false]);
    end(true);
    await settled();
    expect([isOver, inFlight.whenSettled('a', RUN), inFlight.storedCount]).to.deep.equal([
      true,
      undefined,
      1,
    ]);
    expect([undefined, 0, 1, 2].map((after) => inFlight.isTicketOutdated(ticket(after), 'a'))).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    inFlight.track('b', RUN)(false);
    expect([inFlight.storedCount, inFlight.isTicketOutdated(ticket(), 'b')]).to.deep.equal([1, false]);
    inFlight.track('a', RUN)(true);
    expect([1, 2].map((after) => inFlight.isTicketOutdated(ticket(after), 'a'))).to.deep.equal([true, false]);
  });

  it('of other files are not waited for if the service requires a chunk again that is stored', () => {
    const upload = { url: 'https://storage.test/a', method: 'PUT', headers: {} } as const;
    const other = {};
    const inFlight = new InFlightChunks();
    const waits = (): boolean => {
      const end = inFlight.track('b', RUN);
      const found = [other, RUN].map((run) => inFlight.whenSettled('b', run) !== undefined);
      end(false);
      expect(found[1]).to.equal(true);
      return found[0] ?? false;
    };
    inFlight.onTicket({ ...ticket(0), upload }, 'a');
    expect(waits()).to.equal(true);
    inFlight.track('a', RUN)(true);
    inFlight.onTicket({ ...ticket(0), upload }, 'a');
    expect([waits(), inFlight.isTicketOutdated(ticket(0), 'a')]).to.deep.equal([true, true]);
    inFlight.onTicket({ ...ticket(1), upload }, 'a');
    expect([waits(), inFlight.isTicketOutdated(ticket(0), 'a')]).to.deep.equal([false, false]);
    inFlight.onTicket(ticket(1), 'c');
    expect(waits()).to.equal(true);
  });

  it('of two files that send the same chunk are settled for each file', () => {
    const other = {};
    const inFlight = new InFlightChunks();
    const ends = [RUN, other].map((run) => inFlight.track('a', run));
    const [one, two] = [RUN, other].map((run) => inFlight.whenSettled('a', run));
    expect(one === two).to.equal(false);
    ends[1]?.(true);
    expect(inFlight.whenSettled('a', RUN)).to.equal(one);
    ends[0]?.(true);
    expect(inFlight.whenSettled('a', RUN)).to.equal(undefined);
  });

  it('remembers the last ten thousand stored chunks', () => {
    const inFlight = new InFlightChunks();
    for (let at = 0; at < 10_000; at += 1) inFlight.track(`${at}`, RUN)(true);
    expect(inFlight.isTicketOutdated(ticket(), '0')).to.equal(true);
    inFlight.track('0', RUN)(true);
    expect(['0', '1'].map((hash) => inFlight.isTicketOutdated(ticket(), hash))).to.deep.equal([true, true]);
    inFlight.track('another', RUN)(true);
    expect(['0', '1', '2', 'another'].map((hash) => inFlight.isTicketOutdated(ticket(), hash))).to.deep.equal(
      [true, false, true, true],
    );
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
