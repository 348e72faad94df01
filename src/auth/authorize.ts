// Authorization requests: in a window, in a hidden frame or by leaving the page, and the exchange of their codes. The callback page
// sends the response by `postMessage` and by `BroadcastChannel`. All other messages are ignored. Loaded late: a page that sets
// `getToken` does not download this module.

import type { PostAnswer } from '../core/auth-options.ts';
import type { AuthTimes } from '../core/auth-times.ts';
import { openChannel } from '../core/channel.ts';
import { UploaderError } from '../core/errors.ts';
import type { Settings } from '../core/settings-table.ts';
import { abortable, runUntil, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { callService, isPause, record, toFailure } from './calls.ts';
import { createTransaction, isAnswer, readGrant } from './pkce.ts';
import { dropTransactions, hasSignedOut, type Returned, STORED, TRANSACTION_MS } from './storage.ts';
import type {
  CallContext,
  Effect,
  Failure,
  FlowContext,
  FlowEvent,
  Grant,
  Send,
  Transaction,
} from './types.ts';

/** State that the click of the user and the authorization request share. */
export interface NextRequest {
  /** Demand of the next interactive request: `login`, or a `WWW-Authenticate` header. Empty if there is no demand. */
  demand: string;
  idpId: string | undefined;
  popup: Window | undefined;
}

export interface AuthorizeContext extends Omit<FlowContext, 'offer' | 'token' | 'door'> {
  readonly next: NextRequest;
  /**
   * Returns the redirect URI. Reads the URI only once, so that all authorization requests use the same value. Throws `bad-config`.
   */
  readonly redirectUri: () => string;
  /** Returns the event for the token in a response; `undefined` if there is none. */
  readonly accept: (type: 'token', body: unknown) => FlowEvent | undefined;
}

/** Types of the messages between this page and the callback page. `callback.ts` has copies. */
const ANSWER = 'secure-uploader:answer';
const ACK = 'secure-uploader:ack';

/** Interval at which the window is checked. */
const CLOSED_POLL_MS = 200;
/** Longest wait for the lock that all tabs share. */
const LOCK_MS = 15_000;

/** Resolves with the first valid response to the authorization request with this `state`. */
function listen(state: string, source: () => Window | null, signal: AbortSignal): Promise<string> {
  const stop = new AbortController();
  const channel = openChannel(`secure-uploader:${state}`);
  const ack = { type: ACK, version: 1, state };
  const answer = new Promise<string>((resolve) => {
    const read = (message: unknown): boolean => {
      const { type, version, params } = record(message);
      if (type !== ANSWER || version !== 1 || !isAnswer(params, state)) return false;
      resolve(params);
      // The response may arrive by message and by channel. The callback page closes after either acknowledgment.
      channel?.postMessage(ack);
      return true;
    };
    const onMessage = ({ origin, source: sender, data }: MessageEvent): void => {
      const from = source();
      if (origin === location.origin && from && sender === from && read(data))
        from.postMessage(ack, location.origin);
    };
    window.addEventListener('message', onMessage, { signal: stop.signal });
    channel?.addEventListener('message', ({ data }) => read(data), { signal: stop.signal });
  });
  return abortable(answer, signal).finally(() => {
    stop.abort();
    channel?.close();
  });
}

/**
 * Opens the authorization request in `popup`. Calls `onClosed` once, `closedGraceMs` after `popup.closed` became true. With the
 * header COOP, `closed` is true even if the window is open, so the response still counts.
 */
export async function runPopup(
  popup: Window,
  settings: Settings,
  request: Transaction,
  { closedGraceMs }: Pick<AuthTimes, 'closedGraceMs'>,
  onClosed: () => void,
  signal: AbortSignal,
): Promise<Grant> {
  const watching = new AbortController();
  const watch = async (): Promise<void> => {
    while (!popup.closed) await sleep(CLOSED_POLL_MS, watching.signal);
    await sleep(closedGraceMs, watching.signal);
    onClosed();
  };
  const answer = listen(request.state, () => popup, signal);
  if (!popup.closed) popup.location.replace(request.url);
  runUntil(watching.signal, watch);
  try {
    return readGrant(settings, await answer, request, 'popup');
  } finally {
    watching.abort();
  }
}

/** Makes an authorization request with `prompt=none` in a hidden frame. Rejects with `sign-in-required` if no user is signed in. */
export async function trySilent(
  settings: Settings,
  redirectUri: string,
  signal: AbortSignal,
): Promise<Grant> {
  const request = await createTransaction(settings, redirectUri, { prompt: 'none' });
  const frame = document.createElement('iframe');
  frame.style.display = 'none';
  // Lets the framed page send a response, but not navigate this page.
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  const answer = listen(request.state, () => frame.contentWindow, signal);
  frame.src = request.url;
  document.body.append(frame);
  try {
    return readGrant(settings, await answer, request, 'silent');
  } finally {
    frame.remove();
  }
}

/** Returns the request parameters for `demand`: `prompt=login`, or the demands of a 401 response (RFC 9470). */
function paramsOf(demand: string): Record<string, string> {
  if (demand === 'login') return { prompt: demand };
  const named = demand.matchAll(/\b(acr_values|max_age)=(?:"([^"]{1,200})"|(\d{1,9}))/g);
  return Object.fromEntries([...named].map(([, name, quoted, bare]) => [name, quoted ?? bare]));
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

/** Exchanges the code of `grant` for a token. Rejects only if `signal` aborts. */
export async function redeem(
  { code, verifier }: Grant,
  call: CallContext,
  accept: AuthorizeContext['accept'],
): Promise<FlowEvent> {
  const ended = (error: Failure): FlowEvent => ({ type: 'failed', error });
  const spent = (error: Failure): FlowEvent => ({ type: 'code-spent', error });
  let answer: PostAnswer;
  try {
    answer = await callService('token', { code, code_verifier: verifier }, call);
  } catch (error) {
    const failure = toFailure(error, 'network');
    return failure.code === 'bad-config' ? ended(failure) : spent(failure);
  } finally {
    call.signal.throwIfAborted();
  }
  const { status, body, retryAfterMs } = answer;
  if (isPause(answer)) return { type: 'rate-limited', waitMs: retryAfterMs };
  if (status >= 500 || status === 408) return spent({ code: 'service-failed', status });
  if (status < 200 || status > 299) {
    const isRefused = [400, 401].includes(status) || record(body).error === 'invalid_grant';
    return ended({
      code: isRefused ? 'code-rejected' : status === 403 ? 'forbidden' : 'service-failed',
      status,
    });
  }
  // `record` drops a response that is a string, because `accept` would take the string for a token.
  return accept('token', record(body)) ?? spent({ code: 'token-malformed', status });
}

/** The authorization requests of one session: its effects that make them, and what is kept between them. */
export class AuthorizationRequests {
  readonly #context: AuthorizeContext;
  /** Grant whose code may be sent once more. */
  #resendable: Grant | undefined;
  #lock: AbortController | undefined;
  #locked: Promise<void> | undefined;

  constructor(context: AuthorizeContext) {
    this.#context = context;
  }

  async run(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    const { settings, redirectUri } = this.#context;
    switch (effect.type) {
      case 'try-silent':
        await this.waitForTabs(signal);
        return send({ type: 'code', grant: await trySilent(settings, redirectUri(), signal) });
      case 'run-popup':
        return send({ type: 'code', grant: await this.#inWindow(signal, send) });
      case 'redirect':
        return this.#leavePage(signal);
      case 'redeem':
        return this.#exchange(effect.grant, signal, send);
      case 'redeem-again':
        return this.#exchange(this.#resendable, signal, send);
    }
  }

  /** Creates an interactive authorization request. */
  begin(): Promise<Transaction> {
    const { settings, next, redirectUri } = this.#context;
    const { idpId, authOptions } = settings;
    const { promptAfterSignOut = 'login' } = authOptions;
    return createTransaction(settings, redirectUri(), {
      idp_id: next.idpId ?? idpId,
      prompt: hasSignedOut(settings) ? promptAfterSignOut : undefined,
      ...paramsOf(next.demand),
    });
  }

  /** Waits for the lock, which only one tab at a time can hold. `unlock` releases the lock. */
  async waitForTabs(signal: AbortSignal): Promise<void> {
    // This module may have loaded after the step ended: nothing would release the lock.
    signal.throwIfAborted();
    this.#lock ??= new AbortController();
    const name = `secure-uploader:auth:${this.#context.sessionKey}`;
    this.#locked ??= takeLock(name, LOCK_MS, this.#lock.signal);
    await this.#locked;
    signal.throwIfAborted();
  }

  unlock(): void {
    this.#lock?.abort();
    this.#lock = this.#locked = undefined;
  }

  /** For a wrong client id or redirect URI, the service shows an error page, which this page cannot see. */
  warnOfSilence(): void {
    const { settings, redirectUri } = this.#context;
    const { clientId } = settings;
    warnOnceHere(
      `No response to sign-in. Is ${redirectUri()} your callback page, and registered with client-id "${clientId}"?`,
    );
  }

  /** Returns the code of a stored response. Throws `state-mismatch` if it does not belong to the request, or came too late. */
  readReturn({ state, stored }: Returned): Grant {
    const { verifier, origin, createdAtMs, params } = stored;
    const isYoung = Math.abs(Date.now() - Number(createdAtMs)) < TRANSACTION_MS;
    if (!isYoung)
      throw new UploaderError(
        'state-mismatch',
        `The stored sign-in request is older than ${TRANSACTION_MS} ms`,
      );
    if (typeof verifier !== 'string' || !isAnswer(params, state))
      throw new UploaderError('state-mismatch', 'The response is not one to the stored sign-in request');
    const request = { state, verifier, origin: String(origin) };
    return readGrant(this.#context.settings, params, request, 'redirect');
  }

  /** Forgets the code that may be sent once more. */
  forget(): void {
    this.#resendable = undefined;
  }

  async #inWindow(signal: AbortSignal, send: Send): Promise<Grant> {
    const { settings, times, next } = this.#context;
    const { popup } = next;
    if (!popup) throw new UploaderError('popup-blocked', 'The browser has opened no sign-in window');
    const request = await this.begin();
    signal.throwIfAborted();
    return runPopup(popup, settings, request, times, () => send({ type: 'closed-reading' }), signal);
  }

  async #leavePage(signal: AbortSignal): Promise<void> {
    const { sessionKey, user } = this.#context;
    await this.#checkCallbackPage(signal);
    const { state, verifier, origin, url } = await this.begin();
    signal.throwIfAborted();
    dropTransactions();
    const mark = user.mark();
    const stored = { verifier, origin, sessionKey, returnTo: location.href, createdAtMs: Date.now(), mark };
    sessionStorage.setItem(STORED + state, JSON.stringify(stored));
    location.assign(url);
  }

  /**
   * Rejects with `bad-config` if the callback page is missing: the user would end on an error page, without the chosen files. A
   * page that can't be asked for, because of its policy or its server, counts as present, and so does one that takes longer than a
   * silent sign-in would wait for it.
   */
  async #checkCallbackPage(signal: AbortSignal): Promise<void> {
    const { times, redirectUri } = this.#context;
    const uri = redirectUri();
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(times.silentMs)]);
    const init: RequestInit = { method: 'HEAD', redirect: 'manual', signal: inTime };
    const { status } = await fetch(uri, init).catch(() => ({ status: 0 }));
    signal.throwIfAborted();
    if (status !== 404 && status !== 410) return;
    const says = `There is no callback page at ${uri} (${status}). Copy it there, or set redirect-uri.`;
    warnOnceHere(says);
    throw new UploaderError('bad-config', says);
  }

  /** Exchanges the code of `grant`. Keeps `grant` only if the same code may be sent again. */
  async #exchange(grant: Grant | undefined, signal: AbortSignal, send: Send): Promise<void> {
    const { settings, post, next, accept } = this.#context;
    this.#resendable = undefined;
    if (!grant) return;
    await this.waitForTabs(signal);
    const event = await redeem(grant, { settings, post, signal }, accept);
    if (event.type === 'rate-limited') this.#resendable = grant;
    if (event.type === 'token') next.demand = '';
    send(event);
  }
}
