// Types of sign-in: the table (model, events and effects), tokens, requests, the session and its form. Imports no other file of
// this folder. Events and effects may carry codes, but no token; the model carries no secret.

import type { Post } from '../core/auth-options.ts';
import type { AuthTimes } from '../core/auth-times.ts';
import type { Report, TokenInput } from '../core/changes.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Machine } from '../core/machine.ts';
import type { Settings } from '../core/settings-table.ts';
import type { AuthSnapshot, AuthState, WithToken } from '../core/types.ts';
import type { CurrentUser } from '../core/user.ts';

/** Reason why a token is needed. */
export type Reason = 'first' | 'expired' | 'rejected';

export interface Failure {
  readonly code: ErrorCode;
  readonly retryAfterMs?: number;
  readonly status?: number;
}

/** An authorization code with its PKCE verifier. Secret; can be exchanged once. */
export interface Grant {
  readonly code: string;
  readonly verifier: string;
  readonly via: 'silent' | 'popup' | 'redirect' | 'form';
}

/** A token of the user. Secret: never log or store a token. */
export interface Bearer {
  readonly value: string;
  /** Time from reading the token to the token's expiry; at most 30 days. */
  readonly lifetimeMs: number;
  /** True if the token came without a credible expiry. `lifetimeMs` is then a guess: it sets the time of the renewal only. */
  readonly isAssumed: boolean;
  /** User of the token: the value of the field that `sameUserField` or `ownerField` names. */
  readonly user?: string;
}

/** A token in an event or an effect. Only the session can take the token out, once (`takeToken()`). */
export interface SealedToken {
  readonly lifetimeMs: number;
}

/** An authorization request. `state` and `verifier` are secret. */
export interface Transaction {
  readonly state: string;
  readonly verifier: string;
  /** S256 code challenge for `verifier`. */
  readonly challenge: string;
  readonly url: string;
  readonly origin: string;
}

export interface CallContext {
  readonly settings: Settings;
  readonly post: Post;
  readonly signal: AbortSignal;
}

/** A method for answering a challenge. */
export interface Method {
  /** Name of the method on the service; sent back unchanged. */
  readonly id: string;
  readonly family: 'passkey' | 'push' | 'totp' | 'email' | 'sms' | 'recovery' | 'code';
  /** `label` and `hint` are texts from the service. */
  readonly label?: string;
  readonly hint?: string;
  /** True if the service must act before the user can answer: send a code, notify a phone, or create passkey options. */
  readonly needsStart: boolean;
}

export interface Hints {
  /** Masked email address or phone number that a code was sent to. */
  readonly delivery?: string;
  readonly codeLength?: number;
  readonly codeKind?: 'numeric' | 'alphanumeric';
  readonly attemptsLeft?: number;
  /** Number that the user selects on the phone. */
  readonly number?: string;
  /** Time from which another code may be requested, epoch milliseconds. */
  readonly resendAtMs?: number;
  /** Time when the challenge expires, epoch milliseconds. */
  readonly expiresAtMs?: number;
  readonly pollMs?: number;
  /** Options of the WebAuthn request, as JSON. */
  readonly publicKey?: Readonly<Record<string, unknown>>;
}

/** A challenge without the challenge token, which is secret. */
export interface Challenge extends Hints {
  readonly methods: readonly Method[];
  readonly method?: Method;
}

export interface AuthModel {
  readonly state: AuthState;
  /** Number that increases when a state is entered. Events from effects contain this number, so that late events can be dropped. */
  readonly generation: number;
  /** A step that runs in the background: of a renewal while `state` is `signed-in`; of another request to the page in `prompt`. */
  readonly background?: 'asking-host' | 'silent' | 'exchange' | 'cooling' | undefined;
  /** True if the token can be used for another call. Updated before each event, like the next six fields. */
  readonly isAlive: boolean;
  /** True if a call has succeeded since the last token arrived. */
  readonly isProven: boolean;
  readonly isOffline: boolean;
  /** What the last calls show about the service: it responds, it does not, or neither is known. */
  readonly service: 'up' | 'down' | 'unknown';
  /** True if a call waits for a token. */
  readonly hasWaiters: boolean;
  /** The current time, by `performance.now()`. */
  readonly nowMs: number;
  /** Random factor of the next delay, so that clients do not all retry at once. */
  readonly jitter: number;
  /** Source of the current token and of the next token: the page or the service. */
  readonly source: 'page' | 'service';
  readonly reason: Reason;
  /**
   * Whether sign-in in a hidden frame may work. `off`: the browser or the settings forbid it. `expected`: the user has signed in,
   * so that a frame must find the service's session. `blind`: a frame did not find that session, because the browser keeps the
   * cookies of frames separate.
   */
  readonly frames: 'off' | 'allowed' | 'expected' | 'blind';
  /** True on the service's own page, where sign-in ends with a session instead of a token. */
  readonly isSessionEnough: boolean;
  /**
   * Shows if the user has signed out. `now`: while this page was open; no token is requested from the page until `allow()` or a
   * sign-in. `before`: earlier in this browser; only silent sign-in is prevented.
   */
  readonly signedOut: 'no' | 'now' | 'before';
  /** Sum of the delays after failures in a row, in milliseconds, without their jitter. */
  readonly waitedMs: number;
  /** Number of renewals of rejected tokens since the last successful call. */
  readonly fruitless: number;
  /** Time from which the token may be renewed, or in `prompt` the page asked again; by `performance.now()`. */
  readonly renewableAtMs: number;
  /**
   * True if the token could still be used when its last renewal started; false again if the service has asked for a delay. Other
   * delays of a renewal in a frame end with the token.
   */
  readonly isEarly: boolean;
  /** End of the time in which a failing page is asked again, before the user is asked. Present after the first failure in a row. */
  readonly triesEndAtMs?: number | undefined;
  /** State to return to after a delay. `exchange`: the same authorization code may be sent once more. */
  readonly cooledFrom?: AuthState;
  readonly times: AuthTimes;
  readonly error?: Failure | undefined;
  /** During silent sign-in: the error that led to it. */
  readonly cause?: Failure | undefined;
  readonly challenge?: Challenge | undefined;
}

/** Events sent by effects. An event may arrive after the state of its effect has ended. */
export type FlowEvent = Readonly<
  | { type: 'deadline' | 'elapsed' | 'closed-reading' }
  | { type: 'page-token' | 'token'; token: SealedToken }
  | { type: 'code'; grant: Grant }
  | { type: 'failed'; error: Failure }
  /** The new token belongs to a different user. */
  | { type: 'other-user' }
  /** The service may have used the code. */
  | { type: 'code-spent'; error: Failure }
  /** `waitMs`: the delay that the service requests. */
  | { type: 'rate-limited'; waitMs: number | undefined }
  /** The service has created a session, and the response has no code. (With a code, the event is `code`.) */
  | { type: 'established' }
  /** The service requires a challenge. `method` is present if there is only one method, or if the service chose a method. */
  | { type: 'challenged'; methods: readonly Method[]; method?: Method; hints: Hints }
  | { type: 'started'; hints: Hints }
  | { type: 'pending'; hints: Hints; isSlower: boolean }
  | { type: 'wrong'; hints: Hints }
  /** `denied`: the user declined on the phone. `expired`: the challenge is too old or used up. */
  | { type: 'denied' | 'expired' }
  /**
   * The credentials were refused, the account is locked, or only the service's own page supports the next step. From the page: it
   * has no token until the user acts.
   */
  | { type: 'refused'; error: Failure }
  /** No listener of `auth-required` has called `respondWith`. */
  | { type: 'unanswered'; error: Failure }
>;

export type AuthEvent =
  | (FlowEvent & { readonly generation: number })
  | Readonly<
      /** A call needs a token. `isFromPage`: the token is requested from the page. */
      | { type: 'need-token'; isFromPage: boolean }
      /** `isBlocked`: the browser blocked the window. */
      | { type: 'sign-in'; via: 'popup' | 'redirect' | 'page' | 'form'; isBlocked?: boolean }
      | { type: 'sign-out'; reason: 'user' | 'other-tab' }
      | { type: 'cancel' | 'disconnected' | 'shown-again' }
      /** `allow()` was called: the page may have a token now, and after a sign-out tokens may be requested from it again. */
      | { type: 'allowed' }
      /** `onStep` or an effect threw. */
      | { type: 'fault' }
      /** The token should be renewed. */
      | { type: 'renew-due'; reason: 'expired' | 'rejected' }
      /** The page was loaded with the response to a stored authorization request. */
      | { type: 'returned'; grant: Grant }
      /** Sign-in cannot start or continue because of an unexpected response or wrong settings. */
      | { type: 'unable'; error: Failure }
      /** The service demands stronger authentication (RFC 9470). */
      | { type: 'step-up' }
      | { type: 'pick'; method: Method }
      | { type: 'submit-login' | 'submit' | 'resend' | 'other-method' }
    >;

export type Send = (outcome: FlowEvent) => void;

export type Effect = Readonly<
  | { type: 'deadline'; of: AuthState }
  | { type: 'ask-page'; reason: Reason; afterMs?: number }
  | { type: 'try-silent' | 'run-popup' | 'redirect' | 'redeem-again' | 'forget' }
  | { type: 'redeem'; grant: Grant }
  | { type: 'keep'; token: SealedToken }
  /** Dispatches `auth-required` if calls are waiting. */
  | { type: 'require'; reason: Reason }
  /** Waits for `ms`, and until the browser is online. */
  | { type: 'cool'; ms: number }
  /** Forgets the token, but remembers the user. */
  | { type: 'drop' }
  | { type: 'login' | 'start' | 'answer' }
  | { type: 'poll'; isSlower: boolean }
>;

export interface Move {
  readonly model: AuthModel;
  readonly effects: readonly Effect[];
}

export type EventType = AuthEvent['type'];
type Carrying<E, T> = E extends { readonly type: infer K } ? (T extends K ? E : never) : never;
export type EventOf<T extends EventType> = Carrying<AuthEvent, T>;

export type Row<T extends EventType> = (model: AuthModel, event: EventOf<T>) => Move;
export type StateRows = { readonly [T in EventType]?: Row<T> };
export type Rows = { readonly [S in AuthState]?: StateRows };

/** What the effects of the table need. */
export interface FlowContext extends Omit<CallContext, 'signal'> {
  readonly times: AuthTimes;
  /** Name of the session in stored authorization requests, and in the lock that all tabs share. */
  readonly sessionKey: string;
  readonly user: CurrentUser;
  /** What listeners of `auth-required` provide. */
  readonly offer: {
    /** Dispatches `auth-required`. Returns true if a listener responded. */
    ask(reason: Reason): boolean;
    /** Returns the token that a listener provided, but only once. */
    take(): Promise<TokenInput> | undefined;
  };
  /** Seals a token for an event. */
  readonly door: { seal(bearer: Bearer): SealedToken };
  readonly token: {
    /** Returns false if the token belongs to another user. `isFromPage`: the page has supplied it. */
    isSameUser(bearer: Bearer, isFromPage: boolean): boolean;
  };
}

export type SignInMachine = Machine<AuthModel, AuthEvent, FlowEvent, Effect>;

export interface FormHost extends Omit<CallContext, 'signal'> {
  /** Creates an authorization request. The response to a login may contain the code for this request. */
  readonly begin: () => Promise<Transaction>;
  readonly machine: SignInMachine;
}

export interface LoginForm {
  readonly challenge: Challenge | undefined;
  /** Field `message` of the service's last response. Set only with `authOptions.showServerMessages`. */
  readonly said: string | undefined;
  /** Sends the credentials, by field name (by default `email` and `password`). */
  logIn(credentials: Readonly<Record<string, string>>, idpId?: string): void;
  /** Sends a code after removing spaces and dashes. A recovery code is only trimmed. */
  answer(code: string): void;
  /** Asks the browser for a passkey and sends the credential. Call this method synchronously in the click handler. */
  usePasskey(): Promise<void>;
  act(choice: EventOf<'pick' | 'resend' | 'other-method'>): void;
  readonly rows: Rows;
  run(effect: Effect, signal: AbortSignal, send: Send): void;
  /** Updates `said`, and drops secrets that are no longer needed. Call this method after each step of the table. */
  onEnter(model: AuthModel): void;
}

export interface AuthDeps {
  /** Function that calls the service (`createPost` of `service/client.ts`). */
  readonly post: Post;
  /** Called synchronously with every change, because listeners must respond to `auth-required` during its dispatch. */
  readonly report: Report;
  /**
   * Makes the last calls after a sign-out in this page (`isHere`) or in another one. `withToken` can still use the token until
   * `signal` aborts (after 5 seconds).
   */
  readonly onSignOut?: (withToken: WithToken, signal: AbortSignal, isHere: boolean) => Promise<unknown>;
  /** Called in redirect mode before the page is left. Returns false to stay on the page. */
  readonly confirmRedirect?: () => boolean;
  /** True on the service's own page: no token is requested, and the session is not shared. */
  readonly isSessionEnough?: boolean;
  readonly options?: Partial<AuthTimes>;
}

/** A sign-in session for one uploader, without the token. */
export interface AuthSession {
  /** Frozen snapshot of sign-in. Replaced by a new object after each visible change. */
  readonly snapshot: AuthSnapshot;
  /** Calls `listener` after each change of the snapshot. Returns a function that removes the listener. */
  subscribe(listener: () => void): () => void;
  /**
   * Runs a call with a token. Waits for sign-in, until `signal` aborts. After a 401, repeats the call with a new token. Rejects
   * with the error of the call, and with `token-rejected` after a second 401.
   */
  readonly withToken: WithToken;
  /**
   * Starts sign-in. `via` and `idpId` default to the settings. Call this method synchronously in a click handler, or the browser
   * blocks the window.
   */
  signIn(via?: 'popup' | 'redirect', idpId?: string): void;
  /** Cancels the current step of sign-in. */
  cancel(): void;
  /**
   * Forgets the token at once, here and in other tabs, and ends the period `of`; by default, that of now. Resolves after the calls
   * of `onSignOut` and the call to `logout-path`.
   */
  signOut(of?: string): Promise<void>;
  /** After a sign-out, allows tokens to be requested from the page again. While the page fails, asks it sooner. */
  allow(): void;
  /** Returns the session's form. The first call creates the form with `create` (`FormRequests` of `form.ts`). */
  form(create: (host: FormHost) => LoginForm): LoginForm;
  /** Stops reports to this uploader. The session ends one task after the last uploader has called `close()`. */
  close(): void;
}
