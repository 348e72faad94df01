// Effects that make an authorization request (in a window, in a hidden frame or by leaving the page) and exchange its code. Loaded
// late: a page that sets `getToken` does not download this module.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import { sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import type { Bearer } from './bearer.ts';
import { redeem } from './exchange.ts';
import type { FlowContext } from './flows.ts';
import type { Effect, FlowEvent, Grant, Send } from './machine-types.ts';
import { createTransaction, isAnswer, readAnswer, type Transaction } from './pkce.ts';
import { dropTransactions, type Returned, STORED } from './redirect.ts';
import { runPopup, trySilent } from './rounds.ts';
import { hasSignedOut } from './sign-out-mark.ts';

/** State that is kept between authorization requests. */
export interface RoundContext extends FlowContext {
  readonly redirectUri: () => string;
  readonly pauseMs: (retryAfterMs?: number) => number;
  readonly read: (input: unknown) => Bearer | undefined;
  readonly arrived: (type: 'token', bearer: Bearer) => FlowEvent;
  /** Demand of the next interactive authorization request: `login`, or a `WWW-Authenticate` header. Empty if there is no demand. */
  proof: string;
  idp: string | undefined;
  popup: Window | undefined;
  /** Grant whose code may be sent once more. */
  grant: Grant | undefined;
  lock: AbortController | undefined;
  locked: Promise<void> | undefined;
}

const TIMES = { silent: 'silentMs', popup: 'popupMs', redirecting: 'redirectMs' } as const;

/** Returns the request parameters for `proof`: `prompt=login`, or the demands of a 401 response (RFC 9470). */
function paramsOf(proof: string): Record<string, string> {
  if (proof === 'login') return { prompt: proof };
  const named = proof.matchAll(/\b(acr_values|max_age)=(?:"([^"]{1,200})"|(\d{1,9}))/g);
  return Object.fromEntries([...named].map(([, name, quoted, bare]) => [name, quoted ?? bare]));
}

/**
 * Returns true if page and service are probably on the same site. This is a guess, because a page has no list of public suffixes.
 */
export function isSameSite(
  baseUrl: string,
  page: Pick<Location, 'protocol' | 'hostname'> = location,
): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const site = (host: string): string =>
    /^[\d.]+$|^\[/.test(host) ? host : host.split('.').slice(-2).join('.');
  return protocol === page.protocol && site(hostname) === site(page.hostname);
}

/**
 * Sets `isSeen`: whether a hidden frame can probably use the session. If the service is on another site, it usually can't, because
 * browsers partition cookies.
 */
const seen = (grant: Grant, { baseUrl, authOptions }: Settings): Grant => ({
  ...grant,
  isSeen: authOptions.silentAfterPopup === true || isSameSite(baseUrl),
});

/** Creates an interactive authorization request. */
export function begin({ settings, redirectUri, proof, idp }: RoundContext): Promise<Transaction> {
  const prompt = settings.authOptions.promptAfterSignOut ?? 'login';
  return createTransaction(settings, redirectUri(), {
    ...(hasSignedOut(settings) && { prompt }),
    ...paramsOf(proof),
    ...(idp !== undefined && { idp_id: idp }),
  });
}

/**
 * Requests a lock. Resolves when the lock is held, after `longestMs`, or if locks are not available (as in a cross-site frame).
 * Aborting `signal` releases the lock.
 */
const takeLock = (name: string, longestMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (!navigator.locks) return resolve();
    const hold = (): Promise<void> => {
      resolve();
      return new Promise((done) => signal.addEventListener('abort', () => done()));
    };
    navigator.locks.request(name, { signal }, hold).catch(() => resolve());
    sleep(longestMs, signal).then(resolve, resolve);
  });

/** Takes the lock, which only one tab at a time can hold. `unlock` in `flows.ts` releases the lock. */
async function turn(context: RoundContext, signal: AbortSignal): Promise<void> {
  context.lock ??= new AbortController();
  const { owner, times, lock } = context;
  context.locked ??= takeLock(`secure-uploader:auth:${owner}`, times.lockMs, lock.signal);
  await context.locked;
  signal.throwIfAborted();
}

async function runWindow(context: RoundContext, signal: AbortSignal, send: Send): Promise<Grant> {
  const { settings, times, popup } = context;
  if (!popup) throw new UploaderError('popup-blocked', 'The browser blocked the sign-in window');
  const onClosed = (): void => send({ type: 'closed-reading' });
  const options = { signal, onClosed, pollMs: times.closedPollMs, graceMs: times.closedGraceMs };
  const round = await begin(context);
  signal.throwIfAborted();
  return seen(await runPopup(popup, settings, round, options), settings);
}

async function leavePage(context: RoundContext, signal: AbortSignal): Promise<void> {
  const { state, verifier, origin, url } = await begin(context);
  signal.throwIfAborted();
  dropTransactions();
  const { owner } = context;
  const stored = { verifier, origin, owner, returnTo: location.href, createdAtMs: Date.now() };
  sessionStorage.setItem(STORED + state, JSON.stringify(stored));
  location.assign(url);
}

/** Returns the code of a stored response. Throws `state-mismatch` if it does not belong to the request, or came too late. */
export function readReturn({ state, stored }: Returned, { settings, times }: FlowContext): Grant {
  const { verifier, origin, createdAtMs, params } = stored;
  const isYoung = Math.abs(Date.now() - Number(createdAtMs)) < times.transactionMs;
  if (typeof verifier !== 'string' || !isYoung || !isAnswer(params, state))
    throw new UploaderError('state-mismatch', 'The state of the sign-in response does not match a request');
  const round = { state, verifier, origin: String(origin) };
  return seen(readAnswer(settings, params, round, 'redirect'), settings);
}

/** Exchanges the code of `grant`. Keeps `grant` in `context` only if the same code may be sent again. */
async function redeemGrant(
  grant: Grant | undefined,
  context: RoundContext,
  signal: AbortSignal,
  send: Send,
): Promise<void> {
  const { settings, post, read, pauseMs, arrived } = context;
  context.grant = undefined;
  if (!grant) return;
  await turn(context, signal);
  const outcome = await redeem(grant, { settings, post, read, signal });
  signal.throwIfAborted();
  if (outcome.type === 'rate-limited') {
    context.grant = grant;
    return send({ type: 'rate-limited', waitMs: pauseMs(outcome.retryAfterMs) });
  }
  if (outcome.type === 'burnt') return send({ ...outcome, waitMs: pauseMs() });
  if (outcome.type === 'failed') return send(outcome);
  context.proof = '';
  send(arrived('token', outcome.bearer));
}

async function waitForEnd(
  { of }: Extract<Effect, { readonly type: 'deadline' }>,
  context: RoundContext,
  signal: AbortSignal,
): Promise<FlowEvent> {
  const { settings, times, redirectUri, pauseMs } = context;
  // The deadline starts after the wait for other tabs.
  if (of === 'silent' || of === 'exchange') await turn(context, signal);
  await sleep(times[TIMES[of as keyof typeof TIMES] ?? 'requestMs'], signal);
  if (of === 'exchange') return { type: 'burnt', error: { code: 'timeout' }, waitMs: pauseMs() };
  // For a wrong client id or redirect URI, the service shows an error page, which this page cannot see.
  if (of !== 'redirecting')
    warnOnceHere(
      `Sign-in received no response. Check that client-id "${settings.clientId}" and redirect-uri ${redirectUri()} are registered with the service.`,
    );
  return { type: 'deadline' };
}

export async function runRound(
  effect: Effect,
  context: RoundContext,
  signal: AbortSignal,
  send: Send,
): Promise<void> {
  const { settings, redirectUri } = context;
  switch (effect.type) {
    case 'deadline':
      return send(await waitForEnd(effect, context, signal));
    case 'try-silent':
      await turn(context, signal);
      return send({ type: 'code', grant: await trySilent(settings, redirectUri(), signal) });
    case 'run-popup':
      return send({ type: 'code', grant: await runWindow(context, signal, send) });
    case 'redirect':
      return leavePage(context, signal);
    case 'redeem':
      return redeemGrant(effect.grant, context, signal, send);
    case 'redeem-again':
      return redeemGrant(context.grant, context, signal, send);
  }
}
