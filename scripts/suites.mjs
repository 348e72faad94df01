// The suites of `npm test`. Runs each suite in a separate process, and shows the output.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readResults } from './results.mjs';

const own = fileURLToPath(new URL('..', import.meta.url));

/**
 * The suites, with their files and the number of files that run in parallel (`concurrency`). Two suites run at a time, longest
 * first, so that both queues end at about the same time. If `needsBuild` is true, the suite loads the output of
 * test/support/built.ts.
 */
export const SUITES = [
  {
    name: 'e2e',
    title: 'Journeys',
    folders: ['test/e2e'],
    pattern: /^(?!auth-).*\.test\.ts$/,
    concurrency: 2,
    needsBuild: true,
  },
  { name: 'engine', title: 'The engine in pages', folders: ['test/engine'], isInPages: true },
  { name: 'ui', title: 'The widget in pages', folders: ['test/ui'], isInPages: true },
  {
    name: 'server',
    title: 'The reference service',
    folders: ['test/server', 'test/photos', 'test/survival'],
    concurrency: 2,
  },
  { name: 'package', title: 'The package', folders: ['test/package'], concurrency: 2, needsBuild: true },
  {
    name: 'parts',
    title: 'Parts in pages',
    folders: ['core', 'service', 'auth', 'pipeline'].map((name) => `test/${name}`),
    isInPages: true,
  },
  {
    name: 'auth',
    title: 'Journeys of sign-in',
    folders: ['test/e2e'],
    pattern: /^auth-.*\.test\.ts$/,
    concurrency: 2,
    needsBuild: true,
  },
];

/** Returns the arguments for Node to run these files of a suite. */
function argumentsFor(suite, files, { titles, fileLimitMs, scratch, isAlone }) {
  if (suite.isInPages) return [join(own, 'node_modules/@web/test-runner/dist/bin.js'), '--files', ...files];
  const concurrency = isAlone ? 1 : suite.concurrency;
  const limits = [`--test-concurrency=${concurrency}`, `--test-timeout=${fileLimitMs}`];
  const filter = titles ? [`--test-name-pattern=${titles}`] : [];
  const reporters = [
    ['spec', 'stdout'],
    [join(own, 'scripts/count-tests.mjs'), join(scratch, `${suite.name}.unused`)],
  ];
  const reports = reporters.flatMap(([reporter, to]) => [
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${to}`,
  ]);
  return ['--import', 'tsx', '--test', ...limits, ...filter, ...reports, ...files];
}

const running = new Set();

function killGroup(child, signal) {
  try {
    if (child.pid) process.kill(-child.pid, signal);
  } catch {
    child.kill(signal); // There are no process groups, or the group has ended.
  }
}

/**
 * Returns the processes that a process and its children have started, also those with groups of their own, such as browsers. Only
 * Linux tells them.
 */
function descendantsOf(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
    const children = lists.join(' ').split(/\s+/).filter(Boolean).map(Number);
    return children.flatMap((childPid) => [childPid, ...descendantsOf(childPid)]);
  } catch {
    return []; // The process has ended, or there is no /proc.
  }
}

function killTree(child) {
  for (const pid of descendantsOf(child.pid))
    try {
      process.kill(pid, 'SIGKILL');
    } catch {} // It has ended.
  killGroup(child, 'SIGKILL');
}

/** Stops all running suites, and the processes that their tests started. */
export function endAll(signal) {
  for (const child of running) killGroup(child, signal);
}

/** Copies a stream to the output, with a prefix on each line. */
function prefixLines(stream, prefix, output) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) output.write(`${prefix}${line}\n`);
  });
  stream.on('end', () => rest && output.write(`${prefix}${rest}\n`));
}

/**
 * Runs files of a suite. Resolves with `{results, ending}`: the results as in results.mjs, and a description of an abnormal end,
 * empty after a normal end. After `suiteLimitMs`, kills a suite with its browsers. Each line of the output starts with `prefix`.
 */
export function runSuite(suite, files, { cwd, env, prefix, suiteLimitMs, ...options }) {
  const countFile = join(options.scratch, `${suite.name}.json`);
  rmSync(countFile, { force: true });
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argumentsFor(suite, files, options), {
      cwd,
      stdio: ['ignore', ...(prefix ? ['pipe', 'pipe'] : ['inherit', 'inherit'])],
      env: { ...process.env, ...env, COUNT_FILE: countFile, FILE_LIMIT_MS: String(options.fileLimitMs) },
      detached: true, // Creates a process group, so that all processes of the suite can be killed together.
    });
    running.add(child);
    if (prefix) {
      prefixLines(child.stdout, prefix, process.stdout);
      prefixLines(child.stderr, prefix, process.stderr);
    }
    let ending = '';
    const limit = setTimeout(() => {
      ending = `did not end within ${suiteLimitMs / 1000} s`;
      killTree(child);
    }, suiteLimitMs);
    child.on('error', (error) => {
      ending = error.message;
      end();
    });
    child.on('exit', (code, signal) => {
      ending ||= code === 0 ? '' : `ended with ${signal ?? `status ${code}`}`;
      clearTimeout(limit);
      killGroup(child, 'SIGKILL');
      // `close` follows after the last output. The timer is needed if a process outside the group keeps the pipe open.
      setTimeout(end, 5000).unref();
    });
    child.on('close', end);
    function end() {
      running.delete(child);
      resolve({ results: readResults(countFile), ending });
    }
  });
}
