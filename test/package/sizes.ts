// Prints sizes with their change against main. No test fails because of a size.

import { readFileSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';

/** The sizes of main. `npm run sizes` writes them with `UPDATE_SIZES=1`, in a commit that changes nothing else. */
const recordFile = new URL('sizes.json', import.meta.url);

/** Prints a size, and how much larger it is than on main. */
export function printSize(t: TestContext, name: string, size: number, unit = 'bytes with gzip'): void {
  const sizes = JSON.parse(readFileSync(recordFile, 'utf8')) as Record<string, number>;
  const sizeOnMain = sizes[name];
  const change =
    sizeOnMain === undefined ? 'not measured' : `${size < sizeOnMain ? '' : '+'}${size - sizeOnMain}`;
  t.diagnostic(`${name}: ${size} ${unit} (change against main: ${change})`);
  if (process.env.UPDATE_SIZES !== '1') return;
  const sorted = Object.entries({ ...sizes, [name]: size }).sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}
