// A journey, because it needs links and reloads with a service worker.
// The file keeper: uploads that continue after a link or a reload, without choosing the file again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { ConsoleMessage, Page } from 'playwright';
import { eventsOf, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { assertStored, filesOf, hasStored, pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
const FILE_BYTES = 24 * MIB;
const FOR_EVER = Number.POSITIVE_INFINITY;

const world = await createWorld();
afterEach(async () => {
  for (const page of world.context.pages().slice(1)) await page.close();
  world.service.faults.clear();
  world.service.faults.clearLog();
});

/** Opens a page whose widget gets its token without a test, also after a reload. */
async function open(attributes = 'keeper-url="/file-keeper.js"', path = '/index.html'): Promise<Page> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  return world.open(`chunk-size="1MiB" data-token="${token}" owner="${path}" ${attributes}`, { path });
}

async function reload(page: Page): Promise<void> {
  await page.reload();
  await page.waitForFunction(() => customElements.get('secure-uploader') !== undefined, null, {
    polling: 50,
  });
}

const reasonsOf = async (page: Page): Promise<string[]> =>
  (await eventsOf(page, 'upload-paused')).map(({ detail }) => detail.reason);

/** Starts to upload a file. All PUTs after the first six wait until `faults.clear()`. Returns the SHA-256 of the file. */
async function beginUpload(page: Page): Promise<string> {
  const path = join(world.folder, `film ${Math.random()}.bin`);
  const sha256 = writeRandom(path, FILE_BYTES);
  world.service.faults.add({ operation: 'put', skip: 6, times: FOR_EVER, waitFor: createGate().opened });
  await pick(page, path);
  await hasStored(page, 6 * MIB);
  return sha256;
}

async function assertResumed(page: Page, sha256: string): Promise<void> {
  const [completed] = await untilEvent(page, 'upload-completed');
  await assertStored(world, completed?.detail.commit.file_id, sha256);
  assert.ok(completed?.detail.skippedBytes >= 6 * MIB, 'it resumed where it was');
}

test('an upload continues after a reload without a click, and only what was on its way is sent again', async () => {
  const page = await open();
  const sha256 = await beginUpload(page);
  world.service.faults.clear();
  await reload(page);
  await assertResumed(page, sha256);
  assert.deepEqual(await reasonsOf(page), ['resuming']);
  assert.deepEqual(world.pages.violations, []);
});

test('an upload that the user paused is still paused after a reload, and resumes without choosing the file', async () => {
  const page = await open(undefined, '/paused.html');
  const sha256 = await beginUpload(page);
  await page.evaluate(() => document.querySelector('secure-uploader')?.pause());
  world.service.faults.clear();
  await reload(page);
  await untilEvent(page, 'upload-paused', 2);
  assert.deepEqual(await reasonsOf(page), ['resuming', 'user']);
  await page.getByRole('button', { name: /^resume: /i }).click();
  await assertResumed(page, sha256);
});

test('a new tab gets the file of a paused upload from a tab that is still open', async () => {
  const first = await open(undefined, '/shared.html');
  const sha256 = await beginUpload(first);
  await first.evaluate(() => document.querySelector('secure-uploader')?.pause());
  world.service.faults.clear();
  const second = await open(undefined, '/shared.html');
  await untilEvent(second, 'upload-paused', 2);
  assert.deepEqual(await reasonsOf(second), ['resuming', 'user']);
  await second.evaluate(() => document.querySelector('secure-uploader')?.resume());
  await assertResumed(second, sha256);
});

test('a page that sets keeper-url after its files are listed resumes them, too', async () => {
  const page = await open(undefined, '/set-late.html');
  const sha256 = await beginUpload(page);
  world.service.faults.clear();
  await page.goto('about:blank');
  const { token } = await world.service.createToken('alice', 3_600_000);
  const settings = `chunk-size="1MiB" data-token="${token}" owner="/set-late.html"`;
  await page.goto(world.pages.add('/set-late.html', world.elementWith(settings)));
  await page.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
  await page.evaluate(() =>
    document.querySelector('secure-uploader')?.setAttribute('keeper-url', '/file-keeper.js'),
  );
  await assertResumed(page, sha256);
  assert.deepEqual(await reasonsOf(page), ['needs-file', 'resuming']);
});

test('a page with exactly the policy of docs/resume.md resumes without a message of the browser', async () => {
  const docs = readFileSync(new URL('../../docs/resume.md', import.meta.url), 'utf8');
  const [, stated = ''] = /Content-Security-Policy:\n([^`]+)```/.exec(docs) ?? [];
  const policy = stated
    .replaceAll('https://files.example.com', world.service.baseUrl)
    .replaceAll('https://storage.example.com', world.service.storageUrl)
    .replace(/\s+/g, ' ');
  assert.match(policy, /worker-src 'self'/);
  world.pages.changePolicy('/documented.html', () => policy.trim());
  const messages: string[] = [];
  const onConsole = (message: ConsoleMessage): void => {
    if (/policy|keeper-url/i.test(message.text())) messages.push(message.text());
  };
  world.context.on('console', onConsole);
  const page = await open(undefined, '/documented.html');
  const sha256 = await beginUpload(page);
  world.service.faults.clear();
  await reload(page);
  await assertResumed(page, sha256);
  world.context.off('console', onConsole);
  assert.deepEqual(await reasonsOf(page), ['resuming']);
  assert.deepEqual(messages, []);
});

for (const [what, path, attributes, change] of [
  ['allows no worker', '/strict.html', 'keeper-url="/file-keeper.js"', "worker-src 'none'"],
  [
    'allows workers, but the file is missing',
    '/missing.html',
    'keeper-url="/missing.js"',
    "worker-src 'self'",
  ],
  [
    'allows workers of another origin',
    '/foreign.html',
    'keeper-url="https://cdn.example/k.js"',
    "worker-src 'self'",
  ],
] as const) {
  test(`on a page whose policy ${what}, the user has to choose the file again, and the console says why once`, async () => {
    world.pages.changePolicy(path, (policy) => policy.replace(/worker-src [^;]*/, change));
    const warnings: string[] = [];
    const onConsole = (message: ConsoleMessage): void => {
      if (/keeper-url/.test(message.text())) warnings.push(message.text());
    };
    // Listens before the page is opened, because the page may warn while it loads.
    world.context.on('console', onConsole);
    const page = await open(attributes, path);
    const sha256 = await beginUpload(page);
    world.service.faults.clear();
    await reload(page);
    await page.locator('secure-uploader').getByText('Choose the file again to continue').waitFor();
    const [file] = await filesOf(page);
    await pick(page, join(world.folder, file?.name ?? ''));
    await assertResumed(page, sha256);
    world.context.off('console', onConsole);
    assert.equal(warnings.length, 2, 'one message each time the page is loaded');
  });
}
