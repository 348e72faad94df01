// What the settings and the page allow: how users may sign in, whose tokens count, and how long each step may take.

import { AUTH_TIMES, type AuthTimes } from '../core/auth-times.ts';
import { UploaderError } from '../core/errors.ts';
import type { Settings } from '../core/settings-table.ts';
import type { AuthState } from '../core/types.ts';
import { createModel } from './machine.ts';
import { hasSignedOut } from './storage.ts';
import type { AuthModel, EventOf } from './types.ts';

/** Returns true if the user may have to sign in. */
export const isInteractive = ({ auth }: Settings): boolean => auth !== 'none' && auth !== 'token';

/**
 * Returns the user to whom all tokens must belong; `undefined` if the page does not require that. While the page has not named an
 * owner, no token of the service belongs to it.
 */
export const ownerToMatch = ({ owner, authOptions }: Settings): string | undefined =>
  authOptions.ownerField ? owner : undefined;

/** Returns true if only the page supplies tokens. */
export const hasPageTokens = ({ auth, getToken }: Settings): boolean =>
  auth === 'token' || (auth === 'auto' && getToken !== undefined);

/** Returns how the user signs in if `signIn` is called without `via`. */
export function ownWay(settings: Settings, source: AuthModel['source']): EventOf<'sign-in'>['via'] {
  const { auth } = settings;
  if (hasPageTokens(settings) || (auth === 'auto' && source === 'page')) return 'page';
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

/** Returns the URL of the callback page. Throws `bad-config` if this URL does not have the page's origin. */
export function readRedirectUri(settings: Settings): string {
  const url = new URL(settings.redirectUri ?? 'secure-uploader-callback.html', document.baseURI);
  if (url.origin !== location.origin)
    throw new UploaderError(
      'bad-config',
      `redirect-uri has the origin ${url.origin}, but the callback page must have the page's: ${location.origin}`,
    );
  return url.href;
}

/** Names of the deadlines of states, if they differ from `requestMs`. */
export const DEADLINES: { readonly [S in AuthState]?: keyof AuthTimes } = {
  'asking-host': 'hostMs',
  silent: 'silentMs',
  'silent-early': 'silentMs',
  popup: 'popupMs',
  choose: 'challengeMs',
  answer: 'challengeMs',
  wait: 'challengeMs',
};

/** States whose requests only one tab at a time makes. */
export const NEEDS_TAB_LOCK: readonly AuthState[] = ['silent', 'silent-early', 'exchange'];

/** Returns the default times, overridden by valid values of `authOptions.times`. */
export function timesOf({ authOptions }: Settings): AuthTimes {
  const times: Record<string, number> = { ...AUTH_TIMES };
  for (const [name, value] of Object.entries(authOptions.times ?? {}))
    if (name in times && Number(value) > 0) times[name] = Number(value);
  return times as AuthTimes;
}
