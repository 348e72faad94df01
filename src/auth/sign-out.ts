// Makes the last calls with the token after a sign-out.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { WithToken } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { callService, type Post } from './post.ts';
import type { AuthDeps } from './session.ts';

type OnSignOut = NonNullable<AuthDeps['onSignOut']>;

/**
 * Makes the last calls after a sign-out: first the calls of the uploaders (at most `ms`), then the call to `logout-path` (at most
 * `ms`).
 */
export function createLastCalls(settings: Settings, post: Post, ms: number) {
  const callers = new Set<OnSignOut | undefined>();
  let calls: Promise<unknown> = Promise.resolve();
  let leaving: Promise<void> | undefined;

  async function logOut(): Promise<void> {
    if (!settings.logoutPath) return;
    // The session's signal is not used, because that signal aborts if the element is removed.
    const context = { settings, post, signal: AbortSignal.timeout(ms) };
    const answer = await abortable(callService('logout', {}, context), context.signal).catch(() => undefined);
    if (!answer || answer.status >= 400)
      warnOnceHere('The request to logout-path failed. The session on the service may still exist.');
  }

  return {
    /** Adds `call`, which makes last calls. Returns a function that removes `call`. */
    add(call: OnSignOut | undefined): () => void {
      callers.add(call);
      return () => void callers.delete(call);
    },
    /** Starts the last calls of all uploaders with `token`. Forgets `token` when the calls end or after `ms`. */
    begin(token: string | undefined): void {
      let last = token;
      const stop = new AbortController();
      const withToken: WithToken = async (call) => {
        const isAllowed = last !== undefined || settings.auth === 'none';
        if (stop.signal.aborted || !isAllowed) throw new UploaderError('sign-in-required', 'Signed out');
        return call(last);
      };
      const all = Promise.allSettled([...callers].map((call) => call?.(withToken, stop.signal)));
      const end = (): void => {
        last = undefined;
        stop.abort();
      };
      calls = Promise.race([all, sleep(ms, stop.signal)]).then(end, end);
    },
    /**
     * Calls `leave`, and resolves when all last calls have ended. Until then, further calls of `once` return the same promise,
     * unless a user has signed in since (`isSignedOut` is false).
     */
    once(leave: () => void, isSignedOut: boolean): Promise<void> {
      if (leaving && isSignedOut) return leaving;
      leave();
      const own = calls.then(logOut).then(() => {
        if (leaving === own) leaving = undefined;
      });
      leaving = own;
      return own;
    },
  };
}
