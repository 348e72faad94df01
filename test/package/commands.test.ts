// Shows that the commands tell the truth: what set-up says where there is no browser, and what the counts make of broken tests.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

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
  after(() => rm(folder, { recursive: true, force: true }));

  async function count(text: string): Promise<unknown> {
    const file = join(folder, 'some.test.mjs');
    const counts = join(folder, 'counts.json');
    await writeFile(file, text);
    await node(['--test', `--test-reporter=${join(root, 'scripts/count-tests.mjs')}`, file], {
      COUNT_FILE: counts,
    });
    return JSON.parse(await readFile(counts, 'utf8'));
  }

  test('counts tests, and not the groups that they stand in', async () => {
    const text = `import { describe, test } from 'node:test';
      describe('a group', () => { test('one', () => {}); test('two', () => { throw new Error('no'); }); });`;
    assert.deepEqual(await count(text), { passed: 1, failed: 1, skipped: 0 });
  });

  test('counts what was skipped apart, since nobody knows whether it works', async () => {
    const text = `import { test } from 'node:test'; test('one', { skip: true }, () => {}); test('two', () => {});`;
    assert.deepEqual(await count(text), { passed: 1, failed: 0, skipped: 1 });
  });

  test('counts a file that breaks, or ends without a test, as a failure', async () => {
    assert.deepEqual(await count(`throw new Error('broken');`), { passed: 0, failed: 1, skipped: 0 });
    assert.deepEqual(await count('process.exit(0);'), { passed: 0, failed: 1, skipped: 0 });
  });

  test('closes on the sum, and fails where nothing was run', async () => {
    const { status, stdout } = await node(['scripts/test.mjs', '--only=no-such-suite']);
    assert.equal(status, 1);
    assert.match(stdout, /\n0 passed, 1 failed\n$/);
  });
});

describe('Set-up', () => {
  test('says in a sentence that CHROME_PATH leads nowhere', async () => {
    const env = { CHROME_PATH: '/no/such/browser', SKIP_INSTALL: '1' };
    const { status, stderr } = await node(['scripts/setup.mjs', '--browser'], env);
    assert.equal(status, 1);
    assert.match(stderr, /^setup: CHROME_PATH names no executable: \/no\/such\/browser\n$/);
  });

  test('has nothing to do, and says nothing, where everything is there', async () => {
    const { status, stdout, stderr } = await node(['scripts/setup.mjs', '--browser'], {
      SKIP_INSTALL: '1',
      CI: '',
    });
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
  });
});
