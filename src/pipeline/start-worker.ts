// Starts a hash worker wherever the page and its content policy let one run, and says when it cannot.

import { UploaderError } from '../core/errors.ts';

/** Written in by the CDN build: the integrity hash of the worker that is fetched as text. */
declare const __WORKER_INTEGRITY__: string | undefined;

/** Stands in for `Worker` in the one expression that bundlers look for, so that only its address is taken from it. */
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

/** The address as a page under `require-trusted-types-for 'script'` accepts it; only own addresses pass through. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('secure-uploader', { createScriptURL: (text) => text });
  return policy ? policy.createScriptURL(url) : url;
}

/**
 * A worker that has said that it is ready. `workerUrl` if the page set one, else our own file, else (script of another
 * origin) a Blob of its fetched text. Rejects with `hash-failed` when it is refused, fails, says nothing in `startMs`, or
 * `signal` aborts.
 */
export async function startWorker(
  workerUrl: string | undefined,
  startMs: number,
  signal: AbortSignal,
  ownUrl: string = ownAddress(WorkerAddress),
): Promise<Worker> {
  const address = workerUrl === undefined ? ownUrl : new URL(workerUrl, document.baseURI).href;
  const isOwn = new URL(address).origin === location.origin;
  if (isOwn) return ready(address, startMs, signal);
  // Browsers refuse other origins, but not `data:`, which a content policy may have overlooked.
  if (workerUrl !== undefined)
    throw new UploaderError('hash-failed', "worker-url is not on the page's origin");
  const integrity = typeof __WORKER_INTEGRITY__ === 'string' ? __WORKER_INTEGRITY__ : '';
  const answer = await fetch(address, {
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    integrity,
    signal: AbortSignal.any([signal, AbortSignal.timeout(startMs)]),
  });
  if (!answer.ok) throw new UploaderError('hash-failed', `The hash worker's file answered ${answer.status}`);
  const blobUrl = URL.createObjectURL(new Blob([await answer.text()], { type: 'text/javascript' }));
  try {
    return await ready(blobUrl, startMs, signal);
  } finally {
    URL.revokeObjectURL(blobUrl);
  }
}

/** A refusal comes as a throw, as an empty `error` event, or as silence. */
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
