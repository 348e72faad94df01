// `GET /authorize`: if the browser is signed in, redirects it to the callback page with a code. Otherwise shows the sign-in page,
// with the widget's form or with plain forms. Redirects only to registered URLs.
import { type Context, Hono } from 'hono';
import { clientOf, currentLogin, limitRate, startLogin } from './accounts.ts';
import { issueCode } from './auth.ts';
import { readMethod } from './login-answers.ts';
import { loginPage, loginPageHeaders, loginPageRoutes } from './login-page.ts';
import type { Env, Parts } from './parts.ts';
import { Refusal, readText } from './refusal.ts';
import { clients } from './seed.ts';
import { enterPassword, enterSecondStep, type Outcome } from './sign-in.ts';
import { errorPage, pageHeaders, secondStepPage, signInPage, styleSheet } from './sign-in-page.ts';

/** A validated authorization request. */
interface Wanted {
  redirectUri: URL;
  responseMode: 'query' | 'fragment';
  state: string;
  challenge: string;
  prompt: string | undefined;
  idp: string | undefined;
}

/** A submitted form, or the error response for an invalid form. */
type ReadForm = { query: URLSearchParams; wanted: Wanted; form: URLSearchParams } | Response;

const problems: Partial<Record<Outcome['kind'], string>> = {
  wrong: 'Incorrect code. Try again.',
  denied: 'The sign-in request was denied on your phone.',
  waiting: 'Not approved yet.',
  'slow-down': 'Not approved yet.',
};

const idps = ['local', 'corp'];
/** Path of the callback page on each app origin if `redirectUris` is not set. */
const CALLBACK = '/secure-uploader-callback.html';

/** Creates the routes of `/authorize`. */
export function authorizeRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { baseUrl } = parts;
  app.route('/', loginPageRoutes(parts));

  app.get('/authorize', async (c) => {
    const query = new URL(c.req.url).searchParams;
    const wanted = readWanted(query, parts);
    if (wanted instanceof URL) return c.redirect(wanted.href, 303);
    if (typeof wanted === 'string') return c.html(errorPage(wanted), 400, pageHeaders("'none'"));
    const current = wanted.prompt === 'login' ? undefined : await currentLogin(c, parts);
    const isOther = wanted.idp !== undefined && wanted.idp !== current?.idp;
    if (current && !isOther) {
      const code = await issueCode(parts, current, wanted.challenge);
      return c.redirect(answerAt(wanted, { code, state: wanted.state, iss: baseUrl }).href, 303);
    }
    if (wanted.prompt === 'none') {
      const answer = { error: 'login_required', state: wanted.state, iss: baseUrl };
      return c.redirect(answerAt(wanted, answer).href, 303);
    }
    if (wanted.idp === 'corp' || !parts.settings.loginScript)
      return c.html(signInPage(signInPath(query), nameOf(wanted)), 200, headersOf(wanted));
    const shown = loginPage(baseUrl, wanted.idp ?? 'local', signInPath(query));
    return c.html(shown, 200, loginPageHeaders(formTargets(wanted)));
  });

  app.post('/authorize/sign-in', async (c) => {
    const read = await readForm(c);
    if (read instanceof Response) return read;
    const { query, wanted, form } = read;
    const email = (form.get('email') ?? '').slice(0, 320);
    const password = (form.get('password') ?? '').slice(0, 1000);
    const purpose = { idp: wanted.idp ?? 'local', origin: baseUrl };
    const outcome = await enterPassword(parts, { email, password, client: clientOf(c, parts) }, purpose);
    return goOn(c, query, wanted, outcome, email);
  });

  app.post('/authorize/challenge', async (c) => {
    const read = await readForm(c);
    if (read instanceof Response) return read;
    const { query, wanted, form } = read;
    const action = form.get('action');
    const outcome = await enterSecondStep(parts, {
      token: (form.get('challenge_token') ?? '').slice(0, 100),
      origin: baseUrl,
      action: action === 'start' || action === 'poll' ? action : 'answer',
      method: readMethod(form.get('method') ?? ''),
      code: (form.get('code') ?? '').slice(0, 100),
    });
    return goOn(c, query, wanted, outcome, '');
  });

  async function readForm(c: Context<Env>): Promise<ReadForm> {
    // Prevents cross-site form submissions (CSRF).
    if (c.req.header('origin') !== baseUrl) throw new Refusal(403, 'untrusted_origin', 'not our form');
    const query = new URL(c.req.url).searchParams;
    const wanted = readWanted(query, parts);
    if (wanted instanceof URL) return c.redirect(wanted.href, 303);
    if (typeof wanted === 'string') return c.html(errorPage(wanted), 400, pageHeaders("'none'"));
    await limitRate(c, parts, 'login');
    return { query, wanted, form: new URLSearchParams(await readText(c.req.raw, 16 * 1024)) };
  }

  async function goOn(
    c: Context<Env>,
    query: URLSearchParams,
    wanted: Wanted,
    outcome: Outcome,
    email: string,
  ): Promise<Response> {
    const headers = headersOf(wanted);
    switch (outcome.kind) {
      case 'completed':
        await startLogin(c, parts, outcome);
        query.delete('prompt');
        return c.redirect(`/authorize?${query}`, 303);
      case 'refused':
      case 'locked':
        return c.html(signInPage(signInPath(query), nameOf(wanted), outcome.kind, email), 401, headers);
      case 'unsupported':
        return c.html(errorPage('The password has expired and must be changed.'), 403, headers);
      case 'expired':
        return c.redirect(`/authorize?${query}`, 303);
      default: {
        const { details, kind, token, user } = outcome;
        const method = details.method ?? (user.methods.includes('totp') ? 'totp' : undefined);
        const { delivery, number } = details;
        const action = `/authorize/challenge?${query}`;
        const step = {
          action,
          token,
          methods: user.methods,
          method,
          problem: problems[kind],
          delivery,
          number,
        };
        return c.html(secondStepPage(step), kind === 'wrong' ? 401 : 200, headers);
      }
    }
  }

  app.get('/authorize/style.css', (c) =>
    c.body(styleSheet, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'max-age=3600' }),
  );

  return app;
}

/**
 * Returns the validated request, or the redirect URL with an error. Returns an error text if a parameter is repeated, or if the
 * client or the redirect URL is not registered.
 */
function readWanted(query: URLSearchParams, parts: Parts): Wanted | URL | string {
  for (const name of new Set(query.keys())) {
    if (query.getAll(name).length > 1) return `The parameter “${name.slice(0, 40)}” is there twice.`;
  }
  if (!clients.some(({ id }) => id === query.get('client_id'))) return 'The app is not registered.';
  const redirectUri = readRedirectUri(query.get('redirect_uri') ?? '', parts);
  if (!redirectUri) return 'The return address is not registered.';
  const responseMode = query.get('response_mode') ?? 'query';
  const state = query.get('state') ?? '';
  const challenge = query.get('code_challenge') ?? '';
  const wanted = {
    redirectUri,
    responseMode: responseMode === 'fragment' ? ('fragment' as const) : ('query' as const),
    state: state.slice(0, 1024),
    challenge,
    prompt: query.get('prompt') ?? undefined,
    idp: query.get('idp_id') ?? undefined,
  };
  const refuse = (error: string): URL =>
    answerAt(wanted, { error, ...(state && { state: wanted.state }), iss: parts.baseUrl });
  if (query.get('response_type') !== 'code') return refuse('unsupported_response_type');
  if (responseMode !== 'query' && responseMode !== 'fragment') return refuse('invalid_request');
  if (query.get('code_challenge_method') !== 'S256') return refuse('invalid_request');
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) return refuse('invalid_request');
  if (wanted.idp !== undefined && !idps.includes(wanted.idp)) return refuse('invalid_request');
  if (state === '' || state.length > 1024) return refuse('invalid_request');
  return wanted;
}

/** Returns `value` as a URL if exactly this string is registered (RFC 9700, 2.1). */
function readRedirectUri(value: string, { settings }: Parts): URL | undefined {
  const registered = settings.redirectUris ?? settings.appOrigins.map((origin) => origin + CALLBACK);
  return registered.includes(value) ? new URL(value) : undefined;
}

function answerAt(
  { redirectUri, responseMode }: Pick<Wanted, 'redirectUri' | 'responseMode'>,
  answer: Record<string, string>,
): URL {
  const url = new URL(redirectUri);
  if (responseMode === 'fragment') url.hash = new URLSearchParams(answer).toString();
  else for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  return url;
}

/** Name of an identity provider other than the service itself. */
function nameOf({ idp }: Wanted): string {
  return idp === 'corp' ? 'Corp' : '';
}

// The pages of `corp` separate a sign-in window from the page that opened it.
function headersOf(wanted: Wanted): Record<string, string> {
  const headers = pageHeaders(formTargets(wanted));
  return wanted.idp === 'corp' ? { ...headers, 'cross-origin-opener-policy': 'same-origin' } : headers;
}

function signInPath(query: URLSearchParams): string {
  return `/authorize/sign-in?${query}`;
}

// Browsers apply `form-action` to redirects after a submission too, so the list must contain the callback page's origin.
function formTargets({ redirectUri }: Wanted): string {
  return `'self' ${redirectUri.origin}`;
}
