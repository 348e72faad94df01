// Carries out what the sign-in table asks for: asks the page, opens windows and frames, redeems codes, waits. Whatever
// comes of it goes back as an event; it decides nothing and keeps no token.

import type { TokenInput } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import { abortable, online, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { type Bearer, readBearer } from './bearer.ts';
import { type Lock, takeLock } from './lock.ts';
import type { AuthEvent, Effect, Failure, FlowEvent, Grant, Reason, Send } from './machine-types.ts';
import type { Transaction } from './pkce.ts';
import { type Post, toFailure } from './post.ts';
import { dropTransactions, readRedirectUri, storeTransaction, takeReturn } from './redirect.ts';
import { hasSignedOut } from './sign-out.ts';
import { type AuthTimes, coolMs } from './times.ts';

export interface FlowContext {
  readonly settings: Settings;
  readonly post: Post;
  readonly times: AuthTimes;
  /** Names the session in stored transactions, and in the lock that tabs share. */
  readonly owner: string;
  /** Asks the page by event; `undefined` where nobody answered while the event was dispatched. */
  readonly askPage: (reason: Reason) => Promise<TokenInput> | undefined;
  /** False where the token is not that of the person who signed in before. */
  readonly fits: (bearer: Bearer) => boolean;
  /** How many tries have come to nothing in a row. */
  readonly coolings: () => number;
}

/** States whose deadline is not that of a single request. */
const DEADLINES: { readonly [S in AuthState]?: keyof AuthTimes } = {
  'asking-host': 'hostMs',
  silent: 'silentMs',
  popup: 'popupMs',
  redirecting: 'redirectMs',
  choose: 'challengeMs',
  answer: 'challengeMs',
  wait: 'challengeMs',
};

/** What only a page without a token of its own needs, loaded when it is needed. */
const loadRounds = (): Promise<typeof import('./rounds.ts')> => import('./rounds.ts');

/** Opens the window, empty and at once, since only the task of the click may open one. `null` where it is refused. */
function openWindow(): Window | null {
  const width = 480;
  const height = 680;
  const left = Math.round(screenX + (outerWidth - width) / 2);
  const top = Math.round(screenY + (outerHeight - height) / 3);
  const place = `popup,width=${width},height=${height},left=${left},top=${top}`;
  return window.open('about:blank', '_blank', place);
}

/** What the page threw is not printed: its text may hold a token. */
function warnOfPage({ message, cause }: Error): void {
  warnOnceHere(
    `the page gave no usable token: ${message}${cause instanceof Error ? ` (${cause.name})` : ''}.`,
  );
}

/** What the effects of the table do, but for those of a form. */
export class Flows {
  readonly #context: FlowContext;
  #redirectUri: string | undefined;
  /** What the next round with the person asks for beside the usual: a stronger proof, an identity provider. */
  #proof: Readonly<Record<string, string>> = {};
  #idpId: string | undefined;
  #popup: Window | undefined;
  #grant: Grant | undefined;
  #lock: Lock | undefined;

  constructor(context: FlowContext) {
    this.#context = context;
  }

  /** Computed once, so that it is the same string in every round. Throws `bad-config`. */
  get redirectUri(): string {
    this.#redirectUri ??= readRedirectUri(this.#context.settings);
    return this.#redirectUri;
  }

  /** Begins a round with the person. */
  async begin(): Promise<Transaction> {
    const { createTransaction } = await loadRounds();
    const { settings } = this.#context;
    const { promptAfterSignOut = 'login' } = settings.authOptions;
    const extra = {
      ...(hasSignedOut(settings) && { prompt: promptAfterSignOut }),
      ...this.#proof,
      ...(this.#idpId !== undefined && { idp_id: this.#idpId }),
    };
    return createTransaction(settings, this.redirectUri, extra);
  }

  /** Opens a window for the next `run-popup`; false where the browser refused. To be called in the click's own task. */
  openPopup(idpId?: string): boolean {
    this.#idpId = idpId;
    const popup = openWindow();
    if (!popup) return false;
    this.#popup?.close();
    this.#popup = popup;
    return true;
  }

  /** Brings a window that is still open to the front; false where there is none to bring. */
  focusPopup(): boolean {
    if (!this.#popup || this.#popup.closed) return false;
    this.#popup.focus();
    return true;
  }

  /** The window is the person's own from now on. */
  leavePopup(): void {
    this.#popup = undefined;
  }

  /** Lets the next round with the person ask for a stronger proof. */
  demand(proof: Readonly<Record<string, string>>): void {
    this.#proof = proof;
  }

  /** What keeps a round from beginning here at all, if anything does. */
  check(): Failure | undefined {
    if (!globalThis.crypto?.subtle) return { code: 'insecure-context' };
    try {
      return this.redirectUri ? undefined : { code: 'bad-config' };
    } catch {
      return { code: 'bad-config' };
    }
  }

  /** What the page was loaded with, if that is an answer to a round of this session; out of the address from now on. */
  async takeReturn(): Promise<AuthEvent | undefined> {
    if (this.check()) return undefined;
    const { owner, times, settings } = this.#context;
    try {
      // Before anything is waited for, so that nobody else can take it.
      const returned = takeReturn(this.redirectUri, owner, times.transactionMs);
      if (!returned) return undefined;
      const { readAnswer } = await loadRounds();
      return { type: 'returned', grant: readAnswer(settings, returned.params, returned, 'redirect') };
    } catch (error) {
      return { type: 'unable', error: toFailure(error, 'authorize-failed') };
    }
  }

  /** Carries out one effect; ends without a word when the signal is aborted. */
  run(effect: Effect, signal: AbortSignal, send: Send): void {
    this.#run(effect, signal, send).catch((error: unknown) => {
      if (signal.aborted) return;
      if (effect.type === 'ask-host') warnOfPage(error as Error);
      send({ type: 'failed', error: toFailure(error, 'authorize-failed') });
    });
  }

  async #run(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    const { times } = this.#context;
    switch (effect.type) {
      case 'deadline':
        // Waiting for the line, or for another tab to finish, is no delay of this try.
        if (effect.of === 'silent' || effect.of === 'exchange') await this.#turn(signal);
        await sleep(times[DEADLINES[effect.of] ?? 'requestMs'], signal);
        if (effect.of === 'silent' || effect.of === 'popup') this.#warnOfSilence();
        if (effect.of !== 'exchange') return send({ type: 'deadline' });
        return send({ type: 'burnt', error: { code: 'timeout' }, waitMs: this.#pauseMs() });
      case 'cool':
        await sleep(effect.ms, signal);
        await online(signal);
        return send({ type: 'elapsed' });
      case 'ask-host':
        return send(await this.#askHost(effect.reason, signal));
      case 'try-silent':
        return send({ type: 'code', grant: await this.#trySilent(signal) });
      case 'run-popup':
        return send({ type: 'code', grant: await this.#runPopup(signal, send) });
      case 'redirect':
        return this.#redirect(signal);
      case 'redeem':
        this.#grant = effect.grant;
        return this.#redeem(effect.grant, signal, send);
      case 'redeem-again':
        return this.#grant && this.#redeem(this.#grant, signal, send);
    }
  }

  async #askHost(reason: Reason, signal: AbortSignal): Promise<FlowEvent> {
    const { settings, askPage, times } = this.#context;
    let input: TokenInput | undefined;
    try {
      const asked = settings.getToken ? settings.getToken(reason, signal) : askPage(reason);
      input = await abortable(Promise.resolve(asked), signal);
    } catch (cause) {
      throw new UploaderError('host-token-failed', 'getToken failed', { cause });
    }
    if (input === undefined) throw new UploaderError('host-token-failed', 'No token was given');
    return this.#arrived('host-token', readBearer(input, times.assumedLifetimeMs, settings.authOptions));
  }

  /** The event for a token that came: another person's is not taken, and the next round asks who is there. */
  #arrived(type: 'host-token' | 'token', bearer: Bearer | undefined): FlowEvent {
    if (!bearer)
      throw new UploaderError('token-malformed', 'This is no token, nor an object with one as token');
    if (this.#context.fits(bearer)) return { type, bearer };
    this.#proof = { prompt: 'login' };
    return { type: 'other-person' };
  }

  async #trySilent(signal: AbortSignal): Promise<Grant> {
    await this.#turn(signal);
    const { trySilent } = await loadRounds();
    signal.throwIfAborted();
    return trySilent(this.#context.settings, this.redirectUri, signal);
  }

  async #runPopup(signal: AbortSignal, send: Send): Promise<Grant> {
    const { settings, times } = this.#context;
    const popup = this.#popup;
    if (!popup) throw new UploaderError('popup-blocked', 'No window');
    const onClosed = (): void => send({ type: 'closed-reading' });
    const options = { signal, onClosed, pollMs: times.closedPollMs, graceMs: times.closedGraceMs };
    try {
      const [{ runPopup }, round] = await Promise.all([loadRounds(), this.begin()]);
      signal.throwIfAborted();
      return await runPopup(popup, settings, round, options);
    } finally {
      // Its round is over, so whatever it still shows would lead nowhere.
      if (this.#popup === popup) popup.close();
    }
  }

  async #redirect(signal: AbortSignal): Promise<void> {
    const round = await this.begin();
    signal.throwIfAborted();
    dropTransactions();
    storeTransaction(round, this.#context.owner);
    location.assign(round.url);
  }

  async #redeem(grant: Grant, signal: AbortSignal, send: Send): Promise<void> {
    await this.#turn(signal);
    const { redeem } = await loadRounds();
    signal.throwIfAborted();
    const { settings, post, times } = this.#context;
    const { assumedLifetimeMs } = times;
    const outcome = await redeem(grant, { settings, post, assumedLifetimeMs, signal });
    if (outcome.type === 'rate-limited')
      return send({ type: 'rate-limited', waitMs: this.#pauseMs(outcome.retryAfterMs) });
    this.#grant = undefined;
    if (outcome.type === 'burnt') return send({ ...outcome, waitMs: this.#pauseMs() });
    if (outcome.type === 'failed') return send(outcome);
    this.#proof = {};
    send(this.#arrived('token', outcome.bearer));
  }

  /** A wrong client id or address usually ends in an error page of the service, of which this page sees nothing. */
  #warnOfSilence(): void {
    const { clientId } = this.#context.settings;
    warnOnceHere(
      `signing in got no answer. Check that the service knows client-id "${clientId}", that ${this.redirectUri} is registered there ` +
        'as its redirect address, and that the callback page is at that address.',
    );
  }

  #pauseMs(toldMs?: number): number {
    return coolMs(toldMs, this.#context.coolings(), this.#context.times);
  }

  /**
   * Resolves when there is a line, and no other tab of this origin is at it; without the platform's locks nobody is waited for. To be
   * ended by `unlock`.
   */
  async #turn(signal: AbortSignal): Promise<void> {
    await online(signal);
    this.#lock ??= takeLock(`secure-uploader:auth:${this.#context.owner}`, this.#context.times.lockMs);
    await this.#lock.ready;
    signal.throwIfAborted();
  }

  /** To be called when neither a silent try nor an exchange is under way. */
  unlock(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }
}
