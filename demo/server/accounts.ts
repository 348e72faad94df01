// Session cookies, bearer tokens and rate limits.
import type { Context } from 'hono';
import { generateCookie, getCookie } from 'hono/cookie';
import type { Limits } from './limits.ts';
import type { Env, Login, Parts, Token } from './parts.ts';
import { Refusal } from './refusal.ts';
import { fingerprint, isSame, randomToken } from './seal.ts';
import { type User, users } from './seed.ts';
import type { Completed } from './sign-in.ts';
import type { Table } from './state.ts';

/** Signs the browser in with a new cookie. */
export async function startLogin(c: Context<Env>, parts: Parts, completed: Completed): Promise<Login> {
  const { tables, clock, settings } = parts;
  const { user, idp } = completed;
  await endLogin(c, parts);
  const secret = randomToken();
  const expiresAt = clock.now() + settings.loginLifetimeMs;
  const login = { userId: user.id, deviceId: randomToken(), idp, expiresAt, keepUntil: expiresAt };
  await tables.logins.put(fingerprint(secret), login);
  plantCookie(c, parts, secret, settings.cookie === 'cross-site');
  return login;
}

/** Adds a partitioned session cookie to the login with this `deviceId`, so that pages on other sites can use the login. */
export async function replantLogin(c: Context<Env>, parts: Parts, deviceId: string): Promise<void> {
  const [login] = await parts.tables.logins.list((row) => row.deviceId === deviceId);
  if (!login) return;
  const secret = randomToken();
  await parts.tables.logins.put(fingerprint(secret), login);
  plantCookie(c, parts, secret, true);
}

/** Signs the browser out: deletes its login, cookies and tokens. */
export async function endEverything(c: Context<Env>, parts: Parts): Promise<void> {
  const login = await endLogin(c, parts);
  forgetCookie(c, parts);
  if (login) await dropAll([parts.tables.logins, parts.tables.tokens], login.deviceId);
}

async function dropAll(tables: Table<Login | Token>[], deviceId: string): Promise<void> {
  for (const table of tables) {
    const keys: string[] = [];
    await table.list((row, key) => row.deviceId === deviceId && keys.push(key) > 0);
    for (const key of keys) await table.take(key);
  }
}

async function endLogin(c: Context<Env>, parts: Parts): Promise<Login | undefined> {
  const old = getCookie(c, cookieName(parts));
  return old === undefined ? undefined : parts.tables.logins.take(fingerprint(old));
}

/** Resolves with the browser's login and its user. Resolves with undefined if the browser is not signed in. */
export async function currentLogin(
  c: Context<Env>,
  parts: Parts,
): Promise<{ login: Login; user: User } | undefined> {
  const { tables, clock } = parts;
  const secret = getCookie(c, cookieName(parts));
  if (secret === undefined) return undefined;
  const login = await tables.logins.get(fingerprint(secret));
  const user = users.find(({ id }) => id === login?.userId);
  return login && user && login.expiresAt > clock.now() ? { login, user } : undefined;
}

// `replantLogin` may have added a partitioned cookie, which has to be deleted separately.
function forgetCookie(c: Context<Env>, parts: Parts): void {
  plantCookie(c, parts, '', parts.settings.cookie === 'cross-site', 0);
  if (parts.settings.replant && parts.settings.cookie !== 'cross-site') plantCookie(c, parts, '', true, 0);
}

/** True if browsers reach the service over TLS. */
export function isOverTls({ baseUrl }: Parts): boolean {
  return baseUrl.startsWith('https:');
}

// The `__Host-` prefix prevents subdomains and sibling hosts from setting the cookie. Browsers accept it only over TLS.
function cookieName(parts: Parts): string {
  return isOverTls(parts) ? '__Host-su_session' : 'su_session';
}

// Requests from pages on other sites have the cookie only if it is `partitioned`.
function plantCookie(
  c: Context<Env>,
  parts: Parts,
  secret: string,
  partitioned: boolean,
  lifetimeMs: number = parts.settings.loginLifetimeMs,
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

/** Issues a bearer token. `key` is the key of the token's row in `tables.tokens`. */
export async function issueToken(
  { tables, clock, settings }: Parts,
  userId: string,
  deviceId: string | undefined,
  lifetimeMs: number = settings.tokenLifetimeMs,
): Promise<{ token: string; key: string; expiresAt: string }> {
  const token = randomToken();
  const key = fingerprint(token);
  const expiresAt = clock.now() + lifetimeMs;
  await tables.tokens.put(key, { userId, deviceId, expiresAt, keepUntil: expiresAt });
  return { token, key, expiresAt: new Date(expiresAt).toISOString() };
}

/** Resolves with the user of the bearer token in the request. Throws a 401 refusal if the token is missing or invalid. */
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

/**
 * Counts a request of this client. Throws a 429 refusal with `Retry-After` above the limit. A client has one counter for each
 * trusted origin, and a shared counter for all other requests. The caller rejects untrusted origins first, so that they do not use
 * up the shared counter.
 */
export async function limitRate(c: Context<Env>, parts: Parts, what: keyof Limits): Promise<void> {
  const { remoteAddress } = c.env.incoming.socket;
  const client = parts.readClient(remoteAddress, c.req.header('x-forwarded-for'));
  const origin = c.req.header('origin');
  await parts.limits[what].count(isTrustedOrigin(origin, parts) ? `${client} ${origin}` : client);
}

/** True if pages on this origin may sign in: the app origins and the service itself. */
export function isTrustedOrigin(origin: string | undefined, { settings, baseUrl }: Parts): boolean {
  if (origin === undefined) return false;
  return settings.appOrigins.includes(origin) || isSame(origin, baseUrl);
}
