// What the settings and the page allow: how users may sign in, and whose tokens count.

import type { Settings } from '../core/config.ts';
import { createModel } from './machine.ts';
import type { AuthModel, EventOf } from './machine-types.ts';
import { hasSignedOut } from './sign-out-mark.ts';
import type { AuthTimes } from './times.ts';

/** Returns true if the user may have to sign in. */
export const isInteractive = ({ auth }: Settings): boolean => auth !== 'none' && auth !== 'token';

/**
 * Returns the user to whom all tokens must belong; `undefined` if the page does not require that. While the page has not named an
 * owner, no token of the service belongs to it.
 */
export const ownerToMatch = ({ owner, authOptions }: Settings): string | undefined =>
  authOptions.ownerField ? owner : undefined;

/** Returns true if only the page supplies tokens. */
export const isHosted = ({ auth, getToken }: Settings): boolean =>
  auth === 'token' || (auth === 'auto' && getToken !== undefined);

/** Returns how the user signs in if `signIn` is called without `via`. */
export function ownWay(settings: Settings, source: AuthModel['source']): EventOf<'sign-in'>['via'] {
  const { auth } = settings;
  if (isHosted(settings) || (auth === 'auto' && source === 'host')) return 'host';
  if (auth === 'local') return 'form';
  return auth === 'redirect' ? 'redirect' : 'popup';
}

/** Creates the initial state of sign-in. Cross-origin isolated pages can't sign in silently, because they can't use the frame. */
export function firstModel(settings: Settings, times: AuthTimes, isSessionEnough: boolean): AuthModel {
  const hasFrames = typeof document !== 'undefined' && !globalThis.crossOriginIsolated;
  return createModel({
    frames: hasFrames && isInteractive(settings) && settings.silent === 'auto' ? 'allowed' : 'off',
    times,
    isSessionEnough,
    signedOut: isInteractive(settings) && !isSessionEnough && hasSignedOut(settings) ? 'before' : 'no',
  });
}
