// The defaults for what the interface leaves open, and the page's own answers laid over them. docs/service.md lists the
// points by number. It knows no request.

import type { Profile } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';

/** A profile with every default that is a value; the functions stay optional, since their default is code of the wire. */
export type FullProfile = Profile &
  Required<
    Pick<Profile, 'missingChunk' | 'hashEncoding' | 'emptyFile' | 'fileName' | 'sendSizes' | 'statuses'>
  >;

const DEFAULTS = {
  missingChunk: 'error',
  hashEncoding: 'hex',
  emptyFile: 'session',
  fileName: 'name',
  sendSizes: false,
  statuses: {},
} as const satisfies Profile;

/** The page's profile over the defaults; what is set to `undefined` counts as not set. */
export function fillProfile(profile: Profile): FullProfile {
  const set = Object.entries(profile).filter(([, value]) => value !== undefined);
  return Object.freeze({ ...DEFAULTS, ...Object.fromEntries(set) });
}

/** Runs a function of the page's profile; what it throws becomes `bad-config`. */
export function askProfile<T>(name: keyof Profile, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw new UploaderError('bad-config', `profile.${name} threw`, { cause });
  }
}

/** What an answer's status means (U12). */
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

/** The meaning of a status that is not 2xx, from the profile or the table. */
export function meaningOf(status: number, statuses: NonNullable<Profile['statuses']> = {}): Meaning {
  return statuses[status] ?? MEANINGS[status] ?? (status >= 500 ? 'retry' : 'refused');
}
