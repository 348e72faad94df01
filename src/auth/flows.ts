// Carries out what the sign-in table asks for: asks the page, opens windows and frames, redeems codes, waits. Whatever
// comes of it goes back as an event; it decides nothing and keeps no token.

import type { TokenInput } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import { toUploaderError, UploaderError } from '../core/errors.ts';
import { abortable, sleep } from '../core/wait.ts';
import { type Clock, readBearer } from './bearer.ts';

import type { AuthEvent, Effect, Failure, FlowEvent, Grant, Reason } from './machine-types.ts';
import type { Post } from './post.ts';
import {
  dropTransactions,
  type Returned,
  readRedirectUri,
  storeTransaction,
  takeReturn,
} from './redirect.ts';
import { runTimer } from './timers.ts';
import { type AuthTimes, coolMs } from './times.ts';

/** Says what came of an effect. */
export type Send = (event: FlowEvent) => void;

export interface FlowContext {
  readonly settings: Settings;
  readonly post: Post;
  readonly times: AuthTimes;
  readonly clock: Clock;
  /** Names the session in stored transactions, and in the lock that tabs share. */
  readonly owner: string;
  /** Asks the page by event; `undefined` where nobody answered while the event was dispatched. */
  readonly askPage: (reason: Reason) => Promise<TokenInput> | undefined;
}

/** What only a page without a token of its own needs, loaded when it is needed. */
const loadRounds = (): Promise<typeof import('./rounds.ts')> => import('./rounds.ts');

/** Opens the window, empty and at once, since only the task of the click may open one. `null` where it is refused. */
function openWindow(): Window | null {
  const width = 480;
  const height = 680;
  const left = Math.round(screenX + (outerWidth - width) / 2);
  const top = Math.round(screenY + (outerHeight - height) / 3);
  return window.open(
    'about:blank',
    '_blank',
    `popup,width=${width},height=${height},left=${left},top=${top}`,
  );
}

export class Flows {
  readonly #context: FlowContext;
  #redirectUri: string | undefined;
  /** What the next round with the person asks for beside the usual: a stronger proof, an identity provider. */
  #demands: Readonly<Record<string, string>> = {};
  #idpId: string | undefined;
  #opened: Window | null = null;
  #popup: Window | null = null;
  #grant: Grant | undefined;
  #coolings = 0;
  #locking: { readonly ready: Promise<void>; readonly release: () => void } | undefined;

  constructor(context: FlowContext) {
    this.#context = context;
  }

  /** Computed once, so that it is the same string in every round. Throws `bad-config`. */
  get redirectUri(): string {
    this.#redirectUri ??= readRedirectUri(this.#context.settings);
    return this.#redirectUri;
  }

  /** Opens a window for the next `run-popup`; false where the browser refused. To be called in the click's own task. */
  openPopup(idpId?: string): boolean {
    this.#idpId = idpId;
    this.#opened = openWindow();
    return this.#opened !== null;
  }

  /** Lets the next round with the person ask for a stronger proof. */
  demand(proof: Readonly<Record<string, string>>): void {
    this.#demands = proof;
  }

  get #extra(): Record<string, string> {
    return { ...this.#demands, ...(this.#idpId !== undefined && { idp_id: this.#idpId }) };
  }

  /** Brings a window that is still open to the front; false where there is none to bring. */
  focusPopup(): boolean {
    if (!this.#popup || this.#popup.closed) return false;
    this.#popup.focus();
    return true;
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
  takeReturn(): Promise<AuthEvent> | undefined {
    const { owner, times } = this.#context;
    const unable = (error: unknown): AuthEvent => {
      const { code } = toUploaderError(error, 'authorize-failed', 'The answer could not be read');
      return { type: 'unable', error: { code } };
    };
    if (this.check()) return undefined;
    try {
      const returned = takeReturn(this.redirectUri, owner, times.transactionMs);
      return returned && this.#readReturn(returned).catch(unable);
    } catch (error) {
      return Promise.resolve(unable(error));
    }
  }

  async #readReturn(returned: Returned): Promise<AuthEvent> {
    const { readAnswer } = await loadRounds();
    const grant = readAnswer(this.#context.settings, returned.params, returned, 'redirect');
    return { type: 'returned', grant };
  }

  run(effect: Effect, signal: AbortSignal, send: Send): void {
    const fail = (error: unknown): void => {
      if (signal.aborted) return;
      const { code, status } = toUploaderError(error, 'authorize-failed', 'Signing in failed');
      send({ type: 'failed', error: status === undefined ? { code } : { code, status } });
    };
    switch (effect.type) {
      case 'deadline':
      case 'cool': {
        // Waiting for another tab to finish is no delay of this try.
        const isLocked = effect.type === 'deadline' && (effect.of === 'silent' || effect.of === 'exchange');
        const begin = isLocked ? this.#lock() : Promise.resolve();
        begin.then(
          () => runTimer(effect, this.#context.times, signal, send),
          () => undefined,
        );
        break;
      }
      case 'ask-host':
        this.#askHost(effect.reason, signal, send).catch(fail);
        break;
      case 'try-silent':
        this.#trySilent(signal, send).catch(fail);
        break;
      case 'run-popup':
        this.#coolings = 0;
        this.#runPopup(signal, send).catch((error) => {
          if (!signal.aborted) this.#popup?.close();
          fail(error);
        });
        break;
      case 'close-popup':
        this.#popup?.close();
        break;
      case 'redirect':
        this.#redirect(signal).catch(fail);
        break;
      case 'redeem':
        this.#grant = effect.grant;
        this.#redeem(effect.grant, signal, send).catch(fail);
        break;
      case 'redeem-again':
        if (this.#grant) this.#redeem(this.#grant, signal, send).catch(fail);
        break;
    }
  }

  async #askHost(reason: Reason, signal: AbortSignal, send: Send): Promise<void> {
    const { settings, askPage, times, clock } = this.#context;
    let input: TokenInput | undefined;
    try {
      const asked = settings.getToken ? settings.getToken(reason, signal) : askPage(reason);
      input = await abortable(Promise.resolve(asked), signal);
    } catch (cause) {
      throw new UploaderError('host-token-failed', 'getToken failed', { cause });
    }
    if (input === undefined) throw new UploaderError('host-token-failed', 'No token was given');
    const bearer = readBearer(input, {
      nowMs: Date.now(),
      offsetMs: clock.offsetMs,
      assumedLifetimeMs: times.assumedLifetimeMs,
    });
    if (!bearer) throw new UploaderError('token-malformed', 'This is no token');
    send({ type: 'host-token', bearer });
  }

  async #trySilent(signal: AbortSignal, send: Send): Promise<void> {
    const [{ trySilent }] = await Promise.all([loadRounds(), this.#lock()]);
    signal.throwIfAborted();
    const grant = await trySilent(this.#context.settings, this.redirectUri, signal);
    send({ type: 'code', grant });
  }

  async #runPopup(signal: AbortSignal, send: Send): Promise<void> {
    const { settings, times } = this.#context;
    if (this.#popup !== this.#opened) this.#popup?.close();
    const popup = this.#opened;
    this.#popup = popup;
    if (!popup) throw new UploaderError('popup-blocked', 'No window');
    const { runPopup } = await loadRounds();
    signal.throwIfAborted();
    const onClosed = (): void => send({ type: 'closed-reading' });
    const options = { signal, onClosed, pollMs: times.closedPollMs, graceMs: times.closedGraceMs };
    send({ type: 'code', grant: await runPopup(popup, settings, this.redirectUri, this.#extra, options) });
  }

  async #redirect(signal: AbortSignal): Promise<void> {
    const { settings, owner } = this.#context;
    const { createTransaction } = await loadRounds();
    const round = await createTransaction(settings, this.redirectUri, this.#extra);
    signal.throwIfAborted();
    dropTransactions();
    storeTransaction(round, owner);
    location.assign(round.url);
  }

  async #redeem(grant: Grant, signal: AbortSignal, send: Send): Promise<void> {
    const [{ redeem }] = await Promise.all([loadRounds(), this.#lock()]);
    signal.throwIfAborted();
    const { settings, post, clock, times } = this.#context;
    const { assumedLifetimeMs } = times;
    const outcome = await redeem(grant, { settings, post, clock, assumedLifetimeMs, signal });
    if (outcome.type !== 'rate-limited') {
      this.#grant = undefined;
      this.#coolings = 0;
      if (outcome.type === 'token') this.#demands = {};
      send(outcome);
      return;
    }
    send({ type: 'rate-limited', waitMs: coolMs(outcome.retryAfterMs, this.#coolings++, times) });
  }

  /** Keeps the tabs of this origin apart, for as long as no person is involved; without the platform's locks it waits for nobody. */
  #lock(): Promise<void> {
    if (this.#locking) return this.#locking.ready;
    if (!globalThis.navigator?.locks) return Promise.resolve();
    const waiting = new AbortController();
    let release = (): void => waiting.abort();
    const ready = new Promise<void>((resolve) => {
      const held = new Promise<void>((done) => {
        release = () => {
          waiting.abort();
          done();
        };
      });
      const name = `secure-uploader:auth:${this.#context.owner}`;
      navigator.locks
        .request(name, { signal: waiting.signal }, () => {
          resolve();
          return held;
        })
        // Given up by us, or refused (in a frame of another site): either way nothing is to be waited for.
        .catch(() => resolve());
      sleep(this.#context.times.lockMs, waiting.signal).then(resolve, resolve);
    });
    this.#locking = { ready, release: () => release() };
    return ready;
  }

  /** To be called when neither a silent try nor an exchange is under way. */
  unlock(): void {
    this.#locking?.release();
    this.#locking = undefined;
  }
}
