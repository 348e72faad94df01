// Tells a storage server whose responses the page may not read from one that can't be reached. Both end an XHR with the same event
// (decision 0043).

import { UploaderError } from '../core/errors.ts';
import { perOrigin } from '../core/wait.ts';
import { warnOnConsole } from '../core/warn.ts';
import { networkError } from './http.ts';

/** An unreadable response is reported when it came this many times in succession. */
const ROUNDS = 3;

/** What the PUTs to one origin have shown. */
interface Evidence {
  /** Size of the largest PUT with a readable response. */
  readableBytes: number;
  /**
   * How many times in succession a larger PUT had no readable response although the server could be reached. Parallel PUTs count
   * once, because one outage ends all of them.
   */
  rounds: number;
}

/** One PUT. */
export interface Attempt {
  onReadable(): void;
  /** Returns the error for a PUT without a readable response, after which `sentBytes` had been sent. */
  explain(sentBytes: number, signal: AbortSignal): Promise<UploaderError>;
}

/** Creates the evidence of all origins, and returns the function that adds a PUT to it. */
export function createReadability(): (url: string, sizeBytes: number) => Attempt {
  const evidenceOf = perOrigin((): Evidence => ({ readableBytes: 0, rounds: 0 }));
  return (url, sizeBytes) => {
    const { origin, pathname } = new URL(url);
    const evidence = evidenceOf(url);
    const { rounds } = evidence;
    return {
      onReadable() {
        if (sizeBytes <= evidence.readableBytes) return;
        evidence.readableBytes = sizeBytes;
        evidence.rounds = 0;
      },
      async explain(sentBytes, signal) {
        const error = networkError();
        const { readableBytes } = evidence;
        // A connection that breaks in the middle is an outage. Without CORS, the preflight fails before the first byte, or the
        // response is hidden after the last one.
        if ((sentBytes && sentBytes < sizeBytes) || sizeBytes <= readableBytes) return error;
        // Without the query, which has the signature. The time limit of the PUT applies.
        const isReachable = await fetch(origin + pathname, {
          method: 'HEAD',
          mode: 'no-cors',
          credentials: 'omit',
          cache: 'no-store',
          signal,
        }).catch(() => false);
        if (isReachable) {
          if (evidence.rounds === rounds && ++evidence.rounds === ROUNDS)
            warnOnConsole(
              `The page can't read the responses of ${origin} to PUTs of ${sizeBytes} bytes (largest readable: ${readableBytes}). Check its CORS headers and chunk-size.`,
            );
        } else if (!signal.aborted) evidence.rounds = 0;
        return evidence.rounds < ROUNDS ? error : new UploaderError('storage-unreadable', error.message);
      },
    };
  };
}
