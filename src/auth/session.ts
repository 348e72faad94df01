// Opens sign-in sessions. Uploaders with the same sign-in settings share one session. The map of sessions is private to this
// module, so that no other script of the page can access a session.

import type { Report } from '../core/changes.ts';
import { type Settings, signInKeyOf } from '../core/config.ts';
import type { AuthSnapshot, WithToken } from '../core/types.ts';
import type { FormHost, LoginForm } from './form.ts';
import type { Post } from './post.ts';
import { createSharedSession } from './shared-session.ts';
import type { AuthTimes } from './times.ts';

export interface AuthDeps {
  /** Function that calls the service (`createPost` of `service/client.ts`). */
  readonly post: Post;
  /** Called synchronously with every change, because listeners must respond to `auth-required` during its dispatch. */
  readonly report: Report;
  /**
   * Makes the last calls after a sign-out in this or another tab. `withToken` can still use the token until `signal` aborts (after
   * 5 seconds).
   */
  readonly onSignOut?: (withToken: WithToken, signal: AbortSignal) => Promise<unknown>;
  /** Called in redirect mode before the page is left. Returns false to stay on the page. */
  readonly confirmRedirect?: () => boolean;
  /** True on the service's own page: no token is requested, and the session is not shared. */
  readonly isSessionEnough?: boolean;
  readonly options?: Partial<AuthTimes>;
}

/** A sign-in session for one uploader, without the token. */
export interface AuthSession {
  /** Frozen snapshot of sign-in. Replaced by a new object after each visible change. */
  readonly snapshot: AuthSnapshot;
  /** Calls `listener` after each change of the snapshot. Returns a function that removes the listener. */
  subscribe(listener: () => void): () => void;
  /**
   * Runs a call with a token. Waits for sign-in, until `signal` aborts. After a 401, repeats the call with a new token. Rejects
   * with the error of the call, and with `token-rejected` after a second 401.
   */
  readonly withToken: WithToken;
  /**
   * Starts sign-in. `via` and `idpId` default to the settings. Call this method synchronously in a click handler, or the browser
   * blocks the window.
   */
  signIn(via?: 'popup' | 'redirect', idpId?: string): void;
  /** Cancels the current step of sign-in. */
  cancel(): void;
  /** Forgets the token at once, here and in other tabs. Resolves after the calls of `onSignOut` and the call to `logout-path`. */
  signOut(): Promise<void>;
  /** After a sign-out, allows tokens to be requested from the page again. */
  allow(): void;
  /** Returns the session's form. The first call creates the form with `create` (`createLoginForm` of `form.ts`). */
  form(create: (host: FormHost) => LoginForm): LoginForm;
  /** Stops reports to this uploader. The session ends one task after the last uploader has called `close()`. */
  close(): void;
}

const sessions = new Map<string, (deps: AuthDeps) => AuthSession>();
let ownCount = 0;

/** Returns the session that all uploaders with these sign-in settings share. The caller must later call `close()`. */
export function openAuthSession(settings: Settings, deps: AuthDeps): AuthSession {
  const key = deps.isSessionEnough ? `own ${++ownCount}` : signInKeyOf(settings);
  const open = sessions.get(key) ?? createSharedSession(settings, deps, () => sessions.delete(key));
  sessions.set(key, open);
  return open(deps);
}
