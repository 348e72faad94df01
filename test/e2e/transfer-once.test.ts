// A journey, because it needs a second browser profile and a real drag.
// Equal chunks are sent only once, for copies of a file in several folders and for an upload that continues in another browser.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { drop, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import {
  assertStored,
  bytesOf,
  filesOf,
  hasStored,
  openElsewhere,
  pick,
  puts,
  QUICK,
} from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const CHUNK_COUNT = 40;
const FILE_BYTES = CHUNK_COUNT * CHUNK_BYTES - 1000;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" ${QUICK}`;
const FOR_EVER = Number.POSITIVE_INFINITY;
const FOLDERS = ['folder-a', 'folder-b', 'folder-unique'];

const world = await createWorld();
afterEach(() => {
  world.service.faults.clear();
  world.service.faults.clearLog();
});

/** Creates a copy of one file in a folder on disk for each folder of the service. Returns the folders and the hash of the file. */
function writeCopies(name: string, sizeBytes = FILE_BYTES): { sha256: string; dropped: string[] } {
  const original = join(world.folder, name);
  const sha256 = writeRandom(original, sizeBytes);
  const dropped = FOLDERS.map((folder) => join(world.folder, name.replace('.bin', ''), folder));
  for (const folder of dropped) {
    mkdirSync(folder, { recursive: true });
    copyFileSync(original, join(folder, name));
  }
  return { sha256, dropped };
}

const openForFolders = async (): Promise<Awaited<ReturnType<World['open']>>> => {
  const page = await world.openWithToken(SETTINGS);
  await page.evaluate(() => {
    const parentFor = (path: string): string => path.split('/')[0] ?? '';
    Object.assign(document.querySelector('secure-uploader') as HTMLElement, { parentFor });
  });
  return page;
};

// Small files are sent in parallel, so equal bytes may be sent more than once. Large files are sent one after the other.
for (const chunkCount of [3, CHUNK_COUNT]) {
  test(`three copies of a file of ${chunkCount} chunks in three folders result in three files${chunkCount > 3 ? ', and are sent once' : ''}`, async () => {
    const sizeBytes = chunkCount * CHUNK_BYTES - 1000;
    const name = `${chunkCount} chunks.bin`;
    const { sha256, dropped } = writeCopies(name, sizeBytes);
    world.service.faults.add({ operation: 'put', delayMs: 50, times: FOR_EVER });
    const page = await openForFolders();
    await drop(page, dropped);
    const completed = await untilEvent(page, 'upload-completed', 3);
    const sentBytes = completed.reduce((sum, { detail }) => sum + detail.sentBytes, 0);
    assert.equal(bytesOf(world.entries('put')), sentBytes, 'the page says what it sent');
    assert.ok(sentBytes <= 3 * sizeBytes, 'no upload was started twice');
    if (chunkCount > 3) assert.equal(puts(world).length, chunkCount);
    for (const { detail } of completed) {
      assert.equal(detail.chunks.length, chunkCount);
      assert.equal(detail.sentBytes + detail.skippedBytes, sizeBytes);
      await assertStored(world, detail.commit.file_id, sha256);
    }
    assert.equal(new Set(completed.map(({ detail }) => detail.commit.file_id)).size, 3);
    for (const folder of FOLDERS) {
      const names = (await world.service.listFiles(folder)).map(({ name }) => name);
      assert.equal(names.filter((other) => other === name).length, 1, folder);
    }
    await page.close();
  });
}

test('when the copy that is being sent is canceled, the others send what is missing, and nothing twice', async () => {
  const { sha256, dropped } = writeCopies('canceled.bin');
  world.service.faults.add({ operation: 'put', delayMs: 50, times: FOR_EVER });
  const page = await openForFolders();
  await drop(page, dropped);
  await hasStored(page, 6 * CHUNK_BYTES);
  const leader = (await filesOf(page)).toSorted((a, b) => b.sentBytes - a.sentBytes)[0];
  await page.evaluate((id) => document.querySelector('secure-uploader')?.cancel(id), leader?.id ?? '');
  const completed = await untilEvent(page, 'upload-completed', 2);
  for (const { detail } of completed) await assertStored(world, detail.commit.file_id, sha256);
  puts(world);
  await page.close();
});

test('a second browser that continues a file sends at most what the first one had not stored, and one chunk', async () => {
  const path = join(world.folder, 'two browsers.bin');
  const sha256 = writeRandom(path, FILE_BYTES);
  world.service.faults.add({ operation: 'put', skip: 0.6 * CHUNK_COUNT, stall: true, times: FOR_EVER });
  const first = await world.openWithToken(SETTINGS);
  await pick(first, path);
  await hasStored(first, 0.6 * FILE_BYTES);
  await first.close();
  world.service.faults.clear();
  const stored = puts(world);
  assert.equal(stored.length, 0.6 * CHUNK_COUNT);

  const other = await world.newContext();
  const second = await openElsewhere(world, other);
  assert.deepEqual(await filesOf(second), [], 'it has no data of the first');
  await pick(second, path);
  const [completed] = await untilEvent(second, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  // Not from the event: if the session id is secret, it has none.
  const session = world.entries('session').at(-1)?.sessionId;
  const ofSecond = world.entries('put').filter(({ sessionId }) => sessionId === session);
  const sentBytes = bytesOf(ofSecond);
  assert.ok(sentBytes <= 0.4 * FILE_BYTES + CHUNK_BYTES, `${sentBytes} of ${FILE_BYTES} bytes were sent`);
  const known = new Set(stored.map(({ hash }) => hash));
  assert.deepEqual(
    ofSecond.filter(({ hash }) => known.has(hash)),
    [],
    'nothing that was stored was sent again',
  );
  assert.equal(completed?.detail.sentBytes, sentBytes);
  await other.close();
});
