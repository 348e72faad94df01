// Cancels a session before the next one of its file is opened.

import type { ErrorCode } from '../core/error-codes.ts';
import { UploaderError } from '../core/errors.ts';
import type { Calls, Session } from '../core/types.ts';

export interface CancelParts {
  readonly calls: Pick<Calls, 'cancel'>;
  readonly signal: AbortSignal;
  /** `first` is a call that was made before. */
  readonly retrying: <T>(call: () => Promise<T>, signal: AbortSignal, first?: Promise<T>) => Promise<T>;
}

/** Errors after which a session is canceled again. */
const CANCEL_AGAIN: readonly ErrorCode[] = ['network', 'offline', 'rate-limited'];

/**
 * Cancels a session before the next one is opened, because a service that reserves names would refuse that one. Repeated while the
 * network is away or the service is busy. Rejects only with the signal's reason.
 */
export async function cancelFirst(session: Session, { calls, retrying, signal }: CancelParts): Promise<void> {
  const { cancel } = calls;
  if (!cancel) return;
  const cancelOnce = (): Promise<void> =>
    cancel(session, signal).catch((error) => {
      throw error instanceof UploaderError && CANCEL_AGAIN.includes(error.code) ? error : new NotCanceled();
    });
  // If the service refuses, its answer to the next request says more.
  await retrying(cancelOnce, signal).catch(() => undefined);
  signal.throwIfAborted();
}

/** Thrown out of the retries of a cancel. */
class NotCanceled {}
