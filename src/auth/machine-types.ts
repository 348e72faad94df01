// The words of the sign-in table: what is known, what can happen, what is to be done. Secrets pass through events and
// effects, but are never part of the model, which views may see.

import type { ErrorCode } from '../core/errors.ts';
import type { AuthState } from '../core/types.ts';
import type { Bearer } from './bearer.ts';

/** Why a token is needed. */
export type Reason = 'first' | 'expired' | 'rejected';

/** What went wrong, as far as it may be shown. */
export interface Failure {
  readonly code: ErrorCode;
  readonly retryAfterMs?: number;
  readonly status?: number;
}

/** A code that came back, with the verifier that it is bound to. Secret, and good for one redemption. */
export interface Grant {
  readonly code: string;
  readonly verifier: string;
  /** How it came: a hidden frame, a window, a redirect, or the answer to a form. */
  readonly via: 'silent' | 'popup' | 'redirect' | 'form';
}

/** One way of answering a challenge, as it was read from the service. */
export interface Method {
  /** What the service called it: sent back as it came. */
  readonly id: string;
  readonly family: 'passkey' | 'push' | 'totp' | 'email' | 'sms' | 'recovery' | 'code';
  /** Texts of the service, for people; absent unless it sent some. */
  readonly label?: string;
  readonly hint?: string;
  /** True where the service has to do something first: send a code, ask a phone, make options. */
  readonly needsStart: boolean;
}

/** What an answer of the service tells of the challenge. */
export interface Hints {
  /** Where a code was sent, masked by the service. */
  readonly delivery?: string;
  readonly codeLength?: number;
  readonly codeKind?: 'numeric' | 'alphanumeric';
  readonly attemptsLeft?: number;
  /** The number to compare on the phone. */
  readonly number?: string;
  /** When a code may be sent again, and when the challenge ends; epoch milliseconds. */
  readonly resendAtMs?: number;
  readonly expiresAtMs?: number;
  /** How long to wait between two polls. */
  readonly pollMs?: number;
  /** What a passkey is asked to sign: the JSON form of WebAuthn's request options. */
  readonly publicKey?: Readonly<Record<string, unknown>>;
}

/** What a view may know of the challenge. The challenge token is not in it. */
export interface Challenge extends Hints {
  readonly methods: readonly Method[];
  readonly method?: Method;
}

/** All that the table decides by. */
export interface AuthModel {
  readonly state: AuthState;
  /** Grows with each state entered; effects and their events carry it. */
  readonly generation: number;
  /** What is done in the background while `signed-in`. */
  readonly renewing?: 'asking-host' | 'silent' | 'exchange' | undefined;
  /** Facts that are set before each event: the token at hand is good for another call; the browser has no line. */
  readonly isAlive: boolean;
  readonly isOffline: boolean;
  /** Who gave the token at hand, and is asked for the next one. */
  readonly source: 'host' | 'service';
  readonly reason: Reason;
  /** The page and its settings allow hidden frames. */
  readonly mayTryFrames: boolean;
  /** A hidden frame is worth trying: one that did not see the session is not, until somebody has signed in again. */
  readonly canSilent: boolean;
  /** A hidden frame can see a session that was made in a window. */
  readonly silentAfterWindow: boolean;
  readonly silentWorked: boolean;
  /** A session of the service must exist, since it was just made. */
  readonly sessionMade: boolean;
  /** That session is all that is wanted: the page is the service's own. */
  readonly isSessionEnough: boolean;
  /**
   * Somebody signed out: on this page (`now`), where the page must not be asked for a token either until it or the person
   * acts; or earlier in this browser (`before`), which only rules out a silent try.
   */
  readonly signedOut: 'no' | 'now' | 'before';
  /** Tries in a row that came to nothing by themselves, and the sum of the pauses after them. */
  readonly coolings: number;
  readonly cooledMs: number;
  readonly cooledFrom?: AuthState;
  /** The code may be sent once more after the pause. */
  readonly canResend?: boolean;
  readonly limits: { readonly coolCapMs: number; readonly resendMs: number };
  readonly error?: Failure | undefined;
  readonly challenge?: Challenge | undefined;
}

/** What is born of effects, and may come too late. */
export type FlowEvent = Readonly<
  | { type: 'deadline' | 'elapsed' | 'closed-reading' }
  | { type: 'host-token' | 'token'; bearer: Bearer }
  | { type: 'code'; grant: Grant }
  | { type: 'failed'; error: Failure }
  /** A token came, but of another person than the one who signed in before. */
  | { type: 'other-person' }
  /** The outcome of an exchange is not known; `waitMs` is how long to pause before another, if not the first. */
  | { type: 'burnt'; error: Failure; waitMs: number }
  | { type: 'rate-limited'; waitMs: number }
  /** The service knows the person now; the code, where it gave one, comes as `code` instead. */
  | { type: 'established' }
  /** A challenge was issued; `method` where there is only one way, or the service chose one. */
  | { type: 'challenged'; methods: readonly Method[]; method?: Method; hints: Hints }
  | { type: 'started'; hints: Hints }
  | { type: 'pending'; hints: Hints; isSlower: boolean }
  /** The answer was wrong; there are attempts left. */
  | { type: 'wrong'; hints: Hints }
  /** Somebody said no; the challenge is over, too old or used up. */
  | { type: 'denied' | 'expired' }
  /** Nothing that can be done here: credentials refused, account locked, a step that only the service's own page knows. */
  | { type: 'refused'; error: Failure }
>;

/** Everything that can happen, with what it carries. */
export type AuthEvent =
  | (FlowEvent & { readonly generation: number })
  | Readonly<
      /** Work needs a token. `isHosted`: the page will be asked. */
      | { type: 'need-token'; isHosted: boolean }
      /** The person wants to sign in; `isBlocked` where the window was refused. `form` shows the form. */
      | { type: 'sign-in'; via: 'popup' | 'redirect' | 'host' | 'form'; isBlocked?: boolean }
      | { type: 'sign-out'; reason: 'user' | 'other-tab' }
      | { type: 'cancel' | 'disconnected' | 'shown-again' }
      /** The page gives tokens again after a sign-out. */
      | { type: 'allowed' }
      /** A hook of the driver threw: what was under way is lost. */
      | { type: 'fault' }
      /** The token should be renewed; `isSpent` where the brakes forbid another try. */
      | { type: 'renew-due'; reason: 'expired' | 'rejected'; isSpent: boolean }
      /** The page was loaded with an answer for a stored transaction. */
      | { type: 'returned'; grant: Grant }
      /** Signing in cannot begin or go on: an answer that nobody asked for, settings that cannot be. */
      | { type: 'unable'; error: Failure }
      /** The service wants the person to prove more than the token does (RFC 9470). */
      | { type: 'step-up' }
      | { type: 'pick'; method: Method }
      | { type: 'submit-login' | 'submit' | 'resend' | 'other-method' }
    >;

/** Reports the outcome of an effect. */
export type Send = (outcome: FlowEvent) => void;

/** What is to be done; carried out by the session and the form, never by the table. */
export type Effect = Readonly<
  | { type: 'deadline'; of: AuthState }
  | { type: 'ask-host'; reason: Reason }
  | { type: 'try-silent' | 'run-popup' | 'redirect' | 'redeem-again' | 'forget' }
  | { type: 'redeem'; grant: Grant }
  | { type: 'keep'; bearer: Bearer }
  /** Work is waiting for the person. */
  | { type: 'require'; reason: Reason }
  /** Pauses, and waits until there is a line. */
  | { type: 'cool'; ms: number }
  /** A renewal failed: the next one waits for `ms`, or longer each time. */
  | { type: 'hold'; ms?: number }
  /** Drops the token, but not whose it was. */
  | { type: 'drop' }
  | { type: 'login' | 'start' | 'answer' }
  | { type: 'poll'; isSlower: boolean }
>;

/** What an event comes to. */
export interface Move {
  readonly model: AuthModel;
  readonly effects: readonly Effect[];
}

export type EventType = AuthEvent['type'];
type Carrying<E, T> = E extends { readonly type: infer K } ? (T extends K ? E : never) : never;
export type EventOf<T extends EventType> = Carrying<AuthEvent, T>;

/** What an event means in one state. */
export type Row<T extends EventType> = (model: AuthModel, event: EventOf<T>) => Move;
export type StateRows = { readonly [T in EventType]?: Row<T> };
export type Rows = { readonly [S in AuthState]?: StateRows };
