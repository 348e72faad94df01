// Puts the form's half of signing in together with the calls that it makes. It is loaded with the form, and not before.

import { createLoginForm, type LoginForm } from '../auth/form.ts';
import { type AuthSession, openAuthSession } from '../auth/session.ts';
import type { Report } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import { createPost } from '../service/client.ts';

export type { LoginForm } from '../auth/form.ts';
export type { Challenge, Method } from '../auth/machine-types.ts';

/** What a form shows, and what it may do. */
export interface SignIn {
  readonly session: AuthSession;
  readonly form: LoginForm;
}

/**
 * The form of the session that the page's uploaders with these settings share; with `report`, one of its own, for the service's
 * own page, which begins at once and wants no token. `session.close()` what is opened here.
 */
export function openSignIn(settings: Settings, report?: Report): SignIn {
  const deps = { post: createPost(settings), report: report ?? (() => undefined), isSessionEnough: !!report };
  const session = openAuthSession(settings, deps);
  const form = session.form(createLoginForm);
  if (report) session.signIn();
  return { session, form };
}
