// The package as an app installs it: files, entries, types, the manifest of the elements, sizes, and no leaks. Imported by
// loaded.test.ts, so that the package is built once for both.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { listEntries } from '../../scripts/entries.mjs';
import { compile } from './compile.ts';
import { type Declaration, declarationsOf, type PackedApp, sharedApp } from './packed.ts';
import { printSize } from './sizes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files that pages or developers download alone. */
const DOWNLOADS = [
  'dist/cdn/secure-uploader.min.js',
  'dist/cdn/hash.worker.js',
  'dist/cdn/hash-wasm.worker.js',
  'dist/cdn/photo.worker.js',
  'dist/file-keeper.js',
  'dist/secure-uploader-callback.js',
  'dist/cli/main.js',
];

/** An element in the data for VS Code. */
interface CustomTag {
  readonly name: string;
  readonly description: { readonly value: string };
  readonly attributes: readonly {
    readonly name: string;
    readonly description: { readonly value: string };
    readonly values?: readonly { readonly name: string }[];
    readonly valueSet?: string;
  }[];
}

/** An element in the web-types. */
interface WebType {
  readonly name: string;
  readonly attributes: readonly { readonly name: string }[];
  readonly js: Readonly<
    Record<'events' | 'properties', readonly { readonly name: string; readonly type: string }[]>
  >;
}

describe('The package', () => {
  let app: PackedApp;
  before(async () => {
    app = await sharedApp();
  });
  const text = (file: string): Promise<string> => readFile(join(app.packageFolder, file), 'utf8');

  test('has every file that its entries reference', () => {
    const targets = listEntries(app.packageFolder).flatMap(([, entry]) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    const missing = targets.map((target) => target.slice(2)).filter((file) => !app.files.includes(file));
    assert.deepEqual(missing, []);
  });

  test('has the callback page, the workers and the one-file bundle', () => {
    const promised = [
      'dist/secure-uploader-callback.html',
      'dist/secure-uploader-callback.js',
      'dist/pipeline/hash.worker.js',
      'dist/pipeline/hash-wasm.worker.js',
      'dist/photos/photo.worker.js',
      'dist/cdn/secure-uploader.min.js',
      'dist/cdn/photo.worker.js',
      'dist/cdn/hash.worker.js',
      'dist/cdn/hash-wasm.worker.js',
      'dist/cdn/secure-uploader-callback.html',
      'dist/cdn/secure-uploader-callback.js',
      'dist/file-keeper.js',
      'dist/cdn/file-keeper.js',
      'LICENSE',
    ];
    assert.deepEqual(
      promised.filter((file) => !app.files.includes(file)),
      [],
    );
  });

  test('has workers of one file each: many bundlers copy a worker without its imports', async () => {
    for (const name of ['pipeline/hash', 'pipeline/hash-wasm', 'photos/photo']) {
      const worker = await text(`dist/${name}.worker.js`);
      assert.doesNotMatch(worker, /\bimport\b\s*[("'`{*]|\bfrom\s*["'`]/);
      const own = (await text(`dist/cdn/${name.split('/')[1]}.worker.js`)).replace(
        /\/\/# sourceMappingURL=.*\s*$/,
        '',
      );
      assert.equal(worker.trim(), own.trim());
    }
  });

  test('has a file keeper of one file, which runs as a classic script', async () => {
    const keeper = await text('dist/file-keeper.js');
    assert.doesNotMatch(keeper, /\b(import|export)\b/);
    assert.equal(keeper, await text('dist/cdn/file-keeper.js'));
  });

  test('has a small default worker without hash-wasm, and the same code as text', async () => {
    const worker = await text('dist/pipeline/hash.worker.js');
    assert.ok(Buffer.byteLength(worker) <= 3000, `${Buffer.byteLength(worker)} bytes`);
    assert.doesNotMatch(worker, /WebAssembly/);
    assert.match(await text('dist/pipeline/hash-wasm.worker.js'), /WebAssembly/);
    const { default: source } = await import(join(app.packageFolder, 'dist/pipeline/worker-source.js'));
    assert.ok(worker.endsWith(`${source}\n`));
  });

  test('contains only the build, the sources and the documentation', () => {
    const known =
      /^(dist|docs|demo\/examples)\/|^src\/README\.md$|^(callback|define|engine|jsx|locales(\/[\w-]+)?|login|react|svelte|vue)\/package\.json$|^(package|custom-elements)\.json$|^[A-Z]+(\.md)?$/;
    assert.deepEqual(
      app.files.filter((file) => !known.test(file)),
      [],
    );
  });

  test('has every file that its documentation links to', async () => {
    const broken: string[] = [];
    for (const file of app.files.filter(
      (name) => /\.md$/.test(name) && !name.startsWith('docs/decisions/'),
    )) {
      const links = [...(await text(file)).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link = '']) => link);
      const targets = links.filter((link) => !/^https?:/.test(link)).map((link) => join(dirname(file), link));
      const missing = targets.filter(
        (target) => !app.files.some((name) => name === target || name.startsWith(`${target}/`)),
      );
      broken.push(...missing.map((target) => `${file}: ${target}`));
    }
    assert.deepEqual(broken, []);
  });

  test('passes publint without errors', async () => {
    const { messages, pkg } = await publint({ pkgDir: app.packageFolder, strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });

  test('can be imported without a page, and defines no element there', async () => {
    const script = `
      for (const name of ['jsx', 'vue', 'svelte']) await import('secure-uploader/' + name);
      const all = await import('secure-uploader');
      const engine = await import('secure-uploader/engine');
      console.log(JSON.stringify([Object.keys(all).length > 0, Object.keys(engine).length > 0, typeof customElements?.get?.('secure-uploader')]));`;
    const printed = await app.node(
      '--input-type=module',
      '--eval',
      `globalThis.customElements ??= undefined;${script}`,
    );
    assert.deepEqual(JSON.parse(printed), [true, true, 'undefined']);
  });

  test('throws a clear error when an engine is created without a browser', async () => {
    const script = `const { Uploader, UploaderError } = await import('secure-uploader/engine');
      try { new Uploader({ baseUrl: 'https://api.example' }); } catch (error) {
        console.log(JSON.stringify([error instanceof UploaderError, error.code, error.message]));
      }`;
    const [isOwn, code, message] = JSON.parse(await app.node('--input-type=module', '--eval', script));
    assert.deepEqual([isOwn, code], [true, 'bad-config']);
    assert.match(message, /runs in browsers only/);
  });

  test('has types that an app can use, as bundlers and as Node resolve modules', async () => {
    await compile(
      app,
      'app',
      {
        'app.ts': `import { SecureUploader } from 'secure-uploader';
import * as engine from 'secure-uploader/engine';
import 'secure-uploader/callback';
import 'secure-uploader/define';
import { SecureUploaderLogin } from 'secure-uploader/login';

const element: SecureUploader = document.createElement('secure-uploader');
element.addEventListener('upload-completed', (event) => {
  const receipts: readonly string[] = event.detail.chunks.map((chunk) => chunk.receipt);
  console.log(receipts.length, event.detail.sentBytes.toFixed());
});
// @ts-expect-error there is no such event
element.addEventListener('upload-complete', (event) => console.log(event.detail));
console.log(Object.keys(engine));
const form: SecureUploaderLogin = document.createElement('secure-uploader-login');
form.idps = [{ id: 'corp', label: 'Corp', kind: 'federated' }];
`,
      },
      ['bundler', 'node'],
    );
  });

  test('describes the element with its attributes and events for editors', async () => {
    const declarations = await declarationsOf(app);
    const element = declarations.find((declaration) => declaration.tagName === 'secure-uploader');
    assert.ok(element, 'secure-uploader is not listed');
    const attributes = element.attributes?.map((attribute) => attribute.name) ?? [];
    const events = element.events?.map((event) => event.name) ?? [];
    for (const name of ['base-url', 'parent-id', 'accept', 'max-file-size'])
      assert.ok(attributes.includes(name), name);
    for (const name of ['file-added', 'upload-progress', 'upload-completed', 'upload-failed']) {
      assert.ok(events.includes(name), name);
    }
    const silent = [...(element.attributes ?? []), ...(element.events ?? [])].filter(
      (each) => !each.description,
    );
    assert.deepEqual(
      silent.map((each) => each.name),
      [],
    );
  });

  test('describes the details of all events and the words of attributes for editors', async () => {
    const declarations = await declarationsOf(app);
    const uploader = declarations.find(({ tagName }) => tagName === 'secure-uploader');
    const typeOf = (items: Declaration['events'], name: string): string | undefined =>
      items?.find((item) => item.name === name)?.type?.text;
    assert.equal(typeOf(uploader?.events, 'file-moved'), 'CustomEvent<{ id: string; beforeId?: string }>');
    assert.match(
      typeOf(uploader?.events, 'upload-completed') ?? '',
      /chunks: readonly \{.* receipt: string;.*commit\?: unknown/,
    );
    assert.match(typeOf(uploader?.events, 'upload-failed') ?? '', /^CustomEvent<\{ code: ErrorCode; /);
    assert.equal(typeOf(uploader?.attributes, 'on-conflict'), "'fail' | 'rename'");
    assert.equal(typeOf(uploader?.attributes, 'upload-origins'), 'string');
    for (const { events = [], attributes = [] } of declarations) {
      for (const { name, type } of events) assert.match(type?.text ?? '', /^CustomEvent<\{ .+ \}>$/, name);
      for (const { name, type } of attributes)
        assert.doesNotMatch(type?.text ?? 'undefined', /undefined/, name);
    }
  });

  test('has data for VS Code with every attribute, its description and its words', async () => {
    const { version, tags } = JSON.parse(await text('dist/vscode.html-custom-data.json'));
    assert.equal(version, 1.1);
    const declarations = await declarationsOf(app);
    assert.deepEqual(
      new Map(tags.map((tag: CustomTag) => [tag.name, tag.attributes.map(({ name }) => name)])),
      new Map(
        declarations.map(({ tagName, attributes = [] }) => [tagName, attributes.map(({ name }) => name)]),
      ),
    );
    const uploader = tags.find(({ name }: CustomTag) => name === 'secure-uploader') as CustomTag;
    const attributeOf = (name: string): CustomTag['attributes'][number] | undefined =>
      uploader.attributes.find((attribute) => attribute.name === name);
    assert.match(uploader.description.value, /resumable chunks/);
    assert.deepEqual(attributeOf('on-conflict')?.values, [{ name: 'fail' }, { name: 'rename' }]);
    assert.equal(attributeOf('multiple')?.valueSet, 'v');
    assert.equal(attributeOf('base-url')?.values, undefined);
    for (const { name, description } of uploader.attributes) assert.ok(description.value, name);
  });

  test('has web-types with every attribute and event, which package.json names', async () => {
    const own = JSON.parse(await text('package.json'));
    const { name, version, contributions } = JSON.parse(await text(own['web-types']));
    assert.deepEqual([name, version], [own.name, own.version]);
    const declarations = await declarationsOf(app);
    const namesOf = (items: readonly { name: string }[] = []): string[] => items.map((item) => item.name);
    assert.deepEqual(
      contributions.html.elements.map((element: WebType) => [
        element.name,
        namesOf(element.attributes),
        namesOf(element.js.events),
      ]),
      declarations.map(({ tagName, attributes, events }) => [tagName, namesOf(attributes), namesOf(events)]),
    );
    const uploader = contributions.html.elements.find(
      (element: WebType) => element.name === 'secure-uploader',
    );
    const typeOf = (items: WebType['js']['events'], wanted: string): string | undefined =>
      items.find((item) => item.name === wanted)?.type;
    assert.equal(typeOf(uploader.js.events, 'file-removed'), 'CustomEvent<{ id: string; name: string }>');
    assert.equal(typeOf(uploader.js.properties, 'getToken'), 'GetToken');
    assert.ok(namesOf(uploader.css.parts).includes('drop-zone'));
  });

  test('contains no path of the build machine and no development files', async () => {
    const forbidden = [app.builtIn, root, 'file://', 'debugger;'];
    const found: string[] = [];
    for (const file of app.files.filter((name) => /^dist\/.*\.(js|ts|html)$/.test(name))) {
      const content = await text(file);
      // Only the command runs in Node.
      const here = file.startsWith('dist/cli/') ? forbidden : [...forbidden, 'process.env'];
      found.push(...here.filter((each) => content.includes(each)).map((each) => `${file}: ${each}`));
      // Doc comments are removed first, since their examples may use `console.log`.
      if (content.replace(/\/\*[\s\S]*?\*\//g, '').includes('console.log('))
        found.push(`${file}: console.log(`);
    }
    assert.deepEqual(found, []);
  });

  test('has modules without `this` at the top level, about which Rollup warns', async () => {
    const modules = app.files.filter((name) => /^dist\/.*\.js$/.test(name));
    const texts = await Promise.all(modules.map(text));
    assert.deepEqual(
      modules.filter((_, index) => texts[index]?.includes('(this && this.')),
      [],
    );
  });

  test('has source maps with the names of the sources for the minified files, and none for readable modules', async () => {
    const maps = app.files.filter((name) => name.endsWith('.map'));
    // Parts have hashes in their names. Those with the text of a worker have no code to map.
    const parts = app.files.filter((name) =>
      /^dist\/cdn\/(?!.*-callback\.)(.*-[\w-]{8}|.*\.min)\.js$/.test(name),
    );
    assert.deepEqual(
      maps,
      parts.map((name) => `${name}.map`),
    );
    for (const map of maps.filter((name) => !/worker/.test(name))) {
      const { sources } = JSON.parse(await text(map)) as { sources: string[] };
      const own = sources.filter((source) => !source.includes('node_modules'));
      const lost = own.filter((source) => !existsSync(join(root, dirname(map), source.replace('?code', ''))));
      assert.deepEqual([own.length > 0, lost], [true, []], map);
    }
    const modules = app.files.filter((name) => /^dist\/(?!cdn\/).*\.(js|d\.ts)$/.test(name));
    const texts = await Promise.all(modules.map(text));
    assert.deepEqual(
      modules.filter((_, index) => texts[index]?.includes('sourceMappingURL')),
      [],
    );
  });

  test('prints its size, and the sizes of its downloads', async (t) => {
    const files = await Promise.all(app.files.map((file) => stat(join(app.packageFolder, file))));
    printSize(
      t,
      'the unpacked package',
      files.reduce((sum, { size }) => sum + size, 0),
      `bytes in ${app.files.length} files`,
    );
    for (const file of DOWNLOADS)
      printSize(t, file, gzipSync(await readFile(join(app.packageFolder, file))).length);
  });
});
