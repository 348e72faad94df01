// Shows that each of the forty acceptance checks of sign-in has a test that bears its number, where it runs, and that each of the
// seventeen security requirements is shown by tests. It reads titles, and does not run them.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CHECKS = Array.from({ length: 40 }, (_, index) => index + 1);
const REQUIREMENTS = Array.from({ length: 17 }, (_, index) => `S${index + 1}`);

/** Checks that no test here can show, each with its reason. */
const IMPOSSIBLE: Readonly<Record<number, string>> = {};

/** Parts of checks that are shown otherwise than they are written, each with its reason. */
const SHOWN_OTHERWISE: Readonly<Record<number, string>> = {
  3: 'across sites a hidden frame sees a session only where the token answer plants its cookie, so there it does',
  7: 'an automated tab is never really hidden: the page is told that it is, as a browser tells it',
  10: 'the four minutes and the deadline of five pass by a clock that the test moves',
  14: 'the deadline passes by a clock that the test moves',
  18: 'the pauses pass by a clock that the test moves',
  20: 'junk of any kind is token-malformed, since an answer that cannot be read has no token',
  22: 'the sign-in page of the reference service has no button to refuse, so the window is sent back as if it had',
  28: 'twenty minutes pass by a clock that the test moves',
  34: 'the clock of the service is moved, so that the tokens of all five are refused at once',
  35: 'with auth="redirect" the code is in the fragment of the page’s own address too, for one load: SECURITY.md says so',
  38: 'the reference service wants a bearer, so the mode none works as far as to be told so',
};

/** Checks of which some journey runs on one site only, each with which it is, and why. */
const ON_ONE_SITE: Readonly<Record<number, string>> = {
  8: 'all: passkeys refuse an IP address, so the service is on localhost, and the page on localhost or on 127.0.0.1',
  9: 'the table of headers: page and callback page are of one origin, whatever site the service is on',
  29: 'a credential that throws: as 8',
  40: 'all: what is reached, named and heard does not go by sites',
};

/** Checks of which some journey runs in Chromium only, since it needs what only that has; each with which it is, and why. */
const IN_CHROMIUM_ONLY: Readonly<Record<number, string>> = {
  8: 'all: an authenticator that the browser makes up is there in Chromium only',
  11: 'all: the blocker of a Firefox that is driven lets every window open',
  14: 'all: a Firefox that is driven tells of no window that a frame of another site opens',
  29: 'a credential that throws: as 8',
  40: 'all: reading the accessibility tree can end a Firefox that is driven; axe looks at every step there in test/auth/login.test.ts',
};

interface Check {
  readonly number: number;
  readonly words: string;
  /** One of sign-in, which has a world of its own (`test/e2e/support/auth-world.ts`). Other tests that bear a number come on top. */
  readonly isJourney: boolean;
  /** Declared for worlds of these sites and engines. */
  readonly isOnBothSites: boolean;
  readonly isInFirefox: boolean;
}

/** The checks in a file's titles, `check 7: given …` and `checks 12, 13: given …`, each with the `inWorlds` before it. */
function checksIn(file: string): Check[] {
  const text = readFileSync(join(root, 'test', file), 'utf8');
  const isJourney = file.startsWith('e2e/auth-');
  return [...text.matchAll(/\b(?:test|it)\(\s*(['"`])checks? (\d+(?:, \d+)*): (.+?)\1/g)].flatMap((match) => {
    const [, , numbers = '', words = ''] = match;
    const place = text.slice(0, match.index).split('inWorlds(').at(-1)?.split('\n')[0] ?? '';
    // The worlds of one loop are on the one site and then on the other.
    const isOnBothSites = place.includes('sites: BOTH') || place.includes('sites: [only]');
    const isInFirefox = place.includes('sites: ') && !place.includes("only: 'chromium'");
    return numbers
      .split(', ')
      .map((number) => ({ number: Number(number), words, isJourney, isOnBothSites, isInFirefox }));
  });
}

const checks = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap(checksIn);
const journeys = checks.filter(({ isJourney }) => isJourney);
const numbersOf = (some: readonly Check[]): Set<number> => new Set(some.map(({ number }) => number));
const shown = numbersOf(checks);

/** Numbers that are in none of the sets. */
const missingIn = (...sets: readonly ReadonlySet<number>[]): number[] =>
  CHECKS.filter((number) => sets.every((set) => !set.has(number)));
const sorted = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((one, other) => one - other);
const keysOf = (table: Readonly<Record<number, string>>): Set<number> =>
  new Set(Object.keys(table).map(Number));

describe('The acceptance checks of sign-in', () => {
  test('have a test for every number, or a reason why there is none', () => {
    assert.deepEqual(missingIn(shown, keysOf(IMPOSSIBLE)), []);
    assert.deepEqual(
      [...shown].filter((number) => !CHECKS.includes(number)),
      [],
    );
  });

  test('each have a journey of sign-in, whatever other tests they have', () => {
    assert.deepEqual(missingIn(numbersOf(journeys), keysOf(IMPOSSIBLE)), []);
  });

  test('run in every journey of theirs on one site and across two, or have a reason', () => {
    const one = numbersOf(journeys.filter(({ isOnBothSites }) => !isOnBothSites));
    assert.deepEqual(sorted(one), sorted(keysOf(ON_ONE_SITE)));
  });

  test('run in every journey of theirs in Firefox too, or have a reason', () => {
    const chromiumOnly = numbersOf(journeys.filter(({ isInFirefox }) => !isInFirefox));
    assert.deepEqual(sorted(chromiumOnly), sorted(keysOf(IN_CHROMIUM_ONLY)));
  });

  test('have no reason where they are shown, and none where they are not', () => {
    assert.deepEqual(
      [...keysOf(IMPOSSIBLE)].filter((number) => shown.has(number)),
      [],
    );
    assert.deepEqual(
      [...keysOf(SHOWN_OTHERWISE)].filter((number) => !shown.has(number)),
      [],
    );
  });

  test('are told as sentences: given this, then that', () => {
    assert.deepEqual(
      checks.filter(({ words }) => !/^given .+, then /.test(words)).map(({ words }) => words),
      [],
    );
  });
});

describe('The security requirements of sign-in', () => {
  const rows = readFileSync(join(root, 'SECURITY.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, words = '', tests = ''] = /^\| (S\d+) \| (.+?) \| (.+) \|$/.exec(line) ?? [];
      return name ? [{ name, words, tests: [...tests.matchAll(/`(test\/[\w./-]+)` “([^”]+)”/g)] }] : [];
    });

  test('are all seventeen in SECURITY.md, in order', () => {
    assert.deepEqual(
      rows.map(({ name }) => name),
      REQUIREMENTS,
    );
  });

  test('are each shown by tests that are there', () => {
    const missing = rows.flatMap(({ name, tests }) => {
      const absent = tests.filter(
        ([, file = '', title = '']) =>
          !existsSync(join(root, file)) || !readFileSync(join(root, file), 'utf8').includes(title),
      );
      return tests.length === 0 ? [`${name} has no test`] : absent.map(([whole]) => `${name}: ${whole}`);
    });
    assert.deepEqual(missing, []);
  });

  test('S16: what the package depends on is pinned, and sign-in takes one dependency', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    for (const [name, version] of Object.entries(dependencies))
      assert.match(version, /^\d+\.\d+\.\d+$/, name);
    const taken = readdirSync(join(root, 'src/auth'))
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [
        ...readFileSync(join(root, 'src/auth', name), 'utf8').matchAll(
          /from '([^.'][^']*)'|import\('([^.'][^']*)'\)/g,
        ),
      ])
      .map(([, one, other]) => one ?? other);
    assert.deepEqual([...new Set(taken)], ['oauth4webapi']);
  });

  test('S17: the papers say what is not defended', () => {
    const security = readFileSync(join(root, 'SECURITY.md'), 'utf8').split('## What is not')[1] ?? '';
    const docs = readFileSync(join(root, 'docs/authentication.md'), 'utf8');
    for (const limit of [/script that runs on the page/i, /harder, not impossible/i, /proof of possession/i])
      assert.match(security, limit);
    assert.match(docs, /proof of possession/i);
    assert.match(docs, /A script\s+that runs on your page can start a sign-in of its own/);
  });
});
