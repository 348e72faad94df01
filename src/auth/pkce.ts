// One authorization round: its verifier and state, the address that it goes to, and the checks of what comes back. It
// opens nothing; in redirect mode alone it stores a transaction, and takes it out again.

import {
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  validateAuthResponse,
} from 'oauth4webapi';
import { isLoopback, type Settings } from '../core/config.ts';
import { type ErrorCode, UploaderError } from '../core/errors.ts';
import type { Grant } from './machine-types.ts';

/** What is secret about a round, and where it goes. */
export interface Transaction {
  readonly state: string;
  readonly verifier: string;
  readonly url: string;
}

const LOGIN_NEEDED = /^(?:login|interaction|consent|account_selection)_required$/;
const LONGEST_ANSWER = 8192;
const STORED = 'secure-uploader:redirect:';
/** How the callback page hands an answer back to the page that was left. The callback script has the same text. */
const RETURN_MARK = '#secure-uploader-answer?';

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** The callback page's address: the same for every round. Throws `bad-config` where it is not of the page's own origin. */
export function readRedirectUri(settings: Settings): string {
  const url = new URL(settings.redirectUri ?? 'secure-uploader-callback.html', document.baseURI);
  if (url.origin !== location.origin) {
    throw new UploaderError(
      'bad-config',
      `redirect-uri must be of the page's own origin, ${location.origin}`,
    );
  }
  return url.href;
}

/** An absolute address for a path of the settings; `https` only, but for loopback. */
function serviceUrl(settings: Settings, path: string): URL {
  const url = new URL(/^https?:\/\//i.test(path) ? path : `${settings.baseUrl}/${path.replace(/^\/+/, '')}`);
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return url;
  throw new UploaderError('bad-config', 'authorize-path must be https');
}

/** Begins a round (G1-G3). Rejects with `insecure-context` where the browser gives no `crypto.subtle`. */
export async function createTransaction(
  settings: Settings,
  redirectUri: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<Transaction> {
  if (!globalThis.crypto?.subtle) throw new UploaderError('insecure-context', 'Signing in needs https');
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const { paramNames, params } = settings.authOptions;
  const names = record(paramNames);
  const url = serviceUrl(settings, settings.paths.authorize);
  const all: Record<string, unknown> = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    scope: settings.scope,
    idp_id: settings.idpId,
    response_mode: settings.responseMode,
    ...extra,
    ...record(params),
  };
  for (const [name, value] of Object.entries(all)) {
    const known = name === 'idp_id' ? (names.idp ?? names.idp_id) : names[name];
    if (value !== undefined && value !== '')
      url.searchParams.set(typeof known === 'string' ? known : name, String(value));
  }
  return { state, verifier, url: url.href };
}

/** True where these are the parameters of an answer to the round `state`, each there once and of a sane length. */
export function isAnswer(params: unknown, state: string): params is string {
  if (typeof params !== 'string' || params.length > LONGEST_ANSWER) return false;
  const parsed = new URLSearchParams(params);
  const once = (name: string): boolean => parsed.getAll(name).length === 1;
  const isUnique = [...new Set(parsed.keys())].every(once);
  return isUnique && parsed.get('state') === state && parsed.has('code') !== parsed.has('error');
}

/** The code of a checked answer, or what it says instead. Throws `UploaderError`. */
export function readAnswer(
  settings: Settings,
  params: string,
  round: Pick<Transaction, 'state' | 'verifier'>,
  via: Grant['via'],
): Grant {
  const parsed = new URLSearchParams(params);
  const iss = parsed.get('iss');
  const issuer = settings.issuer ?? iss ?? settings.baseUrl;
  if (iss !== null && iss !== issuer)
    throw new UploaderError('issuer-mismatch', 'The answer came from another issuer');
  try {
    const code = validateAuthResponse({ issuer }, { client_id: settings.clientId }, parsed, round.state).get(
      'code',
    );
    if (code) return { code, verifier: round.verifier, via };
  } catch (cause) {
    if (cause instanceof AuthorizationResponseError) throw refusal(cause.error);
    // What else it throws holds the parameters, so it is no cause.
  }
  throw new UploaderError('authorize-failed', 'The sign-in page gave no usable answer');
}

function refusal(error: string): UploaderError {
  let code: ErrorCode = 'authorize-failed';
  if (LOGIN_NEEDED.test(error)) code = 'sign-in-required';
  else if (error === 'access_denied') code = 'access-denied';
  return new UploaderError(code, `The sign-in page answered ${error.replace(/[^\w-]/g, '').slice(0, 40)}`);
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
 * anything else. `undefined` where there is none; throws `state-mismatch`, or what the answer says, where it is of no use.
 */
export function takeReturn(
  settings: Settings,
  redirectUri: string,
  owner: string,
  maxAgeMs: number,
): Grant | undefined {
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
    throw new UploaderError('state-mismatch', 'This page was opened with an answer that nobody asked for');
  }
  return readAnswer(settings, params, { state, verifier: stored.verifier }, 'redirect');
}
