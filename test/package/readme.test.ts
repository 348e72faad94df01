// Checks the documentation against the project: generated tables, code samples, policy, sizes, commands, links and paths. Also
// checks the lists of saved fields and of tests in SECURITY.md.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { chunkSizeFor, MAX_CHUNKS } from '../../src/pipeline/plan.ts';
import { FIRST_SLICE_BYTES } from '../../src/store/identity.ts';
import { writeRecord } from '../../src/store/record.ts';
import { builtWidget } from '../support/built.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const readme = read('README.md');
const { dependencies, engines, scripts, version } = JSON.parse(read('package.json'));

const under = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith('.md'));
const documents = [
  ...[
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'src/README.md',
    'demo/server/README.md',
    'demo/examples/README.md',
  ],
  ...under('docs'),
];

/** Returns the first group of each match. */
const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '');
/** Documents whose samples must work. Decision records are excluded, because they quote old code. */
const guides = ['README.md', 'CONTRIBUTING.md', ...under('docs').filter((name) => !/decisions/.test(name))];
const blocksOf = (file: string, language: string): string[] =>
  all(read(file), new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'));
interface Sample {
  readonly file: string;
  readonly code: string;
}

/** Returns all samples in a language, each with the name of its document. */
const samples = (language: string): Sample[] =>
  guides.flatMap((file) => blocksOf(file, language).map((code) => ({ file, code })));

/** Imports and declarations that the `@example`s of methods use but do not contain. */
const EXAMPLE_CONTEXT = `import { Uploader, UploaderError } from 'secure-uploader/engine';
export declare const uploader: Uploader, input: HTMLInputElement, button: HTMLButtonElement, file: File;
void UploaderError;
`;

/** Returns the samples in a language that the doc comments of a source file contain. */
function examplesIn(file: string, language: string): Sample[] {
  const comments = all(read(file), /^ *\/\*\*\n((?: *\*.*\n)*?) *\*\/$/gm).map((text) =>
    text.replace(/^ *\* ?/gm, ''),
  );
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm');
  return comments
    .flatMap((text) => all(text, fence))
    .map((code) => ({
      file,
      code: language !== 'ts' || /^import /m.test(code) ? code : `${EXAMPLE_CONTEXT}${code}`,
    }));
}
/** The names that the sample for Angular uses. Angular is not installed. */
const ANGULAR = `declare module '@angular/core' {
  export const CUSTOM_ELEMENTS_SCHEMA: { readonly name: string };
  export const Component: (options: object) => ClassDecorator;
  export const Directive: (options: object) => ClassDecorator;
  export const ElementRef: new (...args: never[]) => { readonly nativeElement: unknown };
  export const effect: (run: () => void) => void;
  export const inject: (token: typeof ElementRef) => InstanceType<typeof ElementRef>;
  export const input: { required<T>(): () => T };
}
`;
const PUBLIC = [
  'src/engine/uploader.ts',
  'src/define.ts',
  'src/ui/secure-uploader.ts',
  'src/ui/secure-uploader-login.ts',
];
const examples = (language: string): Sample[] => PUBLIC.flatMap((file) => examplesIn(file, language));

/**
 * Returns all samples of the reference service as one sample, because each continues the one before. Declares the folder and the
 * hash that the samples use.
 */
const serviceSample = (): Sample => ({
  file: 'demo/server/README.md',
  code: `export declare const dataDir: string, hash: string;\n${blocksOf('demo/server/README.md', 'ts')
    .join('')
    .replace("'../../demo/", "'../../../demo/")}void token, expires_at, remove;\n`,
});

function run(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('The documentation', () => {
  test('has a reference that matches the manifest, the types, the settings and the texts', () => {
    const { status, output } = run('--import', 'tsx', 'scripts/readme-tables.mjs', '--check');
    assert.equal(status, 0, output);
  });

  test('has the states of an upload as in the code', () => {
    const { status, output } = run('--import', 'tsx', 'scripts/upload-states.mjs', '--check');
    assert.equal(status, 0, output);
  });

  test('has a table of the core journeys that all engines passed', () => {
    const { status, output } = run('scripts/journeys.mjs', '--check');
    assert.equal(status, 0, output);
  });

  test('has TypeScript that compiles', async (t) => {
    const cache = join(root, 'node_modules/.cache');
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, 'secure-uploader-readme-'));
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const documented = examples('ts');
    for (const file of PUBLIC.slice(0, 3))
      assert.ok(
        documented.some((example) => example.file === file),
        `${file} has no example`,
      );
    const inJsx = samples('tsx');
    assert.ok(inJsx.length > 0);
    const found = [...samples('ts'), ...documented, serviceSample(), ...inJsx];
    assert.ok(blocksOf('README.md', 'ts').length >= 3);
    const files = found.map(
      (sample, index) =>
        `block-${index + 1}-${sample.file.replace(/\W/g, '-')}.${inJsx.includes(sample) ? 'tsx' : 'ts'}`,
    );
    await Promise.all(found.map(({ code }, index) => writeFile(join(folder, files[index] ?? ''), code)));
    await writeFile(join(folder, 'angular.d.ts'), ANGULAR);
    const config = {
      extends: '../../../tsconfig.json',
      compilerOptions: { types: [], jsx: 'react-jsx' },
      files: [...files, 'angular.d.ts'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const { output } = run('node_modules/typescript/bin/tsc', '--project', folder, '--pretty', 'false');
    // Ignores errors in the sources, which another check reports.
    const own = output.split('\n').filter((line) => line.includes('block-'));
    assert.deepEqual(own, [], output);
  });

  test('has HTML with attributes of the element, and valid scripts', () => {
    const known = all(read('docs/reference.md'), /^\| `([a-z-]+)` \|/gm);
    const pages = [...samples('html'), ...examples('html')].map(({ code }) => code);
    const tags = pages.flatMap((html) => all(html, /<secure-uploader\s([^>]*)>/g));
    assert.ok(tags.length > 2);
    const used = tags.flatMap((tag) => all(tag, /([a-z-]+)(?:="[^"]*")?(?=\s|$)/g));
    assert.deepEqual(
      used.filter((name) => name !== 'id' && !known.includes(name)),
      [],
    );
    for (const script of pages.flatMap((html) => all(html, /<script[^>]*>([^<]+)<\/script>/g))) {
      const { diagnostics } = ts.transpileModule(script, { reportDiagnostics: true });
      assert.deepEqual(diagnostics?.map(({ messageText }) => messageText) ?? [], []);
    }
  });

  test('has CSS with custom properties, parts and states that the element has', () => {
    const reference = read('docs/reference.md');
    const styles = samples('css').map(({ code }) => code);
    assert.ok(styles.length > 2);
    const used = styles.flatMap((css) => [
      ...all(css, /(--secure-uploader-[\w-]+):/g),
      ...all(css, /::part\(([\w-]+)/g).map((part) => (part.endsWith('-button') ? 'button' : part)),
      ...all(css, /:state\((\w+)\)/g),
    ]);
    assert.deepEqual(
      used.filter((name) => !reference.includes(`| \`${name}\` |`)),
      [],
    );
  });

  test('names attributes, properties, methods and events of the element beside those of other uploaders', () => {
    const known = all(read('docs/reference.md'), /^\| `([\w-]+)[`(]/gm);
    const rows = all(read('docs/migration.md'), /^\| .+? \| (.+?) \|.*\|$/gm).filter((cell) =>
      cell.includes('`'),
    );
    assert.ok(rows.length > 50, `${rows.length} rows`);
    const named = rows.flatMap((cell) => all(cell, /`([\w-]+)(?:\(\))?`/g));
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
    );
  });

  test('has the content policy of the journeys', () => {
    const directives = (text: string): Map<string, string> =>
      new Map(
        text.split(/[;\n]/).flatMap((line) => {
          const [, name, value] = /^\s*([a-z-]+) (\S.*)$/.exec(line) ?? [];
          return name && value ? [[name, value] as const] : [];
        }),
      );
    const stated = directives(all(readme, /Content-Security-Policy:\n([\s\S]*?)```/g)[0] ?? '');
    const code = /const policy = [\s\S]*?\.join\('; '\)/.exec(read('test/e2e/support/pages.ts'))?.[0] ?? '';
    const proved = directives(all(code, /["'`](.+)["'`],\n/g).join('\n'));
    assert.deepEqual([...stated.keys()], [...proved.keys()]);
    for (const [name, value] of proved) {
      // Ignores directives with URLs of service and storage, which each page sets.
      if (!value.includes('${')) assert.equal(stated.get(name), value, name);
    }
  });

  test('has sizes that the build keeps, and is close to', () => {
    const built = builtWidget();
    const rows = [...readme.matchAll(/^\| `dist\/(?:cdn\/)?([\w.-]+\.js)`[^|]*\| (\d+) kB \|/gm)];
    assert.equal(rows.length, 5);
    for (const [, name = '', kilobytes] of rows) {
      const sizeBytes = gzipSync(readFileSync(join(built, name))).length;
      const statedBytes = Number(kilobytes) * 1000;
      assert.ok(sizeBytes <= statedBytes, `${name} has ${sizeBytes} bytes with gzip`);
      assert.ok(sizeBytes > statedBytes / 2, `${name} has only ${sizeBytes} bytes with gzip`);
    }
  });

  test('has the correct name, version, packages and Node version', () => {
    const archives = all(readme, /(secure-uploader-[\d.]+\.tgz)/g);
    assert.deepEqual([...new Set(archives)], [`secure-uploader-${version}.tgz`]);
    assert.equal(engines.node, '>=20.19');
    assert.match(readme, /Node 20\.19 or later/);
    const atRunTime = /packages are used at run time: (.*)\.$/m.exec(readme)?.[1] ?? '';
    assert.deepEqual(all(atRunTime, /`([\w-]+)`/g).sort(), Object.keys(dependencies).sort());
  });

  test('has the limits of the code', () => {
    const mib = 2 ** 20;
    const limits = read('docs/limits.md');
    assert.match(limits, /single chunk \(below 10 MiB/);
    assert.ok(chunkSizeFor(10 * mib - 1, 'auto') >= 10 * mib - 1);
    assert.ok(chunkSizeFor(10 * mib, 'auto') < 10 * mib);
    assert.match(limits, new RegExp(`at most ${MAX_CHUNKS.toLocaleString('en')} chunks`));
  });
});

describe('SECURITY.md', () => {
  const security = read('SECURITY.md');

  test('lists every saved field of an upload', () => {
    const record = writeRecord({
      ...{ chunksId: 'c', key: 'k', name: 'n', relativePath: 'n', sizeBytes: 1, lastModifiedMs: 1, type: '' },
      ...{ parentId: 'p', firstSliceHash: 'h', chunkSizeBytes: 1, hashAlgorithm: 'sha-256', createdAtMs: 1 },
      session: { sessionId: 's', header: 'h' },
      handle: {} as FileSystemFileHandle,
    });
    const rows = security.split('\n').filter((line) => line.startsWith('| `'));
    const listed = rows.flatMap((row) => all(row.split('|')[1] ?? '', /`(\w+)`/g));
    assert.deepEqual(listed.filter((name) => name in record).sort(), Object.keys(record).sort());
    assert.match(security, new RegExp(`first ${FIRST_SLICE_BYTES / 1024} KiB`));
  });

  test('refers to existing tests', () => {
    const shown = [...security.matchAll(/`(test\/[\w./-]+)` “([^”]+)”/g)];
    assert.ok(shown.length > 20, `${shown.length} tests`);
    const missing = shown.filter(
      ([, file = '', title = '']) => !existsSync(join(root, file)) || !read(file).includes(title),
    );
    assert.deepEqual(
      missing.map(([whole]) => whole),
      [],
    );
  });
});

describe('All documents', () => {
  test('refer to existing commands', () => {
    const own = ['install', 'ci', 'pack', 'audit'];
    const named = documents.flatMap((file) => all(read(file), /(?:`|^)npm (run [\w:-]+|[a-z]+)\b/gm));
    const missing = named.filter((command) => {
      const name = command.replace(/^run /, '');
      return !(name in scripts) && !(own.includes(name) && name === command);
    });
    assert.deepEqual(missing, []);
    assert.ok(named.includes('start') && named.includes('test'));
  });

  test('link to existing files', () => {
    const broken = documents.flatMap((file) =>
      all(read(file), /\]\(([^)\s]+)\)/g)
        .filter((link) => !/^(https?:|#)/.test(link))
        .filter((link) => !existsSync(join(root, dirname(file), link.replace(/#.*/, ''))))
        .map((link) => `${file}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  test('refer to existing sources, tests and scripts', () => {
    const missing = documents.flatMap((file) =>
      all(read(file), /`((?:src|test|docs|demo|scripts)\/[\w./-]+)`/g)
        .filter((path) => !path.includes('locales/') && !existsSync(join(root, path)))
        .map((path) => `${file}: ${path}`),
    );
    assert.deepEqual(missing, []);
  });

  test('have a source map that lists exactly the modules of each folder', () => {
    const paragraphs = [...read('src/README.md').matchAll(/^\*\*(\w+)\*\* — ([\s\S]*?)\n\n/gm)];
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    assert.deepEqual(paragraphs.map(([, folder]) => folder).sort(), folders.map(({ name }) => name).sort());
    for (const [, folder = '', text = ''] of paragraphs) {
      const modules = readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
        .map((name) => name.replaceAll('\\', '/'))
        .filter((name) => name.endsWith('.ts'));
      const listed = new Set(all(text, /`([\w./-]+\.ts)`/g));
      assert.deepEqual([...listed].sort(), modules.sort(), folder);
    }
  });
});
