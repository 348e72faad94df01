// Defaults for the points that the interface of the service leaves open, and the page's overrides. docs/service.md lists these
// points by number.

import type { Profile } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';

const DEFAULTS = {
  missingChunk: 'error',
  hashEncoding: 'hex',
  emptyFile: 'session',
  fileName: 'name',
  sendSizes: false,
  statuses: {},
} as const satisfies Profile;

/** A profile with defaults. Functions stay optional, because their defaults are in `wire.ts`. */
export type FullProfile = Profile & Required<Pick<Profile, keyof typeof DEFAULTS>>;

/** Returns the profile with defaults for fields that are missing or `undefined`. */
export function fillProfile(profile: Profile): FullProfile {
  const set = Object.entries(profile).filter(([, value]) => value !== undefined);
  return Object.freeze({ ...DEFAULTS, ...Object.fromEntries(set) });
}

/** Runs a function of the page's profile. Throws `bad-config` if the function throws. */
export function askProfile<T>(name: keyof Profile, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw new UploaderError('bad-config', `profile.${name} threw an error`, { cause });
  }
}

/** Meaning of an HTTP status (U12). */
export type Meaning = NonNullable<Profile['statuses']>[number];

const MEANINGS: Readonly<Record<number, Meaning>> = {
  401: 'token',
  403: 'forbidden',
  404: 'gone',
  408: 'retry',
  410: 'gone',
  413: 'too-large',
  429: 'slow-down',
  503: 'slow-down',
};

export function meaningOf(status: number, statuses: NonNullable<Profile['statuses']> = {}): Meaning {
  return statuses[status] ?? MEANINGS[status] ?? (status >= 500 ? 'retry' : 'refused');
}
