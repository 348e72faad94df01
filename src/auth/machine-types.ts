// Types of the sign-in table: model, events and effects. Events and effects may carry secrets; the model never does.

import type { AuthTimes } from '../core/auth-times.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import type { Bearer } from './bearer.ts';

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
  /** The step of a renewal that runs in the background while `state` is `signed-in`. */
  readonly renewing?: 'asking-host' | 'silent' | 'exchange' | 'cooling' | undefined;
  /** True if the token can be used for another call. Updated before each event, like the next four fields. */
  readonly isAlive: boolean;
  /** True if a call has succeeded since the last token arrived. */
  readonly isProven: boolean;
  readonly isOffline: boolean;
  /** The current time, by `performance.now()`. */
  readonly nowMs: number;
  /** Random factor of the next delay, so that clients do not all retry at once. */
  readonly jitter: number;
  /** Source of the current token and of the next token: the page (`host`) or the service. */
  readonly source: 'host' | 'service';
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
  /** Number of renewals since the last successful call. */
  readonly fruitless: number;
  /** Time from which the token may be renewed, by `performance.now()`. */
  readonly renewableAtMs: number;
  /** State to return to after a delay. `exchange`: the same authorization code may be sent once more. */
  readonly cooledFrom?: AuthState;
  readonly times: AuthTimes;
  readonly error?: Failure | undefined;
  readonly challenge?: Challenge | undefined;
}

/** Events sent by effects. An event may arrive after the state of its effect has ended. */
export type FlowEvent = Readonly<
  | { type: 'deadline' | 'elapsed' | 'closed-reading' }
  | { type: 'host-token' | 'token'; bearer: Bearer }
  | { type: 'code'; grant: Grant }
  | { type: 'failed'; error: Failure }
  /** The new token belongs to a different user. */
  | { type: 'other-user' }
  /** The service may have used the code. */
  | { type: 'burnt'; error: Failure }
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
  /** The credentials were refused, the account is locked, or only the service's own page supports the next step. */
  | { type: 'refused'; error: Failure }
>;

export type AuthEvent =
  | (FlowEvent & { readonly generation: number })
  | Readonly<
      /** A call needs a token. `isHosted`: the token is requested from the page. */
      | { type: 'need-token'; isHosted: boolean }
      /** `isBlocked`: the browser blocked the window. */
      | { type: 'sign-in'; via: 'popup' | 'redirect' | 'host' | 'form'; isBlocked?: boolean }
      | { type: 'sign-out'; reason: 'user' | 'other-tab' }
      | { type: 'cancel' | 'disconnected' | 'shown-again' }
      /** `allow()` was called: after a sign-out, tokens may be requested from the page again. */
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
  | { type: 'ask-host'; reason: Reason }
  | { type: 'try-silent' | 'run-popup' | 'redirect' | 'redeem-again' | 'forget' }
  | { type: 'redeem'; grant: Grant }
  | { type: 'keep'; bearer: Bearer }
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
