// A browser uploads 1 GiB to Ceph RGW, through nginx and two processes, while the gateway and one process are killed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startBrowser, until } from '../e2e/support/browser.ts';
import { writeRandom } from '../e2e/support/files.ts';
import { type Pages, startPages } from '../e2e/support/pages.ts';
import { hasStored, pick } from '../e2e/support/transfer.ts';
import { SETTINGS } from '../support/service-s3.ts';
import { type RunningDatabase, startDatabase } from './support/database.ts';
import { type RunningProxy, startNginx } from './support/nginx.ts';
import { freePort } from './support/ports.ts';
import {
  exampleFolder,
  type Folder,
  type RunningProcess,
  runScript,
  startProcess,
} from './support/processes.ts';
import { type RunningStore, startStore } from './support/store.ts';

const MIB = 2 ** 20;

describe('1 GiB to Ceph RGW from a browser', () => {
  let store: RunningStore;
  let database: RunningDatabase;
  let folder: Folder;
  let pages: Pages;
  let proxy: RunningProxy;
  let context: Awaited<ReturnType<typeof startBrowser>>;
  let processes: RunningProcess[] = [];
  const scratch = mkdtempSync(join(tmpdir(), 'gigabyte-'));

  before(async () => {
    [store, database, pages] = await Promise.all([startStore(), startDatabase(), startPages()]);
    folder = exampleFolder();
    const settings = {
      ...SETTINGS,
      ...store.settings,
      DATABASE_URL: database.url,
      PAGE_ORIGIN: pages.origin,
    };
    await runScript(folder, 'bucket.ts', settings);
    processes = await Promise.all([startProcess(folder, settings), startProcess(folder, settings)]);
    proxy = await startNginx(
      await freePort(),
      processes.map(({ baseUrl }) => baseUrl),
    );
    pages.allow(proxy.baseUrl, store.settings.S3_ENDPOINT ?? '');
    context = await startBrowser(join(scratch, 'profile'));
  });
  after(async () => {
    await context.close();
    await proxy.stop();
    for (const each of processes) await each.kill('SIGTERM');
    await Promise.all([store.stop(), database.stop(), pages.close()]);
    for (const path of [folder.path, scratch]) rmSync(path, { recursive: true, force: true });
  });

  test('arrives byte for byte, and the service sees none of its bytes', async (t) => {
    const element = `<secure-uploader base-url="${proxy.baseUrl}" parent-id="folder-a" auth="token"
      commit-path="/files/uploadsession/commit" cancel-path="/files/uploadsession"></secure-uploader>`;
    const page = await context.newPage();
    page.setDefaultTimeout(600_000);
    await page.addInitScript('globalThis.__name = (fn) => fn;');
    await page.goto(pages.add('/index.html', element));
    await page.evaluate(() => {
      const profile = { sendSizes: true, minChunkSize: 5 * 2 ** 20 };
      const getToken = (): string => 'user-gigabyte';
      Object.assign(document.querySelector('secure-uploader') as HTMLElement, { profile, getToken });
    });
    const path = join(scratch, 'gigabyte.bin');
    const hash = writeRandom(path, 1024 * MIB);
    await pick(page, path);
    await hasStored(page, 200 * MIB);
    await store.kill();
    await processes[0]?.kill('SIGKILL');
    await page.waitForFunction(
      () => document.querySelector('secure-uploader')?.snapshot.files.some(({ retryAt }) => retryAt),
      null,
      { polling: 100 },
    );
    await store.resume();
    await hasStored(page, 700 * MIB);
    await store.kill();
    await store.resume();
    const [completed] = await until(page, 'upload-completed');
    const fileId = completed?.detail.commit.file_id;
    assert.equal(await store.hashOf(`files/u-user-gigabyte/${fileId}`), hash);
    const receivedBytes = proxy.receivedBytes();
    t.diagnostic(`the service received ${receivedBytes} bytes`);
    assert.ok(receivedBytes < MIB);
    while (folder.reports().length === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(new Set(folder.reports().map(({ id }) => id)), new Set([fileId]));
  });
});
