// `npm run verify`: runs the stages of scope.mjs, one at a time, and prints the time and the result of each.
// Arguments after `--`:
// - names: runs only these stages (`engines` stands for `engines-chromium`, `engines-firefox` and `engines-webkit`).
// - `--seed=7`: repeats a run with its random seed.
// - `--list`: only prints the names of the stages.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { missingForRelease } from './release.mjs';
import { STAGES } from './scope.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('-'));
const option = args.find((arg) => arg.startsWith('--seed='))?.slice('--seed='.length);
const seed = Number(option ?? Math.floor(Math.random() * 1e6) + 1);

const isNamed = (stage, name) => stage === name || stage.startsWith(`${name}-`);
const unknown = names.filter((name) => !STAGES.some((stage) => isNamed(stage.name, name)));
const picked = STAGES.filter(({ name }) => names.length === 0 || names.some((each) => isNamed(name, each)));

let running;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    running?.kill(signal);
    process.exit(130);
  });

/** Runs Node with `nodeArgs` and shows its output. Resolves with its status and its last line. */
function run(nodeArgs) {
  return new Promise((resolve) => {
    const env = { ...process.env, TEST_SEED: String(seed) };
    const child = spawn(process.execPath, nodeArgs, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let last = '';
    child.stdout.on('data', (text) => {
      process.stdout.write(text);
      last = (last + text).slice(-2000);
    });
    running = child;
    child.on('close', (status) => resolve({ status: status ?? 1, last: last.trim().split('\n').at(-1) }));
  });
}

/** Runs a stage. Resolves with its line in the summary. */
async function runStage({ name, script, browsers = '' }) {
  console.log(`\n=== ${name}`);
  const startedMs = performance.now();
  const needsEngines = /firefox|webkit/.test(browsers);
  const installed = await run(['scripts/setup.mjs', needsEngines ? '--engines' : '--browser']);
  const { status, last } = installed.status
    ? { status: 1, last: 'the browsers could not be installed' }
    : await run(
        script ? ['--import', 'tsx', `scripts/${script}.mjs`] : ['scripts/test.mjs', `--stage=${name}`],
      );
  if (status !== 0) process.exitCode = 1;
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  return `${status === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(16)} ${minutes.padStart(5)} min  ${last}`;
}

if (args.includes('--list')) console.log(STAGES.map(({ name }) => name).join('\n'));
else if (unknown.length > 0) {
  console.error(
    `There is no stage ${unknown.join(', ')}. Stages: ${STAGES.map(({ name }) => name).join(', ')}.`,
  );
  process.exitCode = 2;
} else {
  console.log(`Seed: ${seed} (--seed=${seed} repeats the same random tests)`);
  const lines = [];
  for (const stage of picked) lines.push(await runStage(stage));
  console.log(`\nSeed: ${seed}\n${lines.join('\n')}`);
  const missing = missingForRelease(root);
  if (missing.length > 0)
    console.log(`\nA release also needs (the owner of the project fills it in):\n  ${missing.join('\n  ')}`);
}
