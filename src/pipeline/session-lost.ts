// Finds out whether the service has lost an upload session.

import { codeFacts } from '../core/error-codes.ts';
import { UploaderError } from '../core/errors.ts';
import { backoffMs, type RetryPolicy } from '../core/retries.ts';
import { sleep } from '../core/wait.ts';

/** Thrown for a session that no longer exists on the service. `cause` is the error of the call. */
export class SessionLost {
  readonly cause: UploaderError;
  constructor(cause: UploaderError) {
    this.cause = cause;
  }
}

/**
 * Calls the service in a session. Rejects with `SessionLost` if the service has lost the session: after a second 401, or if it
 * responds twice with 404 or 410. In a session from an earlier run, a 403 also counts. One such answer is not enough, because one
 * server of several may not know the session yet, or a proxy may have answered.
 */
export async function inSession<T>(
  call: () => Promise<T>,
  isResumed: boolean,
  { policy, signal }: { readonly policy: RetryPolicy; readonly signal: AbortSignal },
): Promise<T> {
  const isLost = (error: unknown): error is UploaderError =>
    error instanceof UploaderError &&
    (codeFacts(error.code).endsSession === true || (isResumed && error.code === 'forbidden'));
  try {
    return await call();
  } catch (error) {
    if (!isLost(error)) throw error;
    if (error.code === 'token-rejected') throw new SessionLost(error);
  }
  await sleep(backoffMs(1, policy), signal);
  return call().catch((error) => {
    throw isLost(error) ? new SessionLost(error) : error;
  });
}
