// A browser uploads 1 GiB to Ceph RGW, through nginx and two processes, while the gateway and one process are killed.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startBrowser, untilEvent } from '../e2e/support/browser.ts';
import { writeRandom } from '../e2e/support/files.ts';
import { type Pages, startPages } from '../e2e/support/pages.ts';
import { hasStored, pick } from '../e2e/support/transfer.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type RunningProxy, startNginx } from './support/nginx.ts';
import { type Stack, startStack } from './support/stack.ts';

const MIB = 2 ** 20;

describe('1 GiB to Ceph RGW from a browser', () => {
  let stack: Stack;
  let pages: Pages;
  let proxy: RunningProxy;
  let context: Awaited<ReturnType<typeof startBrowser>>;
  const scratch = temporaryFolder();

  before(async () => {
    pages = await startPages();
    stack = await startStack({ PAGE_ORIGIN: pages.origin });
    proxy = await startNginx(stack.processes);
    pages.allow(proxy.baseUrl, stack.store.settings.S3_ENDPOINT ?? '');
    context = await startBrowser(join(scratch, 'profile'));
  });
  after(async () => {
    await context.close();
    await proxy.stop();
    await Promise.all([stack.stop(), pages.close()]);
  });

  test('arrives byte for byte, and the service sees none of its bytes', async (t) => {
    const { store, processes } = stack;
    const element = `<secure-uploader base-url="${proxy.baseUrl}" parent-id="folder-a" auth="token"
      commit-path="/files/uploadsession/commit" cancel-path="/files/uploadsession"></secure-uploader>`;
    const page = await context.newPage();
    page.setDefaultTimeout(600_000);
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
    await processes[0]?.stop('SIGKILL');
    await page.waitForFunction(
      () => document.querySelector('secure-uploader')?.snapshot.files.some(({ retryAtMs }) => retryAtMs),
      null,
      { polling: 100 },
    );
    await store.resume();
    await hasStored(page, 700 * MIB);
    await store.kill();
    await store.resume();
    const [completed] = await untilEvent(page, 'upload-completed');
    const fileId = completed?.detail.commit.file_id;
    assert.equal(await store.hashOf(await store.keyOfFile('user-gigabyte', fileId)), hash);
    const receivedBytes = proxy.receivedBytes();
    t.diagnostic(`the service received ${receivedBytes} bytes`);
    assert.ok(receivedBytes < MIB);
    const ids = (await stack.reports(1)).map(({ id }) => id);
    assert.deepEqual(new Set(ids), new Set([fileId]));
  });
});
