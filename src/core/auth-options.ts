// The type of the setting `authOptions`.

import type { AuthTimes } from './auth-times.ts';

/** An answer of the adapter, as docs/authentication.md describes it. */
export interface AdapterAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly retryAfterMs?: number;
}

/** Replaces one call. `Body` is what the default would send. */
export type AdapterCall<Body> = (body: Readonly<Body>, signal: AbortSignal) => Promise<AdapterAnswer>;

/** The body of a request about a challenge. */
export interface ChallengeBody {
  challenge_token: string | undefined;
  /** Name that the service gave the method. */
  method: string | undefined;
  action: 'start' | 'answer' | 'poll';
  /** With `answer`: the code, or the passkey's credential in its JSON form. */
  code?: string;
  credential?: unknown;
}

/** Adapts sign-in to a service with other calls. Each function replaces one call. */
export interface AuthAdapter {
  /** Returns the URL of the sign-in page for these parameters, absolute or below `base-url`. */
  readonly authorizeUrl?: (params: Readonly<Record<string, string>>) => string;
  /** Exchanges a code for `{ token, expires_at? }`. */
  readonly exchange?: AdapterCall<{ code: string; code_verifier: string }>;
  /** Sends the fields of the form by name, and `idp_id`. */
  readonly login?: AdapterCall<Record<string, string>>;
  /** Starts, answers or polls a challenge. */
  readonly challenge?: AdapterCall<ChallengeBody>;
  /** Ends the session of the service; called only if `logout-path` is set. */
  readonly logout?: AdapterCall<object>;
}

/** A field of the form, besides the one for the account. */
export interface CredentialField {
  readonly name: string;
  readonly label?: string;
  readonly type?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
}

export interface AuthOptions {
  /** Additional parameters of the sign-in page. `state`, PKCE and the like cannot be replaced. */
  readonly params?: Readonly<Record<string, string>>;
  readonly adapter?: AuthAdapter;
  /** Fields of the form instead of the password. */
  readonly credentialFields?: readonly CredentialField[];
  /** Which calls use cookies. Defaults to all but `token`. */
  readonly credentials?: Readonly<
    Partial<Record<'token' | 'login' | 'challenge' | 'logout', RequestCredentials>>
  >;
  /** Parameter `prompt` of the first sign-in after a sign-out; empty omits it. Defaults to `login`. */
  readonly promptAfterSignOut?: string;
  /** Field of the token answer that identifies the user; empty disables the check. Defaults to `id`. */
  readonly sameUserField?: string;
  /** A hidden frame has the session of a window, though the service is on another site. */
  readonly silentAfterPopup?: boolean;
  /** The login sends `code_challenge`, and a `code` in its answer is exchanged for a token. */
  readonly loginSendsChallenge?: boolean;
  /** Shows the `message` of the service's answers in the form. */
  readonly showServerMessages?: boolean;
  /** Submits a code as soon as it is complete. */
  readonly autoSubmitCode?: boolean;
  /** In milliseconds, except `brakeCount`. */
  readonly times?: Partial<AuthTimes>;
}
