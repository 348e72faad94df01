// Builds each project of demo/examples with the packed package, and uploads a file with each in Chromium. Prints a table at the
// end. `EXAMPLES` has the names of the projects to test, separated by commas; all by default.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { linkSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright';
import { codeOf, type Kind } from '../../demo/code.ts';
import { type Service, startService } from '../../demo/server/server.ts';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { newContext } from '../e2e/support/browser.ts';
import { sumOf, writeRandom } from '../e2e/support/files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyExample, exampleNames, type Running, runTool } from './example.ts';
import { type PackedApp, sharedApp } from './packed.ts';
import { type Site, serve } from './serve.ts';
import { attributesOf } from './site-code.ts';

interface Project {
  /** The folder of the built page, or the script that starts the server of the built page. */
  readonly built: { readonly folder: string } | { readonly script: string };
  /** True if the server for development is tested too. */
  readonly hasDev?: boolean;
  /** True if the bundler copies no workers. The worker is then started from a Blob, after a 404 for its file. */
  readonly copiesNoWorker?: boolean;
  /** True for a page without a package manager and a bundler. */
  readonly isNotBuilt?: boolean;
}

const PROJECTS: Readonly<Record<string, Project>> = {
  next: { built: { script: 'start' }, hasDev: true },
  angular: { built: { folder: 'dist' }, hasDev: true, copiesNoWorker: true },
  sveltekit: { built: { script: 'start' }, hasDev: true },
  astro: { built: { folder: 'dist' }, hasDev: true },
  parcel: { built: { folder: 'dist' }, hasDev: true },
  webpack: { built: { folder: 'dist' }, hasDev: true },
  react: { built: { folder: 'dist' }, hasDev: true },
  vue: { built: { folder: 'dist' }, hasDev: true },
  svelte: { built: { folder: 'dist' }, hasDev: true },
  vite: { built: { folder: 'dist' }, hasDev: true },
  vite7: { built: { folder: 'dist' }, hasDev: true },
  rollup: { built: { folder: '.' }, copiesNoWorker: true },
  esbuild: { built: { folder: '.' }, copiesNoWorker: true },
  plain: { built: { folder: '.' }, isNotBuilt: true },
};

const ATTW = '@arethetypeswrong/cli@0.18.5';
const SIZE_BYTES = 30e6;
const WORKER_NAME = 'secure-uploader-hash';

interface Watched {
  /** Number of bytes that the page hashed without a worker. */
  hashedBytes: number;
  /** Resolves with the error code of the first upload that fails. */
  failure: Promise<string>;
}

/** Runs in the page before its scripts. */
const WATCH = `
globalThis.hashedBytes = 0;
const { digest } = SubtleCrypto.prototype;
SubtleCrypto.prototype.digest = function (algorithm, data) {
  hashedBytes += data.byteLength;
  return digest.call(this, algorithm, data);
};
globalThis.failure = new Promise((resolve) => {
  for (const name of ['upload-failed', 'file-rejected', 'auth-failed'])
    document.addEventListener(name, ({ detail }) => resolve(name + ' ' + detail.code));
});`;

const failureOf = (page: Page): Promise<string> =>
  page.evaluate(() => (globalThis as unknown as Watched).failure);

const wanted = process.env.EXAMPLES?.split(',').filter(Boolean) ?? [];
const names = wanted.length ? wanted : Object.keys(PROJECTS);

/** The file of the project that the site's code to copy replaces, and the kind of this code. */
const COPIES: Readonly<Record<string, readonly [file: string, kind: Kind]>> = {
  react: ['src/Files.tsx', 'React'],
  vue: ['src/App.vue', 'Vue'],
  svelte: ['src/App.svelte', 'Svelte'],
};

const STEPS = ['build', 'upload', 'worker', 'dev', 'copy'] as const;
type Step = (typeof STEPS)[number];
type Row = { readonly project: string; seconds: string } & Record<Step, string>;

const rows: Row[] = [];

function tableOf(lines: readonly Row[]): string {
  const columns = ['project', ...STEPS, 'seconds'] as const;
  const heads = Object.fromEntries(columns.map((column) => [column, column])) as unknown as Row;
  const lineOf = (row: Row): string => columns.map((column) => row[column].padEnd(10)).join(' ');
  return ['', ...[heads, ...lines].map(lineOf), ''].join('\n');
}

test('each example is tested, and has a row in docs/frameworks.md', async () => {
  const examples = (await exampleNames()).sort();
  assert.deepEqual(Object.keys(PROJECTS).sort(), examples);
  const table = await readFile(new URL('../../docs/frameworks.md', import.meta.url), 'utf8');
  const listed = [...table.matchAll(/^\|.* works .*\]\(\.\.\/demo\/examples\/(\w+)\) \|$/gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(listed.sort(), examples);
  assert.deepEqual(
    names.filter((name) => !(name in PROJECTS)),
    [],
    'there is no such example',
  );
});

describe('The example projects', { concurrency: 2 }, () => {
  let app: PackedApp;
  let cdn: Site;
  let integrity: string;
  let browser: Browser;
  let service: Service;
  const scratch = temporaryFolder();
  let sample: string;
  let sha256: string;
  before(async () => {
    app = await sharedApp();
    const cdnFolder = join(app.packageFolder, 'dist/cdn');
    const script = await readFile(join(cdnFolder, 'secure-uploader.min.js'));
    integrity = `sha384-${createHash('sha384').update(script).digest('base64')}`;
    cdn = await serve(cdnFolder);
    service = await startService({
      dataDir: join(scratch, 'data'),
      appOrigins: [],
      test: true,
      fsync: false,
    });
    browser = await chromium.launch({ executablePath: findChromium() ?? '', args: chromiumArgs });
    sample = join(scratch, 'sample.bin');
    sha256 = writeRandom(sample, SIZE_BYTES);
  });
  after(async () => {
    await browser?.close();
    await service?.close();
    cdn?.stop();
    console.log(tableOf(rows));
  });

  /** Opens a page that counts the bytes that it hashes. Returns the page, with the errors and the names of the workers so far. */
  async function open(t: TestContext, { origin }: Running, { copiesNoWorker }: Project) {
    service.allowOrigin(origin);
    const context = await newContext(browser);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.addInitScript(WATCH);
    const errors: string[] = [];
    const workers: Promise<string>[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      const { url } = message.location();
      const isExpected = url.endsWith('/favicon.ico') || (copiesNoWorker && /\/hash\.worker\.js$/.test(url));
      const isError = message.type() === 'error' || message.text().startsWith('secure-uploader:');
      if (isError && !isExpected) errors.push(`${message.text()} ${url}`);
    });
    page.on('worker', (worker) => {
      // Policies block workers from `data:` URLs.
      const name = worker.evaluate(() => `${location.protocol === 'data:' ? 'data: ' : ''}${self.name}`);
      workers.push(name.catch(() => 'a worker that did not start'));
    });
    await page.goto(origin);
    return { page, errors, workers };
  }

  /**
   * Uploads the sample as `fileName`. Asserts that the service received it byte for byte, that the console has no errors, and that
   * a worker hashed it.
   */
  async function upload(
    t: TestContext,
    site: Running,
    project: Project,
    fileName: string,
    onPassed: (step: Step) => void = () => undefined,
  ): Promise<void> {
    const { page, errors, workers } = await open(t, site, project);
    const path = join(scratch, fileName);
    linkSync(sample, path);
    await page.setInputFiles('secure-uploader >> input[type=file]', path);
    const status = await Promise.race([
      page.getByRole('status').filter({ hasText: fileName }).textContent(),
      failureOf(page),
    ]);
    assert.equal(status, `Uploaded ${fileName}`, errors.join('\n'));
    const file = (await service.listFiles('folder-a')).find(({ name }) => name === fileName);
    assert.deepEqual(await sumOf(service.readFile(file?.id ?? '')), { sha256, sizeBytes: SIZE_BYTES });
    onPassed('upload');
    const names = await Promise.all(workers);
    assert.ok(names.includes(WORKER_NAME), `no hash worker ran: ${names.join()}`);
    const hashedBytes = await page.evaluate(() => (globalThis as unknown as Watched).hashedBytes);
    assert.ok(hashedBytes < SIZE_BYTES / 2, `the page hashed ${hashedBytes} bytes`);
    onPassed('worker');
    assert.deepEqual(errors, []);
  }

  async function testProject(t: TestContext, name: string, onPassed: (step: Step) => void): Promise<void> {
    const project = PROJECTS[name] ?? assert.fail(`there is no example ${name}`);
    const folder = join(scratch, 'projects', name);
    const example = await copyExample(name, folder, {
      'file:../../../secure-uploader-0.1.0.tgz': `file:${app.archive}`,
      'http://localhost:8787': service.baseUrl,
      'http://localhost:8788': service.storageUrl,
      'https://cdn.example.net': cdn.origin,
      'sha384-…': integrity,
    });
    // All projects together would need much space.
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const { built, hasDev, isNotBuilt } = project;
    if (isNotBuilt) {
      // Browsers ignore an `integrity` that is not a hash.
      assert.ok((await readFile(join(folder, 'index.html'), 'utf8')).includes(integrity));
    } else {
      await example.install();
      await example.run('build');
      onPassed('build');
    }
    const site =
      'folder' in built ? await serve(join(folder, built.folder)) : await example.start(built.script);
    t.after(() => site.stop());
    await upload(t, site, project, `${name}.bin`, onPassed);
    if (!hasDev) return;
    const dev = await example.start('dev');
    t.after(() => dev.stop());
    await upload(t, dev, project, `${name}-dev.bin`);
    onPassed('dev');
    const [file, kind] = COPIES[name] ?? [];
    if (!file || !kind) return;
    await writeFile(join(folder, file), codeOf(kind, attributesOf(service), true));
    await example.run('build');
    const { page, errors } = await open(t, site, project);
    const path = join(scratch, `${name}-copy.bin`);
    linkSync(sample, path);
    const isLogged = page.waitForEvent('console', (message) => message.text().startsWith(`${name}-copy.bin`));
    await page.setInputFiles('secure-uploader >> input[type=file]', path);
    await isLogged;
    assert.deepEqual(errors, []);
    onPassed('copy');
  }

  if (wanted.length === 0)
    test('every module has types, as all versions of TypeScript resolve modules', async () => {
      const excluded = Object.entries(app.manifest.exports)
        .filter(([, target]) => target === null || typeof target === 'string')
        .map(([name]) => name.slice(2));
      // The package has no CommonJS modules.
      const options = ['--ignore-rules', 'cjs-resolves-to-esm', '--exclude-entrypoints', ...excluded];
      await runTool(scratch, ATTW, 'attw', app.archive, ...options);
    });

  for (const name of names)
    test(name, async (t) => {
      const row: Row = {
        project: name,
        build: '–',
        upload: '–',
        worker: '–',
        dev: '–',
        copy: '–',
        seconds: '',
      };
      rows.push(row);
      const startedMs = performance.now();
      try {
        await testProject(t, name, (step) => {
          row[step] = 'ok';
        });
      } catch (error) {
        const failed = STEPS.find((step) => row[step] === '–');
        if (failed) row[failed] = 'FAIL';
        throw error;
      } finally {
        row.seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
      }
    });
});
