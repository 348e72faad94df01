// A journey, because it needs a service worker that ends.
// The file keeper when something is lost: an answer, the worker, the file, a tab that has only some of the files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { bundle } from '../../scripts/bundles.mjs';
import { builtWidget } from '../support/built.ts';
import { until } from '../support/until.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate, type Gate } from './support/gate.ts';
import { assertStored, hasStored, pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
const FOR_EVER = Number.POSITIVE_INFINITY;

const world = await createWorld();
world.pages.add('/plain.html', '<p>A page without an uploader</p>');
const script = readFileSync(join(builtWidget(), 'file-keeper.js'), 'utf8');
const losing = `{
  const send = MessagePort.prototype.postMessage;
  let isLost = false;
  MessagePort.prototype.postMessage = function (message, ...rest) {
    if (!Array.isArray(message) || message.length === 0 || isLost) return send.call(this, message, ...rest);
    isLost = true;
  };
}`;
world.pages.setScript('/losing.js', losing + script);
world.pages.setScript('/left-behind.js', script);
afterEach(async () => {
  for (const page of world.context.pages().slice(1)) await page.close();
  world.service.faults.clear();
});

/** Opens the page of one user, whose widget gets its token without a test, also after a reload. */
async function open(user: string, keeperUrl = '/file-keeper.js'): Promise<Page> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  const settings = `keeper-url="${keeperUrl}" data-token="${token}" owner="${user}" chunk-size="1MiB"`;
  return world.open(settings, { path: `/${user}.html` });
}

interface Uploading {
  readonly path: string;
  readonly sha256: string;
}

/** Starts to upload a file. All PUTs after the first two wait until `faults.clear()`. */
async function beginUpload(page: Page, name: string): Promise<Uploading> {
  const path = join(world.folder, name);
  const sha256 = writeRandom(path, 6 * MIB);
  world.service.faults.add({ operation: 'put', skip: 2, times: FOR_EVER, waitFor: createGate().opened });
  await pick(page, path);
  await hasStored(page, 2 * MIB);
  return { path, sha256 };
}

/** Asserts that the only upload of the page resumed without a click, and completes. */
async function assertResumed(page: Page, sha256: string): Promise<void> {
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  assert.ok(completed?.detail.skippedBytes >= 2 * MIB, 'it resumed where it was');
  const reasons = (await eventsOf(page, 'upload-paused')).map(({ detail }) => detail.reason);
  assert.deepEqual(reasons, ['resuming']);
}

/** Waits until the page asks to choose the file again. Chooses the file, and asserts that it is uploaded. */
async function assertChosenAgain(page: Page, { path }: Uploading, sha256: string): Promise<void> {
  await page.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
  await pick(page, path);
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
}

test('a page that is left before the keeper’s answer has arrived does not lose the file', async () => {
  const page = await open('ann', '/losing.js');
  const { sha256 } = await beginUpload(page, 'asked twice.bin');
  world.service.faults.clear();
  await page.addInitScript(`{
    const send = ServiceWorker.prototype.postMessage;
    ServiceWorker.prototype.postMessage = function (message, ...rest) {
      send.call(this, message, ...rest);
      if (!message.ask || sessionStorage.getItem('left')) return;
      sessionStorage.setItem('left', 'yes');
      location.reload();
    };
  }`);
  let loadCount = 0;
  page.on('domcontentloaded', () => {
    loadCount += 1;
  });
  await page.reload({ waitUntil: 'commit' });
  await until(() => loadCount >= 2);
  await page.waitForFunction(() => customElements.get('secure-uploader'), null, { polling: 50 });
  await assertResumed(page, sha256);
});

test('a new tab gets files that are in different tabs', async () => {
  const [first, second] = [await open('ben'), await open('ben')];
  for (const [page, name] of [
    [first, 'in the first tab.bin'],
    [second, 'in the second tab.bin'],
  ] as const) {
    await beginUpload(page, name);
    await page.evaluate(() => document.querySelector('secure-uploader')?.pause());
    world.service.faults.clear();
  }
  const third = await open('ben');
  await untilEvent(third, 'upload-paused', 4);
  const reasons = (await eventsOf(third, 'upload-paused')).map(({ detail }) => detail.reason);
  assert.deepEqual(reasons.sort(), ['resuming', 'resuming', 'user', 'user']);
});

test('a file that changed before the next page has to be chosen again', async () => {
  const page = await open('carl');
  const upload = await beginUpload(page, 'changed.bin');
  world.service.faults.clear();
  await page.goto(`${world.pages.origin}/plain.html`);
  const changed = writeRandom(upload.path, 5 * MIB);
  await page.goto(`${world.pages.origin}/carl.html`);
  await page.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
  await pick(page, upload.path);
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, changed);
});

test('if the browser ends the keeper, the user has to choose the file again', async () => {
  const page = await open('dora');
  const upload = await beginUpload(page, 'ended.bin');
  world.service.faults.clear();
  await page.goto(`${world.pages.origin}/plain.html`);
  const session = await page.context().newCDPSession(page);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await page.goto(`${world.pages.origin}/dora.html`);
  await assertChosenAgain(page, upload, upload.sha256);
});

test('a keeper that an ended browser left behind unregisters itself after a visit without uploads', async () => {
  world.pages.changePolicy('/plain.html', () => "script-src 'self'; worker-src 'self'");
  const plain = await world.context.newPage();
  await plain.goto(`${world.pages.origin}/plain.html`);
  await plain.evaluate(() =>
    navigator.serviceWorker.register('/left-behind.js', { scope: '/left-behind.js' }),
  );
  await world.context.addInitScript(`{
    const send = ServiceWorker.prototype.postMessage;
    ServiceWorker.prototype.postMessage = function (message, ...rest) {
      send.call(this, message, ...rest);
      globalThis.hasAsked ||= 'ask' in message;
    };
  }`);
  const page = await open('emil', '/left-behind.js');
  await page.waitForFunction(() => 'hasAsked' in globalThis, null, { polling: 50 });
  await page.goto(`${world.pages.origin}/plain.html`);
  await until(() =>
    plain.evaluate(async () => !(await navigator.serviceWorker.getRegistration('/left-behind.js'))),
  );
});

/** Serves the widget as an app does whose bundler divides it: the code of the keeper is a file of its own. */
async function serveDivided(): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { scripts } = await bundle(root, ['src/define.ts'], undefined, {
    chunkNames: 'chunks/[name]-[hash]',
  });
  for (const [path, text] of scripts) world.pages.setScript(`/${path.replace(/\.ts$/, '.js')}`, text);
  world.pages.setScript('/secure-uploader.min.js', "import '/src/define.js';");
}

/** Reloads the page. The code of the keeper does not arrive before `open()` of the result. */
async function reloadWithoutCode(page: Page): Promise<Gate> {
  const gate = createGate();
  await page.route('**/keeper-client-*.js', async (route) => {
    await gate.opened;
    await route.continue();
  });
  await page.reload();
  return gate;
}

test('while the code of the keeper does not arrive, the file can be chosen again, and a sign-out drops all files', async () => {
  await serveDivided();
  const page = await open('tom');
  const upload = await beginUpload(page, 'code.bin');
  world.service.faults.clear();
  await page.addInitScript(`{
    const send = ServiceWorker.prototype.postMessage;
    globalThis.sent = [];
    ServiceWorker.prototype.postMessage = function (message, ...rest) {
      send.call(this, message, ...rest);
      sent.push(Object.keys(message).join());
    };
  }`);
  const gate = await reloadWithoutCode(page);
  await assertChosenAgain(page, upload, upload.sha256);
  await page.evaluate(() => document.querySelector('secure-uploader')?.signOut());
  const sent = await page.evaluate(() => (globalThis as { sent?: string[] }).sent);
  assert.deepEqual(sent, ['drop']);
  gate.open();
});

test('if the code of the keeper arrives late, the upload continues with the file of the earlier page', async () => {
  await serveDivided();
  const page = await open('una');
  const { sha256 } = await beginUpload(page, 'late code.bin');
  world.service.faults.clear();
  const gate = await reloadWithoutCode(page);
  await page.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
  gate.open();
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
});
