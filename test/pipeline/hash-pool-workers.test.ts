// Workers and timers that a pool of hash workers starts and ends.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import { sha256 } from '../support/bytes.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { ascii, createPool, hashOf, oneGood, poolOf } from './pools.ts';

interface Counts {
  /** Number of running timers of `ms` milliseconds (see `watched`). */
  timers: number;
  /** Numbers of started workers, of workers with an error, and of terminated workers. */
  workers: number;
  failed: number;
  ended: number;
}

/** Counts workers, and timers of `ms` milliseconds, that `work` starts. */
async function watched(ms: number, work: (counts: Counts) => Promise<unknown>): Promise<Counts> {
  const { setTimeout, clearTimeout, Worker } = globalThis;
  const timers = new Set<unknown>();
  const counts = { timers: 0, workers: 0, failed: 0, ended: 0 };
  globalThis.setTimeout = ((run: () => void, afterMs?: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, afterMs);
    if (afterMs === ms) timers.add(timer);
    return timer;
  }) as typeof globalThis.setTimeout;
  globalThis.clearTimeout = ((timer: number) => {
    timers.delete(timer);
    clearTimeout(timer);
  }) as typeof globalThis.clearTimeout;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      counts.workers += 1;
      super(url, options);
      this.addEventListener('error', () => {
        counts.failed += 1;
      });
    }
    override terminate(): void {
      counts.ended += 1;
      super.terminate();
    }
  };
  try {
    await work(counts);
    return { ...counts, timers: timers.size };
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout, Worker });
  }
}

describe('a pool', () => {
  const silenceMs = 543_210;
  const fewBytes = ascii('abc');

  it('warns once on the console if no worker can start, and says what to set', async () => {
    await captureWarnings(async (warned) => {
      for (const text of ['abc', 'def'])
        await hashOf(createPool({ workerUrl: '/not-copied.js' }).hashSlice, ascii(text));
      expect(warned).to.have.length(1);
      expect(warned[0]).to.contain('/not-copied.js').and.to.contain('worker-url');
    });
  });

  /**
   * Calls `work` on a page without the worker's file. `started` lists the workers that start; `onFileError` is called when the
   * pool knows that the file is missing.
   */
  async function withoutFile(
    work: (started: readonly string[]) => Promise<void>,
    onFileError: () => void = () => undefined,
  ): Promise<void> {
    const { Worker } = globalThis;
    const started: string[] = [];
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        const { pathname, protocol } = new URL(url);
        started.push(protocol === 'blob:' ? protocol : pathname);
        super(protocol === 'blob:' ? url : '/not-copied.js', options);
        if (protocol !== 'blob:') queueMicrotask(() => this.addEventListener('error', onFileError));
      }
    };
    try {
      await work(started);
    } finally {
      globalThis.Worker = Worker;
    }
  }

  it('hashes in a worker of a Blob if the file of the package is missing, and requests the file once', () =>
    withoutFile((started) =>
      captureWarnings(async (warned) => {
        const pool = createPool();
        Object.defineProperty(crypto.subtle, 'digest', {
          configurable: true,
          value: () => Promise.reject(new Error('The page must not hash')),
        });
        try {
          for (let count = 0; count < 2; count += 1) {
            expect(await hashOf(pool.hashSlice, fewBytes)).to.equal(
              'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
            );
            pool.close();
          }
        } finally {
          Reflect.deleteProperty(crypto.subtle, 'digest');
        }
        expect(warned).to.deep.equal([]);
        expect(started).to.deep.equal(['/src/pipeline/hash.worker.js', 'blob:', 'blob:']);
      }),
    ));

  it('that is closed while it changes to the Blob requests the file once, and starts a worker for the next slice', async () => {
    const pool = createPool();
    let isClosed = false;
    const close = (): void => {
      isClosed = true;
      pool.close();
    };
    await withoutFile(async (started) => {
      const first = hashOf(pool.hashSlice, fewBytes).catch(() => undefined);
      await until(() => isClosed);
      await first;
      expect(await hashOf(pool.hashSlice, fewBytes)).to.equal(await sha256(fewBytes));
      // Browsers differ in whether the Blob of the first slice starts before the pool is closed.
      expect(started.filter((one) => one !== 'blob:')).to.deep.equal(['/src/pipeline/hash.worker.js']);
      expect(started.at(-1)).to.equal('blob:');
    }, close);
  });

  it('refuses BLAKE3 with bad-config and the name of the right file if the page set the file without hash-wasm', async () => {
    const pool = createPool({ algorithm: 'blake3', workerUrl: '/src/pipeline/hash.worker.js' });
    const error = await rejection<UploaderError>(hashOf(pool.hashSlice, ascii('abc')));
    expect(error).to.include({ code: 'bad-config' });
    expect(error.message).to.contain('secure-uploader/hash-wasm.worker.js').and.to.contain('worker-url');
  });

  it('names the file with hash-wasm in its warning if the hash needs it', async () => {
    await captureWarnings(async (warned) => {
      await hashOf(
        createPool({ algorithm: 'blake3', workerUrl: '/not-copied-either.js' }).hashSlice,
        ascii('abc'),
      );
      expect(warned).to.have.length(1);
      expect(warned[0])
        .to.contain('/not-copied-either.js')
        .and.to.contain('secure-uploader/hash-wasm.worker.js');
    });
  });

  for (const [where, options] of [
    ['in a worker', {}],
    ['on the page', { workerUrl: '/no-such-worker.js' }],
  ] as const)
    it(`keeps no timer of a hashed slice, ${where}`, async () => {
      const { timers } = await watched(silenceMs, async () => {
        const pool = createPool({ silenceMs, ...options });
        await hashOf(pool.hashSlice, fewBytes);
        await settled();
      });
      expect(timers).to.equal(0);
    });

  it('that is closed rejects the slices that are not hashed yet, in a worker and in the queue', async () => {
    const pool = poolOf(oneGood(''));
    await hashOf(pool.hashSlice, fewBytes);
    const pending = [1, 2].map(() => rejection<UploaderError>(hashOf(pool.hashSlice, fewBytes)));
    await settled();
    pool.close();
    expect((await Promise.all(pending)).map(({ code }) => code)).to.deep.equal([
      'hash-failed',
      'hash-failed',
    ]);
  });

  it('keeps no timer of a worker that died, nor of one that was running when it was closed', async () => {
    const { timers } = await watched(silenceMs, async () => {
      const dying = poolOf(oneGood('throw new Error("the worker died");'), { silenceMs });
      await Promise.all([1, 2].map((bytes) => hashOf(dying.hashSlice, new Blob([new Uint8Array(bytes)]))));
      const silent = poolOf(oneGood(''), { silenceMs });
      await hashOf(silent.hashSlice, fewBytes);
      rejection(hashOf(silent.hashSlice, fewBytes)).catch(() => undefined);
      silent.close();
    });
    expect(timers).to.equal(0);
  });

  it('starts a worker if all others are busy, and none while one is idle', async () => {
    await watched(silenceMs, async (counts) => {
      const pool = poolOf(
        `onmessage = ({ data }) => {
          if (data.slice.size > 1) postMessage({ id: data.id, hash: 'hash' });
        };
        postMessage('ready');`,
        { size: 4 },
      );
      await hashOf(pool.hashSlice, fewBytes);
      await hashOf(pool.hashSlice, fewBytes);
      expect(counts.workers).to.equal(1);
      rejection(hashOf(pool.hashSlice, ascii('x'))).catch(() => undefined);
      await hashOf(pool.hashSlice, fewBytes);
      expect(counts.workers).to.equal(2);
    });
  });

  it('starts two workers before the first slices, once, which these use', async () => {
    const idleMs = silenceMs;
    const counts = await watched(idleMs, async (now) => {
      const pool = createPool({ size: 4, idleMs });
      pool.warmUp();
      pool.warmUp();
      expect(now.workers).to.equal(2);
      await Promise.all(['abc', 'def'].map((text) => hashOf(pool.hashSlice, ascii(text))));
      pool.warmUp();
    });
    expect(counts).to.deep.equal({ timers: 1, workers: 2, failed: 0, ended: 0 });
  });

  it('ends workers that get no slice, and starts others for the next one', async () => {
    await watched(silenceMs, async (now) => {
      const pool = createPool({ size: 2, idleMs: 1 });
      pool.warmUp();
      await until(() => now.ended === 2);
      await hashOf(pool.hashSlice, fewBytes);
      expect(now.workers).to.equal(3);
    });
  });

  it('starts no workers in advance after two failed starts', async () => {
    await watched(silenceMs, async (now) => {
      const pool = createPool({ size: 2, workerUrl: '/no-such-worker.js' });
      pool.warmUp();
      await until(() => now.failed === 2);
      await hashOf(pool.hashSlice, fewBytes);
      pool.warmUp();
      expect(now.workers).to.equal(2);
    });
  });

  it('gives a slice to three workers, and fails it when all three died', async () => {
    const { workers } = await watched(silenceMs, async () => {
      const pool = poolOf(`onmessage = () => { throw new Error('the worker died'); }; postMessage('ready');`);
      expect(await rejection(hashOf(pool.hashSlice, fewBytes))).to.include({ code: 'hash-failed' });
    });
    expect(workers).to.equal(3);
  });

  it('sets one timer for its end each time it becomes idle, and none while it works', async () => {
    const idleMs = silenceMs;
    let pool = createPool();
    const { timers } = await watched(idleMs, async () => {
      pool = createPool({ idleMs });
      await hashOf(pool.hashSlice, fewBytes);
      await hashOf(pool.hashSlice, fewBytes);
    });
    expect(timers).to.equal(1);
    pool.close();
    const busy = await watched(idleMs, async () => {
      pool = poolOf(oneGood(''), { idleMs });
      await hashOf(pool.hashSlice, fewBytes);
      rejection(hashOf(pool.hashSlice, fewBytes)).catch(() => undefined);
      await settled();
    });
    expect(busy.timers).to.equal(0);
  });

  it('that is closed while its worker starts ends that too, keeps no timer, and can start another one', async () => {
    const idleMs = silenceMs;
    const counts = await watched(idleMs, async (now) => {
      const pool = poolOf('', { idleMs });
      const start = (): void => void hashOf(pool.hashSlice, fewBytes).catch(() => undefined);
      start();
      expect([now.workers, now.ended]).to.deep.equal([1, 0]);
      pool.close();
      await settled();
      expect([now.workers, now.ended]).to.deep.equal([1, 1]);
      // The pool may start workers any number of times, as long as no start fails.
      for (let count = 2; count <= 4; count += 1) {
        start();
        expect(now.workers).to.equal(count);
        pool.close();
        await settled();
      }
    });
    expect(counts).to.deep.equal({ timers: 0, workers: 4, failed: 0, ended: 4 });
  });

  it('hashes again only what could not be read', async () => {
    let count = 0;
    const digest = (): Promise<never> => {
      count += 1;
      return Promise.reject(new DOMException('no', 'OperationError'));
    };
    Object.defineProperty(crypto, 'subtle', { configurable: true, value: { digest } });
    try {
      const pool = createPool({ workerUrl: '/no-such-worker.js', readAgainMs: 1 });
      expect(await rejection(hashOf(pool.hashSlice, fewBytes))).to.include({ code: 'hash-failed' });
    } finally {
      Reflect.deleteProperty(crypto, 'subtle');
    }
    expect(count).to.equal(1);
  });

  it('makes two attempts to start a worker, and none after both failed', async () => {
    const { workers } = await watched(silenceMs, async (counts) => {
      const pool = createPool({ workerUrl: '/no-such-worker.js' });
      for (let count = 0; count < 6; count += 1) {
        await hashOf(pool.hashSlice, fewBytes);
        await until(() => counts.failed === counts.workers);
        await settled();
      }
    });
    expect(workers).to.equal(2);
  });
});
