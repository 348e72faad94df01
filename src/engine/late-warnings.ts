// Loads the warnings about settings, only where pages are developed: on loopback hosts, and over http.

import { isLoopback } from '../core/loopback.ts';

type Warnings = typeof import('./warn-of-settings.ts');

/** Calls a function of `warn-of-settings.ts`. */
export function warnLate<K extends keyof Warnings>(name: K, given: Parameters<Warnings[K]>[0]): void {
  if (location.protocol !== 'http:' && !isLoopback(location.hostname)) return;
  import('./warn-of-settings.ts')
    .then((warnings) =>
      (warnings[name] as (about: typeof given, isLocal: typeof isLoopback) => void)(given, isLoopback),
    )
    // Without this code, only the warnings are missing.
    .catch(() => undefined);
}
