// The way into sign-in: what an uploader sees of the session that all uploaders of a page share where they use the same
// service, and the map in which they find it. It is this module's own, so that no other script of the page can ask it for one.

import type { Report } from '../core/changes.ts';
import { type Settings, signInKeyOf } from '../core/config.ts';
import type { AuthSnapshot, WithToken } from '../core/types.ts';
import type { FormHost, LoginForm } from './form.ts';
import type { Post } from './post.ts';
import { createSharedSession } from './shared-session.ts';
import type { AuthTimes } from './times.ts';

/** What a session needs from outside. */
export interface AuthDeps {
  /** Calls the service (`createPost` of `service/client.ts`). */
  readonly post: Post;
  /** Hears of every change, from within the change: `auth-required` can be answered there and then. */
  readonly report: Report;
  /**
   * Called when somebody signed out, here or in another tab, after the token was forgotten. `withToken` has it for the last calls,
   * until `signal` aborts (5 seconds).
   */
  readonly onSignOut?: (withToken: WithToken, signal: AbortSignal) => Promise<unknown>;
  /** Asked before the page is left; false keeps it. */
  readonly confirmRedirect?: () => boolean;
  /** The service's own session is all that is wanted: no code, no token. Such a session is not shared. */
  readonly isSessionEnough?: boolean;
  /** Deadlines, brakes and lifetimes other than the production ones. */
  readonly options?: Partial<AuthTimes>;
}

/** What an uploader sees of the session that it shares. The token is not part of it. */
export interface AuthSession {
  /** Frozen; a new object for each change that can be seen. */
  readonly snapshot: AuthSnapshot;
  /** Calls `listener` after each change of the snapshot, until the function that it gives is called. */
  subscribe(listener: () => void): () => void;
  /**
   * Runs a call with a valid token, waiting for sign-in for as long as `signal` allows, and once more with a new token
   * where the first was refused (401). Rejects with what the call rejects with; `token-rejected` where a new token is refused too.
   */
  readonly withToken: WithToken;
  /**
   * Begins to sign in, in the way of the settings unless told. To be called in the click's own task, since only that may open
   * a window. `idpId` names another identity provider than the settings do.
   */
  signIn(via?: 'popup' | 'redirect', idpId?: string): void;
  /** Gives up what is under way. */
  cancel(): void;
  /**
   * Forgets the token at once, here and in other tabs. Resolves when `onSignOut` of all users has settled and the service was told,
   * where `logout-path` is set and it could be reached.
   */
  signOut(): Promise<void>;
  /** The page gives tokens again after a sign-out: it is asked when one is needed. */
  allow(): void;
  /** The form's half of signing in: the one that is there already, or a new one. (`createLoginForm` of `form.ts`) */
  form(create: (host: FormHost) => LoginForm): LoginForm;
  /** No more reports for this user of the session; with the last one gone, and still gone a task later, it ends. */
  close(): void;
}

const sessions = new Map<string, (deps: AuthDeps) => AuthSession>();
let ownCount = 0;

/** The session that this page has for these settings; `close()` what is opened here. */
export function openAuthSession(settings: Settings, deps: AuthDeps): AuthSession {
  const key = deps.isSessionEnough ? `own ${++ownCount}` : signInKeyOf(settings);
  const open = sessions.get(key) ?? createSharedSession(settings, deps, () => sessions.delete(key));
  sessions.set(key, open);
  return open(deps);
}
