// `npm test`: runs all checks and suites, two at a time. At the end, prints failures and the tests that only CI runs. The last line
// is `N passed, N failed`.
// Arguments after `--`:
// - paths: runs only these files.
// - `--changed`: runs only tests that relate to changes since the merge base with `main`.
// - `--only=check,wtr,server,package,auth,e2e`: runs only these suites.
// - `--name=words`: runs only tests with matching titles.
// - `--engines`: also runs the tests in pages in Firefox and WebKit.
// The environment variable `CI=1` runs all tests.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changedTests } from './changed.mjs';
import { check } from './check.mjs';
import { filesUnder } from './files.mjs';
import { focusedTests } from './focused.mjs';
import { isFullRun, isLeftToCi, leftOut } from './scope.mjs';
import { argumentsFor, endAll, runSuite, SUITES } from './suites.mjs';

const own = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const option = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const root = option('root') ?? own;
// Time limits. A test file or suite that takes longer counts as hung.
const fileLimitMs = Number(option('file-limit') ?? 1200) * 1000;
const suiteLimitMs = Number(option('suite-limit') ?? 4500) * 1000;
const greatestShown = 20;
const titles = option('name');
const only = option('only')?.split(',');
const allEngines = args.includes('--engines') || isFullRun;
const engines = allEngines ? 'chromium,firefox,webkit' : process.env.BROWSERS || 'chromium';
const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-test-'));

const sum = { passed: 0, failed: 0 };
const lines = [];
const failed = [];

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => {
    endAll('SIGTERM');
    process.exit(status);
  });

/** Returns a failure in one line: file, title, and the essential part of the error. */
function lineOf(suite, { file, engine, title, error }) {
  const where = [suite, file && `${file}${engine ? ` in ${engine}` : ''}`].filter(Boolean).join(', ');
  const line = `${where}: ${title} — ${error}`.replace(/\s+/g, ' ');
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}

function add(title, { passed, failed: failedCount, failures }, startedMs) {
  sum.passed += passed;
  sum.failed += failedCount;
  failed.push(...failures.map((each) => lineOf(title, each)));
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  lines.push(
    `${failedCount ? 'FAIL' : 'ok  '} ${title}: ${passed} passed, ${failedCount} failed (${seconds} s)`,
  );
}

function addError(sentence) {
  failed.push(sentence);
  sum.failed += 1;
}

/**
 * Returns the requested paths in `paths`. If all tests are requested, `isAll` is true. `left` describes tests that `--changed` left
 * out, and `examples` has the example projects to which it limits their test.
 */
function selectPaths() {
  const paths = args.filter((arg) => !arg.startsWith('-')).map((path) => path.replace(/^\.\//, ''));
  if (!args.includes('--changed')) return { paths, isAll: paths.length === 0, left: [] };
  try {
    const { tests, examples, left } = changedTests(root);
    return { paths: tests, isAll: false, left, examples };
  } catch (error) {
    addError(`--changed: ${error.message}`);
    return { paths: [], isAll: false, left: [] };
  }
}

const { paths, isAll, left, examples = [] } = selectPaths();
const isPicked = (file) =>
  isAll
    ? !isLeftToCi(file)
    : paths.some((path) => file === path || file.startsWith(path.replace(/\/?$/, '/')));

function filesOf({ name, folders, pattern = /\.test\.ts$/ }) {
  return only && !only.includes(name) ? [] : filesUnder(root, folders, pattern).filter(isPicked);
}

const picked = SUITES.map((suite) => ({ suite, files: filesOf(suite) })).filter(({ files }) => files.length);
const hasChecks = only ? only.includes('check') : isAll || args.includes('--changed');

/** Builds the files that several suites load. Ignores failures, because the tests report them. */
async function build() {
  const script = join(root, 'test/support/built.ts');
  if (!picked.some(({ suite }) => suite.needsBuild) || !existsSync(script)) return;
  const nodeArgs = ['--import', 'tsx', script];
  await new Promise((resolve) => execFile(process.execPath, nodeArgs, { cwd: root }, resolve));
}

async function runPicked({ suite, files }, prefix) {
  console.log(`${prefix}== ${suite.title}`);
  const startedMs = performance.now();
  const env = { BROWSERS: engines, ...(titles ? { TEST_NAME: titles } : {}) };
  if (examples.length > 0) env.EXAMPLES = examples.join();
  const nodeArgs = argumentsFor(suite, files, { isAll, titles, fileLimitMs, scratch });
  const counted = await runSuite(suite.name, nodeArgs, {
    ...{ cwd: root, env, prefix, limitMs: suiteLimitMs, scratch },
  });
  add(suite.title, counted, startedMs);
}

async function runChecks() {
  if (hasChecks) {
    console.log('== Checks');
    const startedMs = performance.now();
    add('Checks', await check(root), startedMs);
    return;
  }
  const found = focusedTests(
    root,
    picked.flatMap(({ files }) => files),
  );
  for (const line of found) addError(line);
}

async function runQueue(queue, built) {
  for (let each = queue.shift(); each; each = queue.shift()) {
    if (each.suite.needsBuild) await built;
    await runPicked(each, picked.length === 1 ? '' : `${each.suite.name.padEnd(7)} | `);
  }
}

try {
  const known = ['check', ...SUITES.map(({ name }) => name)];
  for (const name of only ?? []) if (!known.includes(name)) addError(`--only knows no suite "${name}"`);
  const built = build();
  const queue = [...picked];
  await Promise.all([runQueue(queue, built), runChecks().then(() => runQueue(queue, built))]);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

if (sum.passed + sum.failed === 0) addError('nothing was run');
process.exitCode = sum.failed ? 1 : 0;
if (failed.length > greatestShown)
  failed.splice(greatestShown, failed.length, `and ${failed.length - greatestShown} more`);
const listed = (title, items) =>
  items.length ? `\n\n${title}:\n${items.map((item) => `  ${item}`).join('\n')}` : '';
const names = picked.map(({ suite }) => suite.name);
const leftToCi = leftOut(names, { hasAllEngines: allEngines });
console.log(
  `\n${lines.join('\n')}${listed('Failed', failed)}${listed('Left out', left)}${listed('Left out, run by CI=1 npm test', leftToCi)}\n\n${sum.passed} passed, ${sum.failed} failed`,
);
