// Which scripts may run as workers, and how long a script may take to start.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import { workerStarter } from '../../src/core/start-worker.ts';
import { HASH_WASM_WORKER, HASH_WORKER } from '../../src/pipeline/hash-workers.ts';
import { forever, urlOf } from '../pipeline/pools.ts';
import { findReference } from '../service/reference.ts';
import { sha256 } from '../support/bytes.ts';
import { rejection } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';
import { requestedBy } from '../support/requested.ts';

const READY = 'postMessage("ready")';
const LONG_MS = 600_000;

const startWorker = (url: string | undefined, startMs: number, signal: AbortSignal): Promise<Worker> =>
  workerStarter(HASH_WORKER, startMs, url)(signal);

/** Calls `work` with a URL of this page's origin that serves `script`. */
const withScript = (script: string, work: (url: string) => Promise<void>): Promise<void> =>
  work(urlOf(script));

describe('a hash worker', () => {
  it('is the script of the package unless the page sets another', async () => {
    (await startWorker(undefined, LONG_MS, forever)).terminate();
  });

  it('may be a script of the page’s origin, also as a path', async () => {
    await withScript(READY, async (url) => (await startWorker(url, LONG_MS, forever)).terminate());
    const requested = await requestedBy(() => rejection(startWorker('/no-such-worker.js', LONG_MS, forever)));
    expect(requested).to.deep.equal([`worker ${location.origin}/no-such-worker.js`]);
  });

  it('is never a script of another origin, nor a data or Blob URL: nothing is fetched and nothing runs', async () => {
    const { baseUrl } = await findReference();
    const blob = URL.createObjectURL(new Blob([READY], { type: 'text/javascript' }));
    for (const url of [`${baseUrl}/worker.js`, `data:text/javascript,${READY}`, blob]) {
      const requested = await requestedBy(async () => {
        const error = await rejection<UploaderError>(startWorker(url, LONG_MS, forever));
        expect(error, url).to.include({ code: 'hash-failed' });
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

  it('contains hash-wasm only if the platform cannot hash', async () => {
    for (const [code, file] of [
      [HASH_WORKER, 'hash.worker.js'],
      [HASH_WASM_WORKER, 'hash-wasm.worker.js'],
    ] as const) {
      const requested = await requestedBy(async () => {
        (await workerStarter(code, LONG_MS)(forever)).terminate();
      });
      expect(requested).to.deep.equal([`worker ${location.origin}/src/pipeline/${file}`]);
    }
  });

  describe('whose file is missing', () => {
    const missing = '/src/pipeline/missing.worker.js';
    const file = `worker ${location.origin}${missing}`;
    const isBlob = (requested: string | undefined): boolean => /^worker blob:/.test(requested ?? '');

    it('runs from a Blob with the same code, and its file is not requested again', async () => {
      const start = workerStarter({ ...HASH_WORKER, url: () => missing }, LONG_MS);
      const requested = await requestedBy(async () => {
        for (let count = 0; count < 2; count += 1) {
          const worker = await start(forever);
          const answer = new Promise((resolve) => {
            worker.onmessage = ({ data }) => resolve(data);
          });
          worker.postMessage({ id: 7, slice: new Blob(['abc']), algorithm: 'sha-256', keepBytes: false });
          expect(await answer).to.deep.equal({ id: 7, hash: await sha256(new Blob(['abc'])) });
          worker.terminate();
        }
      });
      expect(requested.map((one) => (isBlob(one) ? 'worker blob:' : one))).to.deep.equal([
        file,
        'worker blob:',
        'worker blob:',
      ]);
    });

    it('also runs from a Blob if it is another kind of file, or if the bundler leaves it no valid URL', async () => {
      for (const ownUrl of ['/test-config', 'http://[']) {
        const requested = await requestedBy(async () => {
          (await workerStarter({ ...HASH_WORKER, url: () => ownUrl }, LONG_MS)(forever)).terminate();
        });
        expect(isBlob(requested.at(-1)), ownUrl).to.equal(true);
      }
    });

    it('also runs from a Blob if it is not ready in time', async () => {
      const { setTimeout } = globalThis;
      let timerCount = 0;
      globalThis.setTimeout = ((run: () => void, ms?: number) => {
        timerCount += ms === LONG_MS ? 1 : 0;
        return setTimeout(run, timerCount === 1 && ms === LONG_MS ? 0 : ms);
      }) as typeof globalThis.setTimeout;
      try {
        await withScript('', async (silent) =>
          (await workerStarter({ ...HASH_WORKER, url: () => silent }, LONG_MS)(forever)).terminate(),
        );
      } finally {
        globalThis.setTimeout = setTimeout;
      }
      expect(timerCount).to.equal(2);
    });

    it('keeps no Blob URL and no listener, whether the Blob starts or not', async () => {
      const { createObjectURL, revokeObjectURL } = URL;
      const urls = new Set<string>();
      let isGood = true;
      URL.createObjectURL = (object) => {
        const url = createObjectURL(isGood ? object : new Blob(['throw 1'], { type: 'text/javascript' }));
        urls.add(url);
        return url;
      };
      URL.revokeObjectURL = (url) => {
        urls.delete(url);
        revokeObjectURL(url);
      };
      const { signal, count } = listenersOf(new AbortController().signal);
      try {
        const start = workerStarter({ ...HASH_WORKER, url: () => missing }, LONG_MS);
        (await start(signal)).terminate();
        expect(urls.size).to.equal(0);
        isGood = false;
        expect(await rejection(start(signal))).to.include({ code: 'hash-failed' });
        expect(urls.size).to.equal(0);
      } finally {
        Object.assign(URL, { createObjectURL, revokeObjectURL });
      }
      expect(count()).to.equal(0);
    });

    it('is requested again if no Blob can start either: the file may only have been late', async () => {
      const { createObjectURL } = URL;
      const start = workerStarter({ ...HASH_WORKER, url: () => missing }, LONG_MS);
      const requested = await requestedBy(async () => {
        URL.createObjectURL = () => createObjectURL(new Blob(['throw 1'], { type: 'text/javascript' }));
        try {
          await rejection(start(forever));
        } finally {
          URL.createObjectURL = createObjectURL;
        }
        (await start(forever)).terminate();
      });
      expect(requested.map((one) => (isBlob(one) ? 'worker blob:' : one))).to.deep.equal([
        file,
        'worker blob:',
        file,
        'worker blob:',
      ]);
    });

    it('is not started from a Blob after an abort, nor are later starts affected', async () => {
      const controller = new AbortController();
      const start = workerStarter({ ...HASH_WORKER, url: () => missing }, LONG_MS);
      const requested = await requestedBy(async () => {
        const starting = rejection<UploaderError>(start(controller.signal));
        controller.abort();
        expect(await starting).to.include({ code: 'hash-failed' });
      });
      expect(requested).to.deep.equal([file]);
      const again = await requestedBy(async () => (await start(forever)).terminate());
      expect(again[0]).to.equal(file);
    });

    it('is ended if the abort happens while the worker of the Blob starts', async () => {
      const controller = new AbortController();
      const { Worker } = globalThis;
      const ended: string[] = [];
      globalThis.Worker = class extends Worker {
        readonly #url: string;
        constructor(url: string | URL, options?: WorkerOptions) {
          super(url, options);
          this.#url = String(url);
          if (isBlob(`worker ${url}`)) queueMicrotask(() => controller.abort());
        }
        override terminate(): void {
          ended.push(this.#url);
          super.terminate();
        }
      };
      try {
        const start = workerStarter({ ...HASH_WORKER, url: () => missing }, LONG_MS);
        expect(await rejection(start(controller.signal))).to.include({ code: 'hash-failed' });
      } finally {
        globalThis.Worker = Worker;
      }
      expect(ended.map((url) => url.replace(/^blob:.*/, 'blob:'))).to.deep.equal([
        location.origin + missing,
        'blob:',
      ]);
    });

    it('is not replaced if the page sets a file, or if hash-wasm is needed', async () => {
      for (const [url, code] of [
        [missing, HASH_WORKER],
        [undefined, HASH_WASM_WORKER],
      ] as const) {
        const start = workerStarter({ ...code, url: () => missing }, LONG_MS, url);
        const requested = await requestedBy(() => rejection(start(forever)));
        expect(requested).to.deep.equal([file]);
      }
    });
  });

  describe("the package's worker on another origin, as on a CDN", () => {
    const ownUrl = 'https://cdn.example/hash-wasm.worker.js';

    it('runs from a Blob with the same code, and nothing is fetched', async () => {
      const requested = await requestedBy(async () => {
        (await workerStarter({ ...HASH_WORKER, url: () => ownUrl }, LONG_MS)(forever)).terminate();
      });
      expect(requested).to.have.length(1);
      expect(requested[0]).to.match(/^worker blob:/);
    });

    async function startedFrom(answer: Response): Promise<{ worker: Promise<Worker>; asked: unknown[] }> {
      const { fetch } = globalThis;
      const asked: unknown[] = [];
      globalThis.fetch = async (input, init = {}) => {
        const { signal: _signal, ...rest } = init;
        asked.push(input, rest);
        return answer;
      };
      const worker = workerStarter({ ...HASH_WASM_WORKER, url: () => ownUrl }, LONG_MS)(forever);
      await worker.catch(() => undefined);
      globalThis.fetch = fetch;
      return { worker, asked };
    }

    it('runs from its text, which is fetched without cookies or a referrer, if hash-wasm is needed', async () => {
      const { worker, asked } = await startedFrom(new Response(READY));
      (await worker).terminate();
      expect(asked).to.deep.equal([ownUrl, { credentials: 'omit', referrerPolicy: 'no-referrer' }]);
    });

    it('does not run if it does not exist there', async () => {
      const { worker } = await startedFrom(new Response(READY, { status: 404 }));
      expect(await rejection(worker)).to.include({ code: 'hash-failed' });
    });
  });
});
