// Session cookies, bearer tokens and rate limits.
import type { Context } from 'hono';
import { generateCookie, getCookie } from 'hono/cookie';
import type { Limits } from './limits.ts';
import type { Env, Login, Parts } from './parts.ts';
import { Refusal } from './refusal.ts';
import { fingerprint, isSame, randomToken } from './seal.ts';
import { type User, users } from './seed.ts';
import type { Completed } from './sign-in.ts';

/**
 * Signs the browser in with a new cookie. If another user was signed in, that login ends with its codes and tokens. A login of the
 * same user continues.
 */
export async function startLogin(c: Context<Env>, parts: Parts, { user, idp }: Completed): Promise<Login> {
  const { tables, clock, settings } = parts;
  const old = await currentLogin(c, parts);
  const isSameUser = old?.userId === user.id;
  if (old && !isSameUser) await tables.logins.take(old.deviceId);
  await tables.cookies.take(cookieKey(c, parts));
  const deviceId = isSameUser ? old.deviceId : randomToken();
  const expiresAt = clock.now() + settings.loginLifetimeMs;
  const login = { userId: user.id, deviceId, idp, expiresAt, keepUntil: expiresAt };
  await tables.logins.put(deviceId, login);
  await plantCookie(c, parts, login, settings.cookie === 'cross-site');
  return login;
}

/** Signs the browser out: ends its login, with all cookies, codes and tokens of the login. */
export async function endLogin(c: Context<Env>, parts: Parts): Promise<void> {
  const login = await currentLogin(c, parts);
  if (login) await parts.tables.logins.take(login.deviceId);
  await parts.tables.cookies.take(cookieKey(c, parts));
  forgetCookie(c, parts);
}

/** Resolves with the browser's login, or with undefined if the browser is not signed in. */
export async function currentLogin(c: Context<Env>, parts: Parts): Promise<Login | undefined> {
  const cookie = await parts.tables.cookies.get(cookieKey(c, parts));
  return cookie && findLogin(parts, cookie.deviceId);
}

function cookieKey(c: Context<Env>, parts: Parts): string {
  return fingerprint(getCookie(c, cookieName(parts)) ?? '');
}

/** Resolves with a login that has neither ended nor expired. */
export async function findLogin({ tables, clock }: Parts, deviceId: string): Promise<Login | undefined> {
  const login = await tables.logins.get(deviceId);
  return login && login.expiresAt > clock.now() ? login : undefined;
}

// The token response may have added a partitioned cookie, which has to be deleted separately.
function forgetCookie(c: Context<Env>, parts: Parts): void {
  const { replant, cookie } = parts.settings;
  setCookie(c, parts, '', cookie === 'cross-site', 0);
  if (replant && cookie !== 'cross-site') setCookie(c, parts, '', true, 0);
}

/** True if browsers reach the service over TLS. */
export function isOverTls({ baseUrl }: Parts): boolean {
  return baseUrl.startsWith('https:');
}

// The `__Host-` prefix prevents subdomains and sibling hosts from setting the cookie. Browsers accept it only over TLS.
function cookieName(parts: Parts): string {
  return isOverTls(parts) ? '__Host-su_session' : 'su_session';
}

/** Adds a cookie to the login. Requests from pages on other sites have the cookie only if it is `partitioned`. */
export async function plantCookie(
  c: Context<Env>,
  parts: Parts,
  { deviceId, expiresAt }: Login,
  partitioned: boolean,
): Promise<void> {
  const secret = randomToken();
  await parts.tables.cookies.put(fingerprint(secret), { deviceId, keepUntil: expiresAt });
  setCookie(c, parts, secret, partitioned, parts.settings.loginLifetimeMs);
}

function setCookie(
  c: Context<Env>,
  parts: Parts,
  secret: string,
  partitioned: boolean,
  lifetimeMs: number,
): void {
  const options = {
    httpOnly: true,
    path: '/',
    maxAge: Math.floor(lifetimeMs / 1000),
    ...(partitioned
      ? { sameSite: 'None' as const, secure: true, partitioned: true }
      : { sameSite: 'Lax' as const, secure: isOverTls(parts) }),
  };
  // A response can set two cookies, each in its own header. Without `append`, the second one would replace the first.
  c.header('set-cookie', generateCookie(cookieName(parts), secret, options), { append: true });
}

/** Issues a bearer token, which ends with the login at the latest. `key` is the key of the token's row in `tables.tokens`. */
export async function issueToken(
  { tables, clock, settings }: Parts,
  { deviceId, expiresAt: loginEndsAt }: Login,
  lifetimeMs: number = settings.tokenLifetimeMs,
): Promise<{ token: string; key: string; expiresAt: string }> {
  const token = randomToken();
  const key = fingerprint(token);
  const expiresAt = Math.min(clock.now() + lifetimeMs, loginEndsAt);
  await tables.tokens.put(key, { deviceId, expiresAt, keepUntil: expiresAt });
  return { token, key, expiresAt: new Date(expiresAt).toISOString() };
}

/** Resolves with the user of the bearer token in the request. Throws a 401 refusal if the token is missing or invalid. */
export async function requireUser(c: Context<Env>, parts: Parts): Promise<User> {
  const [, token] = /^bearer ([A-Za-z0-9_-]{43})$/i.exec(c.req.header('authorization') ?? '') ?? [];
  const row = token === undefined ? undefined : await parts.tables.tokens.get(fingerprint(token));
  const login = row && row.expiresAt > parts.clock.now() ? await findLogin(parts, row.deviceId) : undefined;
  const user = users.find(({ id }) => id === login?.userId);
  if (!user) {
    throw new Refusal(401, 'invalid_token', 'no valid bearer token', {
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    });
  }
  return user;
}

/**
 * Counts a request of this client. Throws a 429 refusal with `Retry-After` above the limit. A client has one counter for each
 * trusted origin, and a shared counter for all other requests. The caller rejects untrusted origins first, so that they do not use
 * up the shared counter.
 */
export async function limitRate(c: Context<Env>, parts: Parts, what: keyof Limits): Promise<void> {
  const client = clientOf(c, parts);
  const origin = c.req.header('origin');
  await parts.limits[what].count(isTrustedOrigin(origin, parts) ? `${client} ${origin}` : client);
}

/** Returns the address of the client. */
export function clientOf(c: Context<Env>, { readClient }: Parts): string {
  return readClient(c.env.incoming.socket.remoteAddress, c.req.header('x-forwarded-for'));
}

/** True if pages on this origin may sign in: the app origins and the service itself. */
export function isTrustedOrigin(origin: string | undefined, { settings, baseUrl }: Parts): boolean {
  if (origin === undefined) return false;
  return settings.appOrigins.includes(origin) || isSame(origin, baseUrl);
}
