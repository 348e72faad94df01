// Shows that each of the forty acceptance checks of sign-in has a test that bears its number. It reads titles, and does not run them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const CHECK_COUNT = 40;

/** Checks that no test here can show, each with its reason. */
const IMPOSSIBLE: Readonly<Record<number, string>> = {};

/** Parts of checks that are shown otherwise than they are written, each with its reason. */
const SHOWN_OTHERWISE: Readonly<Record<number, string>> = {
  7: 'an automated tab is never really hidden: the page is told that it is, as a browser tells it',
  8: 'the sign-in page of the reference service has no scripts, so the form stands on a page of the service’s own host',
  10: 'the four minutes and the deadline of five are options, made small',
  18: 'the form counts down; the panel of a window tells once how long it waits',
  20: 'junk of any kind is token-malformed, since an answer that cannot be read has no token',
  22: 'the sign-in page of the reference service has no button to refuse, so the window is sent back as if it had',
};

/** The numbers of checks in a file's titles: `check 7: given …` and `checks 12, 13: given …`, with the titles. */
function checksIn(text: string): [number, string][] {
  const titles = [...text.matchAll(/\b(?:test|it)\(\s*(['"`])checks? (\d+(?:, \d+)*): (.+?)\1/g)];
  const listed = [...text.matchAll(/\[\s*(['"`])checks? (\d+(?:, \d+)*): (.+?)\1/g)];
  return [...titles, ...listed].flatMap(([, , numbers = '', words = '']) =>
    numbers.split(', ').map((number): [number, string] => [Number(number), words]),
  );
}

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.ts'),
);
const checks = files.flatMap((name) => checksIn(readFileSync(join(folder, name), 'utf8')));
const shown = new Set(checks.map(([number]) => number));

describe('The acceptance checks of sign-in', () => {
  test('have a test for every number, or a reason why there is none', () => {
    const numbers = Array.from({ length: CHECK_COUNT }, (_, index) => index + 1);
    assert.deepEqual(
      numbers.filter((number) => !shown.has(number) && !IMPOSSIBLE[number]),
      [],
    );
  });

  test('have no reason where they are shown, and no number that is none', () => {
    assert.deepEqual(
      Object.keys(IMPOSSIBLE).filter((number) => shown.has(Number(number))),
      [],
    );
    assert.deepEqual(
      Object.keys(SHOWN_OTHERWISE).filter((number) => !shown.has(Number(number))),
      [],
    );
    assert.deepEqual(
      [...shown].filter((number) => number < 1 || number > CHECK_COUNT),
      [],
    );
  });

  test('are told as sentences: given this, then that', () => {
    assert.deepEqual(
      checks.filter(([, words]) => !/^given .+, then /.test(words)).map(([, words]) => words),
      [],
    );
  });
});
