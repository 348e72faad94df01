// The sign-in sessions of the page. The map of sessions is private to this module, so that no other script of the page can access a
// session.

import { signInKeyOf } from '../core/config.ts';
import type { Settings } from '../core/settings-table.ts';
import { SharedSession } from './shared-session.ts';
import type { AuthDeps, AuthSession } from './types.ts';

const sessions = new Map<string, SharedSession>();
let ownCount = 0;

/** Returns the session that all uploaders with these sign-in settings share. The caller must later call `close()`. */
export function openAuthSession(settings: Settings, deps: AuthDeps): AuthSession {
  const key = deps.isSessionEnough ? `own ${++ownCount}` : signInKeyOf(settings);
  const shared = sessions.get(key) ?? new SharedSession(settings, deps, () => sessions.delete(key));
  sessions.set(key, shared);
  return shared.open(deps);
}
