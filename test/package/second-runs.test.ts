// Which test files `npm test` ends, and which it runs a second time.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { node, root, runAll } from '../support/test-runs.ts';

describe('npm test', () => {
  const folder = temporaryFolder();

  const runIn = (name: string, files: Record<string, string>, ...args: string[]): ReturnType<typeof runAll> =>
    runAll(join(folder, name), files, ...args);

  /** Text of a test that fails in its first run, and passes in all others. */
  const flakyTest = (name: string, broken = `throw new Error('no')`): string =>
    `import { existsSync, writeFileSync } from 'node:fs';
    test('${name}', async () => {
      const mark = new URL('./${name}-ran', import.meta.url);
      if (existsSync(mark)) return;
      writeFileSync(mark, '');
      ${broken};
    });`;

  test('ends a file that does not end, and a suite that a process of its tests keeps from ending', async () => {
    const hanging = `setInterval(() => {}, 1000); test('for ever', () => new Promise(() => {}));`;
    const orphan = `import { spawn } from 'node:child_process';
      test('fine', () => { spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }).unref(); });`;
    const [file, suite] = await Promise.all([
      runIn('hanging', { 'a.test.ts': hanging }, '--file-limit=1'),
      runIn('orphan', { 'a.test.ts': orphan }, '--suite-limit=1'),
    ]);
    assert.match(file.end.join('\n'), /a\.test\.ts: the file — test timed out after 1000ms/);
    assert.equal(file.end.at(-1), '0 passed, 1 failed');
    assert.match(suite.end.join('\n'), /a\.test\.ts: the file — did not end within 1 s/);
    assert.deepEqual([file.status, suite.status], [1, 1]);
  });

  test('names the tests of a file in a page that does not end, and what they wait for', async (t) => {
    const file = join(root, 'test-results', `${randomUUID()}.test.js`);
    await mkdir(dirname(file), { recursive: true });
    t.after(() => rm(file));
    await writeFile(
      file,
      `import { until } from '/test/support/collect.ts';
      for (const name of ['one', 'two', 'three'])
        it(name, () => until(() => false, () => 'the end of ' + name));`,
    );
    const { status, stdout } = await node(['node_modules/@web/test-runner/dist/bin.js', '--files', file], {
      BROWSERS: 'chromium',
      FILE_LIMIT_MS: '6000',
    });
    assert.match(stdout, /one: Timeout of 2400ms exceeded\. .*, waits for the end of one/);
    // Which one is running at the limit depends on the time that the page took to load.
    assert.match(stdout, /(two|three): did not end, waits for the end of \1/);
    assert.equal(status, 1);
  });

  test('ends the browser of a suite that does not end, although it has a process group of its own', {
    timeout: 60_000,
  }, async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connected = once(server, 'connection');
    t.after(async () => {
      const [socket] = (await connected) as [Socket];
      socket.destroy();
      server.close();
    });
    // Puppeteer and Playwright start browsers in this way. This one ends with its connection.
    const browser = `require('node:net').connect(${port}, '127.0.0.1').on('close', () => process.exit())`;
    const hanging = `import { spawn } from 'node:child_process';
      test('for ever', async () => {
        spawn(process.execPath, ['-e', ${JSON.stringify(browser)}], { detached: true });
        await new Promise(() => setInterval(() => {}, 1000));
      });`;
    const running = runIn('browser', { 'a.test.ts': hanging }, 'test/server/a.test.ts', '--suite-limit=10');
    const [socket] = (await connected) as [Socket];
    const closed = once(socket.on('error', () => {}).resume(), 'close');
    const { status, end } = await running;
    assert.match(end.join('\n'), /a\.test\.ts: the file — did not end within 10 s/);
    assert.equal(status, 1);
    await closed;
  });

  test('counts the tests of files that a test file imports', async () => {
    const files = {
      'a.test.ts': `import './more.ts';\ntest('one', () => { [].at(0); });`,
      'b.test.ts': `import './more.ts';`,
      'more.ts': `test('two', () => { [].at(0); });`,
    };
    const { status, end } = await runIn('imported', files);
    assert.deepEqual(end, ['ok   The reference service: 3 passed, 0 failed (s)', '', '3 passed, 0 failed']);
    assert.equal(status, 0);
  });

  test('runs a file that failed once more, and lists it as flaky if it then passes', async () => {
    const other = `test('three', () => { [].at(0); });`;
    const { status, end, flaky } = await runIn('flaky', {
      'a.test.ts': flakyTest('one'),
      'b.test.ts': other,
    });
    assert.deepEqual(end, [
      'FAIL The reference service: 1 passed, 1 failed (s)',
      '',
      'Flaky: failed once, and passed alone:',
      '  The reference service, test/server/a.test.ts: one — no',
      '',
      '2 passed, 0 failed',
    ]);
    const failures = [{ title: 'one', error: 'no' }];
    assert.deepEqual(flaky, [{ suite: 'server', file: 'test/server/a.test.ts', failures }]);
    assert.equal(status, 0);
  });

  test('runs a file once more that hung, and one that had no result when its suite was ended', async () => {
    const hangs = flakyTest('one', `await new Promise((resolve) => setTimeout(resolve, 60_000))`);
    // The second run must end within the same limit, on a busy machine, too.
    const runs = await Promise.all([
      runIn('file-hung', { 'a.test.ts': hangs }, '--file-limit=15'),
      runIn('suite-hung', { 'a.test.ts': hangs }, '--suite-limit=15'),
    ]);
    for (const { status, end, output } of runs) {
      assert.equal(status, 0, output);
      assert.match(end.join('\n'), /Flaky: .*\n.*a\.test\.ts: the file — /);
      assert.equal(end.at(-1), '1 passed, 0 failed');
    }
  });

  test('runs nothing once more if a file was named, if the run fails anyway, or if four files failed', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const four = Object.fromEntries(names.map((name) => [`${name}.test.ts`, flakyTest(name)]));
    const skipped = `test('five', { skip: true }, () => { [].at(0); });`;
    const runs = await Promise.all([
      runIn('four-flaky', four),
      runIn('anyway', { 'a.test.ts': flakyTest('one'), 'b.test.ts': skipped }),
      runIn('file-named', { 'a.test.ts': flakyTest('one') }, 'test/server/a.test.ts'),
    ]);
    for (const { status, output } of runs) {
      assert.equal(status, 1);
      assert.ok(!output.includes('Once more'), output);
    }
    assert.deepEqual(
      runs.map(({ end }) => end.at(-1)),
      ['0 passed, 4 failed', '0 passed, 3 failed', '0 passed, 1 failed'],
    );
  });
});
