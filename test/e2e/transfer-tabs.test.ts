// A journey, because it needs several tabs, of which one crashes.
// Five tabs upload the same file to the same folder: one tab sends the file, and all tabs show the progress. If the sending tab
// closes or crashes, another tab continues.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { eventsOf, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { assertStored, bytesOf, filesOf, hasStored, pick, puts, QUICK } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const CHUNK_COUNT = 60;
const FILE_BYTES = CHUNK_COUNT * CHUNK_BYTES;
const CONCURRENCY = 2;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" concurrency="${CONCURRENCY}" ${QUICK}`;

const world = await createWorld();

/** Returns the tabs whose file is not paused for another tab. */
async function leadersOf(tabs: readonly Page[]): Promise<Page[]> {
  const leaders: Page[] = [];
  for (const tab of tabs) {
    const [file] = await filesOf(tab);
    if (file && !(file.phase === 'paused' && file.pauseReason === 'other-tab')) leaders.push(tab);
  }
  return leaders;
}

/** Resolves when every tab shows at least `bytes` stored bytes. Asserts that no tab shows more bytes than the service has. */
async function allShow(tabs: readonly Page[], bytes: number): Promise<void> {
  await Promise.all(tabs.map((tab) => hasStored(tab, bytes)));
  for (const tab of tabs) {
    const [file] = await filesOf(tab);
    const storedBytes = bytesOf(world.entries('put').filter(({ stored }) => stored));
    assert.ok(file && file.storedBytes <= storedBytes, `a tab shows ${file?.storedBytes} of ${storedBytes}`);
  }
}

/** Asserts that the progress that a tab reported never decreased. */
async function neverWentBack(tab: Page): Promise<void> {
  let shown = 0;
  for (const { detail } of await eventsOf(tab, 'upload-progress')) {
    assert.ok(detail.sentBytes >= shown, `a tab went back from ${shown} to ${detail.sentBytes}`);
    shown = detail.sentBytes;
  }
}

test('five tabs upload a file once, show correct progress, and continue when the one that sends is closed or crashes', async () => {
  const path = join(world.folder, 'five tabs.bin');
  const sha256 = writeRandom(path, FILE_BYTES);
  // Stalls all PUTs after the first 15, so that the five tabs can open and the test can check them.
  const { faults } = world.service;
  faults.add({ operation: 'put', skip: 15, stall: true, times: Number.POSITIVE_INFINITY });
  const tabs: Page[] = [];
  for (let count = 0; count < 5; count++) {
    const tab = await world.openWithToken(SETTINGS);
    await pick(tab, path);
    if (count > 0) await untilEvent(tab, 'upload-paused');
    tabs.push(tab);
  }
  await allShow(tabs, 15 * CHUNK_BYTES);

  for (const end of ['closed', 'crashed']) {
    const [leader, ...others] = await leadersOf(tabs);
    assert.ok(leader && others.length === 0, 'one tab sends');
    tabs.splice(tabs.indexOf(leader), 1);
    faults.clear();
    const storedCount = puts(world).length;
    faults.add({ operation: 'put', skip: 15, stall: true, times: Number.POSITIVE_INFINITY });
    if (end === 'closed') await leader.close();
    else await crash(leader);
    await allShow(tabs, (storedCount + 15) * CHUNK_BYTES);
  }

  faults.clear();
  const [leader] = await leadersOf(tabs);
  assert.ok(leader);
  await leader.close();
  tabs.splice(tabs.indexOf(leader), 1);
  for (const tab of tabs) {
    const [completed] = await untilEvent(tab, 'upload-completed');
    assert.equal(completed?.detail.chunks.length, CHUNK_COUNT);
    assert.deepEqual(
      (await filesOf(tab)).map(({ phase }) => phase),
      ['done'],
    );
    await neverWentBack(tab);
  }
  // A chunk is not sent again if its tab was closed after the chunk was stored, and before the response.
  const hashes = world.entries('put').flatMap(({ hash, stored }) => (stored ? [hash] : []));
  assert.equal(new Set(hashes).size, CHUNK_COUNT);
  assert.ok(
    puts(world).length >= CHUNK_COUNT - 3 * CONCURRENCY,
    'each closed tab leaves at most its own PUTs',
  );
  const sessions = world.entries('session').filter(({ method }) => method === 'POST');
  const others = world.service.log.filter(
    ({ operation, method }) => operation !== 'put' && method === 'POST',
  );
  const times = others.map(
    ({ at, operation, status }) => `${operation} ${status} at ${at - (others[0]?.at ?? 0)}`,
  );
  assert.equal(sessions.length, 1, `one session over all tabs: ${times.join(', ')}`);
  const stored = (await world.service.listFiles('folder-a')).filter(({ name }) => name === 'five tabs.bin');
  assert.equal(stored.length, 1);
  await assertStored(world, stored[0]?.id ?? '', sha256);
  for (const tab of tabs) await tab.close();
});

async function crash(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash');
  const session = await page.context().newCDPSession(page);
  session.send('Page.crash').catch(() => undefined);
  await crashed;
}
