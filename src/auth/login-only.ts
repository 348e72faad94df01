// Signing in to the service itself, on the service's own page: the form and its challenges, without codes and tokens. What
// the page does once the service knows the person is its own affair.

import type { Report } from '../core/changes.ts';
import type { Settings } from '../core/config.ts';
import type { AuthSnapshot } from '../core/types.ts';
import { Driver } from './driver.ts';
import { createLoginForm, type LoginForm } from './form.ts';
import { createModel } from './machine.ts';
import type { AuthModel, Row, Rows } from './machine-types.ts';
import { enter } from './moves.ts';
import type { Post } from './post.ts';
import { changesBetween, createSnapshot } from './session-changes.ts';
import { runTimer } from './timers.ts';
import { timesOf } from './times.ts';

export interface LoginOnly {
  readonly snapshot: AuthSnapshot;
  readonly form: LoginForm;
  subscribe(listener: () => void): () => void;
  cancel(): void;
  close(): void;
}

/** Here a session of the service is all that is wanted. */
const established: Row<'established'> = (model) => enter(model, 'signed-in', { challenge: undefined });
const withEnd = ({ login, verify, wait, ...rows }: Rows): Rows => ({
  ...rows,
  login: { ...login, established },
  verify: { ...verify, established },
  wait: { ...wait, established },
});

/** A form that begins at once. `report` hears `auth-changed`, `auth-challenged`, `auth-failed` and `signed-in`. */
export function openLogin(settings: Settings, { post, report }: { post: Post; report: Report }): LoginOnly {
  const times = timesOf(settings);
  const listeners = new Set<() => void>();
  const first = createModel({ canSilent: false, silentAfterWindow: false, limits: times });
  const begin: AuthModel = { ...first, state: 'prompt' };
  let snapshot = createSnapshot(begin, 'local', true);
  const driver = new Driver(begin, {
    isAlive: () => false,
    onStep: (before, after, event) => {
      form.onEnter(after);
      snapshot = createSnapshot(after, 'local', true, snapshot);
      for (const change of changesBetween(before, after, event)) report(change);
    },
    run: (effect, signal, send) => {
      runTimer(effect, times, signal, send);
      form.run(effect, signal, send);
    },
    onRest: () => {
      for (const listener of [...listeners]) listener();
    },
  });
  const form = createLoginForm({
    settings: { ...settings, authOptions: { ...settings.authOptions, loginSendsChallenge: false } },
    post,
    redirectUri: () => location.origin,
    model: () => driver.model,
    dispatch: (event) => driver.dispatch(event),
    send: (event, generation) => driver.send(event, generation),
  });
  driver.rows = withEnd(form.rows);
  return {
    get snapshot() {
      return snapshot;
    },
    form,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    cancel: () => driver.dispatch({ type: 'cancel' }),
    close: () => driver.dispatch({ type: 'disconnected' }),
  };
}
