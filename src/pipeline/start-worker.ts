// Starts a hash worker, even if its file is on another origin or the page has a Content Security Policy.

import { UploaderError } from '../core/errors.ts';

/** Integrity hash of the worker. Defined only in the CDN build (`vite.config.ts`). */
declare const __WORKER_INTEGRITY__: string | undefined;

/** Returns the URL of the bundled worker without starting a worker. Replaces `Worker` in an expression that bundlers recognize. */
class WorkerAddress {
  readonly url: string;
  constructor(url: URL, _options: WorkerOptions) {
    this.url = url.href;
  }
}

const ownAddress = (Worker: typeof WorkerAddress): string =>
  new Worker(new URL('./hash.worker.js', import.meta.url), { type: 'module' }).url;

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** Converts the URL for pages with the policy `require-trusted-types-for 'script'`. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('secure-uploader', { createScriptURL: (text) => text });
  return policy ? policy.createScriptURL(url) : url;
}

/**
 * Resolves with a worker that is ready. The URL is `workerUrl`, which must have the page's origin, or by default `ownUrl`. If
 * `ownUrl` has another origin, the worker is fetched and started from a Blob. Rejects with `hash-failed` if the worker cannot start
 * or is not ready within `startMs`. Also rejects if `signal` aborts.
 */
export async function startWorker(
  workerUrl: string | undefined,
  startMs: number,
  signal: AbortSignal,
  ownUrl: string = ownAddress(WorkerAddress),
): Promise<Worker> {
  // Some bundlers create a URL that is relative to the page's origin.
  const address =
    workerUrl === undefined ? new URL(ownUrl, location.href).href : new URL(workerUrl, document.baseURI).href;
  const isOwn = new URL(address).origin === location.origin;
  if (isOwn) return ready(address, startMs, signal);
  // Browsers block workers from other origins, but not from `data:` URLs. A Content Security Policy may allow `data:` URLs by
  // mistake.
  if (workerUrl !== undefined)
    throw new UploaderError('hash-failed', "worker-url must have the page's origin");
  const integrity = typeof __WORKER_INTEGRITY__ === 'string' ? __WORKER_INTEGRITY__ : '';
  const answer = await fetch(address, {
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    integrity,
    signal: AbortSignal.any([signal, AbortSignal.timeout(startMs)]),
  });
  if (!answer.ok)
    throw new UploaderError('hash-failed', `The request for the hash worker returned ${answer.status}`);
  const blobUrl = URL.createObjectURL(new Blob([await answer.text()], { type: 'text/javascript' }));
  try {
    return await ready(blobUrl, startMs, signal);
  } finally {
    URL.revokeObjectURL(blobUrl);
  }
}

/** Resolves when the worker has sent its first message. A blocked worker throws, fires an empty `error` event, or sends nothing. */
function ready(url: string, startMs: number, signal: AbortSignal): Promise<Worker> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(trusted(url), { type: 'module', name: 'secure-uploader-hash' });
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', fail);
    };
    const fail = (): void => {
      settle();
      worker.terminate();
      reject(new UploaderError('hash-failed', 'The hash worker could not start'));
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
