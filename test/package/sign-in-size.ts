// Prints sizes in an app built with a bundler: what a page loads at first, with the element or with the engine alone, and what
// sign-in adds: to every page, with the first sign-in, and with the form. Every imported file counts, shared or not. Bundled twice.
// With `allow-extension`, shared modules are part of the app's entry. With `strict`, they are separate files, as in an app with
// several entries. `strict` results in more files, so the sizes are larger.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { type PackedApp, sharedApp } from './packed.ts';
import { printSize } from './sizes.ts';

interface Bundle {
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
  return {
    initialBytes: sum(initial),
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

describe('A page whose app supplies tokens', () => {
  for (const [name, file] of [
    ['element', 'define.js'],
    ['engine', 'engine/uploader.js'],
  ] as const)
    test(`downloads the ${name} at first`, async (t) => {
      const { initialBytes } = await bundle(await sharedApp(), 'strict', [], file);
      printSize(t, name, initialBytes);
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
      printSize(t, `sign-in in ${where}`, whole.initialBytes - without.initialBytes);
      assert.ok(whole.initialBytes > without.initialBytes);
    });

    for (const [name, when] of [
      ['authorize', 'the first sign-in in a window or frame'],
      ['secure-uploader-login', 'its form, passkeys included'],
    ] as const)
      test(`downloads later what it needs for ${when}`, (t) =>
        printSize(t, `${name} in ${where}`, whole.bytesOf(name)));
  });
