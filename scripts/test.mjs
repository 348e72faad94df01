// `npm test`: every check and every suite, one after the other, and on the last line the sum of all: `N passed, N failed`.
// Words after `--` that are paths run only those files; `--only=check,wtr,server,package,e2e` runs only those suites;
// `--name=words` only the tests with such a title; `--engines` (or CI) runs the tests in pages in Firefox and WebKit too.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSet } from './browser.mjs';
import { check } from './check.mjs';
import { filesUnder } from './files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const option = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const paths = args.filter((arg) => !arg.startsWith('-')).map((path) => path.replace(/^\.\//, ''));
const titles = option('name');
const allEngines = args.includes('--engines') || isSet('CI');
const pageFolders = ['core', 'service', 'auth', 'store', 'pipeline', 'engine', 'ui'].map(
  (name) => `test/${name}`,
);
const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-test-'));

const picked = (folders) =>
  filesUnder(root, folders, /\.test\.ts$/).filter(
    (file) =>
      paths.length === 0 || paths.some((path) => file === path || file.startsWith(path.replace(/\/?$/, '/'))),
  );

let running;
process.once('SIGTERM', () => {
  running?.kill();
  process.exit(143);
});

/** Runs Node with `nodeArgs`, its output straight through. Answers what it counted; a suite that dies counts as a failure. */
function run(name, nodeArgs, env) {
  const countFile = join(scratch, `${name}.json`);
  return new Promise((resolve) => {
    const options = {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env, COUNT_FILE: countFile },
    };
    const child = spawn(process.execPath, nodeArgs, options);
    running = child;
    child.on('error', () => resolve({ passed: 0, failed: 1 }));
    child.on('close', (code) => resolve(countOf(name, code, countFile)));
  });
}

function countOf(name, code, countFile) {
  if (!existsSync(countFile)) {
    console.log(`${name} ended without a count (exit status ${code})`);
    return { passed: 0, failed: 1 };
  }
  const { passed, failed, skipped } = JSON.parse(readFileSync(countFile, 'utf8'));
  if (skipped) console.log(`${name}: ${skipped} skipped, which counts as failed`);
  if (passed + failed + skipped === 0) console.log(`${name} has files and ran no test`);
  const isBroken = passed + failed + skipped === 0 || (code !== 0 && failed + skipped === 0);
  return { passed, failed: failed + skipped + (isBroken ? 1 : 0) };
}

function pages(engines) {
  return async (files) => {
    const filter = paths.length ? ['--files', ...files] : [];
    const env = { BROWSERS: engines, ...(titles ? { TEST_NAME: titles } : {}) };
    return run('wtr', [join(root, 'node_modules/@web/test-runner/dist/bin.js'), ...filter], env);
  };
}

function outside(name, concurrency) {
  const reporters = ['spec', 'stdout', join(root, 'scripts/count-tests.mjs'), join(scratch, 'unused')];
  const flags = ['--import', 'tsx', '--test', `--test-concurrency=${concurrency}`, '--test-timeout=600000'];
  const filter = titles ? [`--test-name-pattern=${titles}`] : [];
  const [shown, shownTo, counter, counterTo] = reporters;
  const report = [`--test-reporter=${shown}`, `--test-reporter-destination=${shownTo}`];
  const count = [`--test-reporter=${counter}`, `--test-reporter-destination=${counterTo}`];
  return (files) => run(name, [...flags, ...filter, ...report, ...count, ...files]);
}

const suites = [
  {
    name: 'wtr',
    title: 'In pages',
    folders: pageFolders,
    start: pages(allEngines ? 'chromium,firefox,webkit' : process.env.BROWSERS || 'chromium'),
  },
  { name: 'server', title: 'The reference service', folders: ['test/server'], start: outside('server', 2) },
  { name: 'package', title: 'The package', folders: ['test/package'], start: outside('package', 1) },
  { name: 'e2e', title: 'Journeys', folders: ['test/e2e'], start: outside('e2e', 1) },
];

const only = option('only')?.split(',');
const unknown =
  only?.filter((name) => name !== 'check' && !suites.some((suite) => suite.name === name)) ?? [];
const sum = { passed: 0, failed: 0 };
const lines = [];

async function count(title, start) {
  console.log(`\n== ${title}`);
  const started = performance.now();
  const { passed, failed } = await start();
  sum.passed += passed;
  sum.failed += failed;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  lines.push(`${failed ? 'FAIL' : 'ok  '} ${title}: ${passed} passed, ${failed} failed (${seconds} s)`);
}

try {
  for (const name of unknown) {
    console.log(`--only knows no suite "${name}"`);
    sum.failed += 1;
  }
  if (only ? only.includes('check') : paths.length === 0) await count('Checks', () => check());
  for (const { name, title, folders, start } of suites) {
    const files = !only || only.includes(name) ? picked(folders) : [];
    if (files.length) await count(title, () => start(files));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

if (sum.passed + sum.failed === 0) {
  console.log('nothing was run');
  sum.failed = 1;
}
process.exitCode = sum.failed ? 1 : 0;
console.log(`\n${lines.join('\n')}\n\n${sum.passed} passed, ${sum.failed} failed`);
