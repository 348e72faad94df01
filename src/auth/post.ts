// Calls to the sign-in operations of the service, by its adapter if the page has one. Answers are not interpreted here.

import type { Settings } from '../core/config.ts';
import { type ErrorCode, toUploaderError } from '../core/errors.ts';
import type { Failure } from './machine-types.ts';

/** Rejects with `UploaderError` (`network`, `timeout`, `bad-response`) if no answer could be read. */
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

/** By default all calls but `token` send and set cookies. */
export function callService(
  name: 'token' | 'login' | 'challenge' | 'logout',
  body: Readonly<Record<string, unknown>>,
  { settings, post, signal }: CallContext,
): Promise<PostAnswer> {
  const { adapter, credentials } = settings.authOptions;
  const adapted = adapter?.[name === 'token' ? 'exchange' : name];
  if (adapted) return adapted(body as never, signal);
  return post(settings[`${name}Path`] ?? '', body, {
    credentials: credentials?.[name] ?? (name === 'token' ? 'same-origin' : 'include'),
    signal,
  });
}

/** True if the service asks for a pause; it has not processed the request then. */
export const isPause = ({ status, retryAfterMs }: PostAnswer): boolean =>
  status === 429 || (status === 503 && retryAfterMs !== undefined);

/** What may be shown of an error. `code` is for errors that are not `UploaderError`. */
export function toFailure(error: unknown, code: ErrorCode): Failure {
  const known = toUploaderError(error, code, 'Signing in failed');
  return known.status === undefined ? { code: known.code } : { code: known.code, status: known.status };
}

/** The fields of an untrusted value; none if it is not an object. */
export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
