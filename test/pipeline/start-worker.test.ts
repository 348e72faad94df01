// Which scripts may run as hash workers, and how long a script may take to start.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import { startWorker } from '../../src/pipeline/start-worker.ts';
import { findReference } from '../service/reference.ts';
import { rejection } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';
import { forever } from './pools.ts';

const READY = 'postMessage("ready")';
const LONG_MS = 600_000;

/** Calls `work` with a URL of this page's origin that serves `script`. */
async function withScript(script: string, work: (url: string) => Promise<void>): Promise<void> {
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  try {
    await work(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Returns everything that the page fetches or runs as a worker during `work`. */
async function requestedBy(work: () => Promise<unknown>): Promise<string[]> {
  const { fetch, Worker } = globalThis;
  const requested: string[] = [];
  globalThis.fetch = (input, init) => {
    requested.push(`fetch ${String(input)}`);
    return fetch(input, init);
  };
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      requested.push(`worker ${String(url)}`);
      super(url, options);
    }
  };
  try {
    await work();
  } finally {
    Object.assign(globalThis, { fetch, Worker });
  }
  return requested;
}

describe('a hash worker', () => {
  it('is the script of the package unless the page sets another', async () => {
    (await startWorker(undefined, LONG_MS, forever)).terminate();
  });

  it('may be a script of the page’s origin, also as a path', async () => {
    await withScript(READY, async (url) => (await startWorker(url, LONG_MS, forever)).terminate());
    const requested = await requestedBy(() => rejection(startWorker('/no-such-worker.js', LONG_MS, forever)));
    expect(requested).to.deep.equal([`worker ${location.origin}/no-such-worker.js`]);
  });

  it('is never a script of another origin, nor a data URL: nothing is fetched and nothing runs', async () => {
    const { baseUrl } = await findReference();
    for (const url of [`${baseUrl}/worker.js`, `data:text/javascript,${READY}`]) {
      const requested = await requestedBy(async () => {
        const error = await rejection<UploaderError>(startWorker(url, LONG_MS, forever));
        expect(error, url).to.include({ code: 'hash-failed' });
        expect(error.message, url).to.contain('worker-url');
      });
      expect(requested, url).to.deep.equal([]);
    }
  });

  it('that does not report readiness in time is ended', async () => {
    await withScript('', async (url) => {
      const error = await rejection<UploaderError>(startWorker(url, 50, forever));
      expect(error).to.include({ code: 'hash-failed' });
    });
  });

  it('that is aborted while it starts is ended immediately', async () => {
    await withScript('', async (url) => {
      const controller = new AbortController();
      const starting = rejection<UploaderError>(startWorker(url, LONG_MS, controller.signal));
      controller.abort();
      expect(await starting).to.include({ code: 'hash-failed' });
      const requested = await requestedBy(() => rejection(startWorker(url, LONG_MS, controller.signal)));
      expect(requested).to.deep.equal([]);
    });
  });

  it('leaves no listener, whether it starts or not', async () => {
    const { signal, count } = listenersOf(new AbortController().signal);
    await withScript(READY, async (url) => (await startWorker(url, LONG_MS, signal)).terminate());
    await withScript('throw new Error("no")', async (url) => {
      await rejection(startWorker(url, LONG_MS, signal));
    });
    expect(count()).to.equal(0);
  });

  it('that throws while it starts is ended immediately', async () => {
    await withScript('throw new Error("no")', async (url) => {
      const error = await rejection<UploaderError>(startWorker(url, LONG_MS, forever));
      expect(error).to.include({ code: 'hash-failed' });
    });
  });

  describe("the package's worker on another origin, as on a CDN", () => {
    const ownUrl = 'https://cdn.example/hash.worker.js';

    async function startedFrom(answer: Response): Promise<{ worker: Promise<Worker>; asked: unknown[] }> {
      const { fetch } = globalThis;
      const asked: unknown[] = [];
      globalThis.fetch = async (input, init = {}) => {
        const { signal: _signal, ...rest } = init;
        asked.push(input, rest);
        return answer;
      };
      const worker = startWorker(undefined, LONG_MS, forever, ownUrl);
      await worker.catch(() => undefined);
      globalThis.fetch = fetch;
      return { worker, asked };
    }

    it('runs from its text, which is fetched without cookies or a referrer', async () => {
      const { worker, asked } = await startedFrom(new Response(READY));
      (await worker).terminate();
      expect(asked).to.deep.equal([
        ownUrl,
        { credentials: 'omit', referrerPolicy: 'no-referrer', integrity: '' },
      ]);
    });

    it('does not run if it does not exist there', async () => {
      const { worker } = await startedFrom(new Response(READY, { status: 404 }));
      expect(await rejection(worker)).to.include({ code: 'hash-failed' });
    });
  });
});
