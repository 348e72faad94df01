// Runs the effects of the sign-in table, except those of the form, and sends each outcome back as an event. It decides nothing and
// keeps no token.

import type { TokenInput } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import { abortable, online, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { type Bearer, readBearer } from './bearer.ts';
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
  /** Names the session in stored transactions and in the lock of all tabs. */
  readonly owner: string;
  /** Dispatches `auth-required`; `undefined` if no listener answered. */
  readonly askPage: (reason: Reason) => Promise<TokenInput> | undefined;
  /** False if the token belongs to another user than the one before. */
  readonly fits: (bearer: Bearer) => boolean;
  /** Number of failed tries in a row. */
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

const loadRounds = (): Promise<typeof import('./rounds.ts')> => import('./rounds.ts');

/** Only the task of the click may open a window, so it opens empty and at once. `null` if the browser refused. */
function openWindow(): Window | null {
  const left = Math.round(screenX + (outerWidth - 480) / 2);
  const top = Math.round(screenY + (outerHeight - 680) / 3);
  return window.open('about:blank', '_blank', `popup,width=480,height=680,left=${left},top=${top}`);
}

/**
 * Resolves when the lock is held, after `longestMs`, or if it is not available (in a frame of another site). Aborting releases it.
 */
const takeLock = (name: string, longestMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (!navigator.locks) return resolve();
    const hold = (): Promise<void> => {
      resolve();
      return new Promise((done) => signal.addEventListener('abort', () => done()));
    };
    navigator.locks.request(name, { signal }, hold).catch(() => resolve());
    sleep(longestMs, signal).then(resolve, resolve);
  });

export type Flows = ReturnType<typeof createFlows>;

export function createFlows({ settings, post, times, owner, askPage, fits, coolings }: FlowContext) {
  let redirectUri: string | undefined;
  /** Extra parameters of the next interactive round: `prompt`, or those of a step-up. */
  let proof: Readonly<Record<string, string>> = {};
  let idp: string | undefined;
  let popup: Window | undefined;
  let grant: Grant | undefined;
  let lock: AbortController | undefined;
  let locked: Promise<void> | undefined;

  /** Read once, so that it is the same in every round. Throws `bad-config`. */
  const readUri = (): string => {
    redirectUri ??= readRedirectUri(settings);
    return redirectUri;
  };

  const pauseMs = (toldMs?: number): number => coolMs(toldMs, coolings(), times);

  /** What prevents a round on this page, if anything. */
  function check(): Failure | undefined {
    if (!globalThis.crypto?.subtle) return { code: 'insecure-context' };
    try {
      readUri();
      return undefined;
    } catch {
      return { code: 'bad-config' };
    }
  }

  /** Starts a round with the user. */
  async function begin(): Promise<Transaction> {
    const { createTransaction } = await loadRounds();
    const prompt = settings.authOptions.promptAfterSignOut ?? 'login';
    return createTransaction(settings, readUri(), {
      ...(hasSignedOut(settings) && { prompt }),
      ...proof,
      ...(idp !== undefined && { idp_id: idp }),
    });
  }

  /** Waits for the network and for other tabs of this origin. `unlock` ends the turn. */
  async function turn(signal: AbortSignal): Promise<void> {
    await online(signal);
    lock ??= new AbortController();
    locked ??= takeLock(`secure-uploader:auth:${owner}`, times.lockMs, lock.signal);
    await locked;
    signal.throwIfAborted();
  }

  /** A token of another user is not taken, and the next round asks for a login. */
  function arrived(type: 'host-token' | 'token', bearer: Bearer | undefined): FlowEvent {
    if (!bearer)
      throw new UploaderError('token-malformed', 'This is no token, nor an object with one as token');
    if (fits(bearer)) return { type, bearer };
    proof = { prompt: 'login' };
    return { type: 'other-person' };
  }

  async function askHost(reason: Reason, signal: AbortSignal): Promise<FlowEvent> {
    let input: TokenInput | undefined;
    try {
      const asked = settings.getToken ? settings.getToken(reason, signal) : askPage(reason);
      input = await abortable(Promise.resolve(asked), signal);
    } catch (cause) {
      throw new UploaderError('host-token-failed', 'getToken failed', { cause });
    }
    if (input === undefined) throw new UploaderError('host-token-failed', 'No token was given');
    return arrived('host-token', readBearer(input, times.assumedLifetimeMs, settings.authOptions));
  }

  async function runWindow(signal: AbortSignal, send: Send): Promise<Grant> {
    const opened = popup;
    if (!opened) throw new UploaderError('popup-blocked', 'No window');
    const onClosed = (): void => send({ type: 'closed-reading' });
    const options = { signal, onClosed, pollMs: times.closedPollMs, graceMs: times.closedGraceMs };
    try {
      const [{ runPopup }, round] = await Promise.all([loadRounds(), begin()]);
      signal.throwIfAborted();
      return await runPopup(opened, settings, round, options);
    } finally {
      if (popup === opened) opened.close();
    }
  }

  async function redeemGrant(grantToRedeem: Grant, signal: AbortSignal, send: Send): Promise<void> {
    await turn(signal);
    const { redeem } = await loadRounds();
    signal.throwIfAborted();
    const { assumedLifetimeMs } = times;
    const outcome = await redeem(grantToRedeem, { settings, post, assumedLifetimeMs, signal });
    if (outcome.type === 'rate-limited')
      return send({ type: 'rate-limited', waitMs: pauseMs(outcome.retryAfterMs) });
    grant = undefined;
    if (outcome.type === 'burnt') return send({ ...outcome, waitMs: pauseMs() });
    if (outcome.type === 'failed') return send(outcome);
    proof = {};
    send(arrived('token', outcome.bearer));
  }

  async function runEffect(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    switch (effect.type) {
      case 'deadline': {
        const { of } = effect;
        // Waiting for the network or for another tab does not count.
        if (of === 'silent' || of === 'exchange') await turn(signal);
        await sleep(times[DEADLINES[of] ?? 'requestMs'], signal);
        // A wrong client id or address ends in an error page of the service, which this page cannot see.
        if (of === 'silent' || of === 'popup')
          warnOnceHere(
            `sign-in got no answer. Check that client-id "${settings.clientId}" and the redirect address ${readUri()} are registered with the service.`,
          );
        if (of !== 'exchange') return send({ type: 'deadline' });
        return send({ type: 'burnt', error: { code: 'timeout' }, waitMs: pauseMs() });
      }
      case 'cool':
        await sleep(effect.ms, signal);
        await online(signal);
        return send({ type: 'elapsed' });
      case 'ask-host':
        return send(await askHost(effect.reason, signal));
      case 'try-silent': {
        await turn(signal);
        const { trySilent } = await loadRounds();
        signal.throwIfAborted();
        return send({ type: 'code', grant: await trySilent(settings, readUri(), signal) });
      }
      case 'run-popup':
        return send({ type: 'code', grant: await runWindow(signal, send) });
      case 'redirect': {
        const round = await begin();
        signal.throwIfAborted();
        dropTransactions();
        storeTransaction(round, owner);
        return location.assign(round.url);
      }
      case 'redeem':
        grant = effect.grant;
        return redeemGrant(grant, signal, send);
      case 'redeem-again':
        return grant && redeemGrant(grant, signal, send);
    }
  }

  return {
    get redirectUri() {
      return readUri();
    },
    begin,
    check,
    /** Opens the window of the next `run-popup`; false if the browser refused. Call it in the task of the click. */
    openPopup(idpId?: string): boolean {
      idp = idpId;
      const opened = openWindow();
      if (!opened) return false;
      popup?.close();
      popup = opened;
      return true;
    },
    /** Brings the open window to the front; false if there is none. */
    focusPopup(): boolean {
      if (!popup || popup.closed) return false;
      popup.focus();
      return true;
    },
    /** The window is not closed from here any more. */
    leavePopup(): void {
      popup = undefined;
    },
    demand(wanted: Readonly<Record<string, string>>): void {
      proof = wanted;
    },
    /** Takes the answer that the page was loaded with, if it belongs to this session, and removes it from the address. */
    async takeReturn(): Promise<AuthEvent | undefined> {
      if (check()) return undefined;
      try {
        // Synchronous, so that no other session can take it first.
        const returned = takeReturn(readUri(), owner, times.transactionMs);
        if (!returned) return undefined;
        const { readAnswer } = await loadRounds();
        return { type: 'returned', grant: readAnswer(settings, returned.params, returned, 'redirect') };
      } catch (error) {
        return { type: 'unable', error: toFailure(error, 'authorize-failed') };
      }
    },
    /** Runs one effect; sends nothing after `signal` is aborted. */
    run(effect: Effect, signal: AbortSignal, send: Send): void {
      runEffect(effect, signal, send).catch((error: unknown) => {
        if (signal.aborted) return;
        if (effect.type === 'ask-host') {
          const { message, cause } = error as Error;
          // What the page threw is not printed: its text may hold a token.
          const name = cause instanceof Error ? ` (${cause.name})` : '';
          warnOnceHere(`the page gave no usable token: ${message}${name}.`);
        }
        send({ type: 'failed', error: toFailure(error, 'authorize-failed') });
      });
    },
    /** Ends the turn, when neither a silent try nor an exchange is running. */
    unlock(): void {
      lock?.abort();
      lock = locked = undefined;
    },
  };
}
