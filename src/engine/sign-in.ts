// Puts the form's half of signing in together with the calls that it makes. It is loaded with the form, and not before.

import { createLoginForm, type LoginForm } from '../auth/form.ts';
import { openLogin } from '../auth/login-only.ts';
import { openAuthSession } from '../auth/session.ts';
import type { Report } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import type { AuthSnapshot } from '../core/types.ts';
import { createPost } from '../service/client.ts';

export type { LoginForm } from '../auth/form.ts';
export type { Challenge, Method } from '../auth/machine-types.ts';

/** What a form shows, and what it may do. */
export interface SignIn {
  readonly snapshot: AuthSnapshot;
  readonly form: LoginForm;
  subscribe(listener: () => void): () => void;
  cancel(): void;
  /** Signs in in a window instead; absent where the page is the service's own. To be called in the click's own task. */
  openWindow?(idpId?: string): void;
  close(): void;
}

/** The form of the session that the page's uploaders with these settings share. */
export function joinSignIn(settings: Settings): SignIn {
  const session = openAuthSession(settings, { post: createPost(settings), report: () => undefined });
  const form = session.form(createLoginForm);
  return {
    get snapshot() {
      return session.snapshot;
    },
    form,
    subscribe: (listener) => session.subscribe(listener),
    cancel: () => session.cancel(),
    openWindow: (idpId) => session.signIn('popup', idpId),
    close: () => session.close(),
  };
}

/** A form of its own, for the service's own page. */
export const startSignIn = (settings: Settings, report: Report): SignIn =>
  openLogin(settings, { post: createPost(settings), report });
