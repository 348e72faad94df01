// The JSON operations of sign-in: `/auth/login` and `/auth/challenge` exchange credentials for a session cookie, `/auth/token`
// exchanges a code for a bearer token, `/auth/logout` signs out.
import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import {
  clientOf,
  endLogin,
  findLogin,
  issueToken,
  isTrustedOrigin,
  limitRate,
  plantCookie,
  startLogin,
} from './accounts.ts';
import type { Step } from './challenge.ts';
import { brokenAnswer, describeOutcome, readMethod } from './login-answers.ts';
import type { Env, Login, Parts } from './parts.ts';
import { Refusal, readJson, readString } from './refusal.ts';
import { fingerprint, isSame, randomToken } from './seal.ts';
import { enterPassword, enterSecondStep, type Outcome } from './sign-in.ts';

const BODY_BYTES = 16 * 1024;
// Time that an authorization code stays stored after its expiry. A second use of the code during this time revokes the code's
// token.
const REMEMBER_MS = 60 * 60_000;

/** Creates the routes under `/auth`. */
export function authRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { settings } = parts;

  app.post('/auth/login', async (c) => {
    if (!isTrustedOrigin(c.req.header('origin'), parts)) {
      throw new Refusal(403, 'untrusted_origin', 'this origin may not sign in');
    }
    await limitRate(c, parts, 'login');
    const body = await readJson(c.req.raw, BODY_BYTES);
    const idp = readString(body, 'idp_id', 100);
    if (idp !== 'local' && !(idp === 'broken' && settings.demo)) {
      throw new Refusal(400, 'unknown_idp', 'no identity provider of this name takes passwords here');
    }
    const email = readString(body, 'email', 320);
    const password = readString(body, 'password', 1000);
    const codeChallenge = readCodeChallenge(body);
    if (idp === 'broken') {
      const broken = brokenAnswer(email);
      return c.body(broken.body, broken.status, { 'content-type': broken.type });
    }
    const purpose = { idp, origin: c.req.header('origin') ?? '', ...(codeChallenge && { codeChallenge }) };
    return answer(c, await enterPassword(parts, { email, password, client: clientOf(c, parts) }, purpose));
  });

  app.post('/auth/challenge', async (c) => {
    if (!isTrustedOrigin(c.req.header('origin'), parts)) {
      throw new Refusal(403, 'untrusted_origin', 'this origin may not sign in');
    }
    await limitRate(c, parts, 'challenge');
    const body = await readJson(c.req.raw, BODY_BYTES);
    const action = readString(body, 'action', 10);
    if (action !== 'start' && action !== 'answer' && action !== 'poll') {
      throw new Refusal(400, 'invalid_request', 'action is start, answer or poll');
    }
    const step: Step = {
      token: readString(body, 'challenge_token', 100),
      origin: c.req.header('origin') ?? '',
      action,
      method: readMethod(readString(body, 'method', 100)),
      ...(body.code !== undefined && { code: readString(body, 'code', 100) }),
      credential: body.credential,
    };
    return answer(c, await enterSecondStep(parts, step));
  });

  app.post('/auth/logout', async (c) => {
    if (!isTrustedOrigin(c.req.header('origin'), parts)) {
      throw new Refusal(403, 'untrusted_origin', 'this origin may not sign out');
    }
    await endLogin(c, parts);
    return c.body(null, 204);
  });

  async function answer(c: Context<Env>, outcome: Outcome): Promise<Response> {
    const [body, status] = describeOutcome(outcome);
    if (outcome.kind !== 'completed') return c.json(body, status);
    const login = await startLogin(c, parts, outcome);
    if (outcome.codeChallenge === undefined) return c.json(body, status);
    const code = await issueCode(parts, login, outcome.codeChallenge);
    return c.json({ ...body, code }, status);
  }

  app.post('/auth/token', async (c) => {
    const origin = c.req.header('origin');
    if (origin !== undefined && !isTrustedOrigin(origin, parts)) {
      throw new Refusal(403, 'untrusted_origin', 'this origin may not redeem codes');
    }
    await limitRate(c, parts, 'token');
    const body = await readJson(c.req.raw, BODY_BYTES);
    const code = readString(body, 'code', 512);
    const verifier = readString(body, 'code_verifier', 128);
    if (Object.keys(body).length !== 2) {
      throw new Refusal(400, 'invalid_request', 'exactly code and code_verifier are taken');
    }
    const redeemed = await redeem(parts, code, verifier);
    if (!redeemed) throw new Refusal(400, 'invalid_grant', 'the code is not valid');
    const { login, token, expiresAt } = redeemed;
    if (settings.replant) await plantCookie(c, parts, login, true);
    return c.json({ token, id: login.userId, device_id: login.deviceId, expires_at: expiresAt });
  });

  return app;
}

/** Issues an authorization code for a signed-in browser. `challenge` is the PKCE challenge (S256). Throws a 429 refusal. */
export async function issueCode(
  { tables, clock, settings, limits }: Parts,
  { userId, deviceId }: Login,
  challenge: string,
): Promise<string> {
  // Without a limit, a client that is signed in could fill the state with codes.
  await limits.code.count(userId);
  const code = randomToken();
  const expiresAt = clock.now() + settings.codeLifetimeMs;
  await tables.codes.put(fingerprint(code), {
    deviceId,
    challenge,
    expiresAt,
    keepUntil: expiresAt + REMEMBER_MS,
  });
  return code;
}

function readCodeChallenge(body: Record<string, unknown>): string | undefined {
  if (body.code_challenge === undefined) return undefined;
  if (typeof body.code_challenge === 'string' && /^[A-Za-z0-9_-]{43}$/.test(body.code_challenge)) {
    return body.code_challenge;
  }
  throw new Refusal(400, 'invalid_request', 'code_challenge is a SHA-256 in base64url');
}

/** Resolves with a token for the code, or with undefined if the code is not valid or its login has ended. */
async function redeem(
  parts: Parts,
  code: string,
  verifier: string,
): Promise<{ login: Login; token: string; expiresAt: string } | undefined> {
  const { tables, clock } = parts;
  const key = fingerprint(code);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const known = await tables.codes.get(key);
  const login = known && (await findLogin(parts, known.deviceId));
  if (!login) return undefined;
  const { key: tokenKey, ...issued } = await issueToken(parts, login);
  let isOurs = false;
  const row = await tables.codes.update(key, (before) => {
    if (!before || before.tokenKey !== undefined) return undefined;
    isOurs = before.expiresAt > clock.now() && isSame(before.challenge, challenge);
    return { ...before, tokenKey: isOurs ? tokenKey : '' };
  });
  if (isOurs) return { login, ...issued };
  await tables.tokens.take(tokenKey);
  // A second use means that the code may be stolen: revoke the token of the first use (RFC 6749, 4.1.2).
  if (row?.tokenKey) await tables.tokens.take(row.tokenKey);
  return undefined;
}
