// Shows that `npm run check` refuses what it is there for, on a small copy of the project with a fault of each kind.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const made: string[] = [];
after(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 }))));

const row = (binding: string): string => `import { html, type TemplateResult } from 'lit';
import { sizeBytes } from '../core/size.ts';

export const row = (): TemplateResult => html\`<button ${binding}="\${sizeBytes > 1}">Pause</button>\`;
`;

const sound = {
  'src/core/size.ts': 'export const sizeBytes = 1;\n',
  'src/service/client.ts':
    "import { sizeBytes } from '../core/size.ts';\n\nexport const client = [sizeBytes];\n",
  'src/ui/row.ts': row('?disabled'),
};

async function check(files: Record<string, string>): Promise<{ passed: boolean; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'secure-uploader-check-'));
  made.push(folder);
  for (const name of ['biome.json', 'tsconfig.json', '.gitignore'])
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
  'src/core/layer.ts': "export { row } from '../ui/row.ts';\n",
  'src/service/client.ts': "import { nothing } from 'lit';\n\nexport const client = [nothing];\n",
  'src/ui/row.ts': row('.disabeld'),
  'src/store/typed.ts': "export const sizeBytes: number = 'one';\n",
  'src/core/long.ts': Array.from({ length: 301 }, (_, line) => `export const value${line} = ${line};\n`).join(
    '',
  ),
};

describe('npm run check', () => {
  let soundRun: Awaited<ReturnType<typeof check>>;
  let faultyRun: Awaited<ReturnType<typeof check>>;
  before(async () => {
    [soundRun, faultyRun] = await Promise.all([check(sound), check({ ...sound, ...faulty })]);
  });

  test('passes a project without a fault', () => {
    assert.equal(soundRun.passed, true, soundRun.output);
  });

  test('refuses a project with faults, by every one of its checks', () => {
    assert.equal(faultyRun.passed, false);
    assert.match(faultyRun.output, /^FAIL format, lint, layers/m);
    assert.match(faultyRun.output, /^FAIL types/m);
    assert.match(faultyRun.output, /^FAIL template bindings/m);
  });

  test('refuses a module that imports from a layer it may not know, and tells which it may', () => {
    assert.match(faultyRun.output, /src\/core\/layer\.ts:1:\d+ lint\/style\/noRestrictedImports/);
    assert.match(faultyRun.output, /core imports nothing but itself/);
  });

  test('refuses a package that belongs to another layer', () => {
    assert.match(faultyRun.output, /src\/service\/client\.ts:1:\d+ lint\/style\/noRestrictedImports/);
    assert.match(faultyRun.output, /service imports core only/);
  });

  test('refuses a file of more than 300 lines', () => {
    assert.match(faultyRun.output, /src\/core\/long\.ts:.*noExcessiveLinesPerFile/);
  });

  test('refuses a template that binds a property which the element has not', () => {
    assert.match(faultyRun.output, /Unknown property 'disabeld'/);
  });

  test('refuses a type error', () => {
    assert.match(faultyRun.output, /src\/store\/typed\.ts\(1,\d+\): error TS2322/);
  });
});
