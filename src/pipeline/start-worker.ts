// Starts a hash worker, even if its file is on another origin or the page has a Content Security Policy.

import { UploaderError } from '../core/errors.ts';
import { isPageFile, trusted } from '../core/trusted.ts';

/** Integrity hash of `hash-wasm.worker.js`. Defined only in the CDN build (`vite.config.ts`). */
declare const __WORKER_INTEGRITY__: string | undefined;

/** Replaces `Worker` in expressions that bundlers recognize. Has the URL of the bundled worker, but starts no worker. */
class WorkerAddress {
  readonly url: string;
  constructor(url: URL, _options: WorkerOptions) {
    this.url = url.href;
  }
}

const ownAddress = (needsWasm: boolean, Worker = WorkerAddress): string =>
  (needsWasm
    ? new Worker(new URL('./hash-wasm.worker.js', import.meta.url), { type: 'module' })
    : new Worker(new URL('./hash.worker.js', import.meta.url), { type: 'module' })
  ).url;

/**
 * Returns a function that starts a worker, and resolves when it is ready. It rejects with `hash-failed` if no worker can start
 * within `startMs`, and also if its signal aborts.
 *
 * The worker is the file at `workerUrl`, which must have the page's origin. By default, it is a file of the package:
 * - `hash.worker.js`. If this file has another origin or can't start, a worker is started from a Blob with the same code. After
 *   that, the file is not requested again.
 * - `hash-wasm.worker.js`, if `needsWasm` is true. If this file has another origin, it is fetched and started from a Blob.
 */
export function workerStarter(
  workerUrl: string | undefined,
  needsWasm: boolean,
  startMs: number,
  ownUrl: (needsWasm: boolean) => string = ownAddress,
): (signal: AbortSignal) => Promise<Worker> {
  let isFileUnusable = false;

  async function startFile(signal: AbortSignal): Promise<Worker> {
    // Some bundlers create a URL that is relative to the page's origin.
    const { href } =
      workerUrl === undefined
        ? new URL(ownUrl(needsWasm), location.href)
        : new URL(workerUrl, document.baseURI);
    if (isPageFile(href)) return ready(trusted(href), startMs, signal);
    // A `worker-url` of another origin is never fetched. Browsers block workers from other origins, but not from `data:` URLs,
    // which a Content Security Policy may allow by mistake.
    if (workerUrl === undefined && needsWasm) {
      const answer = await fetch(href, {
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        integrity: typeof __WORKER_INTEGRITY__ === 'string' ? __WORKER_INTEGRITY__ : '',
        signal: AbortSignal.any([signal, AbortSignal.timeout(startMs)]),
      });
      if (answer.ok) return startText(await answer.text(), signal);
    }
    throw new UploaderError('hash-failed', 'No hash worker');
  }

  async function startText(text: string, signal: AbortSignal): Promise<Worker> {
    const blobUrl = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    try {
      return await ready(trusted(blobUrl, true), startMs, signal);
    } finally {
      URL.revokeObjectURL(blobUrl);
    }
  }

  return async (signal) => {
    try {
      if (!isFileUnusable) return await startFile(signal);
    } catch (error) {
      if (needsWasm || workerUrl !== undefined || signal.aborted) throw error;
    }
    isFileUnusable = true;
    try {
      return await startText((await import('./worker-source.ts')).workerSource, signal);
    } catch (error) {
      // A policy may block Blob workers, and the file may only have been late.
      isFileUnusable = signal.aborted;
      throw error;
    }
  };
}

/** Resolves when the worker has sent its first message. A blocked worker throws, fires an empty `error` event, or sends nothing. */
function ready(url: string, startMs: number, signal: AbortSignal): Promise<Worker> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(url, { type: 'module', name: 'secure-uploader-hash' });
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', fail);
    };
    const fail = (): void => {
      settle();
      worker.terminate();
      reject(new UploaderError('hash-failed', 'No hash worker'));
    };
    const timer = setTimeout(fail, startMs);
    signal.addEventListener('abort', fail);
    worker.onerror = (event) => {
      event.preventDefault();
      fail();
    };
    worker.onmessage = () => {
      settle();
      resolve(worker);
    };
  });
}
