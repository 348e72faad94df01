// What the calls of a session show about the service, without further requests.

import { codeFacts } from '../core/error-codes.ts';
import { UploaderError } from '../core/errors.ts';
import type { AuthModel } from './types.ts';

/** Time after a response in which the service counts as reachable. */
const UP_MS = 10_000;
/** Time after a failure in which the service counts as down. */
const DOWN_MS = 60_000;

export function createEvidence() {
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  /** Number of failures, without those of calls that ran when another one failed: one lost connection may carry many calls. */
  let failureCount = 0;
  let countAtAnswer = 0;

  const noteAnswer = (): void => {
    answeredAtMs = performance.now();
    countAtAnswer = failureCount;
  };

  /** A refusal is a response, too. Other errors without a status show nothing: the call was aborted, or never made. */
  function noteError(error: unknown, countAtStart: number): void {
    if (!(error instanceof UploaderError)) return;
    if (codeFacts(error.code).isOutage) {
      failedAtMs = performance.now();
      if (failureCount === countAtStart) failureCount += 1;
    } else if (error.status !== undefined) noteAnswer();
  }

  return {
    /** Makes a call, and settles like it. */
    async watch<T>(call: () => Promise<T>): Promise<T> {
      const countAtStart = failureCount;
      try {
        const result = await call();
        noteAnswer();
        return result;
      } catch (error) {
        noteError(error, countAtStart);
        throw error;
      }
    },
    /** `down` takes two failures without a response in between: one connection may fail at any time. */
    service(): AuthModel['service'] {
      const nowMs = performance.now();
      const count = failureCount - countAtAnswer;
      if (count === 0 && nowMs - answeredAtMs <= UP_MS) return 'up';
      return count > 1 && nowMs - failedAtMs <= DOWN_MS ? 'down' : 'unknown';
    },
  };
}
