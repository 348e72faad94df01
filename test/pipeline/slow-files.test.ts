// Hashing of files that are read slowly, beside other files.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { HashPool } from '../../src/pipeline/hash-pool.ts';
import { sha256 } from '../support/bytes.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, until } from '../support/collect.ts';
import { ascii, createPool, hashOf, poolOf } from './pools.ts';

/** Workers that read slices of 9 bytes forever, and report progress. They answer all other slices. */
const SLOW = `
  onmessage = ({ data: { id, slice } }) => {
    if (slice.size === 9) setInterval(() => postMessage({ id, isReading: true }), 5);
    else postMessage({ id, hash: 'size ' + slice.size });
  };
  postMessage('ready');`;

interface Watched {
  readonly workers: Worker[];
  /** Workers that have reported progress. */
  readonly readers: Set<Worker>;
  endedCount: number;
  messageCount: number;
}

/** Calls `work` and watches the workers that start meanwhile. */
async function watchWorkers(work: (watched: Watched) => Promise<void>): Promise<void> {
  const { Worker } = globalThis;
  const watched: Watched = { workers: [], readers: new Set(), endedCount: 0, messageCount: 0 };
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      watched.workers.push(this);
      this.addEventListener('message', ({ data }) => {
        watched.messageCount += 1;
        if (data.isReading) watched.readers.add(this);
      });
    }
    override terminate(): void {
      watched.endedCount += 1;
      super.terminate();
    }
  };
  try {
    await work(watched);
  } finally {
    globalThis.Worker = Worker;
  }
}

describe('a file that is read slowly', () => {
  const bytes = (count: number): Blob => new Blob([new Uint8Array(count)]);

  /** Starts a slow file of four slices on a pool of two workers, and waits until two of them are being read. */
  async function startSlow({ readers }: Watched): Promise<{
    pool: HashPool;
    hashSlow: (count: number) => Promise<unknown>;
    slices: Promise<unknown>[];
    abort: () => void;
  }> {
    const pool = poolOf(SLOW, { size: 2, slowMs: 10 });
    const controller = new AbortController();
    const hashSlow = (count: number): Promise<unknown> =>
      rejection(pool.hashSlice(bytes(count), { keepBytes: false, signal: controller.signal }));
    const slices = [9, 9, 9, 9].map(hashSlow);
    await until(() => readers.size === 2);
    return { pool, hashSlow, slices, abort: () => controller.abort('over') };
  }

  it('does not stop other files, although it uses all workers', () =>
    watchWorkers(async (watched) => {
      const { pool, slices, abort } = await startSlow(watched);
      const found = await Promise.all([1, 2, 3].map((count) => hashOf(pool.hashSlice, bytes(count))));
      expect(found).to.deep.equal(['size 1', 'size 2', 'size 3']);
      abort();
      expect(await Promise.all(slices)).to.deep.equal(['over', 'over', 'over', 'over']);
    }));

  it('uses no more workers than a quick one', () =>
    watchWorkers(async (watched) => {
      const { pool, hashSlow, slices, abort } = await startSlow(watched);
      await hashOf(pool.hashSlice, bytes(1));
      expect(watched.workers).to.have.length(3);
      // A slice of the slow file stays in the queue, although a worker is free.
      const last = hashSlow(2);
      await hashOf(pool.hashSlice, bytes(3));
      abort();
      expect(await Promise.all([...slices, last])).to.deep.equal(Array(5).fill('over'));
      expect(watched.workers).to.have.length(3);
    }));

  it('frees its workers when it is canceled, and the workers beyond the maximum end with it', () =>
    watchWorkers(async (watched) => {
      const { pool, slices, abort } = await startSlow(watched);
      await hashOf(pool.hashSlice, bytes(1));
      abort();
      await Promise.all(slices);
      await until(() => watched.endedCount === 2);
      await Promise.all([2, 3, 4].map((count) => hashOf(pool.hashSlice, bytes(count))));
      expect(watched.workers.length - watched.endedCount).to.equal(2);
    }));

  /** Slices that are never read, on a pool whose workers cannot start. */
  function createHanging(): { pool: HashPool; hanging: () => Blob; readingCount: () => number } {
    let count = 0;
    const hang = (): Promise<never> => {
      count += 1;
      return new Promise(() => undefined);
    };
    const hanging = (): Blob =>
      Object.assign(bytes(9), {
        stream: () => new ReadableStream({ type: 'bytes', pull: hang }),
        arrayBuffer: hang,
      });
    const pool = createPool({ workerUrl: '/no-such-worker.js', slowMs: 10 });
    return { pool, hanging, readingCount: () => count };
  }

  it('does not stop other files, if no worker can run, and one of its slices is read at a time', async () => {
    const { pool, hanging, readingCount } = createHanging();
    const controller = new AbortController();
    const { signal } = controller;
    const slices = [1, 2, 3, 4].map(() => rejection(pool.hashSlice(hanging(), { keepBytes: false, signal })));
    for (const text of ['a', 'b', 'c'])
      expect(await hashOf(pool.hashSlice, ascii(text))).to.equal(await sha256(ascii(text)));
    expect(readingCount()).to.equal(1);
    controller.abort('over');
    expect(await Promise.all(slices)).to.deep.equal(['over', 'over', 'over', 'over']);
  });

  it('does not stop other files after it is canceled, if no worker can run', async () => {
    const { pool, hanging, readingCount } = createHanging();
    const controller = new AbortController();
    const { signal } = controller;
    const slow = rejection(pool.hashSlice(hanging(), { keepBytes: false, signal }));
    await until(() => readingCount() === 1);
    const other = hashOf(pool.hashSlice, ascii('abc'));
    controller.abort('over');
    expect(await slow).to.equal('over');
    expect(await other).to.equal(await sha256(ascii('abc')));
  });

  it('fails with the pool, if no worker can run, as do those that wait', async () => {
    const { pool, hanging, readingCount } = createHanging();
    const { signal } = new AbortController();
    const slices = [1, 2].map(() =>
      rejection<UploaderError>(pool.hashSlice(hanging(), { keepBytes: false, signal })),
    );
    await until(() => readingCount() === 1);
    pool.close();
    const codes = (await Promise.all(slices)).map(({ code }) => code);
    expect(codes).to.deep.equal(['hash-failed', 'hash-failed']);
  });

  it('is not unreadable while bytes arrive', () =>
    watchWorkers(async (watched) => {
      const clock = stopClock();
      try {
        const pool = poolOf(`
          let id;
          onmessage = ({ data }) => {
            id = data.id ?? id;
            postMessage(data === 'end' ? { id, hash: 'read' } : { id, isReading: true });
          };
          postMessage('ready');`);
        const hash = hashOf(pool.hashSlice, ascii('abc'));
        await until(() => watched.messageCount === 2);
        for (let expected = 3; expected < 6; expected += 1) {
          await clock.pass(50_000);
          watched.workers[0]?.postMessage('more');
          await until(() => watched.messageCount === expected);
        }
        watched.workers[0]?.postMessage('end');
        expect(await hash).to.equal('read');
      } finally {
        clock.restore();
      }
    }));
});
