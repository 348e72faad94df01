// Redirect mode: reads the response in the page's URL, and the stored authorization request that belongs to it.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import { record } from './post.ts';
import { STORED } from './redirect-store.ts';

/** Prefix of the fragment in which the callback page returns the response. `callback.ts` has a copy. */
const RETURN_MARK = '#secure-uploader-answer?';

/** An unchecked response, with the stored data of its authorization request. */
export interface Returned {
  readonly params: string;
  readonly state: string;
  readonly stored: Readonly<Record<string, unknown>>;
}

/** Returns the URL of the callback page. Throws `bad-config` if this URL does not have the page's origin. */
export function readRedirectUri(settings: Settings): string {
  const url = new URL(settings.redirectUri ?? 'secure-uploader-callback.html', document.baseURI);
  if (url.origin !== location.origin) {
    throw new UploaderError('bad-config', "redirect-uri must have the page's origin");
  }
  return url.href;
}

/** Query parameters of a response. Other query parameters belong to the page and stay in the URL. */
const OF_ANSWER = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'session_state'];

/**
 * Returns the response in the page's URL, unless the response is for another owner. Removes the response from the URL, and its
 * authorization request from storage.
 */
export function takeReturn(redirectUri: string, owner: string): Returned | undefined {
  const isMarked = location.hash.startsWith(RETURN_MARK);
  const isCallback = location.origin + location.pathname === redirectUri.replace(/[?#].*/, '');
  if (!isMarked && !isCallback) return undefined;
  const fragment = location.hash.slice(isMarked ? RETURN_MARK.length : 1);
  const isInFragment = isMarked || new URLSearchParams(fragment).has('state');
  const params = isInFragment ? fragment : location.search.slice(1);
  const parsed = new URLSearchParams(params);
  const state = parsed.get('state');
  if (!state || !(parsed.has('code') || parsed.has('error'))) return undefined;
  let stored: Readonly<Record<string, unknown>> = {};
  try {
    stored = record(JSON.parse(sessionStorage.getItem(STORED + state) ?? 'null'));
  } catch {
    // An entry that cannot be read counts as missing.
  }
  if (typeof stored.owner === 'string' && stored.owner !== owner) return undefined;
  sessionStorage.removeItem(STORED + state);
  history.replaceState(history.state, '', addressWithout(isInFragment, String(stored.returnTo)));
  return { params, state, stored };
}

/**
 * Returns the URL that the page had before the authorization request. If that is unknown, returns the current URL without the
 * response.
 */
function addressWithout(isInFragment: boolean, returnTo: string): string {
  const url = new URL(location.href);
  const before = URL.canParse(returnTo) ? new URL(returnTo) : undefined;
  if (before?.origin === url.origin && before.pathname === url.pathname) return before.href;
  url.hash = '';
  if (!isInFragment) for (const name of OF_ANSWER) url.searchParams.delete(name);
  return url.href;
}
