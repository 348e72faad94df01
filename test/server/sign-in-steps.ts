// Steps of a sign-in by code, as a page and its sign-in window perform them.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Service } from '../../demo/server/server.ts';
import { type Answer, ask, callback } from './support.ts';

/** PKCE verifier, the same for all tests. */
export const verifier = randomBytes(32).toString('base64url');
/** S256 challenge of `verifier`. */
export const challenge = createHash('sha256').update(verifier).digest('base64url');

/** Returns the path of a valid authorization request with `changes`; a value of `undefined` omits the parameter. */
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

/** Signs a user in and returns the session cookie. */
export async function signedIn(service: Service, user = 'alice'): Promise<string> {
  const answer = await login(service, `${user}@example.com`, service.seed.password);
  assert.equal(answer.status, 200);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Signs a user in and returns an authorization code. */
export async function getCode(service: Service, changes: Record<string, string> = {}): Promise<string> {
  const cookie = await signedIn(service);
  const { headers } = await ask(service, 'GET', authorizePath(changes), { headers: { cookie } });
  return new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
}

/** Exchanges a code for a token. */
export function redeem(
  service: Pick<Service, 'baseUrl'>,
  code: string,
  code_verifier = verifier,
): Promise<Answer> {
  return ask(service, 'POST', '/auth/token', { body: { code, code_verifier } });
}
