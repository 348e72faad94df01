// Opens sign-in sessions. Uploaders with the same sign-in settings share one. The map of sessions is private to this module, so
// that no other script of the page can take a session from it.

import type { Report } from '../core/changes.ts';
import { type Settings, signInKeyOf } from '../core/config.ts';
import type { AuthSnapshot, WithToken } from '../core/types.ts';
import type { FormHost, LoginForm } from './form.ts';
import type { Post } from './post.ts';
import { createSharedSession } from './shared-session.ts';
import type { AuthTimes } from './times.ts';

export interface AuthDeps {
  /** Calls the service (`createPost` of `service/client.ts`). */
  readonly post: Post;
  /** Called synchronously with every change, so that listeners can answer `auth-required`. */
  readonly report: Report;
  /**
   * Called after a sign-out here or in another tab, when the token is forgotten. `withToken` still has it for the last calls, until
   * `signal` aborts (5 seconds).
   */
  readonly onSignOut?: (withToken: WithToken, signal: AbortSignal) => Promise<unknown>;
  /** Called before the page is left. Return `false` to stay. */
  readonly confirmRedirect?: () => boolean;
  /** For the service's own page: no token is fetched, and the session is not shared. */
  readonly isSessionEnough?: boolean;
  readonly options?: Partial<AuthTimes>;
}

/** What an uploader sees of its session, without the token. */
export interface AuthSession {
  /** Frozen; a new object after each visible change. */
  readonly snapshot: AuthSnapshot;
  /** Calls `listener` after each change of the snapshot. Returns a function that removes it. */
  subscribe(listener: () => void): () => void;
  /**
   * Runs a call with a token; waits for sign-in until `signal` aborts. After a 401 it repeats the call with a new token. Rejects as
   * the call does, and with `token-rejected` after a second 401.
   */
  readonly withToken: WithToken;
  /** `via` and `idpId` default to the settings. Call it in the task of the click, since only that may open a window. */
  signIn(via?: 'popup' | 'redirect', idpId?: string): void;
  /** Cancels the current step. */
  cancel(): void;
  /** Forgets the token at once, here and in other tabs. Resolves after the calls of `onSignOut` and the one to `logout-path`. */
  signOut(): Promise<void>;
  /** After a sign-out, lets the page be asked for tokens again. */
  allow(): void;
  /** The session's form; `create` (`createLoginForm` of `form.ts`) is called for the first one. */
  form(create: (host: FormHost) => LoginForm): LoginForm;
  /** Ends the reports to this user. The session ends a task after the last user has left. */
  close(): void;
}

const sessions = new Map<string, (deps: AuthDeps) => AuthSession>();
let ownCount = 0;

/** The caller must `close()` it. */
export function openAuthSession(settings: Settings, deps: AuthDeps): AuthSession {
  const key = deps.isSessionEnough ? `own ${++ownCount}` : signInKeyOf(settings);
  const open = sessions.get(key) ?? createSharedSession(settings, deps, () => sessions.delete(key));
  sessions.set(key, open);
  return open(deps);
}
