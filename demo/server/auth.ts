// Signing in by JSON: `POST /auth/login` (credentials for a session cookie) and `POST /auth/token` (a code for a
// bearer token). Where codes come from is authorize.ts.
import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { checkPassword, issueToken, isTrustedOrigin, limitRate, startLogin } from './accounts.ts';
import type { Env, Parts } from './parts.ts';
import { Refusal, readJson, readString } from './refusal.ts';
import { fingerprint, isSame, randomToken } from './seal.ts';

const BODY_BYTES = 16 * 1024;
// A used code is remembered so long, since its token can be revoked so long.
const REMEMBER_MS = 60 * 60_000;

/** The routes below `/auth`. */
export function authRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();

  app.post('/auth/login', async (c) => {
    if (!isTrustedOrigin(c.req.header('origin'), parts)) {
      throw new Refusal(403, 'untrusted_origin', 'this origin may not sign in');
    }
    await limitRate(c, parts, 'login', 3);
    const body = await readJson(c.req.raw, BODY_BYTES);
    if (readString(body, 'idp_id', 100) !== 'local') {
      throw new Refusal(400, 'unknown_idp', 'no such identity provider');
    }
    const user = await checkPassword(
      parts,
      readString(body, 'email', 320),
      readString(body, 'password', 1000),
    );
    const refused = { next_step: 'none', challenge_token: '', available_methods: [] };
    if (user === 'refused')
      return c.json({ status: 'denied', error: 'invalid_credentials', ...refused }, 401);
    if (user === 'locked') return c.json({ status: 'locked', error: 'locked', ...refused }, 401);
    await startLogin(c, parts, user);
    return c.json({ status: 'ok', next_step: 'authorize', challenge_token: '', available_methods: [] });
  });

  app.post('/auth/token', async (c) => {
    await limitRate(c, parts, 'token');
    const origin = c.req.header('origin');
    if (origin !== undefined && !isTrustedOrigin(origin, parts)) {
      throw new Refusal(403, 'untrusted_origin', 'this origin may not redeem codes');
    }
    const body = await readJson(c.req.raw, BODY_BYTES);
    const code = readString(body, 'code', 512);
    const verifier = readString(body, 'code_verifier', 128);
    if (Object.keys(body).length !== 2) {
      throw new Refusal(400, 'invalid_request', 'exactly code and code_verifier are taken');
    }
    const redeemed = await redeem(parts, code, verifier);
    if (!redeemed) throw new Refusal(400, 'invalid_grant', 'the code is not valid');
    return c.json(redeemed);
  });

  return app;
}

/** Makes a code for a signed-in browser, bound to an S256 challenge. */
export async function issueCode(
  { tables, clock, settings }: Parts,
  grant: { userId: string; deviceId: string; loginKey: string; challenge: string },
): Promise<string> {
  const code = randomToken();
  const expiresAt = clock.now() + settings.codeLifetimeMs;
  await tables.codes.put(fingerprint(code), { ...grant, expiresAt, keepUntil: expiresAt + REMEMBER_MS });
  return code;
}

interface TokenAnswer {
  token: string;
  id: string;
  device_id: string;
  expires_at: string;
}

async function redeem(parts: Parts, code: string, verifier: string): Promise<TokenAnswer | undefined> {
  const { tables, clock } = parts;
  const key = fingerprint(code);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const known = await tables.codes.get(key);
  if (!known) return undefined;
  const issued = await issueToken(parts, known.userId, known.loginKey);
  let isOurs = false;
  const row = await tables.codes.update(key, (before) => {
    if (!before) return undefined;
    if (before.tokenKey !== undefined) return { ...before, replayed: true };
    isOurs = before.expiresAt > clock.now() && isSame(before.challenge, challenge);
    return { ...before, tokenKey: isOurs ? issued.key : '' };
  });
  if (!isOurs) {
    await tables.tokens.take(issued.key);
    // A code that comes twice was stolen once: whoever had the first token loses it.
    if (row?.tokenKey) await tables.tokens.take(row.tokenKey);
    return undefined;
  }
  return { token: issued.token, id: known.userId, device_id: known.deviceId, expires_at: issued.expiresAt };
}
