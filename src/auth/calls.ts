// Calls to the sign-in operations of the service, or to the functions of the page's adapter instead, and the last calls after a
// sign-out. Does not interpret the responses.

import type { Post, PostAnswer } from '../core/auth-options.ts';
import { type ErrorCode, UploaderError } from '../core/errors.ts';
import type { Settings } from '../core/settings-table.ts';
import type { WithToken } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import type { AuthDeps, CallContext, Failure } from './types.ts';

/** Calls one operation. By default, all operations except `token` send cookies even to a service with another origin. */
export async function callService(
  name: 'token' | 'login' | 'challenge' | 'logout',
  body: Readonly<Record<string, unknown>>,
  { settings, post, signal }: CallContext,
): Promise<PostAnswer> {
  const { adapter, credentials } = settings.authOptions;
  const operation = name === 'token' ? 'exchange' : name;
  if (adapter?.[operation]) return adapter[operation](body as never, signal);
  const path = settings[`${name}Path`] ?? '';
  const answer = await post(path, body, {
    credentials: credentials?.[name] ?? (name === 'token' ? 'same-origin' : 'include'),
    signal,
  });
  // A challenge may be gone.
  if (answer.status === 405 || (answer.status === 404 && name !== 'challenge'))
    warnOnceHere(`The service responded with ${answer.status} to ${name}. Check base-url and ${name}-path.`);
  return answer;
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

/** Returns the untrusted value if it is an object (not an array), otherwise an empty object. */
export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};

type OnSignOut = NonNullable<AuthDeps['onSignOut']>;

/**
 * Makes the last calls after a sign-out: first the calls of the uploaders (at most `ms`), then the call to `logout-path` (at most
 * `ms`).
 */
export class LastCalls {
  readonly #settings: Settings;
  readonly #post: Post;
  readonly #ms: number;
  readonly #callers = new Set<OnSignOut | undefined>();
  #calls: Promise<unknown> = Promise.resolve();
  #leaving: Promise<void> | undefined;

  constructor(settings: Settings, post: Post, ms: number) {
    this.#settings = settings;
    this.#post = post;
    this.#ms = ms;
  }

  /** Adds `call`, which makes last calls. Returns a function that removes `call`. */
  add(call: OnSignOut | undefined): () => void {
    this.#callers.add(call);
    return () => void this.#callers.delete(call);
  }

  /**
   * Starts the last calls of all uploaders with `token`. Forgets `token` when the calls end or after `ms`. `isNew`: it could be
   * another user than that of the sign-out before.
   */
  begin(token: string | undefined, isHere: boolean, isNew: boolean): void {
    if (isNew) this.#leaving = undefined;
    let lastToken = token;
    const stop = new AbortController();
    const withToken: WithToken = async (call) => {
      const isAllowed = lastToken !== undefined || this.#settings.auth === 'none';
      if (stop.signal.aborted || !isAllowed)
        throw new UploaderError('sign-in-required', 'The last calls after a sign-out have no token any more');
      return call(lastToken);
    };
    const calls = [...this.#callers].map((call) => call?.(withToken, stop.signal, isHere));
    const end = (): void => {
      lastToken = undefined;
      stop.abort();
    };
    this.#calls = Promise.race([Promise.allSettled(calls), sleep(this.#ms, stop.signal)]).then(end, end);
  }

  /** Resolves when all last calls have ended. Until then, returns the same promise for the same sign-out. */
  end(): Promise<void> {
    const leaving: Promise<void> =
      this.#leaving ??
      this.#calls
        .then(() => this.#logOut())
        .then(() => {
          if (this.#leaving === leaving) this.#leaving = undefined;
        });
    this.#leaving = leaving;
    return leaving;
  }

  async #logOut(): Promise<void> {
    const settings = this.#settings;
    if (!settings.logoutPath) return;
    // The session's signal is not used, because that signal aborts if the element is removed.
    const signal = AbortSignal.timeout(this.#ms);
    const call = callService('logout', {}, { settings, post: this.#post, signal });
    // Without a response, the warning below says what may be left.
    const answer = await abortable(call, signal).catch(() => undefined);
    if (!answer || answer.status >= 400)
      warnOnceHere('The request to logout-path failed. The session on the service may still exist.');
  }
}
