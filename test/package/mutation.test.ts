// What the mutation command finds and how it ends, in a small project with one strong and one weak test.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary-folder.ts';

const own = fileURLToPath(new URL('../..', import.meta.url));

const files = {
  'src/core/strong.ts': `export const positive = (value: number): number => (value > 0 ? value : 0);

/** Ends only because the index grows. */
export function total(sizes: number[]): number {
  let sum = 0;
  for (let index = 0; index < sizes.length; index += 1) sum += sizes[index] as number;
  return sum;
}
`,
  'src/core/weak.ts': `export async function label(count: Promise<number>): Promise<string> {
  if ((await count) === 1) return 'one';
  throw new Error('not one');
}

export const unused = (): boolean => true;
`,
  'test/core/strong.test.ts': `import { expect } from '@open-wc/testing';
import { positive, total } from '../../src/core/strong.ts';

it('takes nothing below zero', () => {
  expect([positive(1), positive(0), positive(-1)]).to.deep.equal([1, 0, 0]);
});
it('adds sizes', () => {
  expect(total([2, 3])).to.equal(5);
});
it('adds one size', () => {
  expect(total([4])).to.equal(4);
});
`,
  'test/core/weak.test.ts': `import { expect } from '@open-wc/testing';
import { label } from '../../src/core/weak.ts';

it('answers', async () => {
  expect(await label(Promise.resolve(1))).to.be.a('string');
});
`,
  'test/ui/frame.test.ts': `import { waitUntil } from '@open-wc/testing';
import { total } from '../../src/core/strong.ts';

it('adds sizes in a frame', async () => {
  const frame = document.body.appendChild(document.createElement('iframe'));
  frame.src = '/test/ui/fixtures/frame.html';
  const sum = String(total([2, 3]));
  await waitUntil(() => frame.contentWindow?.name === sum, 'the sum', { timeout: 60_000 });
});
`,
  // A script that is loaded late must stay a file of its own, as in other runs.
  'test/ui/late.test.ts': `import { expect } from '@open-wc/testing';

it('loads the labels late', async () => {
  const before = performance.getEntriesByType('resource').length;
  const { label } = await import('../../src/core/weak.ts');
  expect(await label(Promise.resolve(1))).to.be.a('string');
  expect(performance.getEntriesByType('resource').length).to.be.above(before);
});
`,
  'docs/faults.md': `| Fault | PUT | token |
|---|---|---|
| 400 | failed | — |
`,
  'test/e2e/fault-matrix.test.ts': "testColumn('PUT')",
  'test/ui/fixtures/frame.html': '<script type="module" src="./frame-page.ts"></script>',
  // Only a bundle can import a package by its name.
  'test/ui/fixtures/frame-page.ts': `import 'lit';
import { total } from '../../../src/core/strong.ts';

window.name = String(total([2, 3]));
`,
  'src/cli/sign.ts': `export const sign = (value: number): string => (value < 0 ? '-' : '+');
`,
  'test/server/conform.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sign } from '../../src/cli/sign.ts';

test('finds the sign', () => assert.deepEqual([sign(-1), sign(1)], ['-', '+']));
`,
};
const equivalents = [
  {
    ...{
      file: 'src/core/strong.ts',
      operator: 'operator swapped',
      before: 'value > 0',
      after: '(value) >= (0)',
    },
    within: files['src/core/strong.ts'].split('\n')[0],
    reason: 'zero is zero either way',
  },
];

const root = temporaryFolder();

function run(...args: string[]): Promise<{ code: number; output: string }> {
  const script = join(own, 'scripts/mutation/run.mjs');
  const options = [`--root=${root}`, `--equivalents=${join(root, 'equivalents.json')}`];
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args, ...options], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

const linesOf = (output: string, start: string): string[] =>
  output.split('\n').filter((line) => line.startsWith(start));

describe('npm run test:mutation', () => {
  before(async () => {
    await symlink(join(own, 'node_modules'), join(root, 'node_modules'));
    for (const [name, text] of Object.entries({
      ...files,
      'equivalents.json': JSON.stringify(equivalents),
    })) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
  });

  test('prints each change that no test notices, excludes equivalents, and fails below the target', async () => {
    const { code, output } = await run('src/core/strong.ts', 'src/core/weak.ts', '--all');
    assert.ok(linesOf(output, 'FAIL').length, output);
    assert.deepEqual(linesOf(output, 'survived'), [
      "survived  src/core/weak.ts:2:35  text emptied: 'one'  ->  ''  (2 tests passed)",
      "survived  src/core/weak.ts:3:3  throw dropped: throw new Error('not one');  ->  (nothing)  (no test reaches it)",
      'survived  src/core/weak.ts:6:38  boolean flipped: true  ->  false  (no test reaches it)',
    ]);
    assert.equal(linesOf(output, 'equivalent').length, 1, output);
    const [strong] = linesOf(output, 'ok');
    assert.match(strong ?? '', /^ok {3}src\/core\/strong\.ts, seed all: 100\.0 %/, output);
    const [weak] = linesOf(output, 'FAIL');
    assert.match(weak ?? '', /^FAIL src\/core\/weak\.ts, seed all: 62\.5 % \(5 of 8 killed/, output);
    assert.equal(code, 1);
  });

  test('runs the tests of the command-line program outside of pages', async () => {
    const { code, output } = await run('src/cli', '--all', '--target=50');
    assert.deepEqual(linesOf(output, 'survived'), [
      'survived  src/cli/sign.ts:1:49  operator swapped: value < 0  ->  (value) <= (0)  (1 tests passed)',
      'survived  src/cli/sign.ts:1:57  number changed: 0  ->  1  (1 tests passed)',
    ]);
    assert.equal(code, 0, output);
  });

  test('with --matrix, runs all tests that reach a change, and runs no change twice', async () => {
    const matrix = join(root, 'matrix.jsonl');
    const { output } = await run('src/core/strong.ts', '--all', `--matrix=${matrix}`);
    const lines = (await readFile(matrix, 'utf8')).trim().split('\n');
    const rows = lines.map((line) => JSON.parse(line));
    const sign = rows.find(({ after }) => after.startsWith('sum -='));
    assert.deepEqual(sign?.detectedBy, { 'test/core/strong.test.ts': ['adds sizes', 'adds one size'] });
    const negated = rows.find(({ after }) => after === '!(value > 0)');
    assert.deepEqual(negated?.detectedBy, { 'test/core/strong.test.ts': ['takes nothing below zero'] });
    assert.match(output, /^src\/core: 13; 0, 5, 6, 2; 0\.\d h$/m);
    assert.match(output, /^test\/core\/strong\.test\.ts: \d+; \d+, [1-9]\d*; 0; in the cover$/m);
    assert.match(output, /^test\/e2e\/fault-matrix\.test\.ts: 1; 0, 0; 1$/m);

    const again = await run('src/core/strong.ts', '--all', `--matrix=${matrix}`);
    assert.doesNotMatch(again.output, /mutants, /);
    assert.equal((await readFile(matrix, 'utf8')).trim().split('\n').length, lines.length);
  });

  test('names only equivalents that the sources have', async () => {
    const equivalents = await readFile(join(own, 'scripts/mutation/equivalents.json'), 'utf8');
    const files: string[] = JSON.parse(equivalents).map(({ file }: { file: string }) => file);
    const { output } = await run(
      `--root=${own}`,
      `--equivalents=${own}scripts/mutation/equivalents.json`,
      ...new Set(files),
      '--list',
    );
    assert.match(output, /^== /m);
    assert.doesNotMatch(output, /equivalents\.json names/);
  });

  test('selects the same changes for the same seed, and others for another', async () => {
    const list = (seed: number): Promise<{ output: string }> =>
      run('src/core', '--list', '--count=5', `--seed=${seed}`);
    const [first, again, other] = await Promise.all([list(1), list(1), list(2)]);
    assert.equal(linesOf(first.output, 'src/core').length, 5, first.output);
    assert.equal(first.output, again.output);
    assert.notDeepEqual(linesOf(first.output, 'src/core'), linesOf(other.output, 'src/core'));
  });

  test('runs nothing when a test fails without a change', async () => {
    const red = files['test/core/weak.test.ts'].replace("'string'", "'number'");
    await writeFile(join(root, 'test/core/red.test.ts'), red);
    const { code, output } = await run('src/core/weak.ts', '--all');
    assert.match(
      output,
      /without a mutant these fail: test\/core\/red\.test\.ts: answers: expected 'one' to be a number/,
    );
    assert.equal(code, 2);
  });
});
