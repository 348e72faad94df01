// An identity provider named `corp` on its own origin, and the redirects between the service and `corp`. The pages of `corp` send
// `Cross-Origin-Opener-Policy: same-origin`, which separates a pop-up window from its opener. `corp` has the same users.
import { type Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { checkPassword, isOverTls, limitRate, startLogin } from './accounts.ts';
import type { Env, Parts } from './parts.ts';
import { Refusal, readText } from './refusal.ts';
import { fingerprint, randomToken } from './seal.ts';
import { users } from './seed.ts';
import { errorPage, pageHeaders, signInPage, styleSheet } from './sign-in-page.ts';

const COOKIE = 'su_federation';
const LIFETIME_MS = 10 * 60_000;

/** Redirects the browser to `corp`. `query` is the authorization request to continue afterwards. */
export async function goToCorp(c: Context<Env>, parts: Parts, query: string): Promise<Response> {
  const { tables, clock, idpUrl } = parts;
  const binding = randomToken();
  const expiresAt = clock.now() + LIFETIME_MS;
  // Three secrets bind the sign-in to this browser: `name` in the URL of `corp`, `binding` in a cookie, and `answer` in the
  // redirect back. Without them, an attacker could start a sign-in here and have it completed in another browser.
  const name = randomToken();
  const about = { expiresAt, keepUntil: expiresAt };
  await tables.federations.put(fingerprint(binding), { ...about, query });
  await tables.federations.put(fingerprint(name), { ...about, query: fingerprint(binding) });
  setCookie(c, COOKIE, binding, {
    httpOnly: true,
    path: '/authorize',
    sameSite: 'Lax',
    secure: isOverTls(parts),
    maxAge: LIFETIME_MS / 1000,
  });
  return c.redirect(`${idpUrl}/sign-in?request=${name}`, 303);
}

/** Creates the route `/authorize/corp` of the service, to which `corp` redirects back. */
export function corpReturnRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { tables, clock } = parts;
  app.get('/authorize/corp', async (c) => {
    const binding = fingerprint(getCookie(c, COOKIE) ?? '');
    const answered = await tables.federations.take(fingerprint(c.req.query('answer') ?? ''));
    const begun = await tables.federations.take(binding);
    deleteCookie(c, COOKIE, { path: '/authorize' });
    const user = users.find(({ id }) => id === answered?.userId);
    if (!begun || !user || answered?.query !== binding || begun.expiresAt <= clock.now()) {
      return c.html(
        errorPage('This sign-in was not begun in this browser, or is too old.'),
        400,
        pageHeaders("'none'"),
      );
    }
    await startLogin(c, parts, user, 'corp');
    return c.redirect(`/authorize?${begun.query}`, 303);
  });
  return app;
}

/** Creates the identity provider. */
export function createCorp(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { tables, clock, idpUrl, baseUrl, settings } = parts;
  const headers = (): Record<string, string> => ({
    ...pageHeaders(["'self'", baseUrl, ...settings.appOrigins].join(' ')),
    'cross-origin-opener-policy': 'same-origin',
  });
  const find = async (c: Context<Env>): Promise<string> => {
    const name = c.req.query('request') ?? '';
    const row = await tables.federations.get(fingerprint(name));
    if (!row || row.userId !== undefined || row.expiresAt <= clock.now()) {
      throw new Refusal(400, 'invalid_request', 'this sign-in is over');
    }
    return name;
  };

  app.get('/sign-in', async (c) =>
    c.html(signInPage(`/sign-in?request=${await find(c)}`, 'Corp'), 200, headers()),
  );
  app.post('/sign-in', async (c) => {
    const name = await find(c);
    if (c.req.header('origin') !== idpUrl) throw new Refusal(403, 'untrusted_origin', 'not our form');
    await limitRate(c, parts, 'corp');
    const form = new URLSearchParams(await readText(c.req.raw, 16 * 1024));
    const email = (form.get('email') ?? '').slice(0, 320);
    const user = await checkPassword(parts, email, (form.get('password') ?? '').slice(0, 1000));
    if (user === 'refused' || user === 'locked' || user.hindrance) {
      const problem = user === 'refused' ? user : 'locked';
      return c.html(signInPage(`/sign-in?request=${name}`, 'Corp', problem, email), 401, headers());
    }
    const row = await tables.federations.take(fingerprint(name));
    if (!row) throw new Refusal(400, 'invalid_request', 'this sign-in is over');
    const answer = randomToken();
    await tables.federations.put(fingerprint(answer), { ...row, userId: user.id });
    return c.body(null, 303, { ...headers(), location: `${baseUrl}/authorize/corp?answer=${answer}` });
  });
  app.get('/style.css', (c) => c.body(styleSheet, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.onError((error, c) => {
    const isOurs = error instanceof Refusal;
    if (!isOurs) console.error('corp:', error);
    return c.html(
      errorPage(isOurs ? error.message : 'internal error'),
      isOurs ? error.status : 500,
      headers(),
    );
  });
  return app;
}
