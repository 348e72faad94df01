// Functions that read the values of settings. settings-table.ts says which function reads which setting.

import { rulesOf } from './names.ts';
import type { Warn } from './warn.ts';

/** How a reader reports what it finds. */
export interface ReadReport {
  /**
   * The value cannot be read. A setting that protects users is an error then; for another one, `instead` names what the reader
   * returns. The attribute and the value are added to `problem`.
   */
  readonly unreadable: (problem: string, instead?: string) => void;
  /** The value can be read, but the page may mean something else. */
  readonly warn: Warn;
}

/** Reads the value of a setting; `value` is `undefined` if the setting is unset. */
export type Read<Input, Value> = (value: Input | undefined, report: ReadReport) => Value;

/** Pattern of a number with an optional unit: `B`, `MB` (powers of 1000), `MiB` or `M` (powers of 1024). */
const SIZE = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?b)?|b)?\s*$/;

/** Returns the bytes for `8MiB`, `8 MB`, `8388608` or a number; `undefined` if the value is invalid or not positive. */
export function parseBytes(text: string | number): number | undefined {
  const [, number, prefix = '', unit] = SIZE.exec(String(text).toLowerCase()) ?? [];
  const bytes = Math.floor(Number(number) * (unit === 'b' ? 1000 : 1024) ** ' kmgt'.indexOf(prefix));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

/** True for what a template writes that is not filled in yet: a text without letters, or a list of such texts. */
export const isBlank = (value: unknown): boolean =>
  typeof value === 'string' ? /^[\s,]*$/.test(value) : Array.isArray(value) && value.every(isBlank);

export const withDefault =
  <T>(fallback: T): Read<T, T> =>
  (value) =>
    value ?? fallback;

/** Returns a reader for text. An empty string means unset. */
export const text =
  <Default>(fallback: Default): Read<string, string | Default> =>
  (value) =>
    value || fallback;

/** Like `text`, for a setting that protects users: a page may have computed `false` or an object. */
export const onlyText: Read<string, string | undefined> = (value, { unreadable }) => {
  if (value !== undefined && typeof value !== 'string') unreadable('is no text');
  return value || undefined;
};

/** True for what frameworks write to unset a property that is no text: some write an empty text to every property. */
export const isUnset = (value: unknown): value is undefined => value === undefined || value === '';

/** Reads `true` or `false`. A text such as "false" would be on. */
export const flag: Read<boolean, boolean> = (value, { unreadable }) => {
  if (isUnset(value)) return false;
  if (typeof value === 'boolean') return value;
  unreadable('is neither true nor false');
  return false;
};

/** Reads a function of the page. */
export const callback =
  // biome-ignore lint/suspicious/noExplicitAny: any function
    <T extends (...args: any[]) => unknown>(hint = ''): Read<T, T | undefined> =>
    (value, { unreadable }) => {
      if (isUnset(value)) return undefined;
      if (typeof value === 'function') return value;
      unreadable(`is no function${hint}`);
      return undefined;
    };

/** Returns a reader for one of `words`. The first word is the default. */
export const oneOf =
  <T extends string>(...words: readonly [T, ...T[]]): Read<T, T> =>
  (value, { unreadable }) => {
    if (isUnset(value)) return words[0];
    const word = words.find((each) => typeof value === 'string' && each === value.trim().toLowerCase());
    if (!word) unreadable(`is not one of ${words.join(', ')}`, words[0]);
    return word ?? words[0];
  };

const number =
  <Default>(
    parse: (value: string | number) => number | undefined,
    problem: string,
    fallback: Default,
  ): Read<number | string, number | Default> =>
  (value, { unreadable }) => {
    const isGiven = typeof value === 'string' || typeof value === 'number';
    const word = String(value).trim().toLowerCase();
    const isDefault = isGiven && ['auto', String(fallback).toLowerCase()].includes(word);
    if (isUnset(value) || isDefault) return fallback;
    const parsedNumber = isGiven ? parse(value) : undefined;
    if (parsedNumber === undefined) unreadable(problem, 'the default');
    return parsedNumber ?? fallback;
  };

export const bytes = <const Default>(fallback: Default) =>
  number(parseBytes, 'is not a size such as 8MiB or 500MB', fallback);

export const count = <const Default>(max: number, fallback: Default, min = 1) => {
  const parse = (value: string | number): number | undefined =>
    Number.isInteger(Number(value)) && Number(value) >= min && Number(value) <= max
      ? Number(value)
      : undefined;
  return number(parse, `is not a whole number from ${min} to ${max}`, fallback);
};

export const acceptList: Read<string, string> = (input = '', { unreadable, warn }) => {
  const value = String(input);
  if (typeof input !== 'string' && !Array.isArray(input)) unreadable('is no text');
  // Such a list would allow every file.
  if (input !== '' && rulesOf(value).length === 0) unreadable('has no type');
  if (typeof input !== 'string')
    warn('accept is no text. Write the types with commas, as in ".pdf,image/*".');
  return value;
};

/** True for a template that was not rendered, and for what one writes that has no value: the same text for all users. */
export const isUnrendered = (value: unknown): boolean =>
  /\$\{|\{\{|<%|^\s*(undefined|null|NaN|\[object Object\])\s*$/.test(String(value));

/** Returns true if `value` can be the id of a user. */
export const isUserId = (value: unknown): value is string =>
  // A framework writes the number 0 to unset a number.
  ['string', 'number', 'bigint'].includes(typeof value) && value !== 0 && !isUnrendered(value);

/** Returns the id of a user; empty if the page has not named its user yet (decision 36), or if the value is no id. */
export const userOf = (value: unknown): string =>
  isUserId(value) && String(value).trim() !== '' ? String(value) : '';

/** Reads the id of a user. */
export const userId: Read<string, string> = (value, { unreadable, warn }) => {
  if (value !== undefined && !isUserId(value)) unreadable('is not the id of a user');
  const user = userOf(value);
  if (value !== undefined && user === '') warn('owner="" is empty, so all users count as one.');
  return user;
};
