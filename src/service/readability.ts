// Distinguishes a storage server that can't be reached from a storage server whose responses the page may not read. In both cases,
// an XHR ends with the same event (decision 0043).

import { UploaderError } from '../core/errors.ts';
import type { Evidence } from '../core/host.ts';
import { abortable } from '../core/wait.ts';
import { warnOnConsole } from '../core/warn.ts';
import { networkError } from './http.ts';
import { watchSilence } from './silence.ts';

/** Number of unreadable responses in succession after which the error is `storage-unreadable`. */
const ROUNDS = 3;
/** Time limit for the request that finds out whether a server can be reached, in milliseconds. */
const REACH_MS = 30_000;

/** Returns the functions to call at the end of a PUT. `evidence` collects the results of all PUTs to the origin. */
export function readabilityOf(evidence: Evidence, url: URL, sizeBytes: number) {
  const { origin, pathname } = url;
  const { rounds } = evidence;
  const silence = watchSilence(url, 'the upload_url of the service');
  return {
    onReadable(): void {
      silence.onAnswer();
      if (sizeBytes <= evidence.readableBytes) return;
      evidence.readableBytes = sizeBytes;
      evidence.rounds = 0;
    },
    /**
     * Returns the error for a PUT without a readable response. `sentBytes` is the number of bytes that were sent. `policyError` is
     * the error if the page's policy has blocked the URL, or a redirect of it: the URL itself is blocked if no request reaches
     * it.
     */
    async explain(
      sentBytes: number,
      signal: AbortSignal,
      policyError?: UploaderError,
    ): Promise<UploaderError> {
      const error = networkError();
      const { readableBytes } = evidence;
      // If the body was sent in part, or a PUT of this size was readable before, the cause is not CORS. Without CORS, the
      // preflight fails before the first byte, or the browser hides the response after the last byte.
      if ((sentBytes && sentBytes < sizeBytes) || sizeBytes <= readableBytes) return error;
      // The query is omitted because it contains the signature.
      const forget = (): void => {
        evidence.reachCheck = undefined;
      };
      // A policy may block only this path.
      const sharedCheck = policyError ? undefined : evidence.reachCheck;
      const reachCheck = sharedCheck ?? canReach(origin + pathname).finally(forget);
      if (!policyError) evidence.reachCheck = reachCheck;
      // `signal` includes the time limit of the PUT.
      const isReachable = await abortable(reachCheck, signal).catch(() => false);
      if (isReachable) {
        silence.onAnswer();
        if (evidence.rounds === rounds && ++evidence.rounds === ROUNDS)
          warnOnConsole(
            `The page can't read the responses of ${origin} to PUTs of ${sizeBytes} bytes ` +
              `(largest readable: ${readableBytes}). Check its CORS headers and chunk-size.`,
          );
      } else if (policyError) return policyError;
      else if (!signal.aborted) {
        evidence.rounds = 0;
        if (error.code === 'network') silence.onNoAnswer();
      }
      return evidence.rounds < ROUNDS ? error : new UploaderError('storage-unreadable', error.message);
    },
  };
}

/** Resolves with true if the server responds, even if the page may not read the response. */
const canReach = (url: string): Promise<boolean> =>
  fetch(url, {
    method: 'HEAD',
    mode: 'no-cors',
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(REACH_MS),
  }).then(
    () => true,
    () => false,
  );
