// The shared session of sign-in: it feeds the sign-in table, reports what changed, keeps the token, and runs privileged
// calls with it. It knows no wire format.

import type { Change } from '../core/changes.ts';
import { openChannel } from '../core/channel.ts';
import type { Settings } from '../core/config.ts';
import { Listeners } from '../core/listeners.ts';
import { Machine } from '../core/machine.ts';
import type { AuthSnapshot, WithToken } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { Brakes, Keeper } from './bearer.ts';
import { Flows } from './flows.ts';
import type { FormHost, LoginForm } from './form.ts';
import { canSignIn, reduce } from './machine.ts';
import type { AuthEvent, AuthModel, Effect, FlowEvent, Reason } from './machine-types.ts';
import { firstModel, isHosted, isInteractive, ownWay, WorkWatch, watchPage } from './page.ts';
import { PageQuestion } from './page-question.ts';
import type { CallContext } from './post.ts';
import { dropTransactions } from './redirect.ts';
import type { AuthDeps, AuthSession } from './session.ts';
import { changesBetween, createSnapshot } from './session-changes.ts';
import { LastCalls, markSignedOut } from './sign-out.ts';
import { timesOf } from './times.ts';
import { createWithToken } from './with-token.ts';

/** The one session behind the `AuthSession` of each uploader. */
export class SharedSession {
  readonly #settings: Settings;
  readonly #context: CallContext;
  readonly #keeper: Keeper;
  readonly #brakes: Brakes;
  readonly #flows: Flows;
  readonly #question = new PageQuestion((change) => this.#users.tell(change));
  readonly #withToken: WithToken;
  readonly #work: WorkWatch;
  readonly #life = new AbortController();
  readonly #channel: BroadcastChannel | undefined;
  readonly #users = new Listeners<Change>();
  readonly #listeners = new Listeners<void>();
  readonly #waiters = new Set<() => void>();
  readonly #machine: Machine<AuthModel, AuthEvent, FlowEvent, Effect>;
  readonly #onEnd: () => void;
  #form: LoginForm | undefined;
  #snapshot: AuthSnapshot;
  #isBrakeTimed = false;
  readonly #lastCalls: LastCalls;

  constructor(settings: Settings, { post, options, isSessionEnough = false }: AuthDeps, onEnd: () => void) {
    const { baseUrl, clientId, redirectUri = '', auth, idpId = '', owner } = settings;
    const times = { ...timesOf(settings), ...options };
    const { signal } = this.#life;
    this.#settings = settings;
    this.#context = { settings, post, signal };
    this.#lastCalls = new LastCalls(settings, post, times.lastCallsMs);
    this.#onEnd = onEnd;
    this.#keeper = new Keeper(times);
    this.#brakes = new Brakes(times);
    this.#withToken = createWithToken(settings, {
      keeper: this.#keeper,
      brakes: this.#brakes,
      obtain: (signal) => this.#obtain(signal),
      onStepUp: (proof) => {
        this.#flows.demand(proof);
        this.#dispatch({ type: 'step-up' });
      },
    });
    this.#flows = new Flows({
      settings,
      post,
      times,
      // What the other side of a redirect, and other tabs, know it by: nothing in it depends on this load of the page.
      owner: [baseUrl, clientId, redirectUri, auth, idpId, owner].join(' '),
      askPage: (reason) => this.#question.take(reason),
      fits: (bearer) => this.#keeper.fits(bearer),
      coolings: () => this.#machine.model.coolings,
    });
    this.#work = new WorkWatch(times, signal, () => {
      if (this.#keeper.isDue) this.#renew();
    });
    const model = firstModel(settings, times, isSessionEnough);
    this.#snapshot = createSnapshot(model, auth, false);
    this.#machine = new Machine<AuthModel, AuthEvent, FlowEvent, Effect>(model, {
      reduce: (before, event) => reduce(before, event, this.#form?.rows),
      facts: () => ({
        isAlive: this.#keeper.value !== undefined,
        isOffline: globalThis.navigator?.onLine === false,
      }),
      onStep: (...step) => this.#onStep(...step),
      run: (effect, signal, send) => {
        if (effect.type === 'require') this.#require(effect.reason);
        this.#flows.run(effect, signal, send);
        this.#form?.run(effect, signal, send);
      },
      onIdle: () => {
        this.#refresh();
        if (this.#keeper.value !== undefined) for (const wake of this.#waiters) wake();
      },
      onFault: (error, { type }) => {
        globalThis.reportError?.(error);
        // A second fault would only repeat the first.
        return type === 'fault' ? undefined : { type: 'fault' };
      },
    });
    if (typeof document === 'undefined' || isSessionEnough) return;
    this.#channel = openChannel(`secure-uploader:sign-out:${baseUrl} ${clientId}`);
    this.#channel?.addEventListener('message', ({ data }) => {
      if (data === 'signed-out') this.#dispatch({ type: 'sign-out', reason: 'other-tab' });
    });
    watchPage(signal, {
      onWake: () => this.#work.check(),
      onLeave: () => this.#keeper.forget(),
      onShownAgain: () => {
        if (this.#machine.model.state === 'redirecting') dropTransactions();
        this.#dispatch({ type: 'shown-again' });
      },
    });
    if (isInteractive(settings))
      this.#flows.takeReturn().then(
        (event) => event && this.#dispatch(event),
        () => undefined,
      );
  }

  /** What one user of the session sees of it. */
  open({ report, confirmRedirect, onSignOut }: AuthDeps): AuthSession {
    const session = this;
    const leave = this.#users.add(report);
    const stay = this.#lastCalls.add(onSignOut);
    return Object.freeze<AuthSession & { toJSON(): object }>({
      get snapshot() {
        return session.#snapshot;
      },
      subscribe: (listener) => session.#listeners.add(listener),
      withToken: session.#withToken,
      signIn: (via, idpId) => session.#signIn(via, idpId, confirmRedirect),
      cancel: () => session.#dispatch({ type: 'cancel' }),
      signOut: () => session.#signOut(),
      allow: () => session.#allow(),
      close: () => {
        stay();
        if (leave()) session.#close();
      },
      form: (create) => session.#openForm(create),
      toJSON: () => session.#snapshot,
    });
  }

  #openForm(create: (host: FormHost) => LoginForm): LoginForm {
    const machine = this.#machine;
    this.#form ??= create({
      ...this.#context,
      begin: () => this.#flows.begin(),
      model: () => machine.model,
      signal: () => machine.signal,
      dispatch: (event) => machine.dispatch(event),
    });
    return this.#form;
  }

  #close(): void {
    const end = (): void => {
      if (this.#users.size > 0 || this.#life.signal.aborted) return;
      this.#keeper.forget();
      this.#onEnd();
      this.#channel?.close();
      this.#life.abort();
      this.#flows.leavePopup();
      this.#dispatch({ type: 'disconnected' });
    };
    sleep(0, this.#life.signal).then(end, () => undefined);
  }

  async #obtain(signal: AbortSignal): Promise<string> {
    this.#work.note();
    const { value } = this.#keeper;
    if (value !== undefined) {
      if (this.#keeper.isDue) this.#renew();
      return value;
    }
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#waiters.add(wake);
    try {
      this.#demand();
      await abortable(woken, signal);
    } finally {
      this.#waiters.delete(wake);
      this.#refresh();
    }
    return this.#obtain(signal);
  }

  /** Sees to it that somebody gets a token, now that somebody waits for one. */
  #demand(): void {
    const { state, reason, signedOut } = this.#machine.model;
    if (state === 'signed-in') this.#renew();
    else if (state === 'signed-out' || state === 'prompt') {
      const mayAsk = this.#settings.auth === 'auto' && state === 'signed-out' && signedOut !== 'now';
      const isAsked = isHosted(this.#settings) || (mayAsk && this.#question.ask(reason));
      this.#dispatch({ type: 'need-token', isHosted: isAsked });
    }
    this.#refresh();
  }

  #renew(): void {
    const { state, renewing, source, canSilent } = this.#machine.model;
    if (state !== 'signed-in' || renewing) return;
    const waitMs = source === 'host' || canSilent ? this.#brakes.waitMs(this.#keeper.lifetimeMs) : 0;
    if (waitMs === 0 || !Number.isFinite(waitMs)) {
      const reason = this.#keeper.isRejected ? 'rejected' : 'expired';
      this.#dispatch({ type: 'renew-due', reason, isSpent: waitMs > 0 });
      return;
    }
    if (this.#isBrakeTimed || this.#keeper.value !== undefined) return;
    this.#isBrakeTimed = true;
    const again = (): void => {
      this.#isBrakeTimed = false;
      if (this.#waiters.size > 0) this.#renew();
    };
    sleep(waitMs, this.#life.signal).then(again, () => undefined);
  }

  #signIn(via?: 'popup' | 'redirect', idpId?: string, confirmRedirect?: () => boolean): void {
    const { model } = this.#machine;
    const way = via ?? ownWay(this.#settings, model.source);
    if (!canSignIn(model) || this.#settings.auth === 'none') return;
    if (way === 'popup' && model.state === 'popup' && this.#flows.focusPopup()) return;
    if (way === 'redirect' && confirmRedirect?.() === false) return;
    const error = way === 'popup' || way === 'redirect' ? this.#flows.check() : undefined;
    const isBlocked = !error && way === 'popup' && !this.#flows.openPopup(idpId);
    this.#dispatch(error ? { type: 'unable', error } : { type: 'sign-in', via: way, isBlocked });
  }

  #signOut(): Promise<void> {
    return this.#lastCalls.once(() => {
      if (isInteractive(this.#settings)) markSignedOut(this.#settings, true);
      this.#channel?.postMessage('signed-out');
      this.#dispatch({ type: 'sign-out', reason: 'user' });
    });
  }

  #allow(): void {
    if (this.#machine.model.signedOut !== 'now') return;
    this.#dispatch({ type: 'allowed' });
    if (this.#waiters.size > 0) this.#demand();
  }

  #dispatch(event: AuthEvent): void {
    this.#machine.dispatch(event);
  }

  #onStep(before: AuthModel, model: AuthModel, event: AuthEvent, effects: readonly Effect[]): void {
    // First of all, so that nothing below can leave a token behind.
    for (const effect of effects) {
      if (effect.type === 'drop') this.#keeper.drop();
      if (effect.type === 'keep') {
        this.#keeper.keep(effect.bearer);
        this.#brakes.renewed();
      }
      if (effect.type === 'forget') {
        const token = this.#keeper.value;
        this.#keeper.forget();
        if (event.type === 'sign-out') this.#lastCalls.begin(token);
      }
      if (effect.type === 'keep' || effect.type === 'forget') this.#question.wasAsked = false;
      if (effect.type === 'hold') this.#brakes.hold(effect.ms);
    }
    if (event.type === 'sign-out') dropTransactions();
    if (event.type === 'token') markSignedOut(this.#settings, false);
    if (model.renewing && !before.renewing) this.#brakes.count();
    const work = model.renewing ?? model.state;
    if (work !== 'silent' && work !== 'exchange') this.#flows.unlock();
    this.#form?.onEnter(model);
    this.#refresh();
    for (const change of changesBetween(before, model, event, this.#keeper.expiresAt))
      this.#users.tell(change);
  }

  #refresh(): void {
    const hasWaiters = this.#waiters.size > 0;
    const snapshot = createSnapshot(this.#machine.model, this.#settings.auth, hasWaiters, this.#snapshot);
    if (snapshot === this.#snapshot) return;
    this.#snapshot = snapshot;
    this.#listeners.tell();
  }

  #require(reason: Reason): void {
    if (this.#waiters.size === 0 || this.#question.wasAsked) return;
    const { auth } = this.#settings;
    const isHost = auth === 'auto' || auth === 'token';
    // A page that answers by itself would undo the sign-out.
    if (isHost && this.#machine.model.signedOut === 'now') return;
    if (this.#question.ask(reason) && isHost) this.#dispatch({ type: 'sign-in', via: 'host' });
  }
}
