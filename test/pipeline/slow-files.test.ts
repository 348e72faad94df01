// Hashing of files that are read slowly, beside other files.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { HashPool, HashPoolOptions } from '../../src/pipeline/hash-pool.ts';
import { sha256 } from '../support/bytes.ts';
import { stopClock } from '../support/clock.ts';
import { deferred, rejection, until } from '../support/collect.ts';
import { ascii, createPool, forever, hashOf, poolOf } from './pools.ts';

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
        // Without the answers to the question whether the worker responds.
        watched.messageCount += data.hash === '' ? 0 : 1;
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

const bytes = (count: number): Blob => new Blob([new Uint8Array(count)]);

describe('a file that is read slowly', () => {
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

  it('does not stop other files, although many are read as slowly', async () => {
    const pool = poolOf(SLOW, { size: 2, slowMs: 10 });
    const controller = new AbortController();
    const slow = Array.from({ length: 12 }, () =>
      // Slices with the same signal are of the same file.
      rejection(pool.hashSlice(bytes(9), { keepBytes: false, signal: AbortSignal.any([controller.signal]) })),
    );
    expect(await hashOf(pool.hashSlice, bytes(1))).to.equal('size 1');
    controller.abort('over');
    expect(new Set(await Promise.all(slow))).to.deep.equal(new Set(['over']));
  });

  it('starts no further slice, and no further worker', () =>
    watchWorkers(async (watched) => {
      const { pool, hashSlow, slices, abort } = await startSlow(watched);
      await hashOf(pool.hashSlice, bytes(1));
      // A slice of the slow file waits, although those of other files are hashed.
      const last = hashSlow(2);
      await hashOf(pool.hashSlice, bytes(3));
      abort();
      expect(await Promise.all([...slices, last])).to.deep.equal(Array(5).fill('over'));
      expect(watched.workers).to.have.length(2);
    }));

  it('frees its workers when it is canceled', () =>
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
            // The question whether the worker responds.
            if (data.slice?.size === 0) return postMessage({ id: data.id, hash: '' });
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

/** A pool that hashes on the page, and a slice that is read when `arrive` is called. */
function createHangingPage(): { pool: HashPool; arrive: () => void; slice: Blob } {
  const arrived = deferred<void>();
  const { promise, resolve } = arrived;
  const slice = Object.assign(bytes(9), {
    stream: undefined,
    arrayBuffer: async () => {
      await promise;
      return new ArrayBuffer(9);
    },
  });
  return {
    pool: createPool({ workerUrl: '/no-such-worker.js', slowMs: 10, silenceMs: 20 }),
    arrive: resolve,
    slice: slice as unknown as Blob,
  };
}

describe('files whose bytes do not arrive', () => {
  /** A pool of two workers that answer for a slice of 9 bytes only after a message on the channel. */
  function createAway(options: Partial<HashPoolOptions> = {}): { pool: HashPool; arrive: () => void } {
    const name = crypto.randomUUID();
    const pool = poolOf(
      `const channel = new BroadcastChannel('${name}');
       const arrived = new Promise((resolve) => { channel.onmessage = resolve; });
       onmessage = async ({ data: { id, slice } }) => {
         if (slice.size === 9) await arrived;
         postMessage({ id, hash: 'size ' + slice.size });
       };
       postMessage('ready');`,
      { size: 2, slowMs: 10, silenceMs: 20, ...options },
    );
    return { pool, arrive: () => new BroadcastChannel(name).postMessage('') };
  }

  it('do not hold up the files behind them, however many they are, and are hashed when the bytes arrive', () =>
    watchWorkers(async ({ workers }) => {
      const { pool, arrive } = createAway();
      const hash = (count: number): Promise<string> =>
        hashOf(
          (slice, options) => pool.hashSlice(slice, { ...options, signal: new AbortController().signal }),
          bytes(count),
        );
      const away = Array.from({ length: 30 }, () => hash(9));
      expect(await hash(1)).to.equal('size 1');
      expect(workers).to.have.length(2);
      arrive();
      expect(await Promise.all(away)).to.deep.equal(away.map(() => 'size 9'));
    }));

  for (const [where, create] of [
    ['in a worker', () => createAway()],
    ['on the page', createHangingPage],
  ] as const)
    it(`are reported, and again when the bytes arrive (${where})`, async () => {
      const { pool, arrive, slice = bytes(9) } = { slice: undefined, ...create() };
      const reports: boolean[] = [];
      const { promise: isReported, resolve } = deferred<void>();
      const onSilent = (isSilent: boolean): void => {
        reports.push(isSilent);
        resolve();
      };
      const hashing = pool.hashSlice(slice, { keepBytes: false, signal: forever, onSilent });
      await isReported;
      expect(reports).to.deep.equal([true]);
      arrive();
      await hashing;
      expect(reports).to.deep.equal([true, false]);
    });

  it('are not reported while they wait for a worker, nor if the bytes arrive in time', async () => {
    const { pool, arrive } = createAway({ size: 1, silenceMs: 60_000 });
    const reports: boolean[] = [];
    const first = hashOf(pool.hashSlice, bytes(9));
    const second = pool.hashSlice(bytes(9), {
      keepBytes: false,
      signal: forever,
      onSilent: (isSilent) => reports.push(isSilent),
    });
    await hashOf(
      (slice, options) => pool.hashSlice(slice, { ...options, signal: new AbortController().signal }),
      bytes(1),
    );
    arrive();
    await Promise.all([first, second]);
    expect(reports).to.deep.equal([]);
  });

  it('end when they are canceled', async () => {
    const { pool } = createAway();
    const controller = new AbortController();
    const { promise: isReported, resolve } = deferred<void>();
    const hashing = rejection(
      pool.hashSlice(bytes(9), { keepBytes: false, signal: controller.signal, onSilent: () => resolve() }),
    );
    await isReported;
    controller.abort('over');
    expect(await hashing).to.equal('over');
  });
});
