// `npm test`: runs all checks and suites, two at a time. At the end, prints the slowest files and the failures. The last line is
// `N passed, N failed`. Files that failed run once more, alone, and are listed as flaky if they then pass.
// Arguments after `--`:
// - paths: runs only these files.
// - `--changed`: runs only tests that relate to changes since the merge base with `main`.
// - `--only=check,parts,engine,ui,server,package,auth,e2e`: runs only these suites.
// - `--name=words`: runs only tests with matching titles.
// - `--stage=name`: runs a stage of `npm run verify`.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changedTests } from './changed.mjs';
import { check } from './check.mjs';
import { filesUnder } from './files.mjs';
import { focusedTests } from './focused.mjs';
import { isOfGate, isOfStage, STAGES } from './scope.mjs';
import { endAll, runSuite, SUITES } from './suites.mjs';

const own = fileURLToPath(new URL('..', import.meta.url));
const startedMs = performance.now();
const args = process.argv.slice(2);
const option = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const root = option('root') ?? own;
const stage = STAGES.find(({ name }) => name === option('stage'));
// Time limits. A test file or suite that takes longer counts as hung. At full size, one file takes several minutes.
const fileLimitMs = Number(option('file-limit') ?? (stage ? 900 : 180)) * 1000;
const suiteLimitMs = Number(option('suite-limit') ?? (stage ? 2400 : 900)) * 1000;
const greatestShown = 20;
/** Number of failed files that run again. If more files fail, none runs again. */
const greatestFlaky = 3;
const titles = option('name');
const only = option('only')?.split(',');
const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-test-'));
const env = {
  BROWSERS: (stage ? stage.browsers : process.env.BROWSERS) || 'chromium',
  ...(stage && { TEST_SIZE: 'full' }),
  ...(stage?.isAlone && { TEST_ALONE: '1' }),
  ...(titles && { TEST_NAME: titles }),
};

/** Results of files: those of results.mjs, with `suite`. Other failures are sentences in `problems`. */
const results = [];
const problems = [];
const lines = [];
let checked = 0;

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => {
    endAll('SIGTERM');
    process.exit(status);
  });

const secondsSince = (timeMs) => (performance.now() - timeMs) / 1000;
const hasFailed = ({ failed, skipped }) => failed + skipped > 0;

/** Returns each failure of a file in one line: file, title, and the essential part of the error. */
const failuresOf = ({ suite, file, engine, failures }) =>
  failures.map(({ title, error }) => {
    const where = [suite.title, `${file}${engine ? ` in ${engine}` : ''}`].join(', ');
    const line = `${where}: ${title} — ${error}`.replace(/\s+/g, ' ');
    return line.length > 400 ? `${line.slice(0, 400)}…` : line;
  });

function addLine(title, passed, failed, seconds) {
  lines.push(
    `${failed ? 'FAIL' : 'ok  '} ${title}: ${passed} passed, ${failed} failed (${seconds.toFixed(1)} s)`,
  );
}

function sumOf(some) {
  const sum = { passed: 0, failed: 0 };
  for (const { passed, failed, skipped } of some) {
    sum.passed += passed;
    sum.failed += failed + skipped;
  }
  return sum;
}

/**
 * Returns the requested paths in `paths`. If all tests are requested, `isAll` is true. `left` describes tests that `--changed` left
 * out, and `examples` has the example projects to which it limits their test.
 */
function selectPaths() {
  const paths = args.filter((arg) => !arg.startsWith('-')).map((path) => path.replace(/^\.\//, ''));
  if (option('stage')) {
    if (!stage) problems.push(`there is no stage "${option('stage')}"`);
    return { paths, isAll: false, left: [] };
  }
  if (!args.includes('--changed')) return { paths, isAll: paths.length === 0, left: [] };
  try {
    const { tests, examples, left } = changedTests(root);
    return { paths: tests, isAll: false, left, examples };
  } catch (error) {
    problems.push(`--changed: ${error.message}`);
    return { paths: [], isAll: false, left: [] };
  }
}

const { paths, isAll, left, examples = [] } = selectPaths();
if (examples.length > 0) env.EXAMPLES = examples.join();

function isPicked({ name }, file) {
  if (stage) return (!stage.suites || stage.suites.includes(name)) && isOfStage(stage, file);
  if (isAll) return isOfGate(file);
  return paths.some((path) => file === path || file.startsWith(path.replace(/\/?$/, '/')));
}

function filesOf(suite) {
  if (only && !only.includes(suite.name)) return [];
  return filesUnder(root, suite.folders, suite.pattern ?? /\.test\.ts$/).filter((file) =>
    isPicked(suite, file),
  );
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

/** Runs files of a suite. Returns their results. A file without a result counts as failed. */
async function runFiles(suite, files, prefix, browsers = env.BROWSERS) {
  const options = {
    cwd: root,
    env: { ...env, BROWSERS: browsers },
    prefix,
    suiteLimitMs,
    fileLimitMs,
    scratch,
    titles,
  };
  const { results: found, ending } = await runSuite(suite, files, { ...options, isAlone: stage?.isAlone });
  // Tests count for the file that contains them. If a test file imports it, it has no end, and the test file perhaps no test.
  const imports = found.some(({ file }) => !files.includes(file));
  const hasResult = ({ file, seconds, passed, failed, skipped }) =>
    (seconds !== undefined || !files.includes(file)) && (passed + failed + skipped > 0 || titles || imports);
  const missing = files.filter((file) => !found.some((result) => result.file === file));
  for (const file of missing) found.push({ file, passed: 0, failed: 0, skipped: 0, failures: [] });
  for (const result of found.filter((each) => !hasResult(each))) {
    result.failed += 1;
    result.failures.push({ title: 'the file', error: ending || 'gave no result' });
  }
  if (ending && !found.some(hasFailed)) problems.push(`${suite.title}: the suite — ${ending}`);
  return found.map((result) => ({ ...result, suite }));
}

async function runPicked({ suite, files }, prefix) {
  console.log(`${prefix}== ${suite.title}`);
  const suiteStartedMs = performance.now();
  const found = await runFiles(suite, files, prefix);
  results.push(...found);
  const { passed, failed } = sumOf(found);
  addLine(suite.title, passed, failed, secondsSince(suiteStartedMs));
}

async function runChecks() {
  if (hasChecks) {
    console.log('== Checks');
    const checkStartedMs = performance.now();
    const { passed, failed, failures } = await check(root);
    checked = passed;
    problems.push(...failures.map(({ title, error }) => `Checks: ${title} — ${error}`.replace(/\s+/g, ' ')));
    addLine('Checks', passed, failed, secondsSince(checkStartedMs));
    return;
  }
  problems.push(
    ...focusedTests(
      root,
      picked.flatMap(({ files }) => files),
    ),
  );
}

async function runQueue(queue, built) {
  for (let each = queue.shift(); each; each = queue.shift()) {
    if (each.suite.needsBuild) await built;
    await runPicked(each, picked.length === 1 ? '' : `${each.suite.name.padEnd(7)} | `);
  }
}

/**
 * Runs each file that failed once more, alone. Returns the first results of the files that then passed, and replaces these results.
 * Nothing runs again if the run fails anyway.
 */
async function runFailedAgain() {
  const failed = results.filter(hasFailed);
  if (!isAll || titles || problems.length > 0 || failed.length > greatestFlaky) return [];
  const flaky = [];
  for (const first of failed) {
    console.log(`\n== Once more: ${first.file}`);
    const again = await runFiles(first.suite, [first.file], '', first.engine?.toLowerCase());
    if (again.some(hasFailed) || problems.length > 0) continue;
    flaky.push(first);
    results.splice(results.indexOf(first), 1, ...again);
  }
  return flaky;
}

function writeFlaky(flaky) {
  const folder = join(root, 'test-results');
  mkdirSync(folder, { recursive: true });
  const found = flaky.map(({ suite, file, engine, failures }) => ({
    suite: suite.name,
    file,
    engine,
    failures,
  }));
  writeFileSync(join(folder, 'flaky.json'), `${JSON.stringify(found, undefined, 2)}\n`);
}

const flaky = [];
try {
  const known = ['check', ...SUITES.map(({ name }) => name)];
  for (const name of only ?? [])
    if (!known.includes(name)) problems.push(`--only: there is no suite "${name}"`);
  const built = build();
  const queue = [...picked];
  if (stage) await runChecks().then(() => runQueue(queue, built));
  else await Promise.all([runQueue(queue, built), runChecks().then(() => runQueue(queue, built))]);
  flaky.push(...(await runFailedAgain()));
  if (isAll) writeFlaky(flaky);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const counted = sumOf(results);
counted.passed += checked;
if (counted.passed + counted.failed + problems.length === 0) problems.push('nothing was run');
counted.failed += problems.length;
process.exitCode = counted.failed ? 1 : 0;

const failures = [...problems, ...results.flatMap(failuresOf)];
if (failures.length > greatestShown)
  failures.splice(greatestShown, failures.length, `and ${failures.length - greatestShown} more`);
const slowest = results
  .filter(({ seconds }) => seconds !== undefined)
  .sort((one, other) => other.seconds - one.seconds)
  .slice(0, 10)
  .map(
    ({ file, engine, seconds }) =>
      `${seconds.toFixed(1).padStart(6)} s  ${file}${engine ? ` in ${engine}` : ''}`,
  );
const listed = (title, items) =>
  items.length ? `\n\n${title}:\n${items.map((item) => `  ${item}`).join('\n')}` : '';
const summary = [
  lines.join('\n'),
  listed(`Slowest files (the run took ${secondsSince(startedMs).toFixed(0)} s)`, slowest),
  listed('Flaky: failed once, and passed alone', flaky.flatMap(failuresOf)),
  listed('Failed', failures),
  listed('Left out', [...left, ...(isAll ? ['what npm run verify runs (CONTRIBUTING.md)'] : [])]),
];
console.log(`\n${summary.join('')}\n\n${counted.passed} passed, ${counted.failed} failed`);
