// What the calls of a session show about the service, without further requests.

import { codeFacts } from '../core/error-codes.ts';
import { UploaderError } from '../core/errors.ts';
import type { AuthModel } from './types.ts';

/** Time after a response in which the service counts as reachable. */
const UP_MS = 10_000;
/** Time after a failure in which the service counts as down. */
const DOWN_MS = 60_000;

export class CallEvidence {
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** Number of failures, without those of calls that ran when another one failed: one lost connection may carry many calls. */
  #failureCount = 0;
  #countAtAnswer = 0;

  /** Makes a call, and settles like it. */
  async watch<T>(call: () => Promise<T>): Promise<T> {
    const countAtStart = this.#failureCount;
    try {
      const result = await call();
      this.#noteAnswer();
      return result;
    } catch (error) {
      this.#noteError(error, countAtStart);
      throw error;
    }
  }

  /** `down` takes two failures without a response in between: one connection may fail at any time. */
  service(): AuthModel['service'] {
    const nowMs = performance.now();
    const count = this.#failureCount - this.#countAtAnswer;
    if (count === 0 && nowMs - this.#answeredAtMs <= UP_MS) return 'up';
    return count > 1 && nowMs - this.#failedAtMs <= DOWN_MS ? 'down' : 'unknown';
  }

  #noteAnswer(): void {
    this.#answeredAtMs = performance.now();
    this.#countAtAnswer = this.#failureCount;
  }

  /** A refusal is a response, too. Other errors without a status show nothing: the call was aborted, or never made. */
  #noteError(error: unknown, countAtStart: number): void {
    if (!(error instanceof UploaderError)) return;
    if (codeFacts(error.code).isOutage) {
      this.#failedAtMs = performance.now();
      if (this.#failureCount === countAtStart) this.#failureCount += 1;
    } else if (error.status !== undefined) this.#noteAnswer();
  }
}
