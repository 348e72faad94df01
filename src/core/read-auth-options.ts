// Reads the setting `authOptions`: a field that protects users is never ignored.

import type { AuthAdapter, AuthOptions } from './auth-options.ts';
import { AUTH_TIMES } from './auth-times.ts';
import { isBlank, isUnset, type Read } from './readers.ts';

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === 'string';
const isFilled: Test = (value) => isText(value) && !isBlank(value);
const isBoolean: Test = (value) => typeof value === 'boolean';
/** True for an object with fields. Other objects, such as a `Map`, have none that could be read. */
const isObject: Test = (value) => Object.prototype.toString.call(value) === '[object Object]';
/** An empty text turns something off. */
const isEmptyOrFilled: Test = (value) => value === '' || isFilled(value);

const MODES: readonly unknown[] = ['omit', 'same-origin', 'include'] satisfies RequestCredentials[];
const OPERATIONS: readonly string[] = ['token', 'login', 'challenge', 'logout'] satisfies (keyof NonNullable<
  AuthOptions['credentials']
>)[];
const areCredentials: Test = (value) =>
  isObject(value) &&
  Object.entries(Object(value)).every(([name, mode]) => OPERATIONS.includes(name) && MODES.includes(mode));

const CALLS: readonly string[] = [
  'authorizeUrl',
  'exchange',
  'login',
  'challenge',
  'logout',
] satisfies (keyof AuthAdapter)[];
const isFunction: Test = (value) => typeof value === 'function';
/** An adapter may be an instance of a class, whose methods it does not own, and may have data of its own. */
const isAdapter: Test = (value) =>
  isObject(value) &&
  CALLS.every((name) => Object(value)[name] === undefined || isFunction(Object(value)[name])) &&
  Object.entries(Object(value)).every(
    ([name, fieldValue]) => CALLS.includes(name) || !isFunction(fieldValue),
  );

/** Whether the value of a field can be read. */
const FIELDS: Readonly<Record<keyof AuthOptions, Test>> = {
  params: isObject,
  adapter: isAdapter,
  credentialFields: Array.isArray,
  credentials: areCredentials,
  promptAfterSignOut: isEmptyOrFilled,
  ownerField: isFilled,
  sameUserField: isEmptyOrFilled,
  rpId: isFilled,
  loginSendsChallenge: isBoolean,
  showServerMessages: isBoolean,
  autoSubmitCode: isBoolean,
  times: isObject,
};

/** Returns the fields that cannot be read, or that do not exist. */
const problemsOf = (options: object): (readonly [name: string, value: unknown])[] =>
  Object.entries(options).filter(
    ([name, value]) =>
      value !== undefined && !(Object.hasOwn(FIELDS, name) && FIELDS[name as keyof AuthOptions](value)),
  );

/** True if a field is empty that must not be: a template may not be filled in yet. */
export const hasBlankField = (options: unknown): boolean =>
  problemsOf(Object(options)).some(([name, value]) => name in FIELDS && isBlank(value));

export const readAuthOptions: Read<AuthOptions, AuthOptions> = (value, { unreadable, warn }) => {
  if (isUnset(value)) return {};
  if (!isObject(value)) unreadable('is no object');
  for (const [name] of problemsOf(value))
    unreadable(name in FIELDS ? `has a field that cannot be read: ${name}` : `has an unknown field: ${name}`);
  for (const [name, ms] of Object.entries(value.times ?? {}))
    if (!(name in AUTH_TIMES)) warn(`authOptions.times.${name} is unknown.`);
    else if (!(Number(ms) > 0)) warn(`authOptions.times.${name} is invalid.`);
  return value;
};
