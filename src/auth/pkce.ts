// Creates authorization requests (verifier, state and URL), and checks the responses.

import { resolveUrl } from '../core/addresses.ts';
import { toBase64Url } from '../core/base64-url.ts';
import { UploaderError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { Settings } from '../core/settings-table.ts';
import { ownerToMatch } from './settings.ts';
import type { Grant, Transaction } from './types.ts';

const LONGEST_ANSWER = 8192;
const LOGIN_NEEDED = /^(?:login|interaction|consent|account_selection)_required$/;

/** Returns 256 random bits. */
const createSecret = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(32)));

/** Returns the S256 code challenge for a verifier (RFC 7636, section 4.2). */
export const challengeOf = async (verifier: string): Promise<string> =>
  toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));

/** Returns the absolute URL for `path`. Throws `bad-config` if the URL is neither https nor on loopback. */
function serviceUrl(settings: Settings, path: string): URL {
  const url = resolveUrl(settings.baseUrl, path);
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return url;
  throw new UploaderError(
    'bad-config',
    `The URL ${url.origin}${url.pathname} is neither https nor on this machine`,
  );
}

/**
 * Creates an authorization request. Rejects with `insecure-context` if the page has no `crypto.subtle`, and with `bad-config` for
 * an invalid `authorize-path`.
 */
export async function createTransaction(
  settings: Settings,
  redirectUri: string,
  extra: Readonly<Record<string, string | undefined>> = {},
): Promise<Transaction> {
  if (!globalThis.crypto?.subtle)
    throw new UploaderError(
      'insecure-context',
      'Sign-in needs crypto.subtle, which a page has over https only',
    );
  const verifier = createSecret();
  const state = createSecret();
  const challenge = await challengeOf(verifier);
  const required = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state,
    scope: settings.scope,
    idp_id: settings.idpId,
    response_mode: settings.responseMode,
    login_hint: ownerToMatch(settings),
    ...extra,
  };
  // `required` comes last, so that the page's parameters cannot replace parameters such as `state`.
  const all = [...Object.entries(settings.authOptions.params ?? {}), ...Object.entries(required)].filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const { href, origin } = authorizeUrl(settings, Object.fromEntries(all));
  return { state, verifier, challenge, url: href, origin };
}

function authorizeUrl(settings: Settings, params: Readonly<Record<string, string>>): URL {
  const { adapter } = settings.authOptions;
  if (adapter?.authorizeUrl) return serviceUrl(settings, String(adapter.authorizeUrl(params)));
  const url = serviceUrl(settings, settings.authorizePath);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return url;
}

/**
 * Returns true if `params` is a response to the request with this `state`. No parameter may occur twice, and there must be either a
 * code or an error.
 */
export function isAnswer(params: unknown, state: string): params is string {
  if (typeof params !== 'string' || params.length > LONGEST_ANSWER) return false;
  const parsed = new URLSearchParams(params);
  const once = (name: string): boolean => parsed.getAll(name).length === 1;
  const isUnique = [...new Set(parsed.keys())].every(once);
  return isUnique && parsed.get('state') === state && parsed.has('code') !== parsed.has('error');
}

/** Returns the code of a response. Throws `UploaderError` if the response has no code, or if a check fails. */
export function readGrant(
  settings: Settings,
  params: string,
  round: Pick<Transaction, 'state' | 'verifier' | 'origin'>,
  via: Grant['via'],
): Grant {
  const parsed = new URLSearchParams(params);
  const [iss, code, error] = ['iss', 'code', 'error'].map((name) => parsed.get(name));
  if (!isIssuer(iss ?? null, settings, round.origin))
    throw new UploaderError(
      'issuer-mismatch',
      iss
        ? `The response is from the issuer ${iss}, not from the one that is expected`
        : 'The response has no issuer (iss)',
    );
  if (isAnswer(params, round.state)) {
    if (code) return { code, verifier: round.verifier, via };
    if (error === 'access_denied')
      throw new UploaderError('access-denied', 'The user or the service has denied access (access_denied)');
    if (LOGIN_NEEDED.test(error ?? ''))
      throw new UploaderError('sign-in-required', `The service needs the user (${error})`);
  }
  throw new UploaderError(
    'authorize-failed',
    error
      ? `The service responded with the error ${error}`
      : 'The response has no code, or is not one to this request',
  );
}

/**
 * Returns true if `iss` is acceptable. This prevents mix-up attacks (RFC 9207). If the setting `issuer` is set, `iss` must be equal
 * to it. Otherwise, `iss` may be missing, or must have the origin of the service or of the sign-in page.
 */
function isIssuer(iss: string | null, { issuer, baseUrl }: Settings, origin: string): boolean {
  if (issuer !== undefined) return iss === issuer;
  if (iss === null) return true;
  return URL.canParse(iss) && [new URL(baseUrl).origin, origin].includes(new URL(iss).origin);
}
