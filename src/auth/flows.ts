// Runs the effects of the sign-in table, but not those of the form (`form.ts`). Sends each outcome to the table as an event. Loads
// `authorize.ts` for authorization requests.

import { explain } from '../core/explain.ts';
import { abortable, loadEarly, online, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import type { Authorize, NextRequest } from './authorize.ts';
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

export type Flows = ReturnType<typeof createFlows>;

export function createFlows(context: FlowContext) {
  const { settings, times, askPage, takeOffer, isSameUser, seal } = context;
  let uri: string | undefined;
  const redirectUri = (): string => {
    uri ??= readRedirectUri(settings);
    return uri;
  };
  const next: NextRequest = { demand: '', idpId: undefined, popup: undefined };
  let authorize: Authorize | undefined;

  const late = async () => (await import('./authorize.ts')).createAuthorize;

  async function load(): Promise<Authorize> {
    const createAuthorize = await abortable(late(), AbortSignal.timeout(times.requestMs));
    authorize ??= createAuthorize({ ...context, next, redirectUri, accept });
    return authorize;
  }

  /** Returns the reason why this page cannot make authorization requests; `undefined` if there is no such reason. */
  function check(): Failure | undefined {
    if (!globalThis.crypto?.subtle) return { code: 'insecure-context' };
    try {
      redirectUri();
      return undefined;
    } catch {
      return { code: 'bad-config' };
    }
  }

  /**
   * Returns the event for a new token; `undefined` if `input` contains no token. For the token of another user, the event is
   * `other-user`, and the next authorization request requires a login.
   */
  function accept(type: 'page-token' | 'token', input: unknown): FlowEvent | undefined {
    const bearer = readBearer(input, times.assumedLifetimeMs, settings.authOptions);
    if (!bearer) return undefined;
    if (isSameUser(bearer, type === 'page-token')) return { type, token: seal(bearer) };
    next.demand = 'login';
    return { type: 'other-user' };
  }

  async function askForToken(reason: Reason, signal: AbortSignal): Promise<FlowEvent> {
    const refused: FlowEvent = { type: 'refused', error: { code: 'host-token-failed' } };
    let event: FlowEvent | undefined;
    let input: unknown;
    try {
      const { getToken } = settings;
      const asked = takeOffer() ?? (getToken ? getToken(reason, signal) : askPage(reason));
      if (asked === undefined && !getToken) {
        warnOnceHere('No valid token from the page: No token was provided.');
        return { type: 'unanswered', error: { code: 'host-token-failed' } };
      }
      input = await abortable(Promise.resolve(asked), signal);
      if (input === null) return refused;
      event = accept('page-token', input);
    } catch (thrown) {
      signal.throwIfAborted();
      explain((texts) => `No valid token from the page: getToken failed${texts?.failureOf(thrown) ?? ''}.`);
      const name = nameOf(thrown);
      if (ASKS_USER.includes(name)) return refused;
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

  async function runLate(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    const { popup } = next;
    try {
      await (await abortable(load(), signal)).run(effect, signal, send);
    } finally {
      if (effect.type === 'run-popup' && next.popup === popup) popup?.close();
    }
  }

  async function runEffect(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    switch (effect.type) {
      case 'deadline': {
        const { of } = effect;
        // The deadline starts after the wait for other tabs.
        if (NEEDS_TAB_LOCK.includes(of)) await (await load()).waitForTabs(signal);
        await sleep(times[DEADLINES[of] ?? 'requestMs'], signal);
        if (of === 'silent' || of === 'popup') (await load()).warnOfSilence();
        return send({ type: 'deadline' });
      }
      case 'cool':
        await sleep(effect.ms, signal);
        await online(OFFLINE_MS, signal);
        return send({ type: 'elapsed' });
      case 'ask-page':
        // Without a delay, `getToken` is called in the click itself.
        if (effect.afterMs) await sleep(effect.afterMs, signal);
        return send(await askForToken(effect.reason, signal));
      case 'try-silent':
      case 'run-popup':
      case 'redirect':
      case 'redeem':
      case 'redeem-again':
        return runLate(effect, signal, send);
    }
  }

  return {
    check,
    /** Loads the code for requests early. */
    preload: () => void loadEarly(load),
    /** Creates an interactive authorization request. */
    begin: async (): Promise<Transaction> => (await load()).begin(),
    /**
     * Opens the window for the next `run-popup`. Returns false if the browser blocks the window. Call this method synchronously in
     * the click handler.
     */
    openPopup(idpId?: string): boolean {
      next.idpId = idpId;
      const opened = openWindow();
      if (!opened) return false;
      next.popup?.close();
      next.popup = opened;
      return true;
    },
    /** Brings the sign-in window to the front. Returns false if no window is open. */
    focusPopup(): boolean {
      if (!next.popup || next.popup.closed) return false;
      next.popup.focus();
      return true;
    },
    /** Forgets the sign-in window without closing it. */
    leavePopup(): void {
      next.popup = undefined;
    },
    /** Forgets the code that may be sent once more. */
    forget: () => authorize?.forget(),
    /** Adds the demands of this `WWW-Authenticate` header to the next authorization request. */
    demand(header: string): void {
      next.demand = header;
    },
    /** Takes the authorization response that the callback page has stored for this session; `undefined` if there is none. */
    async takeReturn(): Promise<AuthEvent | undefined> {
      const returned = takeReturn(context.sessionKey, context.user);
      if (!returned) return undefined;
      try {
        return { type: 'returned', grant: (await load()).readReturn(returned) };
      } catch (error) {
        return { type: 'unable', error: toFailure(error, 'authorize-failed') };
      }
    },
    /** Runs one effect. Sends no event after `signal` is aborted. */
    run(effect: Effect, signal: AbortSignal, send: Send): void {
      runEffect(effect, signal, send).catch((error: unknown) => {
        if (!signal.aborted) send({ type: 'failed', error: toFailure(error, 'authorize-failed') });
      });
    },
    /** Releases the lock that all tabs share. Call this method when no silent request and no exchange is running. */
    unlock: () => authorize?.unlock(),
  };
}
