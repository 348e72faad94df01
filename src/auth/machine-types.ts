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

/** What a view may know of the challenge. The challenge token is not in it. */
export interface Challenge {
  readonly methods: readonly Method[];
  readonly method?: Method;
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

/** What an answer of the service adds to the challenge. */
export type Hints = Omit<Challenge, 'methods' | 'method'>;

/** All that the table decides by. */
export interface AuthModel {
  readonly state: AuthState;
  /** Grows with each state entered; effects and their events carry it. */
  readonly generation: number;
  /** What is done in the background while `signed-in`. */
  readonly renewing?: 'asking-host' | 'silent' | 'exchange' | undefined;
  /** A fact that is set before each event: the token at hand is good for another call. */
  readonly isAlive: boolean;
  /** Who gave the token at hand, and is asked for the next one. */
  readonly source: 'host' | 'service';
  readonly reason: Reason;
  /** A hidden frame is worth trying. */
  readonly canSilent: boolean;
  /** A hidden frame can see a session that was made in a window. */
  readonly silentAfterWindow: boolean;
  readonly silentWorked: boolean;
  /** A session of the service must exist, since it was just made. */
  readonly sessionMade: boolean;
  /** The one silent try after a burnt code was made. */
  readonly isFreshTry: boolean;
  /** The person signed out: only the person may sign in again. */
  readonly hasLeft: boolean;
  /** Pauses asked for in a row, and their sum. */
  readonly coolings: number;
  readonly cooledMs: number;
  readonly cooledFrom?: AuthState;
  /** The code may be sent once more after the pause. */
  readonly canResend?: boolean;
  readonly limits: { readonly coolCapMs: number; readonly resendMs: number };
  readonly error?: Failure | undefined;
  readonly challenge?: Challenge | undefined;
}

/** Everything that can happen, with what it carries. Those of `Late` are born of effects and may come too late. */
export interface EventMap {
  /** Work needs a token. `isHosted`: the page will be asked. */
  'need-token': { readonly isHosted: boolean };
  /** The person wants to sign in; `isBlocked` where the window was refused. `form` shows the form. */
  'sign-in': { readonly via: 'popup' | 'redirect' | 'host' | 'form'; readonly isBlocked?: boolean };
  cancel: object;
  'sign-out': { readonly reason: 'user' | 'other-tab' };
  disconnected: object;
  /** The token should be renewed; `isSpent` where the brakes forbid another try. */
  'renew-due': { readonly reason: 'expired' | 'rejected'; readonly isSpent: boolean };
  /** The page was loaded with an answer for a stored transaction. */
  returned: { readonly grant: Grant };
  /** Signing in cannot begin or go on: an answer that nobody asked for, settings that cannot be. */
  unable: { readonly error: Failure };
  /** The service wants the person to prove more than the token does (RFC 9470). */
  'step-up': object;
  'shown-again': object;
  'submit-login': object;
  pick: { readonly method: Method };
  submit: object;
  resend: object;
  'other-method': object;
}

export interface Late {
  deadline: object;
  elapsed: object;
  'closed-reading': object;
  'host-token': { readonly bearer: Bearer };
  code: { readonly grant: Grant };
  token: { readonly bearer: Bearer };
  failed: { readonly error: Failure };
  /** The outcome of an exchange is not known. */
  burnt: { readonly error: Failure };
  'rate-limited': { readonly waitMs: number };
  /** The service knows the person now; the code, where it gave one, comes as `code` instead. */
  established: object;
  /** A challenge was issued; `method` where there is only one way, or the service chose one. */
  challenged: { readonly methods: readonly Method[]; readonly method?: Method; readonly hints: Hints };
  started: { readonly hints: Hints };
  pending: { readonly hints: Hints; readonly isSlower: boolean };
  /** The answer was wrong; there are attempts left. */
  wrong: { readonly hints: Hints };
  denied: object;
  /** The challenge is over: too old, or used up. */
  expired: object;
  /** Nothing that can be done here: credentials refused, account locked, a step that only the service's own page knows. */
  refused: { readonly error: Failure };
}

export type EventType = keyof EventMap | keyof Late;
export type EventOf<T extends EventType> = T extends keyof EventMap
  ? { readonly type: T } & EventMap[T]
  : T extends keyof Late
    ? { readonly type: T; readonly generation: number } & Late[T]
    : never;
export type AuthEvent = { [T in EventType]: EventOf<T> }[EventType];

/** What an effect says back; whoever runs it adds the generation. */
export type FlowEvent = { [T in keyof Late]: { readonly type: T } & Late[T] }[keyof Late];

/** What is to be done; carried out by the session, never here. */
export type Effect =
  | { readonly type: 'deadline'; readonly of: AuthState }
  | { readonly type: 'ask-host'; readonly reason: Reason }
  | { readonly type: 'try-silent' | 'run-popup' | 'close-popup' | 'redirect' | 'redeem-again' }
  | { readonly type: 'redeem'; readonly grant: Grant }
  | { readonly type: 'keep'; readonly bearer: Bearer }
  | { readonly type: 'forget'; readonly reason: 'user' | 'other-tab' }
  /** Work is waiting for the person. */
  | { readonly type: 'require'; readonly reason: Reason }
  | { readonly type: 'cool' | 'hold'; readonly ms: number }
  | { readonly type: 'login' | 'start' | 'verify' }
  | { readonly type: 'poll'; readonly isSlower: boolean };

export interface Move {
  readonly model: AuthModel;
  readonly effects: readonly Effect[];
}

export type Row<T extends EventType> = (model: AuthModel, event: EventOf<T>) => Move;
export type Rows = { readonly [S in AuthState]?: { readonly [T in EventType]?: Row<T> } };
