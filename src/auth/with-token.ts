// Runs a privileged call with the token, and decides what a refusal of it means: a late one, a token to renew, or the end.
// It does not know how a token is got.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { WithToken } from '../core/types.ts';
import type { Brakes, Keeper } from './bearer.ts';

/** `obtain` waits for a token that is good for a call. */
export function createWithToken(
  settings: Settings,
  {
    keeper,
    brakes,
    obtain,
  }: { keeper: Keeper; brakes: Brakes; obtain: (signal: AbortSignal) => Promise<string> },
): WithToken {
  const listed = settings.authOptions.expiredStatuses;
  const expired: readonly unknown[] = Array.isArray(listed) ? listed : [401];
  return async (call, signal) => {
    signal.throwIfAborted();
    if (settings.auth === 'none') return call(undefined);
    let hasRenewed = false;
    for (;;) {
      const token = await obtain(signal);
      signal.throwIfAborted();
      try {
        const result = await call(token);
        brakes.release();
        return result;
      } catch (error) {
        if (!(error instanceof UploaderError) || !expired.includes(error.status)) throw error;
        if (hasRenewed)
          throw new UploaderError('token-rejected', 'A new token was refused', { cause: error, status: 401 });
        // Refused while a newer one was on its way: that one is still to be tried.
        const isLate = keeper.value !== undefined && keeper.value !== token;
        if (isLate) continue;
        hasRenewed = true;
        keeper.reject(token);
      }
    }
  };
}
