// `npm test`: every check and every suite, one after the other; at the end what failed, and on the last line the sum of all:
// `N passed, N failed`. Words after `--` that are paths run only those files; `--only=check,wtr,server,package,auth,e2e` only those
// suites; `--name=words` only the tests with such a title; `--engines` (or CI) runs the tests in pages in Firefox and WebKit too.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSet } from './browser.mjs';
import { check } from './check.mjs';
import { filesUnder } from './files.mjs';

const own = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const option = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const root = option('root') ?? own;
// What has not ended by then never will: a file of tests, and a suite.
const fileLimitMs = Number(option('file-limit') ?? 1200) * 1000;
const suiteLimitMs = Number(option('suite-limit') ?? 3000) * 1000;
const greatestShown = 20;
const paths = args.filter((arg) => !arg.startsWith('-')).map((path) => path.replace(/^\.\//, ''));
const titles = option('name');
const allEngines = args.includes('--engines') || isSet('CI');
const engines = allEngines ? 'chromium,firefox,webkit' : process.env.BROWSERS || 'chromium';
const pageFolders = ['core', 'service', 'auth', 'store', 'pipeline', 'engine', 'ui'].map(
  (name) => `test/${name}`,
);
const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-test-'));

const picked = ({ folders, pattern = /\.test\.ts$/ }) =>
  filesUnder(root, folders, pattern).filter(
    (file) =>
      paths.length === 0 || paths.some((path) => file === path || file.startsWith(path.replace(/\/?$/, '/'))),
  );

let running;
/** Ends a suite with all that its tests have started. */
const kill = (signal) => {
  try {
    if (running?.pid) process.kill(-running.pid, signal);
  } catch {
    running.kill(signal); // where there are no groups, or nobody is left in it
  }
};
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => {
    kill('SIGTERM');
    process.exit(status);
  });

/**
 * Runs Node with `nodeArgs`, its output straight through. Answers what it counted and what failed; a suite that dies counts as a
 * failure, and one that does not end is ended. What its tests leave running ends with it.
 */
function run(name, nodeArgs, env) {
  const countFile = join(scratch, `${name}.json`);
  return new Promise((resolve) => {
    const options = {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env, COUNT_FILE: countFile },
      detached: true, // a group of processes of its own, to be ended as one
    };
    let ending = '';
    const child = spawn(process.execPath, nodeArgs, options);
    running = child;
    const limit = setTimeout(() => {
      ending = `did not end within ${suiteLimitMs / 1000} s`;
      kill('SIGKILL');
    }, suiteLimitMs);
    child.on('error', (error) => resolve(countOf(error.message, countFile)));
    child.on('exit', (code, signal) => {
      clearTimeout(limit);
      kill('SIGKILL');
      resolve(countOf(ending || (code === 0 ? '' : `ended with ${signal ?? `status ${code}`}`), countFile));
    });
  });
}

/** `ending` says what was wrong with the end of the suite, if anything. */
function countOf(ending, countFile) {
  const nothing = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const isCounted = existsSync(countFile);
  const { passed, failed, skipped, failures } = isCounted
    ? JSON.parse(readFileSync(countFile, 'utf8'))
    : nothing;
  const isKilled = ending.startsWith('did not');
  let broken = isKilled ? ending : '';
  if (passed + failed + skipped === 0) broken ||= ending || 'has files and ran no test';
  else if (failed + skipped === 0) broken ||= ending;
  if (broken) failures.push({ title: 'the suite', error: broken });
  return { passed, failed: failed + skipped + (broken ? 1 : 0), failures };
}

function pages(files) {
  const filter = paths.length ? ['--files', ...files] : [];
  const env = { BROWSERS: engines, ...(titles ? { TEST_NAME: titles } : {}) };
  return run('wtr', [join(own, 'node_modules/@web/test-runner/dist/bin.js'), ...filter], env);
}

function outside(name, concurrency) {
  const reporters = ['spec', 'stdout', join(own, 'scripts/count-tests.mjs'), join(scratch, 'unused')];
  const limits = [`--test-concurrency=${concurrency}`, `--test-timeout=${fileLimitMs}`];
  const flags = ['--import', 'tsx', '--test', ...limits];
  const filter = titles ? [`--test-name-pattern=${titles}`] : [];
  const [shown, shownTo, counter, counterTo] = reporters;
  const report = [`--test-reporter=${shown}`, `--test-reporter-destination=${shownTo}`];
  const count = [`--test-reporter=${counter}`, `--test-reporter-destination=${counterTo}`];
  // The journeys of sign-in run in these browsers, as far as they can be driven.
  return (files) => run(name, [...flags, ...filter, ...report, ...count, ...files], { BROWSERS: engines });
}

const suites = [
  {
    name: 'wtr',
    title: 'In pages',
    folders: pageFolders,
    start: pages,
  },
  { name: 'server', title: 'The reference service', folders: ['test/server'], start: outside('server', 2) },
  { name: 'package', title: 'The package', folders: ['test/package'], start: outside('package', 1) },
  // Mostly waiting, for windows and other people's pages.
  {
    name: 'auth',
    title: 'Journeys of sign-in',
    folders: ['test/e2e'],
    pattern: /^auth-.*\.test\.ts$/,
    start: outside('auth', 2),
  },
  {
    name: 'e2e',
    title: 'Journeys',
    folders: ['test/e2e'],
    pattern: /^(?!auth-).*\.test\.ts$/,
    start: outside('e2e', 1),
  },
];

const only = option('only')?.split(',');
const unknown =
  only?.filter((name) => name !== 'check' && !suites.some((suite) => suite.name === name)) ?? [];
const sum = { passed: 0, failed: 0 };
const lines = [];
const failed = [];

async function count(title, start) {
  console.log(`\n== ${title}`);
  const started = performance.now();
  const counted = await start();
  sum.passed += counted.passed;
  sum.failed += counted.failed;
  failed.push(...counted.failures.map((each) => lineOf(title, each)));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const counts = `${counted.passed} passed, ${counted.failed} failed`;
  lines.push(`${counted.failed ? 'FAIL' : 'ok  '} ${title}: ${counts} (${seconds} s)`);
}

/** A failure in one line: where, which, and as much of the error as tells what it is. */
function lineOf(suite, { file, engine, title, error }) {
  const where = [suite, file && `${file}${engine ? ` in ${engine}` : ''}`].filter(Boolean).join(', ');
  const line = `${where}: ${title} — ${error}`.replace(/\s+/g, ' ');
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}

try {
  for (const name of unknown) {
    failed.push(`--only knows no suite "${name}"`);
    sum.failed += 1;
  }
  if (only ? only.includes('check') : paths.length === 0) await count('Checks', () => check());
  for (const suite of suites) {
    const files = !only || only.includes(suite.name) ? picked(suite) : [];
    if (files.length) await count(suite.title, () => suite.start(files));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

if (sum.passed + sum.failed === 0) {
  failed.push('nothing was run');
  sum.failed = 1;
}
process.exitCode = sum.failed ? 1 : 0;
if (failed.length > greatestShown)
  failed.splice(greatestShown, failed.length, `and ${failed.length - greatestShown} more`);
const told = failed.length ? `\n\nFailed:\n${failed.map((line) => `  ${line}`).join('\n')}` : '';
console.log(`\n${lines.join('\n')}${told}\n\n${sum.passed} passed, ${sum.failed} failed`);
