// Who is who: passwords and their lock, the cookie of a signed-in browser, bearer tokens, rate limits. It knows no
// route; auth.ts, authorize.ts and uploads.ts ask it.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Env, Login, Parts } from './parts.ts';
import { Refusal } from './refusal.ts';
import { fingerprint, isSame, randomToken } from './seal.ts';
import { demoPassword, findUser, type User, users } from './seed.ts';

const derive = promisify(scrypt) as (password: string, salt: Uint8Array, length: number) => Promise<Buffer>;
const salt = randomBytes(16);
let derived: Promise<Buffer> | undefined;

const FAILURES_TO_LOCK = 5;
const LOCK_MS = 15 * 60_000;
const COOKIE = 'su_session';

/** The user of these credentials, or why not. It takes as long, and locks as well, for an address that nobody has. */
export async function checkPassword(
  { tables, clock }: Parts,
  email: string,
  password: string,
): Promise<User | 'refused' | 'locked'> {
  const key = fingerprint(email.trim().toLowerCase());
  derived ??= derive(demoPassword, salt, 32);
  const isRight = timingSafeEqual(await derive(password, salt, 32), await derived);
  const user = findUser(email);
  const now = clock.now();
  const lockout = await tables.lockouts.update(key, (row) => {
    const fresh = { failures: 0, lockedUntil: 0 };
    const last = row && (row.keepUntil ?? 0) > now ? row : fresh;
    if (last.lockedUntil > now) return last;
    if (user && isRight) return { ...fresh, keepUntil: now };
    const failures = last.failures + 1;
    const lockedUntil = failures >= FAILURES_TO_LOCK ? now + LOCK_MS : 0;
    return { failures, lockedUntil, keepUntil: now + LOCK_MS };
  });
  // The attempt that locks is still answered as refused: it was.
  if ((lockout?.lockedUntil ?? 0) > now && (lockout?.lockedUntil ?? 0) < now + LOCK_MS) return 'locked';
  return user && isRight ? user : 'refused';
}

/** Signs this browser in, with a new cookie each time. Answers the login's key. */
export async function startLogin(c: Context<Env>, parts: Parts, user: User): Promise<string> {
  const { tables, clock, settings } = parts;
  await endLogin(c, parts);
  const secret = randomToken();
  const key = fingerprint(secret);
  const expiresAt = clock.now() + settings.loginLifetimeMs;
  await tables.logins.put(key, { userId: user.id, deviceId: randomToken(), expiresAt, keepUntil: expiresAt });
  plantCookie(c, parts, secret, settings.cookie === 'cross-site');
  return key;
}

/** Ends this browser's login, if it has one, and answers its key. Tokens that came from it live on. */
export async function endLogin(c: Context<Env>, { tables }: Parts): Promise<string | undefined> {
  const old = getCookie(c, COOKIE);
  if (old === undefined) return undefined;
  const key = fingerprint(old);
  await tables.logins.take(key);
  return key;
}

/** The login of this browser, with its key and user. */
export async function currentLogin(
  c: Context<Env>,
  { tables, clock }: Parts,
): Promise<{ key: string; login: Login; user: User } | undefined> {
  const secret = getCookie(c, COOKIE);
  if (secret === undefined) return undefined;
  const key = fingerprint(secret);
  const login = await tables.logins.get(key);
  const user = users.find(({ id }) => id === login?.userId);
  return login && user && login.expiresAt > clock.now() ? { key, login, user } : undefined;
}

/** Sets the session cookie. `partitioned`: for pages of other sites. */
export function plantCookie(c: Context<Env>, parts: Parts, secret: string, partitioned: boolean): void {
  setCookie(c, COOKIE, secret, {
    httpOnly: true,
    path: '/',
    maxAge: Math.floor(parts.settings.loginLifetimeMs / 1000),
    ...(partitioned
      ? { sameSite: 'None' as const, secure: true, partitioned: true }
      : { sameSite: 'Lax' as const }),
  });
}

/** Makes a bearer token. */
export async function issueToken(
  { tables, clock, settings }: Parts,
  userId: string,
  loginKey: string | undefined,
  lifetimeMs: number = settings.tokenLifetimeMs,
): Promise<{ token: string; key: string; expiresAt: string }> {
  const token = randomToken();
  const key = fingerprint(token);
  const expiresAt = clock.now() + lifetimeMs;
  await tables.tokens.put(key, { userId, loginKey, expiresAt, keepUntil: expiresAt });
  return { token, key, expiresAt: new Date(expiresAt).toISOString() };
}

/** The user of the request's bearer token. Throws a refusal of 401. */
export async function requireUser(c: Context<Env>, { tables, clock }: Parts): Promise<User> {
  const [, token] = /^bearer ([A-Za-z0-9_-]{43})$/i.exec(c.req.header('authorization') ?? '') ?? [];
  const row = token === undefined ? undefined : await tables.tokens.get(fingerprint(token));
  const user = users.find(({ id }) => id === row?.userId);
  if (!row || !user || row.expiresAt <= clock.now()) {
    throw new Refusal(401, 'invalid_token', 'no valid bearer token', {
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    });
  }
  return user;
}

/** Counts a request. Throws a refusal of 429 with `Retry-After` when there were too many in the window. */
export async function limitRate(c: Context<Env>, parts: Parts, what: string, factor = 1): Promise<void> {
  const { tables, clock, settings } = parts;
  const { requests, windowMs } = settings.rateLimit;
  const address = c.env.incoming.socket.remoteAddress ?? '';
  const now = clock.now();
  let waitMs = 0;
  await tables.rates.update(`${what} ${address} ${c.req.header('origin') ?? ''}`, (row) => {
    const hits = (row?.hits ?? []).filter((at) => at > now - windowMs && at <= now);
    const oldest = hits[hits.length - requests * factor];
    if (oldest === undefined) hits.push(now);
    else waitMs = oldest + windowMs - now;
    return { hits, keepUntil: now + windowMs };
  });
  if (waitMs === 0) return;
  throw new Refusal(429, 'rate_limited', 'too many requests', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}

/** Whether a page may sign in from here: one of the app origins, or the service itself. */
export function isTrustedOrigin(origin: string | undefined, { settings, baseUrl }: Parts): boolean {
  if (origin === undefined) return false;
  return settings.appOrigins.includes(origin) || isSame(origin, baseUrl);
}
