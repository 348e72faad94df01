// Opens sign-in sessions for tests, and records their changes. By default, each session has its own service.

import { openAuthSession } from '../../src/auth/session.ts';
import type { AuthDeps, AuthSession } from '../../src/auth/types.ts';
import type { Post } from '../../src/core/auth-options.ts';
import type { AuthTimes } from '../../src/core/auth-times.ts';
import type { Change, ChangeMap, ChangeName } from '../../src/core/changes.ts';
import { createSettings } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';

const opened: AuthSession[] = [];
let number = 0;
export const noPost: Post = () => Promise.reject(new UploaderError('network', 'no call was expected'));
export const forever = new AbortController().signal;
export const refused = (): UploaderError => new UploaderError('token-rejected', 'refused', { status: 401 });

export interface Opened {
  readonly session: AuthSession;
  readonly changes: Change[];
  /** Resolves with the detail of the next change named `name`. */
  next<N extends ChangeName>(name: N): Promise<ChangeMap[N]>;
}

export function open(
  input: SettingsInput,
  options: Partial<AuthTimes> = {},
  post = noPost,
  onChange?: (change: Change) => void,
  onSignOut?: AuthDeps['onSignOut'],
  isSessionEnough = false,
): Opened {
  number += 1;
  const settings = createSettings({ baseUrl: `https://service-${number}.example`, silent: 'off', ...input });
  const changes: Change[] = [];
  const waiting: { name: string; resolve: (detail: never) => void }[] = [];
  const report = (change: Change): void => {
    changes.push(change);
    onChange?.(change);
    for (const { name, resolve } of waiting.splice(0)) {
      if (name === change.name) resolve(change.detail as never);
      else waiting.push({ name, resolve });
    }
  };
  const session = openAuthSession(settings, {
    post,
    report,
    options,
    isSessionEnough,
    ...(onSignOut && { onSignOut }),
  });
  opened.push(session);
  return { session, changes, next: (name) => new Promise((resolve) => waiting.push({ name, resolve })) };
}

/**
 * Closes all sessions that the test opened. Deletes the marks of sign-outs, because in some engines all test files share
 * `localStorage`.
 */
export function closeAll(): void {
  for (const session of opened.splice(0)) session.close();
  localStorage.clear();
}

export const namesOf = (changes: readonly Change[]): string[] => changes.map(({ name }) => name);
export const failuresOf = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) => (change.name === 'auth-failed' ? [change.detail.code] : []));
