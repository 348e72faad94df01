// A journey, because it needs a browser that restarts, and two tabs.
// The list survives a restart of the browser, and two tabs share one upload.
import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import type { Page } from 'playwright';
import type { LogEntry } from '../../demo/server/faults.ts';
import { drop, eventsOf, untilEvent } from './support/browser.ts';
import { sumOf, writeRandom } from './support/files.ts';
import { createGate, type Gate } from './support/gate.ts';
import { filesOf } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
const SIZE = 24 * MIB;
let path: string;
let sha256: string;

const world = await createWorld({ fsync: true });
beforeEach(() => {
  path = join(world.folder, `film ${Math.random()}.bin`);
  sha256 = writeRandom(path, SIZE);
  world.service.faults.clear();
  world.service.faults.clearLog();
});

const ATTRIBUTES = 'chunk-size="1MiB"';
const pick = (page: Page): Promise<void> => page.setInputFiles('secure-uploader >> input[type=file]', path);
/** Waits until the first file has this many stored bytes. */
async function storedBytes(page: Page, bytes: number): Promise<void> {
  const isStored = (bytes: number): boolean =>
    (document.querySelector('secure-uploader')?.snapshot.files[0]?.storedBytes ?? 0) >= bytes;
  await page.waitForFunction(isStored, bytes, { polling: 100 }).catch(async (cause) => {
    const calls = world.service.log.map(({ operation, status, answered }) => [operation, status, answered]);
    const found = JSON.stringify([await filesOf(page), calls], null, 1);
    throw new Error(`fewer than ${bytes} bytes are stored: ${found}`, { cause });
  });
}
/** Lets `chunkCount` PUTs complete, and holds all later PUTs at the storage until the returned gate is opened. */
const stopAfter = (chunkCount: number): Gate => {
  const gate = createGate();
  const times = Number.POSITIVE_INFINITY;
  world.service.faults.add({ operation: 'put', skip: chunkCount, times, waitFor: gate.opened });
  return gate;
};
const answeredPuts = (): LogEntry[] =>
  world.service.log.filter((entry) => entry.operation === 'put' && entry.answered);
const sessions = (): number =>
  world.service.log.filter((entry) => entry.operation === 'session' && entry.method === 'POST').length;
const sentOnce = (): void => {
  const hashes = answeredPuts().map(({ hash }) => hash);
  assert.equal(new Set(hashes).size, hashes.length, 'each chunk was sent once');
};

/** Uploads a part of the file, and closes the page. */
async function leaveInTheMiddle(attributes = ATTRIBUTES): Promise<void> {
  stopAfter(6);
  const page = await world.openWithToken(attributes);
  await pick(page);
  await untilEvent(page, 'upload-started');
  await storedBytes(page, 6 * MIB);
  await page.close();
  world.service.faults.clear();
}

test('an unfinished upload is in the list again, asks for its file, rejects another, and resumes with the right one', async () => {
  await leaveInTheMiddle();
  const page = await world.openWithToken(ATTRIBUTES);
  const row = page.locator('secure-uploader').getByText('Choose the file again to continue');
  await row.waitFor();
  const [added] = await eventsOf(page, 'file-added');
  assert.equal(added?.detail.sizeBytes, SIZE);

  const wrong = join(world.folder, 'wrong.bin');
  writeFileSync(wrong, 'another one');
  // Makes the widget use a file input, because a test cannot control the file picker of `showOpenFilePicker`.
  await page.evaluate(() => Reflect.deleteProperty(globalThis, 'showOpenFilePicker'));
  const choose = page.getByRole('button', { name: /^choose file:/i });
  let [chooser] = await Promise.all([page.waitForEvent('filechooser'), choose.click()]);
  await chooser.setFiles(wrong);
  const [rejected] = await untilEvent(page, 'file-rejected');
  assert.equal(rejected?.detail.code, 'wrong-file');
  await row.waitFor();

  [chooser] = await Promise.all([page.waitForEvent('filechooser'), choose.click()]);
  await chooser.setFiles(path);
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.ok(completed?.detail.skippedBytes >= 6 * MIB, 'it resumed where it was');
  assert.equal((await eventsOf(page, 'file-added')).length, 1);
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
  sentOnce();
  await page.close();
});

for (const [how, give] of [
  ['picked like any other file', pick],
  ['dropped on the list', (page: Page) => drop(page, [path], page.locator('secure-uploader .row'))],
] as const) {
  test(`the file of an unfinished upload may also be ${how}, and is assigned to its row`, async () => {
    await leaveInTheMiddle();
    const page = await world.openWithToken(ATTRIBUTES);
    await page.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
    await give(page);
    await untilEvent(page, 'upload-completed');
    assert.equal((await eventsOf(page, 'file-added')).length, 1);
    sentOnce();
    await page.close();
  });
}

test('a file whose handle was saved resumes after a restart with one click, without a picker', async () => {
  const gate = stopAfter(3);
  const add = async (page: Page): Promise<void> =>
    page.evaluate(async (sizeBytes) => {
      const folder = await navigator.storage.getDirectory();
      const handle = await folder.getFileHandle('kept.bin', { create: true });
      const writable = await handle.createWritable();
      for (let at = 0; at < sizeBytes; at += 65_536)
        await writable.write(crypto.getRandomValues(new Uint8Array(65_536)));
      await writable.close();
      const file = await handle.getFile();
      await document.querySelector('secure-uploader')?.addFiles([{ file, relativePath: file.name, handle }]);
    }, 8 * MIB);
  const first = await world.openWithToken(ATTRIBUTES);
  await add(first);
  await storedBytes(first, 3 * MIB);
  await first.close();
  gate.open();
  world.service.faults.clear();
  world.service.faults.clearLog();
  // The file needs no permission. Reports that it does, as Chromium reports for files of the user after a restart.
  await world.context.addInitScript(
    "Object.assign(FileSystemFileHandle.prototype, { queryPermission: async () => 'prompt' });",
  );
  const page = await world.openWithToken(ATTRIBUTES);
  let chooserCount = 0;
  page.on('filechooser', () => {
    chooserCount += 1;
  });
  await page.getByRole('button', { name: /^choose file:/i }).click();
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal(chooserCount, 0);
  assert.ok(completed?.detail.skippedBytes >= 3 * MIB, 'it resumed where it was');
  assert.ok(answeredPuts().length <= 5, 'only what was missing was sent');
  const hash = await page.evaluate(async () => {
    const handle = await (await navigator.storage.getDirectory()).getFileHandle('kept.bin');
    const digest = await crypto.subtle.digest('SHA-256', await (await handle.getFile()).arrayBuffer());
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  });
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, hash);
  await page.close();
});

for (const [how, alice, vic] of [
  ['another user with another owner sees nothing of it', 'owner="alice"', 'owner="vic"'],
  ['another user of a page without an owner gets a separate session', '', ''],
] as const) {
  test(`an unfinished upload is never continued by another user: ${how}`, async () => {
    await leaveInTheMiddle(`${ATTRIBUTES} ${alice}`);
    assert.equal(sessions(), 1);
    const sentBefore = new Set(answeredPuts().map(({ hash }) => hash));
    world.service.faults.clearLog();
    const page = await world.openWithToken(`${ATTRIBUTES} ${vic}`, 'vic');
    if (!vic) await page.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
    await pick(page);
    const [completed] = await untilEvent(page, 'upload-completed');
    assert.equal((await eventsOf(page, 'file-added')).length, 1);
    const [started] = await eventsOf(page, 'upload-started');
    assert.equal(
      started?.detail.resumedBytes === 0,
      vic !== '',
      'his row has none of the progress of the one before',
    );
    assert.equal(completed?.detail.sentBytes, SIZE);
    assert.equal(sessions(), 1, 'a session of his own');
    const sent = answeredPuts().map(({ hash }) => hash);
    assert.deepEqual(
      [...sentBefore].filter((hash) => !sent.includes(hash)),
      [],
      'only chunks of the user count as stored',
    );
    assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
    await page.close();
    if (!vic) return;
    const again = await world.openWithToken(`${ATTRIBUTES} ${alice}`);
    await again.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
    await again.close();
  });
}

test('a file of the same name, size and time with one byte changed is stored in its current version, and only that chunk is sent', async () => {
  world.service.faults.add({ operation: 'commit', status: 503, times: Number.POSITIVE_INFINITY });
  const first = await world.openWithToken(
    `${ATTRIBUTES} data-engine-options='{"policy":{"attempts":2,"baseMs":1,"capMs":1}}'`,
  );
  const time = new Date(1_700_000_000_000);
  utimesSync(path, time, time);
  await pick(first);
  await untilEvent(first, 'upload-failed');
  await first.close();
  world.service.faults.clear();
  world.service.faults.clearLog();
  const { openSync, writeSync, closeSync } = await import('node:fs');
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from('!'), 0, 1, 10 * MIB + 7);
  closeSync(file);
  utimesSync(path, time, time);

  const second = await world.openWithToken(ATTRIBUTES);
  await second.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
  await pick(second);
  const [completed] = await untilEvent(second, 'upload-completed');
  const { createReadStream } = await import('node:fs');
  const now = (await sumOf(createReadStream(path))).sha256;
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, now);
  assert.equal(world.service.log.filter((entry) => entry.operation === 'put').length, 1);
  await second.close();
});

test('the same file in two tabs is uploaded once, and both show that it is done', async () => {
  const gate = stopAfter(4);
  const leader = await world.openWithToken(ATTRIBUTES);
  await pick(leader);
  await storedBytes(leader, 2 * MIB);
  const follower = await world.openWithToken(ATTRIBUTES);
  await pick(follower);
  const [paused] = await untilEvent(follower, 'upload-paused');
  assert.equal(paused?.detail.reason, 'other-tab');
  await storedBytes(follower, 4 * MIB);
  gate.open();
  await untilEvent(leader, 'upload-completed');
  const [completed] = await untilEvent(follower, 'upload-completed');
  assert.equal(completed?.detail.sentBytes, 0);
  sentOnce();
  assert.equal(sessions(), 1);
  await leader.close();
  await follower.close();
});

test('a tab that crashes leaves its upload to the next', async () => {
  stopAfter(3);
  const leader = await world.openWithToken(ATTRIBUTES);
  await pick(leader);
  await storedBytes(leader, 3 * MIB);
  const follower = await world.openWithToken(ATTRIBUTES);
  await pick(follower);
  await untilEvent(follower, 'upload-paused');
  world.service.faults.clear();
  await leader.close({ runBeforeUnload: false });
  const [completed] = await untilEvent(follower, 'upload-completed');
  assert.ok(completed?.detail.skippedBytes > 0);
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
  sentOnce();
  await follower.close();
});
