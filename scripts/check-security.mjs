// `npm run check:security`: proves that tests protect each security rule. In a copy of the project, applies each mutation from
// scripts/security-mutations.mjs, and checks that the test of the rule then fails. Arguments after `--` select rules (`R2 S16`).
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readResults } from './results.mjs';
import { mutations } from './security-mutations.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const limitMs = 900_000;
const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
const picked = mutations.filter(({ rule }) => wanted.length === 0 || wanted.includes(rule));

const copy = mkdtempSync(join(tmpdir(), 'secure-uploader-security-'));
const end = () => rmSync(copy, { recursive: true, force: true });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
process.once('exit', end);

// Includes committed and untracked files, but not ignored files.
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
});
for (const path of listed.toString().split('\0').filter(Boolean)) {
  if (!existsSync(join(root, path))) continue;
  mkdirSync(join(copy, dirname(path)), { recursive: true });
  cpSync(join(root, path), join(copy, path));
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns true if a test runs in Node. All other tests run in a page. */
const isOfNode = (test) => /^test\/(server|photos|package|e2e)\//.test(test);

/** Runs one test in the copy. Resolves with the number of passed tests, the titles of failed tests, and the output. */
async function run({ test, title }) {
  const name = escaped(title);
  if (!isOfNode(test)) {
    const counted = join(copy, 'count.json');
    rmSync(counted, { force: true });
    const runner = join(copy, 'node_modules/@web/test-runner/dist/bin.js');
    const output = await outputOf([runner, '--files', test], { TEST_NAME: name, COUNT_FILE: counted });
    const [{ passed, failures } = { passed: 0, failures: [] }] = readResults(counted);
    // The list also contains tests that did not run, since the title does not match.
    const failed = failures.map((failure) => failure.title).filter((each) => each.includes(title));
    return { passed, failed, output };
  }
  const limits = ['--test-force-exit', `--test-timeout=${limitMs}`];
  const args = ['--import', 'tsx', '--test', '--test-reporter=tap', ...limits];
  const output = await outputOf([...args, `--test-name-pattern=${name}`, test]);
  const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0);
  // Tests whose title does not match are listed as skipped, not as failed.
  // A test whose hook failed, for example because the mutated code could not be built, did not run.
  const failed = [...output.matchAll(/^\s*not ok \d+ - (.*)$([\s\S]*?)^\s*\.\.\.$/gm)]
    .filter(([, , details]) => !details.includes("failureType: 'hookFailed'"))
    .map(([, failure]) => failure);
  return { passed, failed, output };
}

/** Runs Node with these arguments in the copy. Resolves with the output. */
function outputOf(args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: copy,
      // Builds of broken code stay in the copy.
      env: { ...process.env, BUILT_CACHE: join(copy, 'built'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    child.on('close', () => resolve(output));
  });
}

const baselines = new Map();
/** Resolves with a description of the problem with `mutation`; an empty string if there is no problem. */
async function check(mutation) {
  const { file, before, after, test, title } = mutation;
  const text = readFileSync(join(copy, file), 'utf8');
  if (text.split(before).length !== 2) return `\`before\` must occur exactly once in ${file}`;
  const key = `${test} ${title}`;
  if (!baselines.has(key)) baselines.set(key, await run(mutation));
  const asIs = baselines.get(key);
  if (asIs.failed.length > 0 || asIs.passed === 0)
    return `its test does not pass as it is:\n${asIs.output.slice(-2000)}`;
  writeFileSync(
    join(copy, file),
    text.replace(before, () => after),
  );
  try {
    const broken = await run(mutation);
    // The named test itself must fail. If it did not start, the failure would prove nothing.
    const isCaught = broken.failed.some((failure) => failure.includes(title));
    return isCaught ? '' : `its test passes although the rule is broken:\n${broken.output.slice(-2000)}`;
  } finally {
    writeFileSync(join(copy, file), text);
  }
}

let failed = 0;
for (const mutation of picked) {
  const startedMs = performance.now();
  const problem = await check(mutation);
  if (problem) failed += 1;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  const { rule, title } = mutation;
  console.log(
    `${problem ? 'FAIL' : 'ok  '} ${rule} ${title} (${seconds} s)${problem && `\n     ${problem}`}`,
  );
}
if (picked.length === 0) console.log('No rule has this name.');
console.log(`\n${picked.length - failed} passed, ${failed} failed`);
process.exitCode = failed || picked.length === 0 ? 1 : 0;
