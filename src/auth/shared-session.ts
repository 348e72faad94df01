// The shared session of sign-in: it feeds the sign-in table, reports what changed, keeps the token, and runs privileged
// calls with it. It knows no wire format.

import type { Change, Report, TokenInput } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import { toUploaderError, UploaderError } from '../core/errors.ts';
import type { AuthSnapshot, AuthState, WithToken } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { Brakes, Clock, Keeper } from './bearer.ts';
import { credentialsOf, type Post } from './exchange.ts';
import { Flows } from './flows.ts';
import { createModel, reduce } from './machine.ts';
import type { AuthEvent, AuthModel, Effect, Reason } from './machine-types.ts';
import { isSameSite, WorkWatch, watchPage } from './page.ts';
import { PageQuestion } from './page-question.ts';
import { dropTransactions, takeReturn } from './pkce.ts';
import type { AuthDeps, AuthSession } from './session.ts';
import { changesBetween, createSnapshot } from './session-changes.ts';
import { AUTH_TIMES } from './times.ts';
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
  readonly #queue: AuthEvent[] = [];
  readonly #onEnd: () => void;
  #model: AuthModel;
  #flow = new AbortController();
  #snapshot: AuthSnapshot;
  #isRunning = false;
  #isBrakeTimed = false;

  constructor(settings: Settings, deps: AuthDeps, owner: string, onEnd: () => void) {
    this.#settings = settings;
    this.#post = deps.post;
    this.#onEnd = onEnd;
    const assumed = Number(settings.authOptions.assumedLifetime) * 1000;
    const times = { ...AUTH_TIMES, ...(assumed > 0 && { assumedLifetimeMs: assumed }), ...deps.options };
    this.#keeper = new Keeper(times);
    this.#brakes = new Brakes(times);
    const obtain = (signal: AbortSignal): Promise<string> => this.#obtain(signal);
    this.#withToken = createWithToken(settings, { keeper: this.#keeper, brakes: this.#brakes, obtain });
    const askPage = (reason: Reason): Promise<TokenInput> | undefined => this.#question.take(reason);
    this.#flows = new Flows({ settings, post: deps.post, times, clock: new Clock(), owner, askPage });
    this.#work = new WorkWatch(times, this.#life.signal, () => {
      if (this.#keeper.isDue) this.#renew();
    });
    const hasFrames = typeof document !== 'undefined' && !globalThis.crossOriginIsolated;
    const isInteractive = settings.auth !== 'none' && settings.auth !== 'token';
    this.#model = createModel({
      canSilent: hasFrames && isInteractive && settings.silent === 'auto',
      silentAfterWindow:
        settings.authOptions.silentAfterPopup === true || (hasFrames && isSameSite(settings.baseUrl)),
      limits: { coolCapMs: times.coolCapMs, resendMs: times.resendMs },
    });
    this.#snapshot = createSnapshot(this.#model, settings.auth, false);
    if (typeof document === 'undefined') return;
    this.#channel = new BroadcastChannel(`secure-uploader:sign-out:${settings.baseUrl} ${settings.clientId}`);
    this.#channel.onmessage = ({ data }) => {
      if (data === 'signed-out') this.#dispatch({ type: 'sign-out', reason: 'other-tab' });
    };
    watchPage(this.#life.signal, {
      onWake: () => this.#work.check(),
      onLeave: () => this.#keeper.forget(),
      onShownAgain: () => {
        if (this.#model.state === 'redirecting') dropTransactions();
        this.#dispatch({ type: 'shown-again' });
      },
    });
    if (isInteractive) this.#takeReturn(owner, times.transactionMs);
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
      signIn: (via) => session.#signIn(via, confirmRedirect),
      cancel: () => session.#dispatch({ type: 'cancel' }),
      signOut: () => session.#signOut(),
      close: () => session.#close(user),
      toJSON: () => session.#snapshot,
    });
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
    const { state } = this.#model;
    if (state === 'signed-in') this.#renew();
    else if (state === 'signed-out' || state === 'prompt') {
      const mayAsk = this.#settings.auth === 'auto' && state === 'signed-out';
      const isHosted = this.#isHosted || (mayAsk && this.#question.ask(this.#model.reason));
      this.#dispatch({ type: 'need-token', isHosted });
    }
    this.#refresh();
  }

  #renew(): void {
    const { state, renewing, source, canSilent } = this.#model;
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

  #signIn(via: 'popup' | 'redirect' | undefined, confirmRedirect?: () => boolean): void {
    const { state, source } = this.#model;
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
    const isBlocked = way === 'popup' && !this.#flows.openPopup();
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
    this.#queue.push(event);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#step(next);
    } finally {
      this.#isRunning = false;
    }
    this.#refresh();
    if (this.#keeper.value !== undefined) for (const wake of this.#waiters) wake();
  }

  #step(event: AuthEvent): void {
    const before = { ...this.#model, isAlive: this.#keeper.value !== undefined };
    const { model, effects } = reduce(before, event);
    this.#model = model;
    if (model.generation !== before.generation) {
      this.#flow.abort();
      this.#flow = new AbortController();
    }
    if (model.renewing && !before.renewing) this.#brakes.count();
    const work = model.renewing ?? model.state;
    if (work !== 'silent' && work !== 'exchange') this.#flows.unlock();
    for (const effect of effects) this.#store(effect);
    this.#refresh();
    for (const change of changesBetween(before, model, event, this.#keeper.expiresAt)) this.#report(change);
    const { generation } = model;
    for (const effect of effects) {
      if (effect.type === 'require') this.#require(effect.reason);
      else
        this.#flows.run(effect, this.#flow.signal, (outcome) =>
          this.#dispatch({ ...outcome, generation } as AuthEvent),
        );
    }
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
    const snapshot = createSnapshot(this.#model, this.#settings.auth, this.#waiters.size > 0, this.#snapshot);
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

  /** Takes out at once what the page was loaded with; tells of it when there is somebody to hear. */
  #takeReturn(owner: string, transactionMs: number): void {
    let event: AuthEvent | undefined;
    try {
      const grant = takeReturn(this.#settings, this.#flows.redirectUri, owner, transactionMs);
      if (grant) event = { type: 'returned', grant };
    } catch (error) {
      const { code } = toUploaderError(error, 'authorize-failed', 'The answer could not be read');
      if (code !== 'bad-config') event = { type: 'unable', error: { code } };
    }
    const found = event;
    if (found) queueMicrotask(() => this.#dispatch(found));
  }
}
