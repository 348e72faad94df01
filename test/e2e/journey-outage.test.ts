// A journey, because it needs a clock of the browser that stands still.
// An outage of ten minutes, with the default policy: the upload waits, shows when it tries again, and completes by itself. The test
// controls the clock of the page; all requests are real.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import type { Page } from 'playwright';
import { eventsOf } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { assertStored, filesOf, hasStored, pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const COUNT = 12;
let sha256: string;

const world = await createWorld({ fsync: true });
const path = join(world.folder, 'report.bin');
await world.context.clock.install();
beforeEach(() => {
  sha256 = writeRandom(path, COUNT * CHUNK_BYTES);
});

const nowOf = (page: Page): Promise<number> => page.evaluate(() => Date.now());

/** Uploads a part of the file, and cuts every connection from then on. */
async function beginOutage(attributes = ''): Promise<Page> {
  world.service.faults.add({
    operation: 'put',
    cut: 'before-body',
    skip: 3,
    times: Number.POSITIVE_INFINITY,
  });
  const page = await world.openWithToken(`chunk-size="${CHUNK_BYTES}" ${attributes}`);
  await pick(page, path);
  await hasStored(page, 3 * CHUNK_BYTES);
  world.service.faults.add({ operation: '*', cut: 'before-body', times: Number.POSITIVE_INFINITY });
  return page;
}

/** Lets the time pass that the page waits before its next attempt. */
async function passWait(page: Page): Promise<void> {
  const [file] = await filesOf(page);
  const waitMs = (file?.retryAtMs ?? 0) - (await nowOf(page));
  if (waitMs > 0) await page.clock.runFor(waitMs + 1);
}

test('an outage of ten minutes delays an upload, which then completes without the user', async () => {
  const page = await beginOutage();
  for (let minute = 1; minute <= 10; minute += 1) {
    await page.clock.runFor(60_000);
    const [file] = await filesOf(page);
    assert.equal(file?.phase, 'uploading');
    assert.ok((file?.retryAtMs ?? 0) - (await nowOf(page)) <= 10_000, 'at most 10 s between two attempts');
  }
  await page
    .locator('secure-uploader')
    .getByText(/^Retrying/)
    .waitFor();
  world.service.faults.clear();
  world.service.log.length = 0;
  while (!(await eventsOf(page, 'upload-completed')).length) await passWait(page);
  const [completed] = await eventsOf(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  assert.deepEqual(await eventsOf(page, 'upload-failed'), []);
  assert.equal(world.entries('session').length, 0, 'the upload session is the same');
  await page.close();
});

test('retry-minutes limits how long an upload waits', async () => {
  const page = await beginOutage('retry-minutes="2"');
  const startMs = await nowOf(page);
  while (!(await eventsOf(page, 'upload-failed')).length) await passWait(page);
  assert.ok((await nowOf(page)) - startMs >= 60_000, 'the upload waits first');
  const [failed] = await eventsOf(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'network');
  world.service.faults.clear();
  await page.getByRole('button', { name: /retry.*report\.bin/i }).click();
  while (!(await eventsOf(page, 'upload-completed')).length) await passWait(page);
  await page.close();
});
