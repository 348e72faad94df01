// Calls the sign-in operations of the service, or the functions of the page's adapter instead. Does not interpret the responses.

import type { Settings } from '../core/config.ts';
import { type ErrorCode, UploaderError } from '../core/errors.ts';
import type { Failure } from './machine-types.ts';

/** Sends a POST request. Rejects with `UploaderError` (`network`, `timeout`, `bad-response`) if no response could be read. */
export type Post = (
  path: string,
  body: unknown,
  options: {
    readonly credentials: RequestCredentials;
    readonly signal: AbortSignal;
    readonly headers?: Record<string, string>;
  },
) => Promise<PostAnswer>;

export interface PostAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly retryAfterMs?: number;
  readonly wwwAuthenticate?: string;
}

export interface CallContext {
  readonly settings: Settings;
  readonly post: Post;
  readonly signal: AbortSignal;
}

/** Calls one operation. By default, all operations except `token` send cookies even to a service with another origin. */
export async function callService(
  name: 'token' | 'login' | 'challenge' | 'logout',
  body: Readonly<Record<string, unknown>>,
  { settings, post, signal }: CallContext,
): Promise<PostAnswer> {
  const { adapter, credentials } = settings.authOptions;
  const operation = name === 'token' ? 'exchange' : name;
  if (adapter?.[operation]) return adapter[operation](body as never, signal);
  return post(settings[`${name}Path`] ?? '', body, {
    credentials: credentials?.[name] ?? (name === 'token' ? 'same-origin' : 'include'),
    signal,
  });
}

/** Returns true if the service asks to retry later. The service has then not processed the request. */
export const isPause = ({ status, retryAfterMs }: PostAnswer): boolean =>
  status === 429 || (status === 503 && retryAfterMs !== undefined);

/** Returns the parts of an error that may be shown. `otherwise` is used if the error is no `UploaderError`. */
export function toFailure(error: unknown, otherwise: ErrorCode): Failure {
  if (!(error instanceof UploaderError)) return { code: otherwise };
  const { code, status } = error;
  return status === undefined ? { code } : { code, status };
}

/** Creates an error that becomes a `Failure`. Only its code is ever shown, so all have the same message. */
export const failed = (code: ErrorCode): UploaderError => new UploaderError(code, 'Sign-in failed');

/** Returns the untrusted value if it is an object (not an array), otherwise an empty object. */
export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
