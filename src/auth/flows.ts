// Runs the effects of the sign-in table, but not those of the form (`form.ts`). Sends each outcome to the table as an event. Loads
// `authorize.ts` for authorization requests.

import { explain } from '../core/explain.ts';
import { abortable, loadEarly, online, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import type { AuthorizationRequests, NextRequest } from './authorize.ts';
import { toFailure } from './calls.ts';
import { DEADLINES, NEEDS_TAB_LOCK, readRedirectUri } from './settings.ts';
import { takeReturn } from './storage.ts';
import { readBearer } from './token.ts';
import type {
  AuthEvent,
  Effect,
  Failure,
  FlowContext,
  FlowEvent,
  Reason,
  Send,
  Transaction,
} from './types.ts';

/** Time after which silent sign-in is tried although the browser says that it is offline. */
const OFFLINE_MS = 20_000;

/** Errors with which a page asks for the user, as after a prompt that the user has closed. */
const ASKS_USER: readonly unknown[] = ['AbortError', 'NotAllowedError'];

/** Returns the name of an error of the page; `undefined` if reading it throws. */
function nameOf(thrown: unknown): unknown {
  try {
    return Object(thrown).name;
  } catch {
    return undefined;
  }
}

/** Opens an empty window; returns `null` if the browser blocks the window. Must run synchronously in the click handler. */
function openWindow(): Window | null {
  const left = screenX + (outerWidth - 480) / 2;
  const top = screenY + (outerHeight - 680) / 3;
  return window.open('about:blank', '_blank', `popup,width=480,height=680,left=${left},top=${top}`);
}

export class Flows {
  readonly #context: FlowContext;
  readonly #next: NextRequest = { demand: '', idpId: undefined, popup: undefined };
  #uri: string | undefined;
  #requests: AuthorizationRequests | undefined;

  constructor(context: FlowContext) {
    this.#context = context;
  }

  /** Returns the reason why this page cannot make authorization requests; `undefined` if there is no such reason. */
  check(): Failure | undefined {
    if (!globalThis.crypto?.subtle) return { code: 'insecure-context' };
    try {
      this.#redirectUri();
      return undefined;
    } catch {
      return { code: 'bad-config' };
    }
  }

  /** Loads the code for requests early. */
  preload(): void {
    void loadEarly(() => this.#load());
  }

  /** Creates an interactive authorization request. */
  async begin(): Promise<Transaction> {
    return (await this.#load()).begin();
  }

  /**
   * Opens the window for the next `run-popup`. Returns false if the browser blocks the window. Call this method synchronously in
   * the click handler.
   */
  openPopup(idpId?: string): boolean {
    const next = this.#next;
    next.idpId = idpId;
    const popup = openWindow();
    if (!popup) return false;
    next.popup?.close();
    next.popup = popup;
    return true;
  }

  /** Brings the sign-in window to the front. Returns false if no window is open. */
  focusPopup(): boolean {
    const { popup } = this.#next;
    if (!popup || popup.closed) return false;
    popup.focus();
    return true;
  }

  /** Forgets the sign-in window without closing it. */
  leavePopup(): void {
    this.#next.popup = undefined;
  }

  /** Forgets the code that may be sent once more. */
  forget(): void {
    this.#requests?.forget();
  }

  /** Adds the demands of this `WWW-Authenticate` header to the next authorization request. */
  demand(header: string): void {
    this.#next.demand = header;
  }

  /** Takes the authorization response that the callback page has stored for this session; `undefined` if there is none. */
  async takeReturn(): Promise<AuthEvent | undefined> {
    const { sessionKey, user } = this.#context;
    const response = takeReturn(sessionKey, user);
    if (!response) return undefined;
    try {
      return { type: 'returned', grant: (await this.#load()).readReturn(response) };
    } catch (error) {
      return { type: 'unable', error: toFailure(error, 'authorize-failed') };
    }
  }

  /** Runs one effect. Sends no event after `signal` is aborted. */
  run(effect: Effect, signal: AbortSignal, send: Send): void {
    this.#run(effect, signal, send).catch((error: unknown) => {
      if (!signal.aborted) send({ type: 'failed', error: toFailure(error, 'authorize-failed') });
    });
  }

  /** Releases the lock that all tabs share. Call this method when no silent request and no exchange is running. */
  unlock(): void {
    this.#requests?.unlock();
  }

  async #run(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    switch (effect.type) {
      case 'deadline': {
        const { of } = effect;
        // The deadline starts after the wait for other tabs.
        if (NEEDS_TAB_LOCK.includes(of)) await (await this.#load()).waitForTabs(signal);
        await sleep(this.#context.times[DEADLINES[of] ?? 'requestMs'], signal);
        if (of === 'silent' || of === 'popup') (await this.#load()).warnOfSilence();
        return send({ type: 'deadline' });
      }
      case 'cool':
        await sleep(effect.ms, signal);
        await online(OFFLINE_MS, signal);
        return send({ type: 'elapsed' });
      case 'ask-page':
        // Without a delay, `getToken` is called in the click itself.
        if (effect.afterMs) await sleep(effect.afterMs, signal);
        return send(await this.#askForToken(effect.reason, signal));
      case 'try-silent':
      case 'run-popup':
      case 'redirect':
      case 'redeem':
      case 'redeem-again':
        return this.#runLate(effect, signal, send);
    }
  }

  async #runLate(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    const { popup } = this.#next;
    try {
      await (await abortable(this.#load(), signal)).run(effect, signal, send);
    } finally {
      if (effect.type === 'run-popup' && this.#next.popup === popup) popup?.close();
    }
  }

  async #askForToken(reason: Reason, signal: AbortSignal): Promise<FlowEvent> {
    const { settings, offer } = this.#context;
    const refusal: FlowEvent = { type: 'refused', error: { code: 'host-token-failed' } };
    let event: FlowEvent | undefined;
    let input: unknown;
    try {
      const { getToken } = settings;
      let token: unknown = offer.take() ?? getToken?.(reason, signal);
      if (token === undefined && !getToken && offer.ask(reason)) token = offer.take();
      if (token === undefined && !getToken) {
        warnOnceHere('No valid token from the page: No token was provided.');
        return { type: 'unanswered', error: { code: 'host-token-failed' } };
      }
      input = await abortable(Promise.resolve(token), signal);
      if (input === null) return refusal;
      event = this.#accept('page-token', input);
    } catch (thrown) {
      signal.throwIfAborted();
      explain((texts) => `No valid token from the page: getToken failed${texts?.failureOf(thrown) ?? ''}.`);
      const name = nameOf(thrown);
      if (ASKS_USER.includes(name)) return refusal;
      // `fetch` throws a `TypeError` if it can't reach the server.
      return {
        type: 'failed',
        error: { code: name === 'TypeError' ? 'network' : 'host-token-failed' },
      };
    }
    if (event) return event;
    explain((texts) => `No valid token from the page${texts ? `: ${texts.insteadOfToken(input)}` : ''}.`);
    return { type: 'failed', error: { code: 'token-malformed' } };
  }

  /**
   * Returns the event for a new token; `undefined` if `input` contains no token. For the token of another user, the event is
   * `other-user`, and the next authorization request requires a login.
   */
  #accept(type: 'page-token' | 'token', input: unknown): FlowEvent | undefined {
    const { settings, times, token, door } = this.#context;
    const bearer = readBearer(input, times.assumedLifetimeMs, settings.authOptions);
    if (!bearer) return undefined;
    if (token.isSameUser(bearer, type === 'page-token')) return { type, token: door.seal(bearer) };
    this.#next.demand = 'login';
    return { type: 'other-user' };
  }

  #redirectUri(): string {
    this.#uri ??= readRedirectUri(this.#context.settings);
    return this.#uri;
  }

  async #load(): Promise<AuthorizationRequests> {
    const { times } = this.#context;
    const module = await abortable(import('./authorize.ts'), AbortSignal.timeout(times.requestMs));
    this.#requests ??= new module.AuthorizationRequests({
      ...this.#context,
      next: this.#next,
      redirectUri: () => this.#redirectUri(),
      accept: (type, body) => this.#accept(type, body),
    });
    return this.#requests;
  }
}
