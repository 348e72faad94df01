// Which tests `npm test -- --changed` selects, in a small project with its own Git history.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { changedFiles, changedTests, LIMITS } from '../../scripts/changed.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Number of tests in pages: more than the limit, so that the limit applies. */
const MANY = 30;

const project: Record<string, string> = {
  'src/core/names.ts': 'export const name = 1;\n',
  'src/core/types.ts': 'export type Name = number;\n',
  'src/core/late.ts': "export const late = () => import('./names.ts');\n",
  'src/core/worker.ts': 'postMessage(1);\n',
  'src/core/start.ts': "export const start = () => new Worker(new URL('./worker.js', import.meta.url));\n",
  'test/core/near.test.ts': "import { name } from '../../src/core/names.ts';\n",
  'test/core/late.test.ts': "import { late } from '../../src/core/late.ts';\n",
  'test/core/typed.test.ts': "import type { Name } from '../../src/core/types.ts';\n",
  'test/core/start.test.ts': "import { start } from '../../src/core/start.ts';\n",
  'test/package/reader.test.ts': "read('README.md');\n",
  'test/core/documented.test.ts': "fetch('/docs/states.md');\n",
  'docs/states.md': '# States\n',
  'test/e2e/transfer-kept.test.ts': "import './support/world.ts';\n",
  'test/e2e/support/world.ts': 'export {};\n',
  'test/package/examples.test.ts': "import './example.ts';\n",
  'test/package/example.ts': 'export {};\n',
  'demo/examples/vue/package.json': '{}\n',
  'demo/examples/vue/src/main.js': 'export {};\n',
  'demo/examples/service-s3/hono.js': 'export {};\n',
  'README.md': '# A project\n',
};
for (let nth = 1; nth <= MANY; nth += 1)
  project[`test/ui/many-${nth}.test.ts`] = "import { late } from '../../src/core/late.ts';\n";

describe('npm test -- --changed', () => {
  const folder = temporaryFolder();
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      ...{ cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    });
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  const testsFor = (...changed: string[]): readonly string[] => changedTests(folder, changed).tests;
  before(async () => {
    git('init', '--quiet', '--initial-branch=main');
    for (const [path, text] of Object.entries(project)) await write(path, text);
    git('add', '.');
    git('commit', '--quiet', '--message=First');
  });

  test('finds what was committed since the merge base, what was not, and new files', async () => {
    git('checkout', '--quiet', '-b', 'topic');
    await write('src/core/names.ts', 'export const name = 2;\n');
    git('commit', '--quiet', '--all', '--message=Second');
    git('checkout', '--quiet', 'main');
    await write('README.md', '# Changed on main alone\n');
    git('commit', '--quiet', '--all', '--message=Third');
    git('checkout', '--quiet', 'topic');
    await write('src/core/worker.ts', 'postMessage(2);\n');
    await write('src/core/new one.ts', 'export {};\n');
    assert.deepEqual(changedFiles(folder).sort(), [
      'src/core/names.ts',
      'src/core/new one.ts',
      'src/core/worker.ts',
    ]);
  });

  test('selects by imports, dynamic ones and workers too, but not by types, which are checked anyway', () => {
    assert.ok(testsFor('src/core/names.ts').includes('test/core/near.test.ts'));
    assert.ok(testsFor('src/core/names.ts').includes('test/core/late.test.ts'));
    assert.deepEqual(testsFor('src/core/worker.ts'), [
      'test/core/start.test.ts',
      'test/e2e/transfer-kept.test.ts',
    ]);
    assert.deepEqual(testsFor('src/core/types.ts'), ['test/e2e/transfer-kept.test.ts']);
  });

  test('selects tests that read a file that is no module', () => {
    assert.deepEqual(testsFor('README.md'), ['test/package/reader.test.ts']);
    assert.deepEqual(testsFor('docs/states.md'), ['test/core/documented.test.ts']);
  });

  test('selects the test of the example projects, for only those that have changed', () => {
    const vue = changedTests(folder, ['demo/examples/vue/package.json', 'demo/examples/vue/src/main.js']);
    assert.deepEqual([vue.tests, vue.examples], [['test/package/examples.test.ts'], ['vue']]);
    const all = changedTests(folder, ['demo/examples/vue/package.json', 'test/package/example.ts']);
    assert.ok(all.tests.includes('test/package/examples.test.ts'));
    assert.deepEqual(all.examples, []);
    assert.deepEqual(testsFor('demo/examples/service-s3/hono.js'), []);
  });

  test('selects the nearest if there are too many, and prints how many are left', () => {
    const { tests, left } = changedTests(folder, ['src/core/names.ts']);
    const most = LIMITS[0]?.most ?? 0;
    const inPages = tests.filter((file) => /^test\/(core|ui)\//.test(file));
    assert.equal(inPages.length, most);
    assert.ok(inPages.includes('test/core/near.test.ts'));
    assert.match(left.join('\n'), new RegExp(`^${MANY + 2 - most} more files of tests in pages`, 'm'));
  });

  test('always runs changed tests, however many', () => {
    const changed = Object.keys(project).filter((path) => path.startsWith('test/ui/'));
    assert.deepEqual(
      testsFor(...changed).filter((file) => file.startsWith('test/ui/')),
      changed.sort(),
    );
  });

  test('explains what to do without a main branch to compare with', () => {
    git('branch', '--quiet', '-D', 'main');
    assert.throws(() => changedFiles(folder), /no branch "main" to compare with; fetch it/);
  });
});
