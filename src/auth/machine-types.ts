// Types of the sign-in table: model, events and effects. Events and effects may carry secrets; the model never does.

import type { ErrorCode } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import type { Bearer } from './bearer.ts';

/** Why a token is needed. */
export type Reason = 'first' | 'expired' | 'rejected';

export interface Failure {
  readonly code: ErrorCode;
  readonly retryAfterMs?: number;
  readonly status?: number;
}

/** A code with its verifier. Secret, and valid for one redemption. */
export interface Grant {
  readonly code: string;
  readonly verifier: string;
  readonly via: 'silent' | 'popup' | 'redirect' | 'form';
  /** A hidden frame can see the session of the window or page that got the code. */
  readonly isSeen?: boolean;
}

/** A way to answer a challenge. */
export interface Method {
  /** The service's own name, sent back unchanged. */
  readonly id: string;
  readonly family: 'passkey' | 'push' | 'totp' | 'email' | 'sms' | 'recovery' | 'code';
  /** Texts of the service. */
  readonly label?: string;
  readonly hint?: string;
  /** True if the service must act first: send a code, ask a phone, create passkey options. */
  readonly needsStart: boolean;
}

export interface Hints {
  /** The masked address that a code was sent to. */
  readonly delivery?: string;
  readonly codeLength?: number;
  readonly codeKind?: 'numeric' | 'alphanumeric';
  readonly attemptsLeft?: number;
  /** The number to choose on the phone. */
  readonly number?: string;
  /** When a code may be sent again, and when the challenge ends; epoch milliseconds. */
  readonly resendAtMs?: number;
  readonly expiresAtMs?: number;
  readonly pollMs?: number;
  /** WebAuthn's request options in their JSON form. */
  readonly publicKey?: Readonly<Record<string, unknown>>;
}

/** Without the challenge token. */
export interface Challenge extends Hints {
  readonly methods: readonly Method[];
  readonly method?: Method;
}

export interface AuthModel {
  readonly state: AuthState;
  /** Increases with each state entered; events of effects carry it. */
  readonly generation: number;
  /** The state in the background of `signed-in`. */
  readonly renewing?: 'asking-host' | 'silent' | 'exchange' | undefined;
  /** Set before each event: the token can be used for another call; the browser is offline. */
  readonly isAlive: boolean;
  readonly isOffline: boolean;
  /** Gave the current token, and is asked for the next one. */
  readonly source: 'host' | 'service';
  readonly reason: Reason;
  /** The page and its settings allow hidden frames. */
  readonly mayTryFrames: boolean;
  /** False after a hidden frame did not see the session, until the next sign-in. */
  readonly canSilent: boolean;
  readonly silentWorked: boolean;
  /** The service has just created a session. */
  readonly sessionMade: boolean;
  /** No token is needed: the page is the service's own. */
  readonly isSessionEnough: boolean;
  /**
   * `now`: signed out on this page, which is not asked for a token until it or the user acts. `before`: signed out earlier in this
   * browser, which only prevents a silent try.
   */
  readonly signedOut: 'no' | 'now' | 'before';
  /** Number of failed tries in a row, and the sum of the pauses after them. */
  readonly coolings: number;
  readonly cooledMs: number;
  readonly cooledFrom?: AuthState;
  /** The code may be sent once more after the pause. */
  readonly canResend?: boolean;
  readonly limits: { readonly coolCapMs: number; readonly resendMs: number };
  readonly error?: Failure | undefined;
  readonly challenge?: Challenge | undefined;
}

/** Events that effects cause. They may arrive too late. */
export type FlowEvent = Readonly<
  | { type: 'deadline' | 'elapsed' | 'closed-reading' }
  | { type: 'host-token' | 'token'; bearer: Bearer }
  | { type: 'code'; grant: Grant }
  | { type: 'failed'; error: Failure }
  /** The new token belongs to a different user. */
  | { type: 'other-person' }
  /** The outcome of an exchange is unknown; `waitMs` is the pause before the next one. */
  | { type: 'burnt'; error: Failure; waitMs: number }
  | { type: 'rate-limited'; waitMs: number }
  /** The service has a session now. If its answer had a code, the event is `code` instead. */
  | { type: 'established' }
  /** `method` if there is only one, or if the service chose one. */
  | { type: 'challenged'; methods: readonly Method[]; method?: Method; hints: Hints }
  | { type: 'started'; hints: Hints }
  | { type: 'pending'; hints: Hints; isSlower: boolean }
  | { type: 'wrong'; hints: Hints }
  /** `denied`: on the phone. `expired`: too old or used up. */
  | { type: 'denied' | 'expired' }
  /** Credentials refused, account locked, or a step that only the service's own page supports. */
  | { type: 'refused'; error: Failure }
>;

export type AuthEvent =
  | (FlowEvent & { readonly generation: number })
  | Readonly<
      /** `isHosted`: the page will be asked. */
      | { type: 'need-token'; isHosted: boolean }
      /** `isBlocked`: the browser refused the window. */
      | { type: 'sign-in'; via: 'popup' | 'redirect' | 'host' | 'form'; isBlocked?: boolean }
      | { type: 'sign-out'; reason: 'user' | 'other-tab' }
      | { type: 'cancel' | 'disconnected' | 'shown-again' }
      /** `allow()` was called: after a sign-out, the page may be asked for tokens again. */
      | { type: 'allowed' }
      /** `onStep` or an effect threw. */
      | { type: 'fault' }
      /** `isSpent`: the brakes forbid another renewal. */
      | { type: 'renew-due'; reason: 'expired' | 'rejected'; isSpent: boolean }
      /** The page was loaded with the answer to a stored transaction. */
      | { type: 'returned'; grant: Grant }
      /** Sign-in cannot start or continue: an unexpected answer, or wrong settings. */
      | { type: 'unable'; error: Failure }
      /** The service asks for a stronger proof (RFC 9470). */
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
  /** Pauses, and waits for the network. */
  | { type: 'cool'; ms: number }
  /** Delays the next renewal by `ms`, by default longer each time. */
  | { type: 'hold'; ms?: number }
  /** Forgets the token, but not its user. */
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
