// What uploaders with the same sign-in settings share: passes events to the sign-in table, reports changes, and keeps the token.

import type { Change } from '../core/changes.ts';
import { Listeners } from '../core/listeners.ts';
import { Machine } from '../core/machine.ts';
import type { Settings } from '../core/settings-table.ts';
import type { AuthSnapshot } from '../core/types.ts';
import { CurrentUser, endPeriod } from '../core/user.ts';
import { runAfter, whenIdle } from '../core/wait.ts';
import { LastCalls } from './calls.ts';
import { Flows } from './flows.ts';
import { canSignIn, reduce } from './machine.ts';
import { isPageLate } from './page-moves.ts';
import { PageOffer } from './page-offer.ts';
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
import { CurrentToken, TokenDoor } from './token.ts';
import { TokenCalls, type TokenSource } from './token-calls.ts';
import type {
  AuthDeps,
  AuthEvent,
  AuthModel,
  AuthSession,
  Effect,
  FormHost,
  LoginForm,
  Reason,
  SignInMachine,
} from './types.ts';

/** A session, which ends when the last uploader has left it. */
export class SharedSession implements TokenSource {
  readonly #settings: Settings;
  readonly #life = new AbortController();
  readonly #users = new Listeners<Change>();
  readonly #listeners = new Listeners<void>();
  readonly #user: CurrentUser;
  readonly #token: CurrentToken;
  readonly #door = new TokenDoor();
  readonly #offer = new PageOffer((change) => this.#users.tell(change));
  readonly #calls: TokenCalls;
  readonly #lastCalls: LastCalls;
  readonly #flows: Flows;
  readonly #machine: SignInMachine;
  readonly #formHost: FormHost;
  #form: LoginForm | undefined;
  #snapshot: AuthSnapshot;

  /** `onEnd` is called when the last uploader has left. */
  constructor(settings: Settings, { post, options, isSessionEnough = false }: AuthDeps, onEnd: () => void) {
    const { baseUrl, clientId, redirectUri = '', auth, idpId = '', owner } = settings;
    const times = { ...timesOf(settings), ...options };
    this.#settings = settings;
    this.#life.signal.addEventListener('abort', onEnd);
    this.#user = new CurrentUser(owner);
    this.#token = new CurrentToken(ownerToMatch(settings));
    this.#lastCalls = new LastCalls(settings, post, times.lastCallsMs);
    this.#calls = new TokenCalls(auth, this.#token, this);
    this.#flows = new Flows({
      settings,
      post,
      times,
      // Must be the same after a reload and in other tabs.
      sessionKey: [baseUrl, clientId, redirectUri, auth, idpId, owner].join(' '),
      user: this.#user,
      offer: this.#offer,
      token: this.#token,
      door: this.#door,
    });
    const model = firstModel(settings, times, isSessionEnough);
    this.#snapshot = createSnapshot(model, auth, false);
    this.#machine = new Machine(model, {
      reduce: (previousModel, event) => reduce(previousModel, event, this.#form?.rows),
      facts: () => ({
        isAlive: this.#token.value !== undefined,
        isProven: this.#token.isProven,
        isOffline: globalThis.navigator?.onLine === false,
        service: this.#calls.service,
        hasWaiters: this.#calls.isWaiting,
        nowMs: performance.now(),
        jitter: 0.8 + Math.random() * 0.4,
      }),
      onStep: (...step) => this.#onStep(...step),
      run: (effect, signal, send) => {
        if (effect.type === 'require') this.#require(effect.reason);
        this.#flows.run(effect, signal, send);
        this.#form?.run(effect, signal, send);
      },
      onIdle: () => {
        this.refresh();
        if (this.#token.value !== undefined) this.#calls.wake();
        else if (this.#calls.isWaiting) this.renew();
      },
      onFault: (error, { type }) => {
        globalThis.reportError?.(error);
        // Another `fault` would probably throw again, in an endless loop.
        return type === 'fault' ? undefined : { type: 'fault' };
      },
    });
    this.#formHost = { settings, post, begin: () => this.#flows.begin(), machine: this.#machine };
    this.#user.onChange((change) => {
      if (change.type !== 'signed-out') return;
      this.#dispatch({ type: 'sign-out', reason: change.isHere ? 'user' : 'other-tab' });
    });
    this.#user.connect();
    if (typeof document !== 'undefined' && !isSessionEnough) this.#watchPage();
  }

  /** Adds an uploader. Returns its part of the session, which ends a task after the last uploader has called `close()`. */
  open({ report, confirmRedirect, onSignOut }: AuthDeps): AuthSession {
    const leave = this.#users.add(report);
    const removeCaller = this.#lastCalls.add(onSignOut);
    const snapshot = (): AuthSnapshot => this.#snapshot;
    return Object.freeze<AuthSession & { toJSON(): object }>({
      get snapshot() {
        return snapshot();
      },
      subscribe: (listener) => this.#listeners.add(listener),
      withToken: (call, signal) => this.#calls.make(call, signal),
      signIn: (via, idpId) => this.#signIn(via, idpId, confirmRedirect),
      cancel: () => this.#dispatch({ type: 'cancel' }),
      signOut: (of) => {
        if (!this.#isSignedOut) endPeriod(of);
        // The period may have ended before this session began.
        if (!this.#isSignedOut) this.#dispatch({ type: 'sign-out', reason: 'user' });
        return this.#lastCalls.end();
      },
      allow: () => {
        const wasSignedOut = this.#isSignedOut;
        this.#dispatch({ type: 'allowed' });
        if (wasSignedOut && this.#calls.isWaiting) this.demand();
      },
      close: () => {
        removeCaller();
        // An element that is moved in the document opens the session again in the same task.
        if (leave()) runAfter(0, this.#life.signal, () => this.#end());
      },
      form: (create) => {
        this.#form ??= create(this.#formHost);
        return this.#form;
      },
      toJSON: snapshot,
    });
  }

  /** Starts the step that gets a token in the current state. */
  demand(): void {
    const { state, reason, signedOut } = this.#machine.model;
    if (state === 'signed-in') this.renew();
    else if (state === 'signed-out' || state === 'prompt') {
      const mayAsk = this.#settings.auth === 'auto' && state === 'signed-out' && signedOut !== 'now';
      const isFromPage = hasPageTokens(this.#settings) || (mayAsk && this.#offer.ask(reason));
      this.#dispatch({ type: 'need-token', isFromPage });
    }
    this.refresh();
  }

  /** Starts the renewal of the token in the background, if it is time. */
  renew(): void {
    const { state, background, isEarly } = this.#machine.model;
    const isAlive = this.#token.value !== undefined;
    if (state !== 'signed-in' || (background && !isPageLate({ background, isEarly, isAlive }))) return;
    this.#dispatch({ type: 'renew-due', reason: this.#token.isRejected ? 'rejected' : 'expired' });
  }

  /** Signs in again with the demands of this `WWW-Authenticate` header (RFC 9470). */
  stepUp(header: string): void {
    this.#flows.demand(header);
    this.#dispatch({ type: 'step-up' });
  }

  /** Updates the snapshot. */
  refresh(): void {
    const { model } = this.#machine;
    const snapshot = createSnapshot(model, this.#settings.auth, this.#calls.isWaiting, this.#snapshot);
    if (snapshot === this.#snapshot) return;
    this.#snapshot = snapshot;
    this.#listeners.tell();
  }

  /** True if the user has signed out while this page was open. */
  get #isSignedOut(): boolean {
    return this.#machine.model.signedOut === 'now';
  }

  #dispatch(event: AuthEvent): void {
    this.#machine.dispatch(event);
  }

  #signIn(
    via: 'popup' | 'redirect' | undefined,
    idpId: string | undefined,
    confirmRedirect: AuthDeps['confirmRedirect'],
  ): void {
    const { model } = this.#machine;
    const flows = this.#flows;
    const way = via ?? ownWay(this.#settings, model.source);
    if (!canSignIn(model) || this.#settings.auth === 'none') return;
    if (way === 'popup' && model.state === 'popup' && flows.focusPopup()) return;
    if (way === 'redirect' && confirmRedirect?.() === false) return;
    const error = way === 'popup' || way === 'redirect' ? flows.check() : undefined;
    const isBlocked = !error && way === 'popup' && !flows.openPopup(idpId);
    this.#dispatch(error ? { type: 'unable', error } : { type: 'sign-in', via: way, isBlocked });
  }

  #onStep(previousModel: AuthModel, model: AuthModel, event: AuthEvent, effects: readonly Effect[]): void {
    if (event.type === 'token') markSignedOut(this.#settings, false);
    // Updates the token before the page's listeners run, so that an error in a listener cannot leave an old token in use.
    for (const effect of effects) this.#updateToken(effect, event, previousModel);
    if (event.type === 'sign-out') {
      // Whichever service the user has signed out from.
      markSignedOut(this.#settings, true);
      dropTransactionsBefore(this.#user);
    }
    if (!NEEDS_TAB_LOCK.includes(model.background ?? model.state)) this.#flows.unlock();
    this.#form?.onEnter(model);
    this.refresh();
    const changes = changesBetween(previousModel, model, event, this.#token.expiresAt);
    for (const change of changes) this.#users.tell(change);
  }

  #updateToken(effect: Effect, event: AuthEvent, { signedOut }: AuthModel): void {
    if (effect.type === 'drop') this.#token.drop();
    if (effect.type === 'keep') {
      const bearer = this.#door.takeToken(effect.token);
      if (bearer) this.#token.keep(bearer);
    }
    if (effect.type === 'forget') {
      const { value } = this.#token;
      this.#token.forget();
      this.#flows.forget();
      if (event.type === 'sign-out')
        this.#lastCalls.begin(value, event.reason === 'user', signedOut !== 'now');
    }
    if (effect.type === 'keep' || effect.type === 'forget') this.#offer.forget();
  }

  #require(reason: Reason): void {
    const { auth } = this.#settings;
    if (!this.#calls.isWaiting || this.#offer.wasAsked) return;
    const isHost = auth === 'auto' || auth === 'token';
    // A page that responds automatically would undo the sign-out.
    if (isHost && this.#isSignedOut) return;
    if (this.#offer.ask(reason) && isHost) this.#dispatch({ type: 'sign-in', via: 'page' });
  }

  #watchPage(): void {
    const { signal } = this.#life;
    // Not if the page is kept in the back/forward cache.
    addEventListener('pagehide', ({ persisted }) => persisted || this.#token.forget(), { signal });
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (!persisted) return;
      if (this.#machine.model.state === 'redirecting') dropTransactions();
      this.#dispatch({ type: 'shown-again' });
    };
    addEventListener('pageshow', onShow, { signal });
    if (isInteractive(this.#settings) && !hasPageTokens(this.#settings))
      whenIdle(() => signal.aborted || this.#flows.preload());
    // In each mode, because this also removes what is too old. Only sessions that sign in by leaving the page have stored any.
    void this.#flows.takeReturn().then((event) => event && !signal.aborted && this.#dispatch(event));
  }

  #end(): void {
    if (this.#users.size > 0 || this.#life.signal.aborted) return;
    this.#token.forget();
    this.#life.abort();
    this.#user.close();
    this.#flows.leavePopup();
    this.#dispatch({ type: 'disconnected' });
  }
}
