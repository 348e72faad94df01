// Runs the effects of the sign-in table, but not those of the form (`form.ts`). Sends each outcome to the table as an event.

import type { TokenInput } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import { abortable, online, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { type Bearer, readBearer } from './bearer.ts';
import type { AuthEvent, Effect, Failure, FlowEvent, Reason, Send } from './machine-types.ts';
import type { Transaction } from './pkce.ts';
import { type Post, toFailure } from './post.ts';
import { readRedirectUri, takeReturn } from './redirect.ts';
import type { RoundContext } from './round-effects.ts';
import { type AuthTimes, coolMs } from './times.ts';

export interface FlowContext {
  readonly settings: Settings;
  readonly post: Post;
  readonly times: AuthTimes;
  /** Name of the session in stored authorization requests, and in the lock that all tabs share. */
  readonly owner: string;
  /** Returns the token that a listener of `auth-required` provided; `undefined` if no listener responded. */
  readonly askPage: (reason: Reason) => Promise<TokenInput> | undefined;
  /** Returns false if the token's user is not the user of the previous token. */
  readonly fits: (bearer: Bearer) => boolean;
  /** Returns the number of failures in a row. */
  readonly coolings: () => number;
}

/** Names of the deadlines of states. `round-effects.ts` has those of authorization requests. */
const DEADLINES: { readonly [S in AuthState]?: keyof AuthTimes } = {
  'asking-host': 'hostMs',
  login: 'requestMs',
  start: 'requestMs',
  verify: 'requestMs',
  choose: 'challengeMs',
  answer: 'challengeMs',
  wait: 'challengeMs',
};

/** Time after which silent sign-in is tried although the browser says that it is offline. */
const OFFLINE_MS = 20_000;

/** Opens an empty window; returns `null` if the browser blocks the window. Must run synchronously in the click handler. */
function openWindow(): Window | null {
  const left = Math.round(screenX + (outerWidth - 480) / 2);
  const top = Math.round(screenY + (outerHeight - 680) / 3);
  return window.open('about:blank', '_blank', `popup,width=480,height=680,left=${left},top=${top}`);
}

export type Flows = ReturnType<typeof createFlows>;

export function createFlows(context: FlowContext) {
  const { settings, times, askPage, fits, coolings } = context;
  let uri: string | undefined;
  const round: RoundContext = {
    ...context,
    /**
     * Returns the redirect URI. Reads the URI only once, so that all authorization requests use the same value. Throws
     * `bad-config`.
     */
    redirectUri: () => {
      uri ??= readRedirectUri(settings);
      return uri;
    },
    pauseMs: (retryAfterMs) => coolMs(retryAfterMs, coolings(), times),
    arrived,
    read: (input) => readBearer(input, times.assumedLifetimeMs, settings.authOptions),
    proof: '',
    idp: undefined,
    popup: undefined,
    grant: undefined,
    lock: undefined,
    locked: undefined,
  };
  const { redirectUri, read } = round;

  const loadRounds = (): Promise<typeof import('./round-effects.ts')> =>
    abortable(import('./round-effects.ts'), AbortSignal.timeout(times.requestMs));

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
   * Returns the event for a new token. For the token of another user, the event is `other-user`, and the next authorization request
   * requires a login. Throws `token-malformed` if `bearer` is missing.
   */
  function arrived(type: 'host-token' | 'token', bearer: Bearer | undefined): FlowEvent {
    if (!bearer)
      throw new UploaderError('token-malformed', 'Expected a token string or an object with a token');
    if (fits(bearer)) return { type, bearer };
    round.proof = 'login';
    return { type: 'other-user' };
  }

  async function askHost(reason: Reason, signal: AbortSignal): Promise<FlowEvent> {
    let input: TokenInput | undefined;
    try {
      const asked = settings.getToken ? settings.getToken(reason, signal) : askPage(reason);
      input = await abortable(Promise.resolve(asked), signal);
    } catch (cause) {
      throw new UploaderError('host-token-failed', 'getToken failed', { cause });
    }
    if (input === undefined) throw new UploaderError('host-token-failed', 'No token was provided');
    return arrived('host-token', read(input));
  }

  async function runRound(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    const { popup } = round;
    try {
      const { runRound } = await abortable(loadRounds(), signal);
      await runRound(effect, round, signal, send);
    } finally {
      if (effect.type === 'run-popup' && round.popup === popup) popup?.close();
    }
  }

  async function runEffect(effect: Effect, signal: AbortSignal, send: Send): Promise<void> {
    switch (effect.type) {
      case 'deadline': {
        const name = DEADLINES[effect.of];
        if (!name) return runRound(effect, signal, send);
        await sleep(times[name], signal);
        return send({ type: 'deadline' });
      }
      case 'cool':
        await sleep(effect.ms, signal);
        await online(OFFLINE_MS, signal);
        return send({ type: 'elapsed' });
      case 'ask-host':
        return send(await askHost(effect.reason, signal));
      case 'try-silent':
      case 'run-popup':
      case 'redirect':
      case 'redeem':
      case 'redeem-again':
        return runRound(effect, signal, send);
    }
  }

  return {
    check,
    /** Loads the code for requests early: a page may stay open until a new release has replaced its files. */
    preload: () => void loadRounds().catch(() => undefined),
    /** Creates an interactive authorization request. */
    begin: async (): Promise<Transaction> => (await loadRounds()).begin(round),
    /**
     * Opens the window for the next `run-popup`. Returns false if the browser blocks the window. Call this method synchronously in
     * the click handler.
     */
    openPopup(idpId?: string): boolean {
      round.idp = idpId;
      const opened = openWindow();
      if (!opened) return false;
      round.popup?.close();
      round.popup = opened;
      return true;
    },
    /** Brings the sign-in window to the front. Returns false if no window is open. */
    focusPopup(): boolean {
      if (!round.popup || round.popup.closed) return false;
      round.popup.focus();
      return true;
    },
    /** Forgets the sign-in window without closing it. */
    leavePopup(): void {
      round.popup = undefined;
    },
    /** Forgets the code that may be sent once more. */
    forget(): void {
      round.grant = undefined;
    },
    /** Adds the demands of this `WWW-Authenticate` header to the next authorization request. */
    demand(header: string): void {
      round.proof = header;
    },
    /** Takes the authorization response that the callback page has stored for this session; `undefined` if there is none. */
    async takeReturn(): Promise<AuthEvent | undefined> {
      const returned = takeReturn(context.owner);
      if (!returned) return undefined;
      try {
        const { readReturn } = await loadRounds();
        return { type: 'returned', grant: readReturn(returned, round) };
      } catch (error) {
        return { type: 'unable', error: toFailure(error, 'authorize-failed') };
      }
    },
    /** Runs one effect. Sends no event after `signal` is aborted. */
    run(effect: Effect, signal: AbortSignal, send: Send): void {
      runEffect(effect, signal, send).catch((error: unknown) => {
        if (signal.aborted) return;
        if (effect.type === 'ask-host') {
          const { message, cause } = error as Error;
          // The message of an error from the page may contain a token, so only the name of the error is printed.
          const name = cause instanceof Error ? ` (${cause.name})` : '';
          warnOnceHere(`No valid token from the page: ${message}${name}.`);
        }
        send({ type: 'failed', error: toFailure(error, 'authorize-failed') });
      });
    },
    /** Releases the lock that all tabs share. Call this method when no silent request and no exchange is running. */
    unlock(): void {
      round.lock?.abort();
      round.lock = round.locked = undefined;
    },
  };
}
