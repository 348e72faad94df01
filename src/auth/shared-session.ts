// The shared session of sign-in: it feeds the sign-in table, reports what changed, keeps the token, and runs privileged
// calls with it. It knows no wire format.

import type { Change, Report } from '../core/changes.ts';
import { openChannel } from '../core/channel.ts';
import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { AuthSnapshot, WithToken } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { Brakes, Keeper } from './bearer.ts';
import { Driver } from './driver.ts';
import { Flows } from './flows.ts';
import type { FormHost, LoginForm } from './form.ts';
import { canSignIn } from './machine.ts';
import type { AuthEvent, AuthModel, Effect, Reason } from './machine-types.ts';
import { firstModel, isHosted, isInteractive, ownWay, WorkWatch, watchPage } from './page.ts';
import { PageQuestion } from './page-question.ts';
import { type CallContext, callService } from './post.ts';
import { dropTransactions } from './redirect.ts';
import type { AuthDeps, AuthSession } from './session.ts';
import { changesBetween, createSnapshot } from './session-changes.ts';
import { timesOf } from './times.ts';
import { createWithToken } from './with-token.ts';

/** The one session behind the `AuthSession` of each uploader. */
export class SharedSession {
  readonly #settings: Settings;
  readonly #context: CallContext;
  readonly #keeper: Keeper;
  readonly #brakes: Brakes;
  readonly #flows: Flows;
  readonly #question = new PageQuestion((change) => this.#report(change));
  readonly #withToken: WithToken;
  readonly #work: WorkWatch;
  readonly #life = new AbortController();
  readonly #channel: BroadcastChannel | undefined;
  readonly #users = new Set<Report>();
  readonly #listeners = new Set<() => void>();
  readonly #waiters = new Set<() => void>();
  readonly #driver: Driver;
  readonly #onEnd: () => void;
  #form: LoginForm | undefined;
  #snapshot: AuthSnapshot;
  #isBrakeTimed = false;
  /** The token of before a sign-out, for as long as its last calls take. */
  #lastToken: string | undefined;

  constructor(settings: Settings, { post, options, isSessionEnough = false }: AuthDeps, onEnd: () => void) {
    const { baseUrl, clientId, redirectUri = '', auth, idpId = '' } = settings;
    const times = { ...timesOf(settings), ...options };
    const { signal } = this.#life;
    this.#settings = settings;
    this.#context = { settings, post, signal };
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
      owner: [baseUrl, clientId, redirectUri, auth, idpId].join(' '),
      askPage: (reason) => this.#question.take(reason),
      fits: (bearer) => this.#keeper.fits(bearer),
      coolings: () => this.#driver.model.coolings,
    });
    this.#work = new WorkWatch(times, signal, () => {
      if (this.#keeper.isDue) this.#renew();
    });
    const model = firstModel(settings, times, isSessionEnough);
    this.#snapshot = createSnapshot(model, auth, false);
    this.#driver = new Driver(model, {
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
      onRest: () => {
        this.#refresh();
        if (this.#keeper.value !== undefined) for (const wake of this.#waiters) wake();
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
        if (this.#driver.model.state === 'redirecting') dropTransactions();
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
  open({ report, confirmRedirect }: AuthDeps): AuthSession {
    const session = this;
    // A function of its own for each user, who may share its report with another.
    const user: Report = (change) => report(change);
    this.#users.add(user);
    return Object.freeze<AuthSession & { toJSON(): object }>({
      get snapshot() {
        return session.#snapshot;
      },
      subscribe: (listener) => {
        const own = (): void => listener();
        session.#listeners.add(own);
        return () => session.#listeners.delete(own);
      },
      withToken: session.#withToken,
      withLastToken: (call, signal) =>
        session.#lastToken === undefined ? session.#withToken(call, signal) : call(session.#lastToken),
      signIn: (via, idpId) => session.#signIn(via, idpId, confirmRedirect),
      cancel: () => session.#dispatch({ type: 'cancel' }),
      signOut: (last) => session.#signOut(last),
      close: () => session.#close(user),
      form: (create) => session.#openForm(create),
      toJSON: () => session.#snapshot,
    });
  }

  #openForm(create: (host: FormHost) => LoginForm): LoginForm {
    const driver = this.#driver;
    this.#form ??= create({
      ...this.#context,
      begin: () => this.#flows.begin(),
      model: () => driver.model,
      signal: () => driver.signal,
      dispatch: (event) => driver.dispatch(event),
    });
    driver.rows = this.#form.rows;
    return this.#form;
  }

  #close(user: Report): void {
    if (!this.#users.delete(user) || this.#users.size > 0) return;
    const end = (): void => {
      if (this.#users.size > 0 || this.#life.signal.aborted) return;
      this.#onEnd();
      this.#flows.leavePopup();
      this.#dispatch({ type: 'disconnected' });
      this.#keeper.forget();
      this.#channel?.close();
      this.#life.abort();
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
    const { state, reason } = this.#driver.model;
    if (state === 'signed-in') this.#renew();
    else if (state === 'signed-out' || state === 'prompt') {
      const mayAsk = this.#settings.auth === 'auto' && state === 'signed-out';
      const isAsked = isHosted(this.#settings) || (mayAsk && this.#question.ask(reason));
      this.#dispatch({ type: 'need-token', isHosted: isAsked });
    }
    this.#refresh();
  }

  #renew(): void {
    const { state, renewing, source, canSilent } = this.#driver.model;
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
    const { model } = this.#driver;
    const way = via ?? ownWay(this.#settings, model.source);
    if (!canSignIn(model) || this.#settings.auth === 'none') return;
    if (way === 'popup' && model.state === 'popup' && this.#flows.focusPopup()) return;
    if (way === 'redirect' && confirmRedirect?.() === false) return;
    const error = way === 'popup' || way === 'redirect' ? this.#flows.check() : undefined;
    const isBlocked = !error && way === 'popup' && !this.#flows.openPopup(idpId);
    this.#dispatch(error ? { type: 'unable', error } : { type: 'sign-in', via: way, isBlocked });
  }

  async #signOut(last?: Promise<unknown>): Promise<void> {
    this.#lastToken = this.#keeper.value ?? this.#lastToken;
    this.#channel?.postMessage('signed-out');
    this.#dispatch({ type: 'sign-out', reason: 'user' });
    await Promise.resolve(last).catch(() => undefined);
    this.#lastToken = undefined;
    if (!this.#settings.paths.logout) return;
    const { status } = await callService('logout', {}, this.#context);
    if (status >= 400) throw new UploaderError('service-failed', 'The service did not sign out', { status });
  }

  #dispatch(event: AuthEvent): void {
    this.#driver.dispatch(event);
  }

  #onStep(before: AuthModel, model: AuthModel, event: AuthEvent, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === 'keep') this.#keeper.keep(effect.bearer);
      if (effect.type === 'forget') this.#keeper.forget();
      if (effect.type === 'keep' || effect.type === 'forget') this.#question.wasAsked = false;
      if (effect.type === 'hold') this.#brakes.hold(effect.ms);
    }
    if (model.renewing && !before.renewing) this.#brakes.count();
    const work = model.renewing ?? model.state;
    if (work !== 'silent' && work !== 'exchange') this.#flows.unlock();
    this.#form?.onEnter(model);
    this.#refresh();
    for (const change of changesBetween(before, model, event, this.#keeper.expiresAt)) this.#report(change);
  }

  #report(change: Change): void {
    for (const user of [...this.#users]) user(change);
  }

  #refresh(): void {
    const hasWaiters = this.#waiters.size > 0;
    const snapshot = createSnapshot(this.#driver.model, this.#settings.auth, hasWaiters, this.#snapshot);
    if (snapshot === this.#snapshot) return;
    this.#snapshot = snapshot;
    for (const listener of [...this.#listeners]) listener();
  }

  #require(reason: Reason): void {
    if (this.#waiters.size === 0 || this.#question.wasAsked) return;
    const { auth } = this.#settings;
    const isAnswered = this.#question.ask(reason);
    if (isAnswered && (auth === 'auto' || auth === 'token')) this.#dispatch({ type: 'sign-in', via: 'host' });
  }
}
