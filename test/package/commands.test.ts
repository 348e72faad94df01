// The output of the commands: set-up without a browser, counts of broken tests, and the end of `npm test`.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LEFT_TO_CI } from '../../scripts/scope.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function node(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const { NODE_TEST_CONTEXT: _context, ...own } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, env: { ...own, ...env } }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

describe('npm test', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'secure-uploader-count-'));
  });
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

  async function count(text: string): Promise<{ passed: number; failed: number; skipped: number }> {
    const file = join(folder, 'some.test.mjs');
    const counts = join(folder, 'counts.json');
    await writeFile(file, text);
    await node(['--test', `--test-reporter=${join(root, 'scripts/count-tests.mjs')}`, file], {
      COUNT_FILE: counts,
    });
    const { passed, failed, skipped } = JSON.parse(await readFile(counts, 'utf8'));
    return { passed, failed, skipped };
  }

  /** Runs `files` as the tests of the service. Returns the status and the end of the output. */
  async function runAll(name: string, files: Record<string, string>, ...args: string[]) {
    const project = join(folder, name);
    await mkdir(join(project, 'test/server'), { recursive: true });
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
    for (const [file, text] of Object.entries(files))
      await writeFile(
        join(project, 'test/server', file),
        `import { describe, test } from 'node:test';\n${text}`,
      );
    // With `CI`, the output has no list of the tests that were left out.
    const command = ['scripts/test.mjs', `--root=${project}`, '--only=server', ...args];
    const { status, stdout } = await node(command, { CI: '1' });
    const end = /\n(?:ok {2}|FAIL) The reference service: [\s\S]*$/.exec(stdout)?.[0] ?? stdout;
    return {
      status,
      end: end
        .replace(/\(\d+\.\d s\)/, '(s)')
        .trim()
        .split('\n'),
    };
  }

  test('counts tests, and not the groups that they are in', async () => {
    const text = `import { describe, test } from 'node:test';
      describe('a group', () => { test('one', () => {}); test('two', () => { throw new Error('no'); }); });`;
    assert.deepEqual(await count(text), { passed: 1, failed: 1, skipped: 0 });
  });

  test('counts skipped tests separately, since they prove nothing', async () => {
    const text = `import { test } from 'node:test'; test('one', { skip: true }, () => {}); test('two', () => {});`;
    assert.deepEqual(await count(text), { passed: 1, failed: 0, skipped: 1 });
  });

  test('counts a file that breaks, or ends without a test, as a failure', async () => {
    assert.deepEqual(await count(`throw new Error('broken');`), { passed: 0, failed: 1, skipped: 0 });
    assert.deepEqual(await count('process.exit(0);'), { passed: 0, failed: 1, skipped: 0 });
  });

  test('prints failed tests, with file and error, before the total', async () => {
    const { status, end } = await runAll('failing', {
      'a.test.ts': `describe('a group', () => {
        test('one', () => { [].at(0); });
        test('two', () => { throw new Error('no\\n  and no'); });
        test('three', { skip: true }, () => { [].at(0); });
      });`,
      'b.test.ts': `throw new Error('broken');`,
    });
    assert.equal(status, 1);
    assert.deepEqual(end, [
      'FAIL The reference service: 1 passed, 3 failed (s)',
      '',
      'Failed:',
      '  test/server/a.test.ts:5: this test has the option "skip"',
      '  The reference service, test/server/a.test.ts: two — no and no',
      '  The reference service, test/server/a.test.ts: three — was skipped',
      '  The reference service, test/server/b.test.ts: the file — test failed',
      '',
      '1 passed, 4 failed',
    ]);
  });

  test('runs only the tests of a name, and does not count the others', async () => {
    const text = `test('one', () => { [].at(0); }); test('two', () => { throw new Error('no'); });`;
    const { status, end } = await runAll('named', { 'a.test.ts': text }, '--name=one');
    assert.equal(end.at(-1), '1 passed, 0 failed');
    assert.equal(status, 0);
  });

  test('fails if a test is focused, whether the others run or not', async () => {
    const { status, end } = await runAll('focused', {
      'a.test.ts': `test.only('one', () => { [].at(0); }); test('two', () => { throw new Error('no'); });`,
    });
    assert.equal(status, 1);
    assert.ok(end.includes('  test/server/a.test.ts:2: this test is marked "only"'), end.join('\n'));
    assert.ok(end.includes('  The reference service, test/server/a.test.ts: two — no'), end.join('\n'));
  });

  test('prints twenty of many, and the number of the others', async () => {
    const text = `for (let nth = 1; nth <= 23; nth++) test('nth ' + nth, () => { throw new Error('no'); });`;
    const { end } = await runAll('many', { 'a.test.ts': text });
    const named = end.filter((line) => line.startsWith('  The reference service, '));
    assert.equal(named.length, 20);
    assert.deepEqual(end.slice(-3), ['  and 3 more', '', '0 passed, 23 failed']);
  });

  test('prints in which test a file broke off', async () => {
    const file = join(root, 'a.test.ts');
    const events = [
      { type: 'test:dequeue', data: { name: file, nesting: 0, file } },
      { type: 'test:dequeue', data: { name: 'a group', nesting: 0, file } },
      { type: 'test:dequeue', data: { name: 'the first', nesting: 1, file } },
      { type: 'test:complete', data: { name: 'the first', nesting: 1, file } },
      { type: 'test:dequeue', data: { name: 'the last', nesting: 1, file } },
      { type: 'test:complete', data: { name: file, nesting: 0, file } },
      {
        type: 'test:fail',
        data: { name: file, nesting: 0, file, details: { error: { message: 'timed out' } } },
      },
    ];
    const counts = join(folder, 'broken-off.json');
    const script = `import countTests from './scripts/count-tests.mjs';
      for await (const _ of countTests(${JSON.stringify(events)})) {}`;
    await node(['--input-type=module', '--eval', script], { COUNT_FILE: counts });
    const { failures } = JSON.parse(await readFile(counts, 'utf8'));
    const error = 'timed out (in: a group > the last)';
    assert.deepEqual(failures, [{ file: 'a.test.ts', title: 'the file', error }]);
  });

  test('counts files in pages during the run, and names those that are running', async () => {
    const session = (id: string, status: string, tests: unknown[] = []): object => ({
      id,
      status,
      testFile: join(root, `test/core/${id}.test.ts`),
      browser: { name: 'Chromium' },
      testResults: { name: '', tests, suites: [] },
      errors: [],
      passed: true,
    });
    const sessions = [
      session('ended', 'FINISHED', [{ name: 'fine', passed: true, skipped: false }]),
      session('running', 'TEST_STARTED'),
      session('waiting', 'SCHEDULED'),
    ];
    const counts = join(folder, 'in-pages.json');
    const script = `import { countReporter } from './test/support/count-reporter.mjs';
      const reporter = countReporter();
      reporter.start({ config: { rootDir: process.cwd() } });
      for (let times = 1; times <= 2; times += 1)
        reporter.getTestProgress({ sessions: ${JSON.stringify(sessions)} });`;
    const { stdout } = await node(['--input-type=module', '--eval', script], { COUNT_FILE: counts });
    assert.equal(stdout.trim(), 'test/core/ended.test.ts in Chromium: 1 passed');
    const { passed, failed, unfinished } = JSON.parse(await readFile(counts, 'utf8'));
    assert.deepEqual([passed, failed, unfinished], [1, 0, ['test/core/running.test.ts in Chromium']]);
  });

  test('ends a file that does not end, and a suite that a process of its tests keeps from ending', async () => {
    const hanging = `setInterval(() => {}, 1000); test('for ever', () => new Promise(() => {}));`;
    const orphan = `import { spawn } from 'node:child_process';
      test('fine', () => { spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }).unref(); });`;
    const [file, suite] = await Promise.all([
      runAll('hanging', { 'a.test.ts': hanging }, '--file-limit=1'),
      runAll('orphan', { 'a.test.ts': orphan }, '--suite-limit=1'),
    ]);
    assert.match(file.end.join('\n'), /a\.test\.ts: the file — test timed out after 1000ms/);
    assert.equal(file.end.at(-1), '0 passed, 1 failed');
    assert.match(suite.end.join('\n'), /the suite — did not end within 1 s/);
    assert.deepEqual([file.status, suite.status], [1, 1]);
  });

  test('prints what a run leaves to CI before the total, and CI leaves nothing out', async () => {
    const script = `import { leftOut } from './scripts/scope.mjs';
      console.log(JSON.stringify(leftOut(['wtr', 'server', 'auth', 'e2e'], { hasAllEngines: false })));`;
    const leftOut = async (env: Record<string, string>): Promise<string[]> =>
      JSON.parse((await node(['--input-type=module', '--eval', script], env)).stdout);
    const lines = await leftOut({ CI: '' });
    assert.ok(lines.length >= 5);
    const contributing = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
    for (const line of lines) assert.ok(contributing.includes(line), `CONTRIBUTING.md names: ${line}`);
    assert.deepEqual(await leftOut({ CI: '1' }), []);
    for (const file of LEFT_TO_CI.flatMap(({ files = [] }) => files))
      assert.ok(existsSync(join(root, file)), `${file} exists`);
  });

  test('leaves files to CI, unless they are named', async () => {
    const project = join(folder, 'left-to-ci');
    const [left = ''] = LEFT_TO_CI.flatMap(({ suite, files = [] }) => (suite === 'e2e' ? files : []));
    await mkdir(join(project, 'test/e2e'), { recursive: true });
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
    for (const file of [left, 'test/e2e/other.test.ts']) {
      const text = `import { test } from 'node:test'; test('of ${file}', () => { [].at(0); });`;
      await writeFile(join(project, file), text);
    }
    const run = async (args: string[], env: Record<string, string>): Promise<string | undefined> => {
      const { stdout } = await node(['scripts/test.mjs', `--root=${project}`, '--only=e2e', ...args], env);
      return stdout.trim().split('\n').at(-1);
    };
    assert.equal(await run([], { CI: '' }), '1 passed, 0 failed');
    assert.equal(await run([left], { CI: '' }), '1 passed, 0 failed');
    assert.equal(await run([], { CI: '1' }), '2 passed, 0 failed');
  });

  test('runs two suites in parallel, each line after its name, and adds them up', async () => {
    const project = join(folder, 'two-suites');
    for (const name of ['server', 'e2e']) {
      await mkdir(join(project, 'test', name), { recursive: true });
      const text = `import { test } from 'node:test'; test('of ${name}', () => { [].at(0); });`;
      await writeFile(join(project, 'test', name, 'a.test.ts'), text);
    }
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
    const { status, stdout } = await node(['scripts/test.mjs', `--root=${project}`, '--only=server,e2e']);
    assert.match(stdout, /^server {2}\| ✔ of server/m);
    assert.match(stdout, /^e2e {5}\| ✔ of e2e/m);
    assert.match(stdout, /\n2 passed, 0 failed\n$/);
    assert.equal(status, 0);
  });

  test('ends with the total, and fails if nothing was run', async () => {
    const { status, stdout } = await node(['scripts/test.mjs', '--only=no-such-suite']);
    assert.equal(status, 1);
    assert.match(stdout, /\n0 passed, 1 failed\n$/);
  });
});

describe('Set-up', () => {
  test('reports in a sentence that CHROME_PATH does not exist', async () => {
    const env = { CHROME_PATH: '/no/such/browser', SKIP_INSTALL: '1' };
    const { status, stderr } = await node(['scripts/setup.mjs', '--browser'], env);
    assert.equal(status, 1);
    assert.match(stderr, /^setup: CHROME_PATH names no executable: \/no\/such\/browser\n$/);
  });

  test('does nothing, and prints nothing, if everything is installed', async () => {
    const { status, stdout, stderr } = await node(['scripts/setup.mjs', '--browser'], {
      SKIP_INSTALL: '1',
      CI: '',
    });
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
  });

  test('installs nothing into the packages of another checkout', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'secure-uploader-set-up-'));
    try {
      const [checkout, packages] = [join(folder, 'checkout'), join(folder, 'packages')];
      await cp(join(root, 'scripts'), join(checkout, 'scripts'), { recursive: true });
      await cp(join(root, 'package-lock.json'), join(checkout, 'package-lock.json'));
      await mkdir(join(packages, 'lit'), { recursive: true });
      await symlink(packages, join(checkout, 'node_modules'));
      const { status, stdout, stderr } = await node([join(checkout, 'scripts/setup.mjs')], {
        SKIP_INSTALL: '',
      });
      assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
      assert.deepEqual(await readdir(packages), ['lit']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
