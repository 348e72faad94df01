// The scope of a test run. With `CI` set, all tests run. Otherwise, the slowest parts are reduced or left out, and are listed at
// the end of the run.
import { isSet } from './browser.mjs';

/** True if the run must include all tests. */
export const isFullRun = isSet('CI');

const e2e = (names) => names.map((name) => `test/e2e/${name}.test.ts`);

/**
 * Tests that only a full run includes, by suite. CONTRIBUTING.md has the same list. Other runs include `files` only if the command
 * line names these files or `--changed` selects them.
 */
export const LEFT_TO_CI = [
  { suite: 'wtr', what: 'tests in pages: Firefox and WebKit', isOfEngines: true },
  { suite: 'wtr', what: 'random commands in Chromium: 2,000 runs and 100 seeds (50 and 4 here)' },
  { suite: 'wtr', what: 'texts that are cut off: Dutch, French, Hebrew, Italian, Spanish' },
  { suite: 'auth', what: 'journeys of sign-in: Firefox', isOfEngines: true },
  { suite: 'auth', what: 'journeys of sign-in: the second site, if the result is the same as on the first' },
  {
    suite: 'auth',
    what: 'journeys of sign-in: challenges, code exchange, expiry, frames, keyboard, leaks, narrow windows, pages, passkeys, shared computers, silent sign-in, sign-out with a failing network, tabs, opener policies, sites, windows and hostile pages',
    files: e2e([
      'auth-check-challenge',
      'auth-check-coop',
      'auth-check-exchange',
      'auth-check-expiry',
      'auth-check-frames',
      'auth-check-keyboard',
      'auth-check-leaks',
      'auth-check-page',
      'auth-check-passkey',
      'auth-check-sign-out',
      'auth-check-silent',
      'auth-check-tabs',
      'auth-fits',
      'auth-shared-computer',
      'auth-sites',
      'auth-window',
    ]),
  },
  { suite: 'e2e', what: 'the whole way: a file of 300 MB (60 MB here)' },
  {
    suite: 'e2e',
    what: 'ten links and ten reloads: Firefox and WebKitGTK, and a file of 256 MB (64 MB here)',
  },
  { suite: 'e2e', what: 'chaos: 500 faults and a minute (150 faults here)' },
  {
    suite: 'e2e',
    what: 'journeys: tables of faults, strict pages, hostile pages and losses with a file keeper, what an upload survives, the time to hand files over, leaving the page, tabs, files that change, many files, memory, HTTP/2, names, step-up, BLAKE3, throttle, time left, layout shift, outages, errors of single files, broken browsers, touch screens, accessibility',
    files: e2e([
      'accessibility',
      'blake3-policy',
      'broken-browser',
      'fault-matrix',
      'fault-matrix-calls',
      'fault-matrix-offline',
      'fault-matrix-token',
      'file-changes',
      'hand-over-time',
      'journey-bad-day',
      'journey-keeper-lost',
      'journey-keeper-security',
      'journey-keeper-survives',
      'journey-leave',
      'journey-many-files',
      'journey-outage',
      'journey-strict-pages',
      'journey-tabs',
      'journey-touch',
      'layout-shift',
      'time-left',
      'transfer-memory',
      'transfer-multiplexed',
      'transfer-names',
      'transfer-step-up',
      'transfer-throttle',
      'transfer-weather',
    ]),
  },
  {
    suite: 'server',
    what: 'the example for S3 on each framework',
    files: ['test/server/service-s3.test.ts'],
  },
  {
    suite: 'package',
    what: 'the package: tests of the commands themselves (check, test, test:mutation), what pages download, a second build, the example projects',
    files: ['changed', 'check', 'commands', 'examples', 'loaded', 'mutation', 'reproducible'].map(
      (name) => `test/package/${name}.test.ts`,
    ),
  },
];

const filesOfCi = new Set(LEFT_TO_CI.flatMap(({ files = [] }) => files));

/** Returns true for a test file that runs only with `CI`. */
export const isLeftToCi = (file) => !isFullRun && filesOfCi.has(file);

/** Returns descriptions of the tests that these suites left out. */
export function leftOut(suites, { hasAllEngines }) {
  if (isFullRun) return [];
  return LEFT_TO_CI.filter(
    ({ suite, isOfEngines }) => suites.includes(suite) && !(isOfEngines && hasAllEngines),
  ).map(({ what }) => what);
}
