// The rare settings of sign-in, as a page sets them in `authOptions`.

import type { AuthTimes } from './auth-times.ts';

/** An answer as the adapter gives it, in the shapes of docs/authentication.md. */
export interface AdapterAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly retryAfterMs?: number;
}

export type AdapterCall = (
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<AdapterAnswer>;

/** Translates between the calls of sign-in and a service with other names. Each function replaces one call. */
export interface AuthAdapter {
  /** The sign-in page's address, absolute or below `base-url`, for these parameters. */
  readonly authorizeUrl?: (params: Readonly<Record<string, string>>) => string;
  /** Redeems `{ code, code_verifier }` for `{ token, expires_at? }`. */
  readonly exchange?: AdapterCall;
  /** Sends credentials. */
  readonly login?: AdapterCall;
  /** Starts, answers or polls a challenge. */
  readonly challenge?: AdapterCall;
  /** Ends the service's session; called only where `logout-path` is set. */
  readonly logout?: AdapterCall;
}

/** A field of the credentials, beside the address that names the account. */
export interface CredentialField {
  readonly name: string;
  readonly label?: string;
  readonly type?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
}

export interface AuthOptions {
  /** Further parameters of the sign-in page. Those that keep a round safe cannot be replaced. */
  readonly params?: Readonly<Record<string, string>>;
  readonly adapter?: AuthAdapter;
  /** Fields of the form in place of the password. */
  readonly credentialFields?: readonly CredentialField[];
  /** Which calls send and take cookies; by default all but `token`. */
  readonly credentials?: Readonly<
    Partial<Record<'token' | 'login' | 'challenge' | 'logout', RequestCredentials>>
  >;
  /** Lifetime of a token that names none, in seconds. Default 300. */
  readonly assumedLifetime?: number;
  /** `prompt` of the first round after a sign-out; empty leaves it out. Default `login`. */
  readonly promptAfterSignOut?: string;
  /** Field of the token answer that tells whose the token is; empty switches the check off. Default `id`. */
  readonly sameUserField?: string;
  /** A hidden frame sees the session of a window, though the service is on another site. */
  readonly silentAfterPopup?: boolean;
  /** The login carries `code_challenge`, and a `code` in its answer is redeemed. */
  readonly loginSendsChallenge?: boolean;
  /** Shows `message` of the service's answers in the form. */
  readonly showServerMessages?: boolean;
  /** Sends a code as soon as it has its length. */
  readonly autoSubmitCode?: boolean;
  /** Milliseconds, but for `brakeCount`. */
  readonly times?: Partial<AuthTimes>;
}
