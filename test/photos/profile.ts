// A color profile with texts, in which red and green are exchanged, so that a browser that uses it shows other colors.

import { type Bytes, bytesOf, integer, join } from './support.ts';

const fixed = (value: number): number[] =>
  integer(Math.round(value * 65536) & 0xffffffff, 4).map((byte) => byte & 255);
const xyz = (...values: number[]): Bytes => join(bytesOf('XYZ \0\0\0\0'), ...values.map(fixed));
export const curve = join(bytesOf('curv\0\0\0\0'), integer(1, 4), [2, 0x33]);
/** A name that is too short for its type, so it is dropped. */
export const description = join(bytesOf('desc\0\0\0\0'), integer(8, 4), bytesOf('48.8584\0'));
const RED = xyz(0.4361, 0.2225, 0.0139);
const GREEN = xyz(0.3851, 0.7169, 0.0971);

export type Tags = readonly (readonly [name: string, content: Uint8Array])[];

export const TAGS: Tags = [
  ['desc', description],
  ['wtpt', xyz(0.9642, 1, 0.8249)],
  ['rXYZ', GREEN],
  ['gXYZ', RED],
  ['bXYZ', xyz(0.1431, 0.0606, 0.7141)],
  ['rTRC', curve],
  ['gTRC', curve],
  ['bTRC', curve],
];

/** Returns a profile with these tags, each at a multiple of four bytes. */
export function profileOf(tags: Tags, rest: readonly number[] = []): Bytes {
  let at = 132 + 12 * tags.length;
  const table: Bytes[] = [];
  const contents: Bytes[] = [];
  for (const [name, content] of tags) {
    table.push(join(bytesOf(name), integer(at, 4), integer(content.length, 4)));
    const padded = join(content, new Uint8Array(-content.length & 3));
    contents.push(padded);
    at += padded.length;
  }
  const head = join(
    integer(at + rest.length, 4),
    [0, 0, 0, 0],
    [2, 0x10, 0, 0],
    bytesOf('mntrRGB XYZ '),
    new Uint8Array(12),
    bytesOf('acsp'),
    new Uint8Array(28),
    xyz(0.9642, 1, 0.8249).subarray(8),
    new Uint8Array(48),
  );
  return join(head, integer(tags.length, 4), ...table, ...contents, rest);
}

export const profile = profileOf(TAGS);

/** The same without its texts: the tags that are left keep their places, and the table has zeros behind them. */
export const cleanProfile = (() => {
  const clean = profile.slice();
  const count = TAGS.length;
  const texts = 132 + 12 * count;
  clean.set(profile.subarray(144, 132 + 12 * count), 132);
  clean.fill(0, 132 + 12 * (count - 1), texts + description.length);
  clean.set(integer(count - 1, 4), 128);
  return clean;
})();
