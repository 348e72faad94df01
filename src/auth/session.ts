// Opens sign-in sessions. Uploaders with the same sign-in settings share one session. The map of sessions is private to this
// module, so that no other script of the page can access a session.

import type { Report } from '../core/changes.ts';
import { type Settings, signInKeyOf } from '../core/config.ts';
import { Listeners } from '../core/listeners.ts';
import type { AuthSnapshot, AuthState, WithToken } from '../core/types.ts';
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

/** States in which no user is in the middle of sign-in, so that the session can be replaced. */
const REPLACEABLE: ReadonlySet<AuthState> = new Set<AuthState>([
  'signed-out',
  'asking-host',
  'silent',
  'prompt',
  'signed-in',
  'cooling',
]);

export interface ReplaceableSession extends AuthSession {
  /** Changes to a session with these sign-in settings. If the user is in the middle of sign-in, waits for its end. */
  configure(settings: Settings): void;
}

/**
 * Opens a session for an uploader whose sign-in settings can change. A call that waits for a token then waits for the token of the
 * next session.
 */
export function openReplaceableSession(first: Settings, deps: AuthDeps): ReplaceableSession {
  const listeners = new Listeners<void>();
  let wanted = first;
  let current = open();

  function open() {
    const session = openAuthSession(wanted, deps);
    const leave = session.subscribe(() => {
      replace();
      listeners.tell();
    });
    return { session, leave, key: signInKeyOf(wanted), over: new AbortController() };
  }

  function replace(): void {
    const { session, leave, key, over } = current;
    if (signInKeyOf(wanted) === key || !REPLACEABLE.has(session.snapshot.state)) return;
    current = open();
    leave();
    over.abort();
    session.close();
  }

  return Object.freeze<ReplaceableSession & { toJSON(): object }>({
    get snapshot() {
      return current.session.snapshot;
    },
    subscribe: (listener) => listeners.add(listener),
    async withToken(call, signal) {
      for (;;) {
        const { session, over } = current;
        try {
          // Ends only the wait for a token. The request of `call` has its own signal.
          return await session.withToken(call, AbortSignal.any([signal, over.signal]));
        } catch (error) {
          if (signal.aborted || !over.signal.aborted || error !== over.signal.reason) throw error;
        }
      }
    },
    signIn: (...how) => current.session.signIn(...how),
    cancel: () => current.session.cancel(),
    signOut: () => current.session.signOut(),
    allow: () => current.session.allow(),
    form: (create) => current.session.form(create),
    configure(settings) {
      wanted = settings;
      replace();
      listeners.tell();
    },
    close() {
      current.leave();
      current.session.close();
    },
    toJSON: () => current.session.snapshot,
  });
}
