// What a call to one of the sign-in operations looks like from here. It sends nothing.

import type { Settings } from '../core/config.ts';

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
  readonly body: unknown;
  readonly retryAfterMs?: number;
  /** The answer's `Date`, where it may be read; epoch milliseconds. */
  readonly dateMs?: number;
  readonly wwwAuthenticate?: string;
}

/** Which jar of cookies a call uses (G14): the session's calls may set and send them, the others stay as browsers have it. */
export function credentialsOf(
  settings: Settings,
  call: 'token' | 'login' | 'challenge' | 'logout',
): RequestCredentials {
  const chosen = (settings.authOptions.credentials as Record<string, RequestCredentials> | undefined)?.[call];
  return chosen ?? (call === 'token' ? 'same-origin' : 'include');
}

/** True where the service asks for a pause, and says by that that it did not process the request. */
export const isPause = (answer: PostAnswer): boolean =>
  answer.status === 429 || (answer.status === 503 && answer.retryAfterMs !== undefined);
