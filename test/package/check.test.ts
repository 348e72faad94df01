// `npm run check` fails on each kind of fault in a small copy of the project.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const row = (binding: string): string => `import { html, type TemplateResult } from 'lit';
import { sizeBytes } from '../core/size.ts';

export const row = (): TemplateResult => html\`<button ${binding}="\${sizeBytes > 1}">Pause</button>\`;
`;

/** Tests that do not run, and tests that check nothing. Each line without indentation is one such test. */
const incomplete = `import { describe, it as check, test, todo } from 'node:test';

test.only('one', () => expect());
test['skip']('two', () => expect());
describe.only('three', () => check('inside', () => expect()));
describe.skip('four', () => check('inside', () => expect()));
test.todo('five');
test('six', { only: true }, () => expect());
check('seven', { skip: 'not now' }, () => expect());
check.skip('eight', () => expect());
todo('nine', () => expect());
xit('ten', () => expect());
fdescribe('eleven', () => expect());
test('twelve');
test('thirteen', () => {});
describe('fourteen', () => {});
test('fifteen', (t) => t.skip());
test('sixteen', function () { return this.skip(); });
test('seventeen', (t) => t.test('inside', { todo: true }, () => expect()));
`;
/** Valid code that looks similar. */
const complete = `import { describe, test } from 'node:test';

const noop = { skip: (count) => count, only: 1 };
describe('a group', { concurrency: 1 }, () => {
  test('one', { skip: false }, () => noop.skip(1));
  test('two', async (t) => t.after(() => [].some(noop.skip)));
  test('three', noop.skip);
  for (const title of ['four']) test(title, () => noop.skip(4));
});
`;

/** Folders with types of their own. */
const PROJECTS = ['.', 'src', 'src/cli', 'demo', 'demo/server', 'test', 'test/server'];

const OF_PAGES = 'export const { title } = document;\n';
const OF_NODE = 'export const { platform } = process;\n';

const sound = {
  'test/complete.test.mjs': complete,
  'src/cli/main.ts': OF_NODE,
  'demo/page.ts': OF_PAGES,
  'demo/server/main.ts': OF_NODE,
  'test/both.ts': OF_PAGES + OF_NODE,
  'test/server/support.ts': OF_NODE,
  'src/core/size.ts': 'export const sizeBytes = 1;\n',
  'src/service/client.ts':
    "import { sizeBytes } from '../core/size.ts';\n\nexport const client = [sizeBytes];\n",
  'src/ui/row.ts': row('?disabled'),
};

async function check(files: Record<string, string>): Promise<{ passed: boolean; output: string }> {
  const folder = temporaryFolder();
  for (const name of ['biome.json', '.gitignore', ...PROJECTS.map((path) => join(path, 'tsconfig.json'))])
    await cp(join(root, name), join(folder, name));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'scripts/check.mjs'), folder], (error, stdout, stderr) =>
      resolve({ passed: error === null, output: stdout + stderr }),
    );
  });
}

const faulty = {
  'test/incomplete.test.mjs': incomplete,
  'src/core/layer.ts': "export { row } from '../ui/row.ts';\n",
  'src/service/client.ts': "import { nothing } from 'lit';\n\nexport const client = [nothing];\n",
  'src/ui/row.ts': row('.disabeld'),
  'src/engine/typed.ts': "export const sizeBytes: number = 'one';\n",
  ...{ 'src/core/of-node.ts': OF_NODE, 'demo/of-node.ts': OF_NODE },
  ...{
    'src/cli/of-pages.ts': OF_PAGES,
    'demo/server/of-pages.ts': OF_PAGES,
    'test/server/of-pages.ts': OF_PAGES,
  },
  'docs/guide.md': '# A guide\n\nThe upload goes on.\n',
  'src/ui/words.ts': `// Whoever hears of it.\nexport const word = 'nobody';\nexport const text = 'for nobody else';\n// ${'wide '.repeat(26)}comment.\n`,
  'test/words.test.mjs': "import { test } from 'node:test';\n\ntest('goes on', () => expect('anew'));\n",
  'src/core/long.ts': Array.from({ length: 401 }, (_, line) => `export const value${line} = ${line};\n`).join(
    '',
  ),
};

describe('npm run check', () => {
  let soundRun: Awaited<ReturnType<typeof check>>;
  let faultyRun: Awaited<ReturnType<typeof check>>;
  before(async () => {
    [soundRun, faultyRun] = await Promise.all([check(sound), check({ ...sound, ...faulty })]);
  });

  test('passes a project without faults', () => {
    assert.equal(soundRun.passed, true, soundRun.output);
  });

  test('rejects a project with faults in every one of its checks', () => {
    assert.equal(faultyRun.passed, false);
    assert.match(faultyRun.output, /^FAIL format, lint, layers/m);
    assert.match(faultyRun.output, /^FAIL types/m);
    assert.match(faultyRun.output, /^FAIL template bindings/m);
  });

  test('rejects each test that is focused, skipped, unwritten or empty', () => {
    assert.match(faultyRun.output, /^FAIL focused, skipped, empty tests/m);
    const reported = [...faultyRun.output.matchAll(/^test\/incomplete\.test\.mjs:(\d+): this test (.+)$/gm)];
    const lines = incomplete.split('\n').flatMap((line, at) => (/^(?!import)./.test(line) ? [at + 1] : []));
    assert.deepEqual([...new Set(reported.map(([, line]) => Number(line)))], lines, faultyRun.output);
    assert.match(faultyRun.output, /:3: this test is marked "only"$/m);
    assert.match(faultyRun.output, /:9: this test has the option "skip"$/m);
    assert.match(faultyRun.output, /:15: this test is an empty test$/m);
  });

  test('rejects a module that imports from a forbidden layer, and lists the allowed ones', () => {
    assert.match(faultyRun.output, /src\/core\/layer\.ts:1:\d+ lint\/style\/noRestrictedImports/);
    assert.match(faultyRun.output, /core imports nothing but itself/);
  });

  test('rejects a package that belongs to another layer', () => {
    assert.match(faultyRun.output, /src\/service\/client\.ts:1:\d+ lint\/style\/noRestrictedImports/);
    assert.match(faultyRun.output, /service imports core only/);
  });

  test('rejects a file of more than 400 lines', () => {
    assert.match(faultyRun.output, /src\/core\/long\.ts:.*noExcessiveLinesPerFile/);
  });

  test('rejects a template that binds a property which the element does not have', () => {
    assert.match(faultyRun.output, /Unknown property 'disabeld'/);
  });

  test('rejects words that the glossary replaces, in documentation, comments and sentences but not in code', () => {
    assert.match(faultyRun.output, /^FAIL plain words/m);
    assert.match(faultyRun.output, /^docs\/guide\.md:3: write "continue, resume" instead of "goes on"$/m);
    assert.match(faultyRun.output, /^src\/ui\/words\.ts:1: write ".+" instead of "Whoever"$/m);
    assert.match(faultyRun.output, /^src\/ui\/words\.ts:1: write ".+" instead of "hears"$/m);
    assert.match(faultyRun.output, /^src\/ui\/words\.ts:3: write ".+" instead of "nobody"$/m);
    assert.match(faultyRun.output, /^test\/words\.test\.mjs:3: write ".+" instead of "goes on"$/m);
    assert.doesNotMatch(faultyRun.output, /^src\/ui\/words\.ts:2: write/m);
  });

  test('rejects comments of more than 132 columns', () => {
    assert.match(faultyRun.output, /^src\/ui\/words\.ts:4: wrap the comment at 132 columns$/m);
    assert.doesNotMatch(faultyRun.output, /^src\/ui\/words\.ts:[123]: wrap/m);
  });

  test('rejects what Node alone has in code for pages, and what pages alone have in code for Node', () => {
    const files = [...faultyRun.output.matchAll(/^(\S+of-(?:node|pages)\.ts)\(1,\d+\): error TS/gm)];
    assert.deepEqual(files.map(([, file]) => file).sort(), [
      'demo/of-node.ts',
      'demo/server/of-pages.ts',
      'src/cli/of-pages.ts',
      'src/core/of-node.ts',
      'test/server/of-pages.ts',
    ]);
  });

  test('rejects a type error', () => {
    assert.match(faultyRun.output, /src\/store\/typed\.ts\(1,\d+\): error TS2322/);
  });
});
