// The hash stage with real workers: hashes, chunks of an earlier visit, and memory that is always released.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { Chunk, HashedChunk, HashSlice } from '../../src/core/types.ts';
import { abortable } from '../../src/core/wait.ts';
import { ByteBudget, type HashParts, hash, hashAhead, readBody } from '../../src/pipeline/hash.ts';
import { HashPool } from '../../src/pipeline/hash-pool.ts';
import { plan } from '../../src/pipeline/plan.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { collect, rejection, settled } from '../support/collect.ts';

const forever = new AbortController().signal;
const pool = new HashPool({ algorithm: 'sha-256', size: 2 });

after(() => pool.close());

describe('the hash stage', () => {
  const POOL_BYTES = 2500;

  function setUp(file: Blob, given: Partial<HashParts> = {}) {
    const pagePool = { freeBytes: POOL_BYTES };
    const controller = new AbortController();
    const hashed: HashedChunk[] = [];
    const parts: HashParts = {
      file,
      hashSlice: pool.hashSlice,
      budget: new ByteBudget(pagePool),
      width: 3,
      signal: controller.signal,
      onHashed: (chunk) => hashed.push(chunk),
      ...given,
    };
    return { controller, hashed, pagePool, parts };
  }

  it('hashes every chunk, in order', async () => {
    const file = new Blob([bytesOf(6, 4500)]);
    const { hashed, parts } = setUp(file);
    const chunks = await collect(hash(plan(4500, 1000), parts));
    expect(chunks.map(({ index }) => index)).to.deep.equal([0, 1, 2, 3, 4]);
    for (const { hash: name, sizeBytes, start } of chunks) {
      expect(name).to.equal(await sha256(file.slice(start, start + sizeBytes)));
    }
    expect(hashed.map(({ hash: name }) => name)).to.have.members(chunks.map(({ hash: name }) => name));
  });

  it('hashes the first chunk once if that has started earlier, and the others after it', async () => {
    const file = new Blob([bytesOf(6, 2500)]);
    const order: string[] = [];
    const hashSlice: HashSlice = async (slice, options) => {
      order.push(`${slice.size}`);
      const found = await pool.hashSlice(slice, options);
      order.push('hashed');
      return found;
    };
    const { parts } = setUp(file, { hashSlice });
    const ahead = hashAhead({ ...parts, chunkSizeBytes: 1000 });
    const chunks = await collect(hash(plan(2500, 1000), { ...parts, ahead }));
    expect(order.slice(0, 2)).to.deep.equal(['1000', 'hashed']);
    expect(order).to.have.length(6);
    expect(chunks.map(({ hash: name }) => name)).to.deep.equal(
      (await collect(hash(plan(2500, 1000), parts))).map(({ hash: name }) => name),
    );
    expect(ahead.found).to.equal(undefined);
  });

  it('uses that hash for no other chunk of the same size', async () => {
    const file = new Blob([bytesOf(6, 3000)]);
    const hashOf = (start: number, end: number): Promise<string> => sha256(file.slice(start, end));
    const recorded = { hash: await hashOf(0, 1000), receipt: 'of before' };
    const { parts } = setUp(file);
    const resumed = plan(3000, 1000, new Map([[0, recorded]]));
    const chunks = await collect(
      hash(resumed, { ...parts, ahead: hashAhead({ ...parts, chunkSizeBytes: 1000 }) }),
    );
    expect(chunks.map(({ hash: name }) => name)).to.deep.equal(
      await Promise.all([hashOf(1000, 2000), hashOf(2000, 3000), hashOf(0, 1000)]),
    );
  });

  it('keeps bytes only within the budget, and releases all when it is closed', async () => {
    const { pagePool, parts } = setUp(new Blob([bytesOf(7, 4500)]));
    const chunks = await collect(hash(plan(4500, 1000), parts));
    expect(chunks.filter(({ body }) => body)).to.have.length(3);
    expect(chunks.filter(({ body }) => body).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).to.equal(
      2500,
    );
    expect(pagePool.freeBytes).to.equal(0);
    parts.budget.releaseAll();
    expect(pagePool.freeBytes).to.equal(POOL_BYTES);
    parts.budget.releaseAll();
    expect(pagePool.freeBytes).to.equal(POOL_BYTES);
  });

  it('releases the memory of a slice that could not be hashed', async () => {
    const hashSlice: HashSlice = async () => {
      throw new Error('no');
    };
    const { pagePool, parts } = setUp(new Blob([bytesOf(8, 3000)]), { hashSlice });
    await rejection(collect(hash(plan(3000, 1000), parts)));
    await settled();
    expect(pagePool.freeBytes).to.equal(POOL_BYTES);
  });

  it('releases its memory when it is aborted', async () => {
    const never: HashSlice = (_, { signal }) => abortable(new Promise(() => undefined), signal);
    const { controller, pagePool, parts } = setUp(new Blob([bytesOf(9, 3000)]), { hashSlice: never });
    const work = rejection(collect(hash(plan(3000, 1000), parts)));
    await settled();
    expect(pagePool.freeBytes).to.equal(500);
    controller.abort('paused');
    expect(await work).to.equal('paused');
    await settled();
    expect(pagePool.freeBytes).to.equal(POOL_BYTES);
  });

  it('never gives one file more than the limit for all files of the page', async () => {
    const { pagePool, parts } = setUp(new Blob([bytesOf(10, 2000)]));
    const other = new ByteBudget(pagePool);
    expect(other.reserve(2000)).to.equal(true);
    const chunks = await collect(hash(plan(2000, 1000), parts));
    expect(chunks.some(({ body }) => body)).to.equal(false);
    other.releaseAll();
    parts.budget.releaseAll();
    expect(pagePool.freeBytes).to.equal(POOL_BYTES);
  });

  it('accepts a recorded chunk only if its bytes are the same', async () => {
    const file = new Blob([bytesOf(11, 2000)]);
    const same = { hash: await sha256(file.slice(0, 1000)), receipt: 'of before' };
    const other = { hash: await sha256(new Blob(['other bytes'])), receipt: 'of other bytes' };
    const recorded = new Map([
      [0, same],
      [1, other],
    ]);
    const { parts } = setUp(file);
    const [first, second] = await collect(hash(plan(2000, 1000, recorded), parts));
    expect(first).to.include({ hash: same.hash, receipt: 'of before', skipped: true });
    expect(first).not.to.have.any.keys('recorded', 'body');
    expect(second).to.include({ hash: await sha256(file.slice(1000)) });
    expect(second).not.to.have.any.keys('recorded', 'receipt', 'skipped');
  });

  it('does not read a chunk again that this run has hashed', async () => {
    const hashSlice: HashSlice = () => Promise.reject(new Error('it was read'));
    const chunk: Chunk = { index: 0, start: 0, sizeBytes: 10, hash: 'known' };
    expect(await collect(hash([chunk], setUp(new Blob(), { hashSlice }).parts))).to.deep.equal([chunk]);
  });

  it('rejects bytes that changed between hashing and sending', async () => {
    const file = new Blob([bytesOf(12, 1000)]);
    const { parts } = setUp(file);
    const [chunk] = (await collect(hash(plan(1000, 1000), parts))) as [HashedChunk];
    expect((await readBody(chunk, file, parts.hashSlice, forever)).size).to.equal(1000);
    const changed = new Blob([bytesOf(13, 1000)]);
    const error = await rejection<UploaderError>(readBody(chunk, changed, parts.hashSlice, forever));
    expect(error).to.include({ code: 'file-changed', chunkIndex: 0 });
  });
});
