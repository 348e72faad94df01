// `npm run check`: checks format, lint and layers (Biome), types (tsc), template bindings (lit-analyzer), tests that would not run
// (focused.mjs) and wording (plain-words.mjs). Runs the checks in parallel, and prints the output of failed checks only.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { filesUnder } from './files.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const modules = join(here, 'node_modules');

/** Returns the checks for a project folder, as `{name, args}` for Node. Leaves out checks that have no files to check. */
function checksOf(root) {
  const sources = filesUnder(root, ['src', 'demo', 'test'], /\.ts$/);
  const tests = filesUnder(root, ['test'], /\.test\.[cm]?[jt]s$/);
  const templates = filesUnder(root, ['src'], /\.ts$/);
  return [
    {
      name: 'format, lint, layers',
      args: [
        join(modules, '@biomejs/biome/bin/biome'),
        'check',
        '--error-on-warnings',
        '--max-diagnostics=200',
      ],
    },
    sources.length && {
      name: 'types',
      args: [join(modules, 'typescript/bin/tsc'), '--build', '--pretty', 'false'],
    },
    templates.length && {
      name: 'template bindings',
      args: [
        join(modules, '@jackolope/lit-analyzer/cli.mjs'),
        '--strict',
        '--maxWarnings',
        '0',
        'src/**/*.ts',
      ],
    },
    tests.length && {
      name: 'focused, skipped, empty tests',
      args: [join(here, 'scripts/focused.mjs'), root],
    },
    {
      name: 'plain words',
      args: [join(here, 'scripts/plain-words.mjs'), root],
    },
  ].filter(Boolean);
}

function runOne({ name, args }, cwd) {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    child.on('error', (error) => (output += error.message));
    child.on('close', (code) =>
      resolve({ name, passed: code === 0, output, seconds: (performance.now() - started) / 1000 }),
    );
  });
}

/** Runs and prints all checks in `root`. Resolves with `{passed, failed, failures: [{title, error}]}`. */
export async function check(root = here) {
  const results = await Promise.all(checksOf(root).map((one) => runOne(one, root)));
  for (const { name, passed, output, seconds } of results) {
    if (!passed) console.log(output.trimEnd());
    console.log(`${passed ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)`);
  }
  const failures = results
    .filter(({ passed }) => !passed)
    .map(({ name, output }) => ({ title: name, error: output.trim() }));
  return { passed: results.length - failures.length, failed: failures.length, failures };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { failed } = await check(process.argv[2]);
  process.exitCode = failed ? 1 : 0;
}
