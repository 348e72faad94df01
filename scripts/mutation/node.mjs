// Runs test files outside of pages, in a copy of the project whose sources contain the mutants.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const copied = ['src', 'test', 'demo', 'docs', 'scripts', 'package.json', 'tsconfig.json'];
const prelude = readFileSync(new URL('prelude.js', import.meta.url), 'utf8');

/** Returns the source of a module that defines the active mutant, and writes how often each mutant was reached to `recordFile`. */
const setUp = ({ active, limit = 0 }, recordFile) => `import { writeFileSync } from 'node:fs';
const counts = {};
globalThis.__mutantReached = (id) => { counts[id] = (counts[id] ?? 0) + 1; };
process.on('exit', () => writeFileSync(${JSON.stringify(recordFile)}, JSON.stringify(counts)));
${prelude.replace(/\bJOB\b(?!`)/g, JSON.stringify({ active, limit }))}`;

/**
 * `instrumented` has the sources with mutants, by path. Returns `{run}` like `openPages()`, but a file counts as one test, and ends
 * at the first failure. The copy is deleted when this process exits.
 */
export function openNode({ root, instrumented }) {
  const copy = mkdtempSync(join(tmpdir(), 'secure-uploader-mutation-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true, maxRetries: 5 }));
  const isWanted = (path) => !path.includes('node_modules');
  for (const name of copied.filter((name) => existsSync(join(root, name))))
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: isWanted });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, text] of instrumented) writeFileSync(join(copy, file), text);
  // Tests that are ended leave their temporary files.
  const env = { ...process.env, TMPDIR: copy };
  let lastNumber = 0;

  async function run(file, job) {
    const recordFile = join(copy, `record-${++lastNumber}.json`);
    const module = `data:text/javascript,${encodeURIComponent(setUp(job, recordFile))}`;
    const args = ['--import', module, '--import', 'tsx', '--test-reporter=tap', file];
    const started = performance.now();
    const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'ignore'] });
    let failure;
    let isHung = false;
    const deadline = setTimeout(() => {
      isHung = true;
      child.kill('SIGKILL');
    }, job.deadlineMs);
    const ended = new Promise((resolve) => child.once('close', resolve));
    for await (const line of createInterface({ input: child.stdout })) {
      failure ??= /^\s*not ok \d+ - (.*)/.exec(line)?.[1];
      if (failure !== undefined && job.active > 0) child.kill('SIGKILL');
    }
    const passed = (await ended) === 0;
    clearTimeout(deadline);
    if (!passed) return { passed, failure: failure ?? 'the process ended early', isHung };
    const reached = { '': JSON.parse(readFileSync(recordFile, 'utf8')) };
    return { passed, isHung, record: { milliseconds: { [file]: performance.now() - started }, reached } };
  }

  return { run };
}
