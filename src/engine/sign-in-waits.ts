// What uploads wait for while somebody has to sign in, or sign-in itself has to wait. It knows no uploads.

import type { AuthSession } from '../auth/session.ts';
import type { PauseReason } from '../core/phases.ts';

/** Reasons that end by themselves when sign-in goes on. */
export const REASONS_OF_SIGN_IN: ReadonlySet<PauseReason> = new Set([
  'signed-out',
  'challenge',
  'offline',
  'rate-limited',
]);

/** `undefined` where sign-in holds up nobody. */
export function waitsFor({
  required,
  state,
  error,
}: Pick<AuthSession['snapshot'], 'required' | 'state' | 'error'>): PauseReason | undefined {
  if (required)
    return state === 'prompt' || state === 'popup' || state === 'popup-lost' ? 'signed-out' : 'challenge';
  if (state !== 'cooling') return undefined;
  return error?.code === 'offline' || error?.code === 'rate-limited' ? error.code : undefined;
}
