// The type of the setting `authOptions`.

import type { AuthTimes } from './auth-times.ts';

/** The response that an adapter function returns; see docs/authentication.md. */
export interface AdapterAnswer {
  readonly status: number;
  /** Parsed JSON; `undefined` if the response is not JSON. */
  readonly body?: unknown;
  /** Delay from `Retry-After` or the body, in milliseconds, without an upper limit. */
  readonly retryAfterMs?: number;
}

/** The response to a request of sign-in. */
export interface PostAnswer extends AdapterAnswer {
  /** The header `WWW-Authenticate`, if pages may read it. */
  readonly wwwAuthenticate?: string;
}

/**
 * Posts JSON to a sign-in operation. Resolves for every status. Rejects with the signal's reason, or with `network`, `offline`,
 * `timeout`, `bad-response` (too large, or a redirect) or `bad-config` (the URL is not allowed).
 */
export type Post = (
  path: string,
  body: unknown,
  options: {
    readonly credentials: RequestCredentials;
    readonly signal: AbortSignal;
    readonly headers?: Readonly<Record<string, string>>;
  },
) => Promise<PostAnswer>;

/** Function that replaces one request. `body` is the body of the default request. */
export type AdapterCall<Body> = (body: Readonly<Body>, signal: AbortSignal) => Promise<AdapterAnswer>;

/** The body of a request about a challenge. */
export interface ChallengeBody {
  challenge_token: string | undefined;
  /** The service's name for the method. */
  method: string | undefined;
  action: 'start' | 'answer' | 'poll';
  /** With `answer`: the code that the user entered. */
  code?: string;
  /** With `answer`: the passkey's credential as JSON. */
  credential?: unknown;
}

/** Adapts sign-in to a service with different requests. Each function replaces one request. */
export interface AuthAdapter {
  /** Returns the URL of the sign-in page for these parameters, absolute or below `base-url`. */
  readonly authorizeUrl?: (params: Readonly<Record<string, string>>) => string;
  /** Exchanges a code for `{ token, expires_at? }`. */
  readonly exchange?: AdapterCall<{ code: string; code_verifier: string }>;
  /** Sends the fields of the form, by name, with `idp_id`. */
  readonly login?: AdapterCall<Record<string, string>>;
  /** Starts, answers or polls a challenge. */
  readonly challenge?: AdapterCall<ChallengeBody>;
  /** Ends the service's session. Called only if `logout-path` is set. */
  readonly logout?: AdapterCall<object>;
}

/** Field of the form, in addition to the field for the account. */
export interface CredentialField {
  readonly name: string;
  readonly label?: string;
  readonly type?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
}

export interface AuthOptions {
  /** Additional parameters for the sign-in page. A parameter that secures the request, such as `state`, cannot be replaced. */
  readonly params?: Readonly<Record<string, string>>;
  readonly adapter?: AuthAdapter;
  /** Fields that the form shows instead of the password. */
  readonly credentialFields?: readonly CredentialField[];
  /** Option `credentials` (cookies) of each request. Defaults to `same-origin` for `token`, and to `include` for the others. */
  readonly credentials?: Readonly<
    Partial<Record<'token' | 'login' | 'challenge' | 'logout', RequestCredentials>>
  >;
  /** Parameter `prompt` of the first sign-in after a sign-out. An empty string omits the parameter. Defaults to `login`. */
  readonly promptAfterSignOut?: string;
  /**
   * The field of the token response that contains `owner`. A token with another value, or without this field, is not used: sign-in
   * fails with `access-denied`, and the next sign-in asks for credentials. `owner` is also sent to the sign-in page, as
   * `login_hint`. By default, the user of the first token is not compared with `owner`.
   */
  readonly ownerField?: string;
  /**
   * The field of the token response that identifies the user. A renewed token must have the same value; an empty string disables
   * this check. Defaults to `id`. Not used with `ownerField`.
   */
  readonly sameUserField?: string;
  /** The `rpId` of passkeys that the service may request. Defaults to the host of `base-url`. */
  readonly rpId?: string;
  /** Sends `code_challenge` with the login, and exchanges a `code` in the response for a token. */
  readonly loginSendsChallenge?: boolean;
  /** Shows the `message` of the service's responses in the form. */
  readonly showServerMessages?: boolean;
  /** Submits a code as soon as the code is complete. */
  readonly autoSubmitCode?: boolean;
  /** Deadlines and delays in milliseconds; `renewalLimit` is a number of renewals. */
  readonly times?: Partial<AuthTimes>;
}
