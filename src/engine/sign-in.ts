// Session and form for `<secure-uploader-login>`. Only that element loads this module.

import { FormRequests } from '../auth/form.ts';
import { openAuthSession } from '../auth/session.ts';
import type { AuthSession, LoginForm } from '../auth/types.ts';
import type { Report } from '../core/changes.ts';
import type { Settings } from '../core/settings-table.ts';
import { createPost } from '../service/client.ts';

export type { Challenge, LoginForm, Method } from '../auth/types.ts';

export interface SignIn {
  readonly session: AuthSession;
  readonly form: LoginForm;
}

/**
 * Opens the session that all uploaders with these settings share, and its form. With `report`, opens a separate session for the
 * service's own sign-in page: this session starts sign-in immediately and needs no token. The caller has to call `session.close()`.
 */
export function openSignIn(settings: Settings, report?: Report): SignIn {
  const deps = { post: createPost(settings), report: report ?? (() => undefined), isSessionEnough: !!report };
  const session = openAuthSession(settings, deps);
  const form = session.form((host) => new FormRequests(host));
  if (report) session.signIn();
  return { session, form };
}
