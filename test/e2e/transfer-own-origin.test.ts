// A journey, because it needs cookies and headers behind a proxy.
// Upload URLs on the page's own origin, where browsers usually add the user's cookies: refused unless the page names its origin,
// and then requested without cookies.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { assertStored, pick, QUICK } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

/** Short delays, and enough attempts for the connections that the last test breaks. */
const QUICK_MANY = `data-engine-options='{"policy":{"attempts":9,"baseMs":10,"capMs":40}}'`;

const world = await createWorld(({ origin }) => ({ publicUrls: { storage: origin } }));
world.pages.forward(world.service.storagePort);

const setCookie = (page: Page): Promise<unknown> =>
  page.evaluate(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: a real cookie of the page
    document.cookie = 'session=of-the-user; path=/';
  });

test('a page that does not name its origin sends nothing there', async () => {
  const page = await world.openWithToken();
  const path = join(world.folder, 'refused.bin');
  writeRandom(path, 1000);
  await pick(page, path);
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'bad-config');
  assert.deepEqual(world.entries('put'), []);
  await page.close();
});

test('a page that names its origin sends the bytes there, without cookies and referrer', async () => {
  const page = await world.openWithToken(`chunk-size="1MiB" upload-origins="${world.pages.origin}" ${QUICK}`);
  await setCookie(page);
  const path = join(world.folder, 'own.bin');
  const sha256 = writeRandom(path, 2.5 * 2 ** 20);
  world.service.faults.add({ operation: 'put', status: 503, headers: { 'retry-after': '0' } });
  await pick(page, path);
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  const entries = world.entries('put');
  assert.equal(entries.filter(({ stored }) => stored).length, 3);
  assert.equal(entries.length, 4, 'the chunk that was refused is sent again');
  for (const { hasCookie, hasBearer, headers } of entries) {
    assert.deepEqual([hasCookie, hasBearer], [false, false]);
    assert.ok(
      !headers?.some((name) => ['referer', 'x-service-uploadsession'].includes(name)),
      String(headers),
    );
  }
  assert.deepEqual(world.pages.violations, []);
  await page.close();
});

test('a redirect there counts as failed, and the other URL gets no byte', async () => {
  const page = await world.openWithToken(`upload-origins="${world.pages.origin}" ${QUICK}`);
  const path = join(world.folder, 'redirected.bin');
  const sha256 = writeRandom(path, 1000);
  world.service.faults.clearLog();
  const redirect = `${world.service.storageUrl}/elsewhere`;
  world.service.faults.add({ operation: 'put', redirect });
  await pick(page, path);
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  const seen = world.entries('put').map(({ status, stored }) => [status, stored]);
  assert.deepEqual(seen, [
    [307, undefined],
    [200, true],
  ]);
  assert.deepEqual(
    world.service.log.filter(({ path }) => path.includes('elsewhere')),
    [],
  );
  await page.close();
});

test('a POST there has no cookies and no referrer either', async () => {
  const page = await world.openWithToken(`upload-origins="${world.pages.origin}" ${QUICK}`);
  await setCookie(page);
  const path = join(world.folder, 'posted.bin');
  writeRandom(path, 1000);
  await page.route('**/files/uploadsession/chunks', async (route) => {
    const response = await route.fetch();
    const { chunks } = await response.json();
    for (const ticket of Object.values<object>(chunks)) Object.assign(ticket, { method: 'POST' });
    await route.fulfill({ response, json: { chunks } });
  });
  world.service.faults.clearLog();
  await pick(page, path);
  // The storage of the reference service takes only PUT.
  await untilEvent(page, 'upload-failed');
  const posts = world.service.log.filter(({ server, method }) => server === 'storage' && method === 'POST');
  assert.ok(posts.length > 0);
  for (const { hasCookie, hasBearer, referer } of posts)
    assert.deepEqual([hasCookie, hasBearer, referer], [false, false, undefined]);
  await page.close();
});

test('a connection there that breaks again and again is no reason to blame CORS', async () => {
  const page = await world.openWithToken(
    `chunk-size="1MiB" upload-origins="${world.pages.origin}" ${QUICK_MANY}`,
  );
  const path = join(world.folder, 'cut.bin');
  const sha256 = writeRandom(path, 2 ** 20 + 1);
  world.service.faults.add({ operation: 'put', cut: 'mid-body', times: 4 });
  await pick(page, path);
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  await page.close();
});
