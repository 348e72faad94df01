// What a call to one of the sign-in operations looks like from here, and how the page has it made. It reads no answers.

import type { Settings } from '../core/config.ts';
import { type ErrorCode, toUploaderError } from '../core/errors.ts';
import type { Failure } from './machine-types.ts';

/** One call to the service. Rejects with `UploaderError` (`network`, `timeout`, `bad-response`) where no answer could be read. */
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

/** Where calls go, and how long they are wanted. */
export interface CallContext {
  readonly settings: Settings;
  readonly post: Post;
  readonly signal: AbortSignal;
}

/**
 * Makes one of the calls of sign-in: by the page's adapter, if that has it, else by `post` with the cookies that the call needs:
 * the session's calls may set and send them, the one for the token stays as browsers have it.
 */
export function callService(
  name: 'token' | 'login' | 'challenge' | 'logout',
  body: Readonly<Record<string, unknown>>,
  { settings, post, signal }: CallContext,
): Promise<PostAnswer> {
  const { adapter, credentials } = settings.authOptions;
  const adapted = adapter?.[name === 'token' ? 'exchange' : name];
  if (adapted) return adapted(body, signal);
  return post(settings[`${name}Path`] ?? '', body, {
    credentials: credentials?.[name] ?? (name === 'token' ? 'same-origin' : 'include'),
    signal,
  });
}

/** True where the service asks for a pause, and says by that that it did not process the request. */
export const isPause = ({ status, retryAfterMs }: PostAnswer): boolean =>
  status === 429 || (status === 503 && retryAfterMs !== undefined);

/** What may be shown of an error; `code` where it is none of ours. */
export function toFailure(error: unknown, code: ErrorCode): Failure {
  const known = toUploaderError(error, code, 'Signing in failed');
  return known.status === undefined ? { code: known.code } : { code: known.code, status: known.status };
}

/** The fields of a value of the wire or of a page; none where it is no object. */
export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
