// The package as pages load it, in a real browser: the bundle from another origin, and an app built with a bundler.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { build as bundle } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright';
import { rolldown } from 'rolldown';
import { build } from 'vite';
import { type Service, startService } from '../../demo/server/server.ts';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { newContext } from '../e2e/support/browser.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type PackedApp, sharedApp } from './packed.ts';
import { serve } from './serve.ts';
import './contents.ts';
import './frameworks.ts';
import './sign-in-size.ts';

/**
 * Uploads a file with a new element on `page`. Returns the type of the final event, and the hash or the error code in this event.
 */
function upload(
  page: Page,
  text: string,
  settings: { baseUrl: string; storageUrl: string; token: string },
  hash: 'sha-256' | 'blake3' = 'sha-256',
) {
  return page.evaluate(
    async ({ text, settings: { baseUrl, storageUrl, token }, hash }) => {
      const element = document.createElement('secure-uploader');
      element.setAttribute('base-url', baseUrl);
      element.setAttribute('upload-origins', storageUrl);
      element.setAttribute('owner', 'alice');
      element.setAttribute('parent-id', 'folder-a');
      element.setAttribute('commit-path', '/files/uploadsession/commit');
      element.setAttribute('hash', hash);
      element.getToken = () => token;
      document.body.append(element);
      const ended = new Promise<{ type: string; reported: string }>((resolve) => {
        const onEnd = (event: Event): void => {
          const { chunks, code } = (event as CustomEvent).detail;
          resolve({ type: event.type, reported: chunks?.[0]?.hash ?? code });
        };
        for (const type of ['upload-completed', 'upload-failed', 'file-rejected'])
          element.addEventListener(type, onEnd);
      });
      await element.addFiles([new File([text], 'hello.txt')]);
      return ended;
    },
    { text, settings, hash },
  );
}

// Test vectors: SHA-256 as published in FIPS 180-2, and BLAKE3.
const vector = {
  text: 'abc',
  hash: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  blake3: '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85',
};

const options = { appOrigins: [], test: true, fsync: false };

describe('The package in a page', () => {
  let app: PackedApp;
  let browser: Browser;
  let service: Service;
  const dataDir = temporaryFolder();
  let settings: { baseUrl: string; storageUrl: string; token: string };
  before(async () => {
    app = await sharedApp();
    service = await startService({ ...options, dataDir });
    const { baseUrl, storageUrl } = service;
    settings = { baseUrl, storageUrl, token: (await service.createToken('alice')).token };
    browser = await chromium.launch({ executablePath: findChromium() ?? '', args: chromiumArgs });
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  /** Opens a page. Returns the page and a growing list of its uncaught errors. */
  async function open(url: string): Promise<{ page: Page; errors: string[] }> {
    service.allowOrigin(new URL(url).origin);
    const page = await (await newContext(browser)).newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    return { page, errors };
  }

  /** Opens a page that loads the bundle from another origin. `instead` replaces files of the package. */
  async function openFromCdn(t: TestContext, instead: Readonly<Record<string, string>> = {}) {
    const cdn = await serve(join(app.packageFolder, 'dist/cdn'), instead);
    t.after(cdn.stop);
    const script = `<script type="module" src="${cdn.origin}/secure-uploader.min.js"></script>`;
    const site = await serve('/nowhere', {
      '/index.html': `<!doctype html><title>A page</title><body>${script}</body>`,
    });
    t.after(site.stop);
    return { cdn, ...(await open(`${site.origin}/index.html`)) };
  }

  /** Names of the files without their hashes. */
  const plain = (paths: readonly string[]): string[] =>
    paths.map((path) => path.replace(/-[\w-]{8}(?=\.js)/, '')).sort();
  /** Only on localhost, for developers. */
  const FOR_DEVELOPERS = ['/check-page.js', '/warn-of-settings.js'];
  const FIRST = ['/secure-uploader.min.js', '/settings.js', '/uploads.js', ...FOR_DEVELOPERS].sort();

  test('uploads with a script of another origin, which loads its parts from there, each once', async (t) => {
    const { cdn, page, errors } = await openFromCdn(t);
    const [worker, ended] = await Promise.all([
      page.waitForEvent('worker'),
      upload(page, vector.text, settings),
    ]);
    assert.deepEqual(ended, { type: 'upload-completed', reported: vector.hash });
    assert.match(worker.url(), /^blob:/);
    assert.equal(await worker.evaluate(() => typeof postMessage), 'function');
    assert.deepEqual(plain(cdn.asked), FIRST);
    assert.deepEqual(errors, []);
  });

  test('loads the worker for BLAKE3 from beside that file', async (t) => {
    const { cdn, page, errors } = await openFromCdn(t);
    const other = join(dataDir, 'blake3');
    const { baseUrl, storageUrl, createToken, allowOrigin, close } = await startService({
      ...options,
      dataDir: other,
      hash: 'blake3',
    });
    t.after(close);
    allowOrigin(new URL(page.url()).origin);
    const { token } = await createToken('alice');
    const ended = await upload(page, vector.text, { baseUrl, storageUrl, token }, 'blake3');
    assert.deepEqual(ended, { type: 'upload-completed', reported: vector.blake3 });
    assert.deepEqual(plain(cdn.asked), ['/hash-wasm.worker.js', ...FIRST].sort());
    assert.deepEqual(errors, []);
  });

  test('does not run another worker than the one it was built with', async (t) => {
    const folder = join(app.packageFolder, 'dist/cdn');
    const files = await readdir(folder);
    const instead: Record<string, string> = {};
    for (const file of files.filter((name) => /^hash.*worker.*\.js$/.test(name)))
      instead[`/${file}`] = `${await readFile(join(folder, file), 'utf8')}\nglobalThis.isSpoiled = true;`;
    assert.equal(Object.keys(instead).length, 3);
    const { page } = await openFromCdn(t, instead);
    // Without the worker for BLAKE3, the page hashes.
    for (const [hash, expected] of [
      ['blake3', vector.blake3],
      ['sha-256', vector.hash],
    ] as const) {
      const ended = await upload(page, vector.text, settings, hash);
      // The service of this test takes SHA-256 only.
      assert.equal(ended.type, hash === 'blake3' ? 'upload-failed' : 'upload-completed');
      if (hash === 'sha-256') assert.equal(ended.reported, expected);
    }
    // The default worker has its code from the part of the engine.
    for (const worker of page.workers()) {
      assert.match(worker.url(), /^blob:/);
      assert.equal(await worker.evaluate('globalThis.isSpoiled'), undefined);
    }
    assert.equal(await page.evaluate('globalThis.isSpoiled'), undefined);
  });

  const bundlers: readonly (readonly [string, (input: string, file: string) => Promise<unknown>])[] = [
    ['esbuild', (input, outfile) => bundle({ entryPoints: [input], outfile, bundle: true, format: 'esm' })],
    [
      'esbuild without modules, for old browsers',
      (input, outfile) =>
        bundle({
          entryPoints: [input],
          outfile,
          bundle: true,
          target: 'es2017',
          keepNames: true,
          minify: true,
        }),
    ],
    [
      'Rolldown',
      async (input, file) =>
        (await rolldown({ input })).write({ file, format: 'es', minify: true, codeSplitting: false }),
    ],
  ];

  /** Opens a page with the script that a bundler made. */
  async function openBundled(t: TestContext, bundler: (typeof bundlers)[number][1], workerSrc: string) {
    await app.write('main.js', "import 'secure-uploader/define';");
    await bundler(join(app.folder, 'main.js'), join(app.folder, 'out/main.js'));
    const policy = `script-src 'self'; worker-src ${workerSrc}; require-trusted-types-for 'script'; trusted-types secure-uploader lit-html`;
    const site = await serve(join(app.folder, 'out'), {
      '/index.html': `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">
        <title>A page</title><body><script type="module" src="/main.js"></script>`,
    });
    t.after(site.stop);
    const opened = await open(`${site.origin}/index.html`);
    const warnings: string[] = [];
    opened.page.on('console', (message) => {
      if (message.text().startsWith('secure-uploader:')) warnings.push(message.text());
    });
    return { site, warnings, ...opened };
  }

  for (const [name, bundler] of bundlers)
    test(`hashes in a worker without a setting in an app of ${name}, which copies no file`, async (t) => {
      const { site, page, errors, warnings } = await openBundled(t, bundler, "'self' blob:");
      const started: string[] = [];
      page.on('worker', (worker) => started.push(worker.url()));
      const ended = await upload(page, 'a'.repeat(12 * 2 ** 20), settings);
      assert.equal(ended.type, 'upload-completed');
      assert.ok(
        started.some((url) => url.startsWith('blob:')),
        started.join(),
      );
      assert.ok(site.asked.filter((path) => path.includes('worker')).length <= 2, site.asked.join());
      assert.deepEqual([errors, warnings], [[], []]);
    });

  test('hashes on the page, with one warning, if the policy of that page does not allow the worker', async (t) => {
    const [, bundler] = bundlers[0] ?? assert.fail();
    const { page, errors, warnings } = await openBundled(t, bundler, "'self'");
    const ended = await upload(page, 'a'.repeat(12 * 2 ** 20), settings);
    assert.equal(ended.type, 'upload-completed');
    assert.equal(warnings.length, 1, warnings.join());
    assert.match(warnings[0] ?? '', /secure-uploader\/hash\.worker\.js .*worker-url/);
    assert.equal(page.workers().length, 0);
    assert.deepEqual(errors, []);
  });

  /** Builds an app with Vite, with a callback page of its own, and serves it. `script` is the script of its page. */
  async function serveBuilt(t: TestContext, script: string) {
    const pageOf = (name: string): string =>
      `<!doctype html><title>An app</title><script type="module" src="/${name}.js"></script>`;
    await app.write('index.html', pageOf('app'));
    await app.write('app.js', script);
    await app.write('secure-uploader-callback.html', pageOf('callback'));
    await app.write('callback.js', "import 'secure-uploader/callback';");
    const pages = ['index.html', 'secure-uploader-callback.html'];
    await build({
      root: app.folder,
      configFile: false,
      logLevel: 'error',
      build: {
        outDir: 'built',
        target: 'es2022',
        rollupOptions: { input: pages.map((name) => join(app.folder, name)) },
      },
    });
    const site = await serve(join(app.folder, 'built'));
    t.after(site.stop);
    return site;
  }

  test('signs in by window with a callback page that is part of the app', async (t) => {
    const site = await serveBuilt(t, "import 'secure-uploader/define';");
    const { page, errors } = await open(`${site.origin}/index.html`);
    await page.evaluate((baseUrl) => {
      const element = document.createElement('secure-uploader');
      Object.assign(element, { baseUrl, parentId: 'folder-a', auth: 'popup', silent: 'off' });
      document.body.append(element);
      const file = new File(['abc'], 'hello.txt');
      const done = new Promise((resolve) => element.addEventListener('upload-completed', resolve));
      Object.assign(globalThis, { done });
      return element.addFiles([file]).then(() => undefined);
    }, settings.baseUrl);
    const [window] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Sign in', exact: true }).click(),
    ]);
    const closed = window.waitForEvent('close');
    await window.getByLabel('Email address').fill('alice@example.com');
    await window.getByLabel('Password', { exact: true }).fill(service.seed.password);
    await window.getByRole('button', { name: 'Sign in', exact: true }).click();
    await Promise.all([closed, page.evaluate('done')]);
    assert.ok(site.asked.includes('/secure-uploader-callback.html'));
    assert.deepEqual(errors, []);
  });

  test('asks once for the texts of a language that cannot be loaded, and stays English', async (t) => {
    const site = await serveBuilt(t, "import 'secure-uploader/define';\nimport 'secure-uploader/locales';");
    const { page, errors } = await open(`${site.origin}/index.html`);
    const warnings: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('"de"')) warnings.push(message.text());
    });
    await page.route(/\/de-[^/]+\.js$/, (route) => route.abort());
    const show = (lang: string): Promise<void> =>
      page.evaluate((lang) => {
        const element = document.createElement('secure-uploader');
        Object.assign(element, { lang, baseUrl: 'https://files.example', parentId: 'a', auth: 'none' });
        document.body.append(element);
      }, lang);
    const warned = page.waitForEvent('console', (message) => message.text().includes('"de"'));
    await show('de');
    await warned;
    for (const lang of ['de', 'fr']) await show(lang);
    await page.getByRole('button', { name: 'Choisir un fichier' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Choose a file' }).count(), 2);
    assert.equal(warnings.length, 1, warnings.join());
    assert.deepEqual(errors, []);
  });

  test('works in an app that Vite built from the package, worker included', async (t) => {
    const site = await serveBuilt(
      t,
      `import * as names from 'secure-uploader';
globalThis.isDefinedEarly = customElements.get(names.SecureUploader ? 'secure-uploader' : 'none') !== undefined;
await import('secure-uploader/define');`,
    );
    const { page, errors } = await open(`${site.origin}/index.html`);
    await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined);
    const isDefinedEarly = await page.evaluate(
      () => (globalThis as { isDefinedEarly?: boolean }).isDefinedEarly,
    );
    assert.equal(isDefinedEarly, false, 'importing the names alone defined the element');
    const [worker, ended] = await Promise.all([
      page.waitForEvent('worker'),
      upload(page, vector.text, settings),
    ]);
    assert.deepEqual(ended, { type: 'upload-completed', reported: vector.hash });
    // Vite writes small assets into the script as `data:` URLs, which policies block.
    assert.match(worker.url(), /\/assets\/hash\.worker-[^/]+\.js$/);
    const isWorkerSource = (path: string): boolean => /worker-source|wasm/.test(path);
    assert.deepEqual(site.asked.filter(isWorkerSource), [], 'a page with the file loaded its text too');
    assert.deepEqual(errors, []);
    const isLogin = (path: string): boolean => path.includes('secure-uploader-login');
    assert.deepEqual(site.asked.filter(isLogin), [], 'a page that gives tokens loaded the sign-in form');
    await page.evaluate((baseUrl) => {
      const element = document.createElement('secure-uploader');
      Object.assign(element, { baseUrl, auth: 'local', silent: 'off' });
      document.body.append(element);
      return element.signIn();
    }, settings.baseUrl);
    await page.getByLabel('Email address').waitFor();
    assert.equal(site.asked.filter(isLogin).length, 1, 'the form was loaded once it was needed');
  });
});
