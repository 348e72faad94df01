// The example service for S3 with a real store (Ceph RGW): uploads from a browser, and what the store refuses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright';
import { startBrowser, until } from '../e2e/support/browser.ts';
import { writeRandom } from '../e2e/support/files.ts';
import { type Pages, startPages } from '../e2e/support/pages.ts';
import { hasStored, pick } from '../e2e/support/transfer.ts';
import { failuresOf, runConform } from '../support/conform.ts';
import { type RunningExample, runInExample, SETTINGS, startExample, TOKEN } from '../support/service-s3.ts';
import { startDatabase } from './support/database.ts';
import { type RunningStore, startStore } from './support/store.ts';

const MIB = 2 ** 20;

for (const sessions of ['memory', 'PostgreSQL'])
  describe(`The example for S3, with Ceph RGW and sessions in ${sessions}`, () => {
    let store: RunningStore;
    let example: RunningExample;
    let pages: Pages;
    let folder: string;
    let context: Awaited<ReturnType<typeof startBrowser>>;
    let settings: Record<string, string>;
    const ends: (() => Promise<unknown>)[] = [];

    before(async () => {
      store = await startStore();
      ends.push(store.stop);
      pages = await startPages();
      ends.push(pages.close);
      settings = { ...SETTINGS, ...store.settings, PAGE_ORIGIN: pages.origin };
      if (sessions === 'PostgreSQL') {
        const database = await startDatabase();
        ends.push(database.stop);
        settings.DATABASE_URL = database.url;
      }
      await print(['bucket.ts']);
      example = await startExample('hono', settings);
      ends.push(example.stop);
      pages.allow(example.baseUrl, store.settings.S3_ENDPOINT ?? '');
      folder = await mkdtemp(join(tmpdir(), 'secure-uploader-s3-'));
      ends.push(() => rm(folder, { recursive: true, force: true }));
      context = await startBrowser(join(folder, 'profile'));
      ends.push(() => context.close());
    });
    after(async () => {
      for (const end of ends.reverse()) await end();
    });

    /** Runs a script of the example. Resolves with its output. */
    async function print(args: readonly string[]): Promise<string> {
      const child = runInExample(args, settings);
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text));
      const [status] = await once(child, 'close');
      assert.equal(status, 0, said);
      return said;
    }

    async function openPage(): Promise<Page> {
      const element = `<secure-uploader base-url="${example.baseUrl}" parent-id="folder-a" auth="token"
      commit-path="/files/uploadsession/commit" cancel-path="/files/uploadsession" multiple></secure-uploader>`;
      const page = await context.newPage();
      await page.addInitScript('globalThis.__name = (fn) => fn;');
      await page.goto(pages.add('/index.html', element));
      await prepare(page);
      return page;
    }

    const prepare = (page: Page): Promise<void> =>
      page.evaluate((token) => {
        const profile = { sendSizes: true, minChunkSize: 5 * 2 ** 20 };
        const getToken = (): string => token;
        Object.assign(document.querySelector('secure-uploader') as HTMLElement, { profile, getToken });
      }, TOKEN);

    const hashOfFile = (fileId: string): Promise<string> => store.hashOf(`files/u-demo-user/${fileId}`);

    test('uploads files of no, one and several chunks from a browser, and stores their bytes', async () => {
      const page = await openPage();
      const sizes = { 'empty.bin': 0, 'one.bin': 3 * MIB, 'several.bin': 45 * MIB + 17 };
      const hashes = new Map<string, string>();
      for (const [name, sizeBytes] of Object.entries(sizes))
        hashes.set(name, writeRandom(join(folder, name), sizeBytes));
      await pick(page, ...[...hashes.keys()].map((name) => join(folder, name)));
      for (const { detail } of await until(page, 'upload-completed', hashes.size))
        assert.equal(await hashOfFile(detail.commit.file_id), hashes.get(detail.name), detail.name);
      await page.close();
    });

    test('continues an upload after the store was away', async () => {
      const page = await openPage();
      const hash = writeRandom(join(folder, 'outage.bin'), 200 * MIB);
      await pick(page, join(folder, 'outage.bin'));
      await hasStored(page, 20 * MIB);
      await store.interrupt();
      await page.waitForFunction(
        () => document.querySelector('secure-uploader')?.snapshot.files.some(({ retryAt }) => retryAt),
        null,
        { polling: 100 },
      );
      await store.resume();
      const [completed] = await until(page, 'upload-completed');
      assert.equal(await hashOfFile(completed?.detail.commit.file_id), hash);
      await page.close();
    });

    test('continues after a reload, and sends no stored chunk again', async () => {
      const page = await openPage();
      const stored: string[] = [];
      page.on('response', (response) => {
        if (response.request().method() === 'PUT' && response.ok())
          stored.push(new URL(response.url()).pathname);
      });
      const path = join(folder, 'reload.bin');
      const hash = writeRandom(path, 120 * MIB);
      await pick(page, path);
      await hasStored(page, 30 * MIB);
      await page.reload();
      await prepare(page);
      await pick(page, path);
      const [completed] = await until(page, 'upload-completed');
      assert.equal(await hashOfFile(completed?.detail.commit.file_id), hash);
      assert.ok(stored.length > 3);
      assert.equal(new Set(stored).size, stored.length);
      await page.close();
    });

    test('passes the checks of conform, which finds its settings', async () => {
      const paths = { 'commit-path': '/files/uploadsession/commit', 'cancel-path': '/files/uploadsession' };
      const options = {
        'base-url': example.baseUrl,
        'parent-id': 'folder-a',
        token: TOKEN,
        origin: pages.origin,
      };
      const report = await runConform({ ...options, ...paths });
      assert.deepEqual(failuresOf(report), []);
      assert.ok(report.passed > 125, `${report.passed} passed`);
      assert.equal(report.profile, '{\n  sendSizes: true,\n  minChunkSize: 5242880,\n}');
    });
  });
