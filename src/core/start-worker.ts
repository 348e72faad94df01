// Starts the workers of the package, even if their file is on another origin or the page has a Content Security Policy.

import { UploaderError } from './errors.ts';
import { isPageFile, trustUrl } from './trusted.ts';
import { abortable } from './wait.ts';
import { warnOnceHere } from './warn.ts';
import { NO_WASM } from './worker-messages.ts';

/** Where the code of a worker is. */
export interface WorkerCode {
  /** `name` of the worker, for developer tools. */
  readonly name: string;
  /** Returns the URL of the file. Some bundlers make it relative to the origin of the page. */
  readonly url: () => string;
  /** Loads the code as text. */
  readonly text?: () => Promise<string>;
  /**
   * True if the text was checked by its hash, and the file is not (`dist/cdn`). The worker then starts from the text. Only if the
   * policy of the page forbids that, or the WebAssembly in it, it starts from the file.
   */
  readonly isTextChecked?: boolean;
}

/** Replaces `Worker` in expressions that bundlers recognize. Has the URL of the bundled worker, but starts no worker. */
export class WorkerAddress {
  readonly url: string;
  constructor(url: URL, _options: WorkerOptions) {
    this.url = url.href;
  }
}

type Start = (signal: AbortSignal) => Promise<Worker>;

const startError = (message: string, cause?: unknown): UploaderError =>
  new UploaderError('hash-failed', message, { cause });

/**
 * Returns a function that starts a worker, and resolves when it is ready. It rejects with `hash-failed` if no worker can start
 * within `startMs`, and also if its signal aborts.
 *
 * - With `workerUrl`, only this file runs. It must have the origin of the page.
 * - A worker without a checked text runs from its file. If the file has another origin or can't start, the worker runs from a Blob
 *   of its text, and the file is not requested again. Without a text, a file of another origin is fetched.
 * - A worker with a checked text runs from a Blob.
 */
export function workerStarter(code: WorkerCode, startMs: number, workerUrl?: string): Start {
  const { name, text, isTextChecked } = code;
  let isFileUnusable = false;

  const startFile = async (signal: AbortSignal, href: string): Promise<Worker> => {
    // Browsers block workers from other origins, but not from `data:` URLs, which a Content Security Policy may allow by mistake.
    if (!isPageFile(href)) throw startError(`The worker ${href} has another origin than the page`);
    return whenReady(trustUrl(href), name, startMs, signal);
  };
  const startBlob = async (signal: AbortSignal, source: string): Promise<Worker> => {
    const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    try {
      return await whenReady(trustUrl(url, true), name, startMs, signal);
    } finally {
      URL.revokeObjectURL(url);
    }
  };
  const fileUrl = (): string => new URL(code.url(), location.href).href;

  if (workerUrl !== undefined)
    return async (signal) => startFile(signal, new URL(workerUrl, document.baseURI).href);

  if (text && isTextChecked) {
    let isBlobForbidden = false;
    return async (signal) => {
      const stopWatching = watchPolicy();
      try {
        if (!isBlobForbidden && !areBlobsBlocked) {
          const startSignal = AbortSignal.any([signal, AbortSignal.timeout(startMs)]);
          return await startBlob(signal, await abortable(text(), startSignal));
        }
      } catch (error) {
        isBlobForbidden = (error as Partial<Error>).cause === NO_WASM;
        if (signal.aborted || !(isBlobForbidden || areBlobsBlocked)) throw error;
      } finally {
        stopWatching();
      }
      if (!isPageFile(fileUrl())) throw startError('The policy of this page forbids workers from Blobs');
      const forbiddenFeature = isBlobForbidden ? 'WebAssembly in workers from Blobs' : 'workers from Blobs';
      warnOnceHere(
        `The policy of this page forbids ${forbiddenFeature}, so ${fileUrl()} runs, whose content is not checked.`,
      );
      return startFile(signal, fileUrl());
    };
  }

  return async (signal) => {
    try {
      if (!isFileUnusable) {
        const href = fileUrl();
        return await (text || isPageFile(href)
          ? startFile(signal, href)
          : startBlob(signal, await fetchText(href, startMs, signal)));
      }
    } catch (error) {
      if (!text || signal.aborted) throw error;
    }
    isFileUnusable = true;
    try {
      return await startBlob(signal, (await text?.()) ?? '');
    } catch (error) {
      // A policy may block Blob workers, and the file may only have been late.
      isFileUnusable = signal.aborted;
      throw error;
    }
  };
}

async function fetchText(href: string, startMs: number, signal: AbortSignal): Promise<string> {
  const response = await fetch(href, {
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.any([signal, AbortSignal.timeout(startMs)]),
  });
  if (!response.ok) throw startError(`The worker ${href} responded with ${response.status}`);
  return response.text();
}

/** Returns true for the report that the policy of the page has blocked a worker from a Blob, and not an image or a film. */
export const isBlobWorkerBlocked = ({
  blockedURI,
  disposition,
  effectiveDirective,
}: Pick<SecurityPolicyViolationEvent, 'blockedURI' | 'disposition' | 'effectiveDirective'>): boolean =>
  blockedURI.startsWith('blob') && disposition === 'enforce' && effectiveDirective === 'worker-src';

/** True if the policy of this page has blocked a worker from a Blob. A second one would only be reported again. */
let areBlobsBlocked = false;

/** Notices whether the policy blocks a worker from a Blob. Returns a function that stops this. */
function watchPolicy(): () => void {
  const onViolation = (event: SecurityPolicyViolationEvent): void => {
    areBlobsBlocked ||= event.isTrusted && isBlobWorkerBlocked(event);
  };
  document.addEventListener('securitypolicyviolation', onViolation);
  return () => document.removeEventListener('securitypolicyviolation', onViolation);
}

/** Resolves when the worker has sent its first message. A blocked worker throws, fires an empty `error` event, or sends nothing. */
function whenReady(url: string, name: string, startMs: number, signal: AbortSignal): Promise<Worker> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(url, { type: 'module', name });
    const end = (error?: UploaderError): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (!error) return;
      worker.terminate();
      reject(error);
    };
    const onAbort = (): void => end(startError(`The start of the worker ${url} was canceled`));
    const timer = setTimeout(
      () => end(startError(`The worker ${url} was not ready within ${startMs} ms`)),
      startMs,
    );
    signal.addEventListener('abort', onAbort);
    worker.onerror = (event) => {
      event.preventDefault();
      end(
        startError(
          `The worker ${url} can't start: ${event.message || 'its file is missing, or a policy blocks it'}`,
        ),
      );
    };
    worker.onmessage = ({ data }) => {
      if (data === NO_WASM)
        return end(startError(`The policy of the worker ${url} forbids WebAssembly`, NO_WASM));
      end();
      resolve(worker);
    };
  });
}
