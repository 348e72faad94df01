// Defaults for the points that the interface of the service leaves open, and the page's overrides. docs/service.md lists these
// points by number.

import { type ErrorCode, UploaderError } from '../core/errors.ts';
import { PROFILE_KEYS, type Profile } from '../core/read-profile.ts';

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

/** Returns the profile with defaults for fields that are missing or `undefined`. A profile may be an instance of a class. */
export function fillProfile(profile: Profile): FullProfile {
  const pageFields = (Object.keys(PROFILE_KEYS) as (keyof Profile)[])
    .map((name) => [name, profile[name]] as const)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, typeof value === 'function' ? value.bind(profile) : value]);
  return Object.freeze({ ...DEFAULTS, ...Object.fromEntries(pageFields) });
}

/** Runs a function of the page's profile. Throws `bad-config` if the function throws. */
export function askProfile<T>(name: keyof Profile, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw new UploaderError('bad-config', `profile.${name} threw an error`, { cause });
  }
}

/** Meaning of an HTTP status (U7a, U12). `unsupported`: the same request would fail again. */
export type Meaning =
  | NonNullable<Profile['statuses']>[number]
  | NonNullable<Profile['putStatuses']>[number]
  | 'unsupported';

const PUT_MEANINGS: Readonly<Record<number, Meaning>> = {
  408: 'retry',
  429: 'slow-down',
  501: 'unsupported',
  503: 'slow-down',
  505: 'unsupported',
  507: 'full',
  508: 'unsupported',
  510: 'unsupported',
  511: 'unsupported',
};

const MEANINGS: Readonly<Record<number, Meaning>> = {
  ...PUT_MEANINGS,
  401: 'token',
  403: 'forbidden',
  404: 'gone',
  410: 'gone',
  413: 'too-large',
};

/** Codes of the faults that calls and PUTs have in common. */
export const FAULTS: { readonly [M in Meaning]?: ErrorCode } = {
  retry: 'service-failed',
  'slow-down': 'rate-limited',
  full: 'service-full',
  unsupported: 'bad-response',
};

const meaningOfClass = (status: number): Meaning =>
  status >= 500 ? 'retry' : status >= 200 && status < 300 ? 'stored' : 'refused';

export const meaningOf = (status: number, statuses: Profile['statuses'] = {}): Meaning =>
  statuses[status] ?? MEANINGS[status] ?? meaningOfClass(status);

export const putMeaningOf = (status: number, statuses: Profile['putStatuses'] = {}): Meaning =>
  statuses[status] ?? PUT_MEANINGS[status] ?? meaningOfClass(status);
