// The steps of signing in by code, as a page and its window take them.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Service } from '../../demo/server/server.ts';
import { type Answer, ask, callback } from './support.ts';

/** A PKCE verifier, the same for all tests. */
export const verifier = randomBytes(32).toString('base64url');
/** Its S256 challenge. */
export const challenge = createHash('sha256').update(verifier).digest('base64url');

/** The URL of a valid request for a code, with changes; `undefined` omits a parameter. */
export function authorizePath(changes: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  const all = {
    response_type: 'code',
    client_id: 'secure-uploader',
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'the-state',
    ...changes,
  };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.set(name, value);
  return `/authorize?${query}`;
}

/** Signs in with email address and password. */
export async function login(
  service: Service,
  email: string,
  password: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return ask(service, 'POST', '/auth/login', { headers, body: { idp_id: 'local', email, password } });
}

/** Signs a user in; returns the cookie. */
export async function signedIn(service: Service, user = 'alice'): Promise<string> {
  const answer = await login(service, `${user}@example.com`, service.seed.password);
  assert.equal(answer.status, 200);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Gets a code, signing in first. */
export async function getCode(service: Service, changes: Record<string, string> = {}): Promise<string> {
  const cookie = await signedIn(service);
  const { headers } = await ask(service, 'GET', authorizePath(changes), { headers: { cookie } });
  return new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
}

/** Exchanges a code. */
export function redeem(
  service: Pick<Service, 'baseUrl'>,
  code: string,
  code_verifier = verifier,
): Promise<Answer> {
  return ask(service, 'POST', '/auth/token', { body: { code, code_verifier } });
}
