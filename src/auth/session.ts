// The way into sign-in: what an uploader sees of the session that all uploaders of a page share where they use the same
// service, and the map in which they find it. It is this module's own, so that no other script of the page can ask it for one.

import type { Report } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import { contentOf } from '../core/content.ts';
import type { AuthSnapshot, WithToken } from '../core/types.ts';
import type { FormHost, LoginForm } from './form.ts';
import type { Post } from './post.ts';
import { SharedSession } from './shared-session.ts';
import type { AuthTimes } from './times.ts';

/** What a session needs from outside. */
export interface AuthDeps {
  /** Calls the service (`createPost` of `service/client.ts`). */
  readonly post: Post;
  /** Hears of every change, from within the change: `auth-required` can be answered there and then. */
  readonly report: Report;
  /** Asked before the page is left; false keeps it. */
  readonly confirmRedirect?: () => boolean;
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
  /** Forgets the token, here and in other tabs; rejects where `logout-path` is set and could not be called. */
  signOut(): Promise<void>;
  /** The form's half of signing in: the one that is there already, or a new one. (`createLoginForm` of `form.ts`) */
  form(create: (host: FormHost) => LoginForm): LoginForm;
  /** No more reports for this user of the session; with the last one gone, and still gone a task later, it ends. */
  close(): void;
}

const sessions = new Map<string, SharedSession>();
/** The same text for settings that sign in in the same way. */
function keyOf(settings: Settings): string {
  const { baseUrl, clientId, redirectUri, auth, idpId, scope, issuer, silent, responseMode } = settings;
  const { paths, getToken, authOptions } = settings;
  const flow = [auth, idpId, scope, issuer, silent, responseMode, paths, getToken, authOptions];
  return contentOf([baseUrl, clientId, redirectUri, ...flow]);
}

/** The session that this page has for these settings; `close()` what is opened here. */
export function openAuthSession(settings: Settings, deps: AuthDeps): AuthSession {
  const { baseUrl, clientId, redirectUri = '', auth, idpId = '' } = settings;
  const key = keyOf(settings);
  // What the other side of a redirect, and other tabs, know it by: nothing in it depends on this load of the page.
  const owner = [baseUrl, clientId, redirectUri, auth, idpId].join(' ');
  const session = sessions.get(key) ?? new SharedSession(settings, deps, owner, () => sessions.delete(key));
  sessions.set(key, session);
  return session.open(deps);
}
