// The table of WCAG criteria in docs/accessibility.md is complete, and names tests that exist.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const rows = read('docs/accessibility.md')
  .split('\n')
  .flatMap((line) => {
    const [, number, level = '', how = ''] = /^\| (\d\.\d\.\d+) [^|]+\| (A|AA) \| (.*) \|$/.exec(line) ?? [];
    return number ? [{ number, level, how }] : [];
  });

/** Numbers of criteria of a guideline, such as `['1.1', 2]` for 1.1.1 and 1.1.2. */
const numbersOf = ([guideline, count]: readonly [string, number]): string[] =>
  Array.from({ length: count }, (_, at) => `${guideline}.${at + 1}`);

test('the table has each criterion of WCAG 2.2 of levels A and AA once', () => {
  const all = (
    [
      ...[['1.1', 1] as const, ['1.2', 5] as const, ['1.3', 5] as const, ['1.4', 13] as const],
      ...[['2.1', 4] as const, ['2.2', 2] as const, ['2.3', 1] as const, ['2.4', 11] as const],
      ...[['2.5', 8] as const, ['3.1', 2] as const, ['3.2', 6] as const, ['3.3', 8] as const],
      ['4.1', 3] as const,
    ] as const
  ).flatMap(numbersOf);
  // Criteria of level AAA, and 4.1.1, which version 2.2 removed.
  const others = '1.4.6 1.4.7 1.4.8 1.4.9 2.1.3 2.4.8 2.4.9 2.4.10 2.5.5 2.5.6 3.2.5 3.3.5 3.3.6 4.1.1'.split(
    ' ',
  );
  assert.deepEqual(
    rows.map(({ number }) => number),
    all.filter((number) => !others.includes(number)),
  );
});

test('every criterion names a test with its title, or has a reason', () => {
  let count = 0;
  for (const { number, how } of rows) {
    assert.ok(how.length > 0, number);
    for (const [, path = '', title] of how.matchAll(/`(test\/[\w./-]+)`(?: “([^”]+)”)?/g)) {
      count += 1;
      assert.ok(read(path).includes(title ?? ''), `${number}: ${path} has no test “${title}”`);
    }
  }
  assert.ok(count > 40);
});
