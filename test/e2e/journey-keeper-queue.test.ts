// A journey, because it needs reloads with a service worker.
// The file keeper and uploads without saved progress: files of one chunk, queued files, and files that wait for `start()`.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { Page } from 'playwright';
import type { FileSnapshot } from '../../src/core/types.ts';
import { until } from '../support/until.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { untilActive, watchKeeper } from './support/keeper.ts';
import { assertStored, filesOf, pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const FOR_EVER = Number.POSITIVE_INFINITY;
const world = await createWorld();
await watchKeeper(world.context);
afterEach(async () => {
  for (const page of world.context.pages().slice(1)) await page.close();
  world.service.faults.clear();
  world.service.faults.clearLog();
});

/** Opens the page of one user, whose widget gets its token without a test, also after a reload. */
async function open(user: string, attributes = ''): Promise<Page> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  const settings = `keeper-url="/file-keeper.js" data-token="${token}" owner="${user}" concurrency="1"`;
  return world.open(`${settings} ${attributes}`, { path: `/${user}.html` });
}

/** Writes small files with these names. Returns the SHA-256 of each file, by name. */
function writeFiles(...names: readonly string[]): Map<string, string> {
  return new Map(names.map((name) => [name, writeRandom(join(world.folder, name), 50_000)]));
}

const pickAll = (page: Page, sums: ReadonlyMap<string, string>): Promise<void> =>
  pick(page, ...[...sums.keys()].map((name) => join(world.folder, name)));

/** Resolves with the files of the widget once `isReached` returns true for them. */
async function untilFiles(
  page: Page,
  isReached: (files: readonly FileSnapshot[]) => boolean,
): Promise<readonly FileSnapshot[]> {
  let files: readonly FileSnapshot[] = [];
  return until(
    async () => {
      files = await filesOf(page).catch(() => []);
      return isReached(files) && files;
    },
    () => `files of the widget: ${JSON.stringify(files)}`,
  );
}

async function reload(page: Page): Promise<void> {
  await untilActive(page);
  await page.reload();
}

const storedCount = async (name: string): Promise<number> =>
  (await world.service.listFiles('folder-a')).filter((file) => file.name === name).length;

/** Waits until all files are completed. Asserts that each file is stored once. */
async function assertAllStored(page: Page, sums: ReadonlyMap<string, string>): Promise<void> {
  const completed = await untilEvent(page, 'upload-completed', sums.size);
  assert.deepEqual(completed.map(({ detail }) => detail.name).sort(), [...sums.keys()].sort());
  for (const { detail } of completed)
    await assertStored(world, detail.commit.file_id, sums.get(detail.name) ?? '');
  for (const name of sums.keys()) assert.equal(await storedCount(name), 1, `${name} is stored once`);
}

test('small files that are sent or queued continue after a reload, and each is stored once', async () => {
  const page = await open('ann');
  const sums = writeFiles('one.bin', 'two.bin', 'three.bin', 'four.bin');
  const gate = createGate();
  world.service.faults.add({ operation: 'put', skip: 1, times: FOR_EVER, waitFor: gate.opened });
  await pickAll(page, sums);
  await untilEvent(page, 'upload-completed');
  await untilFiles(page, (files) => files.some(({ phase }) => phase === 'uploading'));
  const [done] = await eventsOf(page, 'upload-completed');
  await reload(page);
  gate.open();
  sums.delete(done?.detail.name);
  await assertAllStored(page, sums);
  assert.ok(!(await eventsOf(page, 'upload-paused')).some(({ detail }) => detail.reason === 'needs-file'));
});

test('a small file whose commit was sent is not stored a second time', async () => {
  const page = await open('ben');
  const sums = writeFiles('committed.bin');
  const gate = createGate();
  // The first commit is handled, but its response is lost. The second one waits, so that the page can't complete it before the
  // reload.
  world.service.faults.add({ operation: 'commit', cut: 'after-body', times: 1 });
  world.service.faults.add({ operation: 'commit', skip: 1, times: 1, waitFor: gate.opened });
  await pickAll(page, sums);
  await until(async () => world.entries('commit').length > 0 && (await storedCount('committed.bin')) > 0);
  await reload(page);
  gate.open();
  await assertAllStored(page, sums);
});

test('paused and nested files, and files that wait for start(), are as they were', async () => {
  const page = await open('carl', 'manual');
  await page.evaluate(async () => {
    const element = document.querySelector('secure-uploader');
    const file = (name: string): File => new File([name.repeat(1000)], name, { lastModified: 7 });
    await element?.addFiles([{ file: file('paused.txt'), relativePath: 'a/b/paused.txt' }]);
    await element?.pause();
    await element?.addFiles([{ file: file('held.txt'), relativePath: 'held.txt' }]);
  });
  const before = await filesOf(page);
  await reload(page);
  const files = await untilFiles(page, ({ length }) => length === 2);
  const shown = (list: readonly FileSnapshot[]): unknown[] =>
    list.map(({ name, relativePath, parentId, sizeBytes, phase, pauseReason }) => ({
      ...{ name, relativePath, parentId, sizeBytes, phase, pauseReason },
    }));
  assert.deepEqual(shown(files), shown(before));
  assert.equal(world.entries('session').length, 0);
  await page.evaluate(async () => {
    await document.querySelector('secure-uploader')?.start();
    await document.querySelector('secure-uploader')?.resume();
  });
  await untilEvent(page, 'upload-completed', 2);
});

/** Uploads a file of its own in `page`. Asserts that the page shows no other file afterwards. */
async function assertShowsOnlyItsOwn(page: Page, name: string): Promise<void> {
  await pickAll(page, writeFiles(name));
  await page.evaluate(() => document.querySelector('secure-uploader')?.start());
  await untilEvent(page, 'upload-completed');
  assert.deepEqual(
    (await filesOf(page)).map((file) => file.name),
    [name],
  );
}

test('an element that is removed while it asks for queued files has them when it is inserted again', async () => {
  const page = await open('ida', 'manual');
  const sums = writeFiles('asked.bin');
  await pickAll(page, sums);
  await untilFiles(page, ({ length }) => length === 1);
  // Removes the element when it sends its first request, and sends the request after the element was suspended.
  await page.addInitScript(`{
    const send = ServiceWorker.prototype.postMessage;
    ServiceWorker.prototype.postMessage = function (message, ...rest) {
      const element = document.querySelector('secure-uploader');
      if (!message.ask || 'removed' in globalThis) return send.call(this, message, ...rest);
      element.remove();
      setTimeout(() => {
        send.call(this, message, ...rest);
        globalThis.removed = element;
      });
    };
  }`);
  await reload(page);
  await page.waitForFunction(() => 'removed' in globalThis, null, { polling: 50 });
  await page.evaluate('document.body.append(removed)');
  await untilFiles(page, ({ length }) => length === 1);
  await page.evaluate(() => document.querySelector('secure-uploader')?.start());
  await assertAllStored(page, sums);
});

test('a failed file without saved progress waits for the user after a reload', async () => {
  const page = await open('jim');
  const sums = writeFiles('refused.bin');
  world.service.faults.add({ operation: 'session', status: 403 });
  await pickAll(page, sums);
  await untilEvent(page, 'upload-failed');
  await reload(page);
  const [file] = await untilFiles(page, ([first]) => first !== undefined && first.phase !== 'queued');
  assert.deepEqual([file?.phase, file?.pauseReason], ['paused', 'user']);
  assert.equal(world.entries('session').length, 1);
  await page.evaluate(() => document.querySelector('secure-uploader')?.resume());
  await assertAllStored(page, sums);
});

test('a failed file that cannot be retried is not handed over', async () => {
  const page = await open('kim', 'manual');
  const sums = writeFiles('queued next to it.bin');
  world.service.faults.add({ operation: 'session', status: 413, times: FOR_EVER });
  await pickAll(page, writeFiles('too large.bin'));
  await page.evaluate(() => document.querySelector('secure-uploader')?.start());
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'file-too-large');
  await pickAll(page, sums);
  await untilFiles(page, ({ length }) => length === 2);
  await reload(page);
  const files = await untilFiles(page, ({ length }) => length > 0);
  assert.deepEqual(
    files.map(({ name }) => name),
    [...sums.keys()],
  );
});

test('a new tab does not get the queued files of a tab that is open', async () => {
  const page = await open('dora', 'manual');
  await pickAll(page, writeFiles('queued.bin'));
  await untilActive(page);
  await assertShowsOnlyItsOwn(await open('dora', 'manual'), 'second.bin');
  assert.equal((await filesOf(page)).length, 1);
});

for (const [what, user, attributes, next] of [
  ['of another owner', 'emil', '', 'owner="other"'],
  ['with another client id', 'fay', '', 'owner="fay" client-id="other"'],
  ['with no-resume', 'gus', 'no-resume', 'owner="gus" no-resume'],
] as const)
  test(`a page ${what} does not get queued files`, async () => {
    const page = await open(user, `manual ${attributes}`);
    await pickAll(page, writeFiles(`${user}.bin`));
    await untilFiles(page, ({ length }) => length === 1);
    // With `no-resume`, there is no keeper.
    if (attributes === '') await untilActive(page);
    const { token } = await world.service.createToken('alice', 3_600_000);
    const settings = `${next} keeper-url="/file-keeper.js" data-token="${token}" manual`;
    await page.goto(world.pages.add('/next.html', world.elementWith(settings)));
    await assertShowsOnlyItsOwn(page, `own of ${user}.bin`);
  });

test('a page that names its owner late gets the queued files of this owner', async () => {
  const page = await open('hal', 'manual');
  await pickAll(page, writeFiles('late.bin'));
  await untilActive(page);
  await page.addInitScript(`{
    const send = ServiceWorker.prototype.postMessage;
    ServiceWorker.prototype.postMessage = function (message, ...rest) {
      send.call(this, message, ...rest);
      globalThis.hasAsked ||= 'ask' in message;
    };
  }`);
  const { token } = await world.service.createToken('alice', 3_600_000);
  const settings = `keeper-url="/file-keeper.js" data-token="${token}" manual`;
  await page.goto(world.pages.add('/late.html', world.elementWith(settings)));
  await page.waitForFunction(() => 'hasAsked' in globalThis, null, { polling: 50 });
  await page.evaluate(() => document.querySelector('secure-uploader')?.setAttribute('owner', 'hal'));
  const [file] = await untilFiles(page, ({ length }) => length === 1);
  assert.equal(file?.name, 'late.bin');
});
