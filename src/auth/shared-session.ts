// The shared session of sign-in: it feeds the sign-in table, reports what changed, keeps the token, and runs privileged
// calls with it. It knows no wire format.

import type { Change, Report, TokenInput } from '../core/changes.ts';
import { openChannel } from '../core/channel.ts';
import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { AuthSnapshot, AuthState, WithToken } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { Brakes, Clock, Keeper } from './bearer.ts';
import { Driver } from './driver.ts';
import { Flows } from './flows.ts';
import type { FormHost, LoginForm } from './form.ts';
import type { AuthEvent, AuthModel, Effect, Reason } from './machine-types.ts';
import { firstModel, isInteractive, WorkWatch, watchPage } from './page.ts';
import { PageQuestion } from './page-question.ts';
import { credentialsOf, type Post } from './post.ts';
import { dropTransactions } from './redirect.ts';
import type { AuthDeps, AuthSession } from './session.ts';
import { changesBetween, createSnapshot } from './session-changes.ts';
import { timesOf } from './times.ts';
import { createWithToken } from './with-token.ts';

const CAN_SIGN_IN: ReadonlySet<AuthState> = new Set<AuthState>([
  'signed-out',
  'prompt',
  'silent',
  'popup',
  'popup-lost',
]);

/** The one session behind the `AuthSession` of each uploader. */
export class SharedSession {
  readonly #settings: Settings;
  readonly #post: Post;
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

  constructor(settings: Settings, deps: AuthDeps, owner: string, onEnd: () => void) {
    this.#settings = settings;
    this.#post = deps.post;
    this.#onEnd = onEnd;
    const times = { ...timesOf(settings), ...deps.options };
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
    const askPage = (reason: Reason): Promise<TokenInput> | undefined => this.#question.take(reason);
    this.#flows = new Flows({ settings, post: deps.post, times, clock: new Clock(), owner, askPage });
    this.#work = new WorkWatch(times, this.#life.signal, () => {
      if (this.#keeper.isDue) this.#renew();
    });
    const model = firstModel(settings, times);
    this.#driver = new Driver(model, {
      isAlive: () => this.#keeper.value !== undefined,
      onStep: (...step) => this.#onStep(...step),
      run: (effect, signal, send) => {
        if (effect.type === 'require') this.#require(effect.reason);
        else this.#flows.run(effect, signal, send);
        this.#form?.run(effect, signal, send);
      },
      onRest: () => {
        this.#refresh();
        if (this.#keeper.value !== undefined) for (const wake of this.#waiters) wake();
      },
    });
    this.#snapshot = createSnapshot(model, settings.auth, false);
    if (typeof document === 'undefined') return;
    this.#channel = openChannel(`secure-uploader:sign-out:${settings.baseUrl} ${settings.clientId}`);
    this.#channel?.addEventListener('message', ({ data }) => {
      if (data === 'signed-out') this.#dispatch({ type: 'sign-out', reason: 'other-tab' });
    });
    watchPage(this.#life.signal, {
      onWake: () => this.#work.check(),
      onLeave: () => this.#keeper.forget(),
      onShownAgain: () => {
        if (this.#driver.model.state === 'redirecting') dropTransactions();
        this.#dispatch({ type: 'shown-again' });
      },
    });
    // Taken out at once; told when it is read.
    const found = isInteractive(settings) ? this.#flows.takeReturn() : undefined;
    found?.then((event) => this.#dispatch(event)).catch(() => undefined);
  }

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
      signIn: (via, idpId) => session.#signIn(via, idpId, confirmRedirect),
      cancel: () => session.#dispatch({ type: 'cancel' }),
      signOut: () => session.#signOut(),
      close: () => session.#close(user),
      form: (create) => session.#openForm(create),
      toJSON: () => session.#snapshot,
    });
  }

  #openForm(create: (host: FormHost) => LoginForm): LoginForm {
    if (this.#form) return this.#form;
    const driver = this.#driver;
    this.#form = create({
      settings: this.#settings,
      post: this.#post,
      redirectUri: () => this.#flows.redirectUri,
      model: () => driver.model,
      dispatch: (event) => driver.dispatch(event),
      send: (event, generation) => driver.send(event, generation),
    });
    driver.rows = this.#form.rows;
    return this.#form;
  }

  #close(user: Report): void {
    if (!this.#users.delete(user) || this.#users.size > 0) return;
    const end = (): void => {
      if (this.#users.size > 0 || this.#life.signal.aborted) return;
      this.#onEnd();
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
    const { state } = this.#driver.model;
    if (state === 'signed-in') this.#renew();
    else if (state === 'signed-out' || state === 'prompt') {
      const mayAsk = this.#settings.auth === 'auto' && state === 'signed-out';
      const isHosted = this.#isHosted || (mayAsk && this.#question.ask(this.#driver.model.reason));
      this.#dispatch({ type: 'need-token', isHosted });
    }
    this.#refresh();
  }

  #renew(): void {
    const { state, renewing, source, canSilent } = this.#driver.model;
    if (state !== 'signed-in' || renewing) return;
    const reason = this.#keeper.isRejected ? 'rejected' : 'expired';
    const waitMs = source === 'host' || canSilent ? this.#brakes.waitMs(this.#keeper.lifetimeMs) : 0;
    if (waitMs > 0 && Number.isFinite(waitMs)) {
      if (this.#isBrakeTimed || this.#keeper.value !== undefined) return;
      this.#isBrakeTimed = true;
      const again = (): void => {
        this.#isBrakeTimed = false;
        if (this.#waiters.size > 0) this.#renew();
      };
      sleep(waitMs, this.#life.signal).then(again, () => undefined);
      return;
    }
    this.#dispatch({ type: 'renew-due', reason, isSpent: waitMs > 0 });
  }

  /** True where only the page gives tokens. */
  get #isHosted(): boolean {
    const { auth, getToken } = this.#settings;
    return auth === 'token' || (auth === 'auto' && getToken !== undefined);
  }

  #signIn(via?: 'popup' | 'redirect', idpId?: string, confirmRedirect?: () => boolean): void {
    const { state, source } = this.#driver.model;
    const { auth } = this.#settings;
    if (!CAN_SIGN_IN.has(state) || auth === 'none') return;
    const isHosted = this.#isHosted || (auth === 'auto' && source === 'host');
    const own = auth === 'redirect' || auth === 'local' ? auth : 'popup';
    const way = via ?? (isHosted ? 'host' : own);
    if (way === 'popup' && state === 'popup' && this.#flows.focusPopup()) return;
    if (way === 'redirect' && confirmRedirect?.() === false) return;
    if (way === 'popup' || way === 'redirect') {
      const error = this.#flows.check();
      if (error) {
        this.#dispatch({ type: 'unable', error });
        return;
      }
    }
    const isBlocked = way === 'popup' && !this.#flows.openPopup(idpId);
    this.#dispatch({ type: 'sign-in', via: way === 'local' ? 'form' : way, isBlocked });
  }

  async #signOut(): Promise<void> {
    const { logout } = this.#settings.paths;
    this.#channel?.postMessage('signed-out');
    this.#dispatch({ type: 'sign-out', reason: 'user' });
    if (!logout) return;
    const { signal } = this.#life;
    const { status } = await this.#post(
      logout,
      {},
      { credentials: credentialsOf(this.#settings, 'logout'), signal },
    );
    if (status >= 400) throw new UploaderError('service-failed', 'The service did not sign out', { status });
  }

  #dispatch(event: AuthEvent): void {
    this.#driver.dispatch(event);
  }

  #onStep(before: AuthModel, model: AuthModel, event: AuthEvent, effects: readonly Effect[]): void {
    if (model.renewing && !before.renewing) this.#brakes.count();
    const work = model.renewing ?? model.state;
    if (work !== 'silent' && work !== 'exchange') this.#flows.unlock();
    for (const effect of effects) this.#store(effect);
    this.#form?.onEnter(model);
    this.#refresh();
    for (const change of changesBetween(before, model, event, this.#keeper.expiresAt)) this.#report(change);
  }

  #store(effect: Effect): void {
    if (effect.type === 'keep') this.#keeper.keep(effect.bearer);
    if (effect.type === 'forget') this.#keeper.forget();
    if (effect.type === 'hold') this.#brakes.hold(effect.ms);
    if (effect.type === 'keep' || effect.type === 'forget') this.#question.wasAsked = false;
  }

  #report(change: Change): void {
    for (const user of [...this.#users]) user(change);
  }

  #refresh(): void {
    const snapshot = createSnapshot(
      this.#driver.model,
      this.#settings.auth,
      this.#waiters.size > 0,
      this.#snapshot,
    );
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
