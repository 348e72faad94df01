// Leaving the page to sign in, and coming back: where to, what is kept meanwhile, and what is taken out of the address. It
// knows no codes.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { Transaction } from './pkce.ts';
import { record } from './post.ts';

const LONGEST_ANSWER = 8192;
const STORED = 'secure-uploader:redirect:';
/** How the callback page hands an answer back to the page that was left. The callback script has the same text. */
const RETURN_MARK = '#secure-uploader-answer?';

/** An answer with the round that it belongs to. */
export interface Returned {
  readonly params: string;
  readonly state: string;
  readonly verifier: string;
}

/** The callback page's address: the same for every round. Throws `bad-config` where it is not of the page's own origin. */
export function readRedirectUri(settings: Settings): string {
  const url = new URL(settings.redirectUri ?? 'secure-uploader-callback.html', document.baseURI);
  if (url.origin !== location.origin) {
    throw new UploaderError('bad-config', 'redirect-uri is of another origin than the page');
  }
  return url.href;
}

/** True where these are the parameters of an answer to the round `state`, each there once and of a sane length. */
export function isAnswer(params: unknown, state: string): params is string {
  if (typeof params !== 'string' || params.length > LONGEST_ANSWER) return false;
  const parsed = new URLSearchParams(params);
  const once = (name: string): boolean => parsed.getAll(name).length === 1;
  const isUnique = [...new Set(parsed.keys())].every(once);
  return isUnique && parsed.get('state') === state && parsed.has('code') !== parsed.has('error');
}

/** Keeps a round while the page is away (redirect mode only). `owner` names the session that may take it. */
export function storeTransaction({ state, verifier }: Transaction, owner: string): void {
  const stored = { verifier, owner, returnTo: location.href, createdAtMs: Date.now() };
  sessionStorage.setItem(STORED + state, JSON.stringify(stored));
}

/** Forgets every stored round: the page was shown again without an answer. */
export function dropTransactions(): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(STORED)) sessionStorage.removeItem(name);
}

/**
 * The answer that this page was loaded with, if it is one for `owner`: taken out of storage and out of the address before
 * anything else. `undefined` where there is none; throws `state-mismatch` where it is of no use.
 */
export function takeReturn(redirectUri: string, owner: string, maxAgeMs: number): Returned | undefined {
  const isMarked = location.hash.startsWith(RETURN_MARK);
  const isCallback = location.origin + location.pathname === redirectUri.replace(/[?#].*/, '');
  if (!isMarked && !isCallback) return undefined;
  const fragment = location.hash.slice(isMarked ? RETURN_MARK.length : 1);
  const params = isMarked || new URLSearchParams(fragment).has('state') ? fragment : location.search.slice(1);
  const state = new URLSearchParams(params).get('state');
  if (!state) return undefined;
  let stored: Readonly<Record<string, unknown>> = {};
  try {
    stored = record(JSON.parse(sessionStorage.getItem(STORED + state) ?? 'null'));
  } catch {
    // Unreadable is unknown.
  }
  if (typeof stored.owner === 'string' && stored.owner !== owner) return undefined;
  sessionStorage.removeItem(STORED + state);
  const returnTo = URL.parse?.(String(stored.returnTo)) ?? new URL(location.pathname, location.origin);
  const isOwn = returnTo.origin === location.origin && returnTo.pathname === location.pathname;
  history.replaceState(history.state, '', isOwn ? returnTo.href : location.pathname);
  const isYoung = Math.abs(Date.now() - Number(stored.createdAtMs)) < maxAgeMs;
  if (typeof stored.verifier !== 'string' || !isYoung || !isAnswer(params, state)) {
    throw new UploaderError('state-mismatch', 'Nobody asked for this answer');
  }
  return { params, state, verifier: stored.verifier };
}
