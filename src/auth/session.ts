// The sign-in session that all uploaders with the same sign-in settings share. Passes events to the sign-in table, reports changes,
// keeps the token, and runs calls with the token. The map of sessions is private to this module, so that no other script of the
// page can access a session.

import type { Change, TokenInput } from '../core/changes.ts';
import { signInKeyOf } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import { Listeners } from '../core/listeners.ts';
import { Machine } from '../core/machine.ts';
import type { Settings } from '../core/settings-table.ts';
import type { WithToken } from '../core/types.ts';
import { CurrentUser, endPeriod } from '../core/user.ts';
import { abortable, awaitedLater, runAfter, whenIdle } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { createLastCalls, record } from './calls.ts';
import { createEvidence } from './evidence.ts';
import { createFlows } from './flows.ts';
import { canSignIn, reduce } from './machine.ts';
import { isPageLate } from './page-moves.ts';
import {
  firstModel,
  hasPageTokens,
  isInteractive,
  NEEDS_TAB_LOCK,
  ownerToMatch,
  ownWay,
  timesOf,
} from './settings.ts';
import { changesBetween, createSnapshot } from './snapshot.ts';
import { dropTransactions, dropTransactionsBefore, markSignedOut } from './storage.ts';
import { createKeeper, createTokenDoor } from './token.ts';
import type {
  AuthDeps,
  AuthEvent,
  AuthModel,
  AuthSession,
  Effect,
  FlowEvent,
  LoginForm,
  Reason,
} from './types.ts';

const sessions = new Map<string, (deps: AuthDeps) => AuthSession>();
let ownCount = 0;

/** Returns the session that all uploaders with these sign-in settings share. The caller must later call `close()`. */
export function openAuthSession(settings: Settings, deps: AuthDeps): AuthSession {
  const key = deps.isSessionEnough ? `own ${++ownCount}` : signInKeyOf(settings);
  const open = sessions.get(key) ?? createSharedSession(settings, deps, () => sessions.delete(key));
  sessions.set(key, open);
  return open(deps);
}

/**
 * Creates a session. Returns a function that adds an uploader to the session. `onEnd` is called when the last uploader has left.
 */
function createSharedSession(
  settings: Settings,
  { post, options, isSessionEnough = false }: AuthDeps,
  onEnd: () => void,
): (deps: AuthDeps) => AuthSession {
  const { baseUrl, clientId, redirectUri = '', auth, idpId = '', owner } = settings;
  const times = { ...timesOf(settings), ...options };
  const life = new AbortController();
  const users = new Listeners<Change>();
  const listeners = new Listeners<void>();
  const waiters = new Listeners<void>();
  const lastCalls = createLastCalls(settings, post, times.lastCallsMs);
  const keeper = createKeeper(ownerToMatch(settings));
  const { seal, takeToken } = createTokenDoor();
  const evidence = createEvidence();
  const isPage = typeof document !== 'undefined' && !isSessionEnough;
  const user = new CurrentUser(owner);
  let form: LoginForm | undefined;
  /** Token that a listener of `auth-required` provided, until it is used. */
  let offer: Promise<TokenInput> | undefined;
  let wasPageAsked = false;

  const flows = createFlows({
    settings,
    post,
    times,
    // Must be the same after a reload and in other tabs.
    sessionKey: [baseUrl, clientId, redirectUri, auth, idpId, owner].join(' '),
    user,
    askPage: (reason) => {
      askPage(reason);
      return takeOffer();
    },
    takeOffer,
    seal,
    isSameUser: keeper.isSameUser,
  });
  const model = firstModel(settings, times, isSessionEnough);
  let snapshot = createSnapshot(model, auth, false);
  const machine = new Machine<AuthModel, AuthEvent, FlowEvent, Effect>(model, {
    reduce: (previousModel, event) => reduce(previousModel, event, form?.rows),
    facts: () => ({
      isAlive: keeper.value() !== undefined,
      isProven: keeper.isProven(),
      isOffline: globalThis.navigator?.onLine === false,
      service: evidence.service(),
      hasWaiters: waiters.size > 0,
      nowMs: performance.now(),
      jitter: 0.8 + Math.random() * 0.4,
    }),
    onStep,
    run: (effect, signal, send) => {
      if (effect.type === 'require') require(effect.reason);
      flows.run(effect, signal, send);
      form?.run(effect, signal, send);
    },
    onIdle: () => {
      refresh();
      if (keeper.value() !== undefined) waiters.tell();
      else if (waiters.size > 0) renew();
    },
    onFault: (error, { type }) => {
      globalThis.reportError?.(error);
      // Another `fault` would probably throw again, in an endless loop.
      return type === 'fault' ? undefined : { type: 'fault' };
    },
  });
  const dispatch = (event: AuthEvent): void => machine.dispatch(event);

  /** Dispatches `auth-required`. Returns true if a listener called `respondWith`. Later calls of `respondWith` throw. */
  function askPage(reason: Reason): boolean {
    offer = undefined;
    wasPageAsked = true;
    let isOpen = true;
    const respondWith = (token: Promise<TokenInput> | TokenInput): void => {
      if (!isOpen) throw new DOMException('respondWith: called twice or too late', 'InvalidStateError');
      isOpen = false;
      offer = awaitedLater(Promise.resolve(token));
    };
    users.tell({ name: 'auth-required', detail: Object.freeze({ reason, respondWith }) });
    isOpen = false;
    return offer !== undefined;
  }

  function takeOffer(): typeof offer {
    const taken = offer;
    offer = undefined;
    return taken;
  }

  const withToken: WithToken = async (call, signal) => {
    signal.throwIfAborted();
    if (auth === 'none') return call(undefined);
    let hasRenewed = false;
    for (;;) {
      const token = await obtain(signal);
      signal.throwIfAborted();
      try {
        const result = await evidence.watch(() => call(token));
        keeper.prove();
        return result;
      } catch (error) {
        const isRejected = error instanceof UploaderError && error.code === 'token-rejected';
        if (isRejected && hasRenewed)
          warnOnceHere(
            'The service refused a new token, too (401). Has it expired, or is it for another service?',
          );
        if (!isRejected || hasRenewed) throw error;
        // A newer token arrived during the call: retry with the newer token.
        if (keeper.value() !== undefined && keeper.value() !== token) continue;
        hasRenewed = true;
        keeper.reject(token);
        // The service demands stronger authentication (RFC 9470). Works only if the page may read the header.
        const header = String(record(error.cause).wwwAuthenticate);
        if (!header.includes('insufficient_user_authentication')) continue;
        flows.demand(header);
        dispatch({ type: 'step-up' });
      }
    }
  };

  /** Resolves with a usable token. Waits for sign-in if necessary. */
  async function obtain(signal: AbortSignal): Promise<string> {
    const value = keeper.value();
    if (value !== undefined) {
      if (keeper.isDue()) renew();
      return value;
    }
    let leave = (): unknown => undefined;
    const woken = new Promise<void>((resolve) => {
      leave = waiters.add(resolve);
    });
    try {
      demand();
      await abortable(woken, signal);
    } finally {
      leave();
      refresh();
    }
    return obtain(signal);
  }

  /** Starts the step that gets a token in the current state. */
  function demand(): void {
    const { state, reason, signedOut } = machine.model;
    if (state === 'signed-in') renew();
    else if (state === 'signed-out' || state === 'prompt') {
      const mayAsk = auth === 'auto' && state === 'signed-out' && signedOut !== 'now';
      dispatch({ type: 'need-token', isFromPage: hasPageTokens(settings) || (mayAsk && askPage(reason)) });
    }
    refresh();
  }

  function renew(): void {
    const { state, background, isEarly } = machine.model;
    const isAlive = keeper.value() !== undefined;
    if (state !== 'signed-in' || (background && !isPageLate({ background, isEarly, isAlive }))) return;
    dispatch({ type: 'renew-due', reason: keeper.isRejected() ? 'rejected' : 'expired' });
  }

  function signIn(via?: 'popup' | 'redirect', idpId?: string, confirmRedirect?: () => boolean): void {
    const way = via ?? ownWay(settings, machine.model.source);
    if (!canSignIn(machine.model) || auth === 'none') return;
    if (way === 'popup' && machine.model.state === 'popup' && flows.focusPopup()) return;
    if (way === 'redirect' && confirmRedirect?.() === false) return;
    const error = way === 'popup' || way === 'redirect' ? flows.check() : undefined;
    const isBlocked = !error && way === 'popup' && !flows.openPopup(idpId);
    dispatch(error ? { type: 'unable', error } : { type: 'sign-in', via: way, isBlocked });
  }

  function onStep(
    previousModel: AuthModel,
    model: AuthModel,
    event: AuthEvent,
    effects: readonly Effect[],
  ): void {
    if (event.type === 'token') markSignedOut(settings, false);
    // Updates the token before the page's listeners run, so that an error in a listener cannot leave an old token in use.
    for (const effect of effects) {
      if (effect.type === 'drop') keeper.drop();
      if (effect.type === 'keep') {
        const bearer = takeToken(effect.token);
        if (bearer) keeper.keep(bearer);
      }
      if (effect.type === 'forget') {
        const token = keeper.value();
        keeper.forget();
        flows.forget();
        const isNew = previousModel.signedOut !== 'now';
        if (event.type === 'sign-out') lastCalls.begin(token, event.reason === 'user', isNew);
      }
      if (effect.type === 'keep' || effect.type === 'forget') {
        wasPageAsked = false;
        offer = undefined;
      }
    }
    if (event.type === 'sign-out') {
      // Whichever service the user has signed out from.
      markSignedOut(settings, true);
      dropTransactionsBefore(user);
    }
    if (!NEEDS_TAB_LOCK.includes(model.background ?? model.state)) flows.unlock();
    form?.onEnter(model);
    refresh();
    for (const change of changesBetween(previousModel, model, event, keeper.expiresAt())) users.tell(change);
  }

  function refresh(): void {
    const next = createSnapshot(machine.model, auth, waiters.size > 0, snapshot);
    if (next === snapshot) return;
    snapshot = next;
    listeners.tell();
  }

  function require(reason: Reason): void {
    if (waiters.size === 0 || wasPageAsked) return;
    const isHost = auth === 'auto' || auth === 'token';
    // A page that responds automatically would undo the sign-out.
    if (isHost && machine.model.signedOut === 'now') return;
    if (askPage(reason) && isHost) dispatch({ type: 'sign-in', via: 'page' });
  }

  function close(): void {
    if (users.size > 0 || life.signal.aborted) return;
    keeper.forget();
    onEnd();
    user.close();
    life.abort();
    flows.leavePopup();
    dispatch({ type: 'disconnected' });
  }

  user.onChange((change) => {
    if (change.type !== 'signed-out') return;
    dispatch({ type: 'sign-out', reason: change.isHere ? 'user' : 'other-tab' });
  });
  user.connect();
  if (isPage) {
    const { signal } = life;
    // Not if the page is kept in the back/forward cache.
    addEventListener('pagehide', ({ persisted }) => persisted || keeper.forget(), { signal });
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (!persisted) return;
      if (machine.model.state === 'redirecting') dropTransactions();
      dispatch({ type: 'shown-again' });
    };
    addEventListener('pageshow', onShow, { signal });
    if (isInteractive(settings) && !hasPageTokens(settings))
      whenIdle(() => life.signal.aborted || flows.preload());
    // In each mode, because this also removes what is too old. Only sessions that sign in by leaving the page have stored any.
    void flows.takeReturn().then((event) => event && !life.signal.aborted && dispatch(event));
  }

  return ({ report, confirmRedirect, onSignOut }) => {
    const leave = users.add(report);
    const removeCaller = lastCalls.add(onSignOut);
    return Object.freeze<AuthSession & { toJSON(): object }>({
      get snapshot() {
        return snapshot;
      },
      subscribe: (listener) => listeners.add(listener),
      withToken,
      signIn: (via, idpId) => signIn(via, idpId, confirmRedirect),
      cancel: () => dispatch({ type: 'cancel' }),
      signOut: (of) => {
        const isSignedOut = (): boolean => machine.model.signedOut === 'now';
        if (!isSignedOut()) endPeriod(of);
        // The period may have ended before this session began.
        if (!isSignedOut()) dispatch({ type: 'sign-out', reason: 'user' });
        return lastCalls.end();
      },
      allow: () => {
        const wasSignedOut = machine.model.signedOut === 'now';
        dispatch({ type: 'allowed' });
        if (wasSignedOut && waiters.size > 0) demand();
      },
      close: () => {
        removeCaller();
        // An element that is moved in the document opens the session again in the same task.
        if (leave()) runAfter(0, life.signal, close);
      },
      form: (create) => {
        form ??= create({
          settings,
          post,
          begin: flows.begin,
          machine,
        });
        return form;
      },
      toJSON: () => snapshot,
    });
  };
}
