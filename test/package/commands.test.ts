// The output of the commands: set-up without a browser, counts of broken tests, and the end of `npm test`.

import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { filesUnder } from '../../scripts/files.mjs';
import { isOfGate, isOfStage, STAGES } from '../../scripts/scope.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { node, root, runAll } from '../support/test-runs.ts';

describe('npm test', () => {
  const folder = temporaryFolder();

  async function count(text: string): Promise<{ passed: number; failed: number; skipped: number }> {
    const file = join(folder, 'some.test.mjs');
    const counts = join(folder, 'counts.json');
    await writeFile(file, text);
    await node(['--test', `--test-reporter=${join(root, 'scripts/count-tests.mjs')}`, file], {
      COUNT_FILE: counts,
    });
    const [{ passed, failed, skipped }] = JSON.parse(await readFile(counts, 'utf8'));
    return { passed, failed, skipped };
  }

  const runIn = (name: string, files: Record<string, string>, ...args: string[]): ReturnType<typeof runAll> =>
    runAll(join(folder, name), files, ...args);

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
    const { status, end } = await runIn('failing', {
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
    const { status, end } = await runIn('named', { 'a.test.ts': text }, '--name=one');
    assert.equal(end.at(-1), '1 passed, 0 failed');
    assert.equal(status, 0);
  });

  test('fails if a test is focused, whether the others run or not', async () => {
    const { status, end } = await runIn('focused', {
      'a.test.ts': `test.only('one', () => { [].at(0); }); test('two', () => { throw new Error('no'); });`,
    });
    assert.equal(status, 1);
    assert.ok(end.includes('  test/server/a.test.ts:2: this test is marked "only"'), end.join('\n'));
    assert.ok(end.includes('  The reference service, test/server/a.test.ts: two — no'), end.join('\n'));
  });

  test('prints twenty of many, and the number of the others', async () => {
    const text = `for (let nth = 1; nth <= 23; nth++) test('nth ' + nth, () => { throw new Error('no'); });`;
    const { end } = await runIn('many', { 'a.test.ts': text });
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
      { type: 'test:complete', data: { name: file, nesting: 0, file, details: { duration_ms: 2000 } } },
      {
        type: 'test:fail',
        data: { name: file, nesting: 0, file, details: { error: { message: 'timed out' } } },
      },
    ];
    const counts = join(folder, 'broken-off.json');
    const script = `import countTests from './scripts/count-tests.mjs';
      for await (const _ of countTests(${JSON.stringify(events)})) {}`;
    await node(['--input-type=module', '--eval', script], { COUNT_FILE: counts });
    const [{ file: name, failures, seconds }] = JSON.parse(await readFile(counts, 'utf8'));
    const error = 'timed out (in: a group > the last)';
    assert.deepEqual(
      { name, failures, seconds },
      { name: 'a.test.ts', failures: [{ title: 'the file', error }], seconds: 2 },
    );
  });

  test('writes the result of a file in pages when it ends, and marks those that are running', async () => {
    const session = (id: string, status: string, tests: unknown[] = []): object => ({
      id,
      status,
      testFile: join(root, `test/core/${id}.test.ts`),
      browser: { name: 'Chromium' },
      testResults: { name: '', tests, suites: [] },
      errors: [],
      passed: true,
    });
    const updates = [
      session('ended', 'INITIALIZING'),
      session('running', 'INITIALIZING'),
      session('running', 'TEST_STARTED'),
      session('ended', 'FINISHED', [{ name: 'fine', passed: true, skipped: false }]),
    ];
    const counts = join(folder, 'in-pages.json');
    const script = `import { EventEmitter } from 'node:events';
      import { countReporter } from './test/support/count-reporter.mjs';
      const sessions = new EventEmitter();
      countReporter().start({ config: { rootDir: process.cwd() }, sessions });
      for (const session of ${JSON.stringify(updates)}) sessions.emit('session-status-updated', session);`;
    const { stdout } = await node(['--input-type=module', '--eval', script], { COUNT_FILE: counts });
    assert.match(stdout, /^test\/core\/ended\.test\.ts in Chromium: 1 passed \(\d+\.\d s\)\n$/);
    const written = JSON.parse(await readFile(counts, 'utf8'));
    assert.deepEqual(
      written.map(({ file, passed, seconds }: { file: string; passed: number; seconds?: number }) => [
        file,
        passed,
        typeof seconds,
      ]),
      [
        ['test/core/ended.test.ts', 1, 'number'],
        ['test/core/running.test.ts', 0, 'undefined'],
      ],
    );
  });

  test('prints the time of the run, of each suite and of the slowest files', async () => {
    const { output } = await runIn('times', { 'a.test.ts': `test('one', () => { [].at(0); });` });
    assert.match(output, /\nok {3}The reference service: 1 passed, 0 failed \(\d+\.\d s\)\n/);
    assert.match(
      output,
      /\nSlowest files \(the run took \d+ s\):\n +\d+\.\d s {2}test\/server\/a\.test\.ts\n/,
    );
  });

  test('runs the same files with and without CI, and the others if they are named', async () => {
    const project = join(folder, 'left-out');
    const left = 'test/e2e/auth-sites.test.ts';
    assert.equal(isOfGate(left), false);
    await mkdir(join(project, 'test/e2e'), { recursive: true });
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
    for (const file of [left, 'test/e2e/auth-other.test.ts']) {
      const text = `import { test } from 'node:test'; test('of ${file}', () => { [].at(0); });`;
      await writeFile(join(project, file), text);
    }
    const run = async (args: string[], CI: string): Promise<string | undefined> => {
      const { stdout } = await node(['scripts/test.mjs', `--root=${project}`, '--only=auth', ...args], {
        CI,
      });
      return stdout.trim().split('\n').at(-1);
    };
    assert.equal(await run([], ''), '1 passed, 0 failed');
    assert.equal(await run([], 'true'), '1 passed, 0 failed');
    assert.equal(await run([left], ''), '1 passed, 0 failed');
    assert.equal(await run(['--stage=sign-in'], ''), '2 passed, 0 failed');
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

describe('npm run verify', () => {
  const files = filesUnder(root, ['test'], /\.test\.ts$/).filter(
    (file) => !/^test\/(?:types|stack)\//.test(file),
  );

  test('runs each test file in one kind of stage, and names only files that exist', () => {
    const named = STAGES.flatMap(({ files: own = [] }) => own);
    assert.deepEqual(
      named.filter((file) => !files.includes(file)),
      [],
    );
    assert.equal(new Set(named).size, named.length);
    for (const file of named) {
      const stages = STAGES.filter((stage) => isOfStage(stage, file)).map(({ name }) => name);
      assert.equal(stages.length, 1, `${file} is in ${stages}`);
    }
    const suites = new Set(STAGES.flatMap(({ suites: own = [] }) => own));
    assert.deepEqual([...suites].sort(), ['auth', 'e2e', 'engine', 'package', 'parts', 'server', 'ui']);
  });

  test('has only stages that CONTRIBUTING.md describes, and rejects others', async () => {
    const contributing = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
    const { stdout } = await node(['scripts/verify.mjs', '--list']);
    const names = stdout.trim().split('\n');
    assert.deepEqual(
      names,
      STAGES.map(({ name }) => name),
    );
    for (const name of names)
      assert.ok(contributing.includes(`| \`${name}\``), `CONTRIBUTING.md describes ${name}`);
    const { status, stderr } = await node(['scripts/verify.mjs', 'no-such-stage']);
    assert.equal(status, 2);
    assert.match(stderr, /^There is no stage no-such-stage\. Stages: engines-chromium, /);
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
      CI: 'true',
    });
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
  });

  test('installs nothing into the packages of another checkout', async () => {
    const folder = temporaryFolder();
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
  });
});
