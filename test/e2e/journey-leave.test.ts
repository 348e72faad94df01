// A journey, because it needs the dialog of a page that is left.
// Leaving the page while a file is uploading: the warning and the lock of the screen of a real browser.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { Page } from 'playwright';
import { untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate, type Gate } from './support/gate.ts';
import { hasStored, pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
/** The locks of the page, recorded by `RECORD_LOCKS`. */
const LOCKS = 'locks.map(({ released }) => released)';
const RECORD_LOCKS = `{
  globalThis.locks = [];
  const { request } = WakeLock.prototype;
  WakeLock.prototype.request = async function (...args) {
    const lock = await request.apply(this, args);
    locks.push(lock);
    return lock;
  };
}`;

const world = await createWorld();
await world.context.addInitScript(RECORD_LOCKS);
afterEach(async () => {
  for (const page of world.context.pages().slice(1)) await page.close();
  world.service.faults.clear();
});

/** Opens a page on which the user has clicked, and uploads one chunk of a file. The other chunks wait for the gate. */
async function begin(attributes = ''): Promise<{ readonly page: Page; readonly gate: Gate }> {
  const page = await world.openWithToken(`chunk-size="1MiB" ${attributes}`);
  const gate = createGate();
  world.service.faults.add({
    operation: 'put',
    skip: 1,
    times: Number.POSITIVE_INFINITY,
    waitFor: gate.opened,
  });
  const path = join(world.folder, `${Math.random()}.bin`);
  writeRandom(path, 3 * MIB);
  await pick(page, path);
  await hasStored(page, MIB);
  // Browsers show no warning on a page that the user has not used.
  await page.mouse.click(5, 5);
  return { page, gate };
}

test('a user who closes the tab of a running upload is warned, and can stay until the upload is complete', async () => {
  const { page, gate } = await begin();
  const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
  assert.equal(dialog.type(), 'beforeunload');
  await dialog.dismiss();
  gate.open();
  await untilEvent(page, 'upload-completed');
  // The listener is removed with the next rendering.
  await page.waitForFunction("dispatchEvent(new Event('beforeunload', { cancelable: true }))", null, {
    polling: 50,
  });
  await Promise.all([page.waitForEvent('close'), page.close({ runBeforeUnload: true })]);
});

test('a link to a mail program does not ask whether to leave, the next link does, and the upload continues', async () => {
  const { page, gate } = await begin();
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  await page.evaluate(() => {
    const scope = globalThis as unknown as { unloadCount: number };
    scope.unloadCount = 0;
    addEventListener('beforeunload', () => {
      scope.unloadCount += 1;
    });
    for (const [text, href] of [
      ['Mail', 'mailto:a@example.com'],
      ['Away', '/'],
    ] as const)
      document.body.append(Object.assign(document.createElement('a'), { textContent: text, href }));
  });
  await page.getByText('Mail').click({ noWaitAfter: true });
  await page.waitForFunction('unloadCount === 1', null, { polling: 50 });
  assert.deepEqual(asked, []);
  await page.getByText('Away').click({ noWaitAfter: true });
  await page.waitForFunction('unloadCount === 2', null, { polling: 50 });
  assert.deepEqual(asked, ['beforeunload']);
  gate.open();
  await untilEvent(page, 'upload-completed');
});

test('with no-leave-warning, the tab of a running upload is closed at once', async () => {
  const { page } = await begin('no-leave-warning');
  await Promise.all([page.waitForEvent('close'), page.close({ runBeforeUnload: true })]);
});

test('with wake-lock, the browser keeps the screen on until the upload is complete', async () => {
  const { page, gate } = await begin('wake-lock');
  await page.waitForFunction('locks.length === 1', null, { polling: 50 });
  assert.deepEqual(await page.evaluate(LOCKS), [false]);
  gate.open();
  await untilEvent(page, 'upload-completed');
  await page.waitForFunction('locks[0].released', null, { polling: 50 });
  assert.deepEqual(await page.evaluate(LOCKS), [true]);
});
