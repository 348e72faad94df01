// Prints sizes in an app built with a bundler: what a page loads at first, with the element or with the engine alone, and what
// sign-in adds: to every page, with the first sign-in, and with the form. Every imported file counts, shared or not. Bundled twice.
// With `allow-extension`, shared modules are part of the app's entry. With `strict`, they are separate files, as in an app with
// several entries. `strict` results in more files, so the sizes are larger.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';
import { build } from 'vite';
import { type PackedApp, sharedApp } from './packed.ts';
import { printSize } from './sizes.ts';

interface Bundle {
  /** Names of the modules that a page loads at first, below `dist`, or of their packages. */
  readonly initialModules: readonly string[];
  /** Bytes, compressed with gzip, that a page downloads at first. */
  readonly initialBytes: number;
  /** Returns the bytes, compressed with gzip, that a page downloads later for the named modules. Each file counts once. */
  bytesOf(...names: string[]): number;
}

type Entry = 'allow-extension' | 'strict';

/** Bundles a module, by default the one that defines the element, and treats the modules that match `without` as external. */
async function bundle(
  app: PackedApp,
  entry: Entry,
  without: RegExp[] = [],
  file = 'define.js',
): Promise<Bundle> {
  const result = await build({
    root: app.folder,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      minify: true,
      rollupOptions: {
        input: join(app.packageFolder, 'dist', file),
        preserveEntrySignatures: entry,
        external: without,
      },
    },
  });
  const [first] = [result].flat();
  if (!first || !('output' in first)) throw new Error('nothing was built');
  const chunks = first.output.filter((file) => file.type === 'chunk');
  const add = (fileName: string, files: Set<string>): void => {
    const chunk = chunks.find((each) => each.fileName === fileName);
    if (!chunk || files.has(fileName)) return;
    files.add(fileName);
    for (const imported of chunk.imports) add(imported, files);
  };
  const sum = (files: Iterable<string>): number =>
    [...files].reduce((bytes, fileName) => {
      const { code = '' } = chunks.find((each) => each.fileName === fileName) ?? {};
      return bytes + gzipSync(code).length;
    }, 0);
  const initial = new Set<string>();
  for (const { isEntry, fileName } of chunks) if (isEntry) add(fileName, initial);
  const nameOf = (id: string): string =>
    /(?<=node_modules\/)(?!secure-uploader\/)(@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id.replace(/^.*\/dist\//, '');
  const modules = chunks.flatMap(({ fileName, moduleIds }) => (initial.has(fileName) ? moduleIds : []));
  return {
    initialBytes: sum(initial),
    initialModules: [...new Set(modules.filter((id) => !id.startsWith('\0')).map(nameOf))].sort(),
    bytesOf(...names) {
      const files = new Set(initial);
      for (const name of names) {
        const chunk = chunks.find((each) => each.name === name);
        assert.ok(chunk && !initial.has(chunk.fileName), `${name} is loaded on demand`);
        add(chunk.fileName, files);
      }
      return sum(files) - sum(initial);
    },
  };
}

/** Modules that a page may load at first. What is not needed before the first file belongs to `src/ui/uploads.ts`. */
const FIRST_LOAD = JSON.parse(readFileSync(new URL('first-load.json', import.meta.url), 'utf8')) as string[];
/** Limit for the first load, in bytes with gzip. */
const FIRST_LOAD_BYTES = 36_000;
/** The same for everything until the first upload of a page with tokens. */
const UNTIL_UPLOAD_BYTES = 118_000;

describe('A page whose app supplies tokens', () => {
  for (const [entry, where] of [
    ['allow-extension', 'an app with one entry'],
    ['strict', 'an app with several entries'],
  ] as const)
    test(`downloads only the listed modules at first, in ${where}`, async (t) => {
      const { initialBytes, initialModules, bytesOf } = await bundle(await sharedApp(), entry);
      printSize(t, `element in ${where}`, initialBytes);
      const laterBytes = bytesOf('uploads');
      printSize(t, `engine and list in ${where}`, laterBytes);
      assert.deepEqual(initialModules, FIRST_LOAD);
      assert.ok(initialBytes <= FIRST_LOAD_BYTES, `${initialBytes} bytes`);
      assert.ok(initialBytes + laterBytes <= UNTIL_UPLOAD_BYTES, `${initialBytes + laterBytes} bytes`);
    });

  test('downloads the same modules at first with esbuild', async (t) => {
    const app = await sharedApp();
    const { outputFiles, metafile } = await esbuild({
      entryPoints: [join(app.packageFolder, 'dist/define.js')],
      outdir: 'out',
      ...{ bundle: true, splitting: true, minify: true, write: false, metafile: true },
      ...{ format: 'esm', target: 'es2022', conditions: ['production'] },
    });
    const [first] = Object.entries(metafile.outputs).filter(([, { entryPoint }]) =>
      entryPoint?.endsWith('dist/define.js'),
    );
    const loaded = new Set<string>();
    const add = (name: string): void => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
        if (kind === 'import-statement') add(path);
    };
    add(first?.[0] ?? assert.fail());
    const sizeBytes = outputFiles
      .filter(({ path }) => [...loaded].some((name) => path.endsWith(`/${name}`)))
      .reduce((bytes, { contents }) => bytes + gzipSync(contents).length, 0);
    printSize(t, 'element with esbuild', sizeBytes);
    assert.ok(sizeBytes > 0 && sizeBytes <= FIRST_LOAD_BYTES, `${sizeBytes} bytes`);
  });

  test('downloads the engine alone', async (t) => {
    const { initialBytes } = await bundle(await sharedApp(), 'strict', [], 'engine.js');
    printSize(t, 'engine', initialBytes);
    assert.ok(initialBytes > 0);
  });
});

for (const [entry, where] of [
  ['allow-extension', 'an app with one entry'],
  ['strict', 'an app with several entries'],
] as const)
  describe(`Signing in, in ${where},`, () => {
    let whole: Bundle;
    let without: Bundle;
    before(async () => {
      const app = await sharedApp();
      whole = await bundle(app, entry);
      without = await bundle(app, entry, [/\/auth\/session\.js$/]);
    });

    test('adds a part to what every page downloads', (t) => {
      const sizeBytes = whole.bytesOf('uploads') - without.bytesOf('uploads');
      printSize(t, `sign-in in ${where}`, sizeBytes);
      assert.ok(sizeBytes > 0);
    });

    for (const [name, when] of [
      ['authorize', 'the first sign-in in a window or frame'],
      ['secure-uploader-login', 'its form, passkeys included'],
    ] as const)
      test(`downloads later what it needs for ${when}`, (t) =>
        printSize(t, `${name} in ${where}`, whole.bytesOf('uploads', name) - whole.bytesOf('uploads')));
  });
