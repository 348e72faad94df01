// Reads attributes and properties to the same frozen `Settings`, and says which of them belong together.

import { contentOf } from './content.ts';
import { UploaderError } from './errors.ts';
import { hasBlankField } from './read-auth-options.ts';
import { isBlank, isUnrendered, type Read } from './readers.ts';
import {
  type AttributeKind,
  type Scope,
  SETTINGS,
  type Settings,
  type SettingsInput,
} from './settings-table.ts';
import type { Warn } from './warn.ts';

/** A row of `SETTINGS`. */
interface Row {
  readonly scope: Scope;
  readonly read: Read<never, unknown>;
  readonly attribute: AttributeKind;
  readonly protects?: boolean;
  readonly mayBeBlank?: boolean;
  readonly isAlwaysNew?: boolean;
}

const ROWS = Object.entries(SETTINGS) as unknown as readonly (readonly [keyof SettingsInput, Row])[];

/** How the element has each setting. */
export const SETTING_PROPERTIES: readonly (readonly [
  name: keyof SettingsInput,
  row: Pick<Row, 'attribute' | 'isAlwaysNew'>,
])[] = ROWS;

/** The settings that protect users. */
export const PROTECTING: readonly (keyof SettingsInput)[] = ROWS.flatMap(([name, row]) =>
  row.protects ? name : [],
);

/** Returns the attribute for a property: `upload-origins` for `uploadOrigins`. */
export const attributeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const shorten = (value: string): string => (value.length > 40 ? `${value.slice(0, 40)}…` : value);

/** Called with each setting that protects users and cannot be read. */
type OnUnreadable = (name: keyof SettingsInput, message: string) => void;

function parse(input: SettingsInput, rows: typeof ROWS, warn: Warn, onUnreadable: OnUnreadable): Settings {
  const entries = rows.map(([name, { read, protects, mayBeBlank }]) => {
    const value = input[name] ?? undefined;
    // A page may have set `getToken` to its token, which must not be on the console.
    const isSecret = name === 'getToken' || ['object', 'function'].includes(typeof value);
    const settingText = isSecret ? name : `${attributeOf(name)}="${shorten(String(value))}"`;
    const unreadable = (problem: string, instead?: string): void => {
      if (protects) onUnreadable(name, `${settingText} ${problem}`);
      else warn(`${settingText} ${problem}${instead === undefined ? '' : `; using ${instead}`}.`);
    };
    if (protects && !mayBeBlank && isBlank(value)) unreadable('is empty');
    const result = read(value as never, { unreadable, warn });
    // Readers of other values have refused it.
    if (result === value && typeof value === 'string' && isUnrendered(value))
      unreadable('looks like a template that was not rendered');
    return [name, result];
  });
  return Object.freeze(Object.fromEntries(entries));
}

/**
 * Reads settings. Throws `bad-config` if `baseUrl` is missing or invalid, or if a setting that protects users cannot be read.
 * Another invalid value is reported to `warn` and replaced by the default. `getToken` is dropped if `auth` does not use it.
 */
export function createSettings(input: SettingsInput, warn: Warn = () => undefined): Settings {
  const settings = parse(input, ROWS, warn, (_, message) => {
    throw new UploaderError('bad-config', message);
  });
  const { auth, getToken } = settings;
  if (!getToken || auth === 'auto' || auth === 'token') return settings;
  warn(`getToken is not used with auth="${auth}".`);
  return Object.freeze({ ...settings, getToken: undefined });
}

/**
 * True while `baseUrl` or a setting that protects users is blank: a framework renders its templates before it has their values,
 * and calls nothing meanwhile (decision 36).
 */
export const isUnfinished = (input: SettingsInput): boolean =>
  !input.baseUrl ||
  ROWS.some(([name, { protects, mayBeBlank }]) => protects && !mayBeBlank && isBlank(input[name])) ||
  hasBlankField(input.authOptions);

/** Settings that limit which files may be picked. These settings can be parsed without `baseUrl`. */
export type FileRules = Pick<
  Settings,
  'accept' | 'maxFileSize' | 'maxFiles' | 'minFiles' | 'multiple' | 'manual'
>;

/** Reads the limits to show, also while settings are invalid. A form needs a file while the number that it needs cannot be read. */
export function readFileRules(input: SettingsInput): FileRules {
  let leastFiles = 0;
  const rules = parse(
    input,
    ROWS.filter(([, { scope }]) => scope === 'upload'),
    () => undefined,
    (name) => {
      if (name === 'minFiles') leastFiles = 1;
    },
  );
  return { ...rules, minFiles: Math.max(rules.minFiles, leastFiles) };
}

const keyOf = (settings: Settings, ...scopes: readonly Scope[]): string => {
  const rows = ROWS.filter(([, { scope }]) => scopes.includes(scope));
  return contentOf(rows.map(([name]) => settings[name]));
};

/** Returns a key that is equal for settings that share a sign-in session. */
export const signInKeyOf = (settings: Settings): string => keyOf(settings, 'sign-in');

/** Returns a key that is equal for settings that share a service client. */
export const serviceKeyOf = (settings: Settings): string => keyOf(settings, 'service', 'sign-in');

/** Returns `settings` with the sign-in settings of `newer`. */
export function withSignInOf(settings: Settings, newer: Settings): Settings {
  const rows = ROWS.filter(([, { scope }]) => scope === 'sign-in');
  const signInEntries = rows.map(([name]) => [name, newer[name]]);
  return Object.freeze({ ...settings, ...Object.fromEntries(signInEntries) });
}
