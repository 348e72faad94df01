// Redirect mode: what is stored while the page is away, and how its answer is taken out of the address.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import { record } from './post.ts';

/** Begins the names of stored rounds. `callback.ts` has the same text. */
export const STORED = 'secure-uploader:redirect:';
/** Begins the fragment in which the callback page returns the answer. `callback.ts` has the same text. */
const RETURN_MARK = '#secure-uploader-answer?';

/** An answer that was not checked yet, with what was stored for its round. */
export interface Returned {
  readonly params: string;
  readonly state: string;
  readonly stored: Readonly<Record<string, unknown>>;
}

/** The address of the callback page. Throws `bad-config` if it has another origin than the page. */
export function readRedirectUri(settings: Settings): string {
  const url = new URL(settings.redirectUri ?? 'secure-uploader-callback.html', document.baseURI);
  if (url.origin !== location.origin) {
    throw new UploaderError('bad-config', 'redirect-uri is of another origin than the page');
  }
  return url.href;
}

export function dropTransactions(): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(STORED)) sessionStorage.removeItem(name);
}

/** Removed from the query; other parameters are the page's own. */
const OF_ANSWER = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'session_state'];

/** Takes the answer for `owner` that this page was loaded with out of storage and address. */
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

/** The page's address before the round; for an unexpected answer, the current address without it. */
function addressWithout(isInFragment: boolean, returnTo: string): string {
  const url = new URL(location.href);
  const before = URL.canParse(returnTo) ? new URL(returnTo) : undefined;
  if (before?.origin === url.origin && before.pathname === url.pathname) return before.href;
  url.hash = '';
  if (!isInFragment) for (const name of OF_ANSWER) url.searchParams.delete(name);
  return url.href;
}
