// A journey, because it needs a browser whose features fail, and an insecure origin.
// Failures of the browser itself: IndexedDB, workers, cryptography, timers and the network. Every upload completes, and warnings
// report features that do not work.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { eventsOf, newContext, untilEvent } from './support/browser.ts';
import { sumOf, writeRandom } from './support/files.ts';
import { createGate, type Gate } from './support/gate.ts';
import { openElsewhere } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const CHUNK_BYTES = 65_536;
const SETTINGS = `chunk-size="${CHUNK_BYTES}" data-engine-options='{"policy":{"attempts":4,"baseMs":10,"capMs":40}}'`;
const FOR_EVER = Number.POSITIVE_INFINITY;
let count = 0;

const world = await createWorld();
await world.context.addInitScript(breakBrowser);
afterEach(() => world.service.faults.clear());

/** Breaks the feature that the path of the page names. Runs before all other scripts of the page. */
function breakBrowser(): void {
  const isPage = (name: string): boolean => location.pathname === `/${name}.html`;
  if (isPage('refused')) {
    IDBFactory.prototype.open = () => {
      throw new DOMException('The page may not store anything', 'SecurityError');
    };
  }
  if (isPage('full')) {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('The disk is full', 'QuotaExceededError');
    };
  }
  if (isPage('hidden')) {
    const { setTimeout: start } = globalThis;
    const slowly = (run: TimerHandler, ms = 0, ...given: unknown[]): number =>
      start(run, Math.max(1000, ms), ...given);
    globalThis.setTimeout = slowly as typeof setTimeout;
    globalThis.requestAnimationFrame = () => 0;
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    Object.defineProperty(document, 'hidden', { get: () => true });
  }
}

async function openPage(name: string, settings = SETTINGS): Promise<Page> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  const page = await world.open(settings, { path: `/${name}.html` });
  await page.evaluate((token) => {
    Object.assign(document.querySelector('secure-uploader') as HTMLElement, { getToken: async () => token });
  }, token);
  return page;
}

interface Picked {
  readonly path: string;
  readonly sha256: string;
}

function createFile(chunkCount = 8): Picked {
  count += 1;
  const path = join(world.folder, `${count}.bin`);
  return { path, sha256: writeRandom(path, chunkCount * CHUNK_BYTES - 100) };
}

const pick = (page: Page, { path }: Picked): Promise<void> =>
  page.setInputFiles('secure-uploader >> input[type=file]', path);

async function isStored(page: Page, { sha256 }: Picked): Promise<void> {
  const [completed] = await untilEvent(page, 'upload-completed');
  assert.equal((await sumOf(world.service.readFile(completed?.detail.commit.file_id))).sha256, sha256);
}

async function warningsOf(page: Page): Promise<string[]> {
  const reported = (await eventsOf(page, 'upload-progress')).map(({ detail }) => detail.warning);
  return [...new Set(reported.filter((code) => code !== undefined))];
}

/** Resolves when `chunkCount` chunks of the file are stored. */
const hasStored = (page: Page, chunkCount: number): Promise<unknown> =>
  page.waitForFunction(
    (bytes) =>
      (
        document.querySelector('secure-uploader') as unknown as {
          snapshot: { totals: { storedBytes: number } };
        }
      ).snapshot.totals.storedBytes >= bytes,
    chunkCount * CHUNK_BYTES,
    { polling: 10 },
  );

/** Lets `chunkCount` PUTs complete, and holds all later PUTs at the storage until the returned gate is opened. */
function stopAfter(chunkCount: number): Gate {
  const gate = createGate();
  world.service.faults.add({ operation: 'put', skip: chunkCount, times: FOR_EVER, waitFor: gate.opened });
  return gate;
}

for (const [what, name, code, sentence] of [
  [
    'a database that the browser refuses',
    'refused',
    'store-unavailable',
    "Your browser can't save this upload's progress.",
  ],
  [
    'a disk that is full',
    'full',
    'store-full',
    "Your browser's storage is full, so this upload can't resume later.",
  ],
] as const) {
  test(`${what} prevents resuming, and page and user are warned during the upload`, async () => {
    const gate = stopAfter(3);
    const page = await openPage(name);
    const file = createFile();
    await pick(page, file);
    await page.locator('secure-uploader').getByText(sentence).waitFor();
    gate.open();
    await isStored(page, file);
    assert.deepEqual(await warningsOf(page), [code]);
    await page.close();
  });
}

/** Deletes the databases of the page. */
const deleteDatabases = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (const { name = '' } of await indexedDB.databases()) {
      await new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase(name);
        request.onsuccess = resolve;
        request.onerror = reject;
      });
    }
  });

/** Clears the storage of the site by the answer to a request of another tab. */
async function clearSiteData(): Promise<void> {
  world.pages.add('/signed-out.html', '');
  world.pages.headers['/signed-out.html'] = { 'clear-site-data': '"storage"' };
  const other = await world.context.newPage();
  await other.goto(`${world.pages.origin}/signed-out.html`);
  await other.close();
}

for (const [what, clear] of [
  ['a database that is deleted', deleteDatabases],
  ['a storage that the site clears', clearSiteData],
] as const)
  test(`${what} in the middle of an upload is written again, and the upload resumes after a reload`, async () => {
    const gate = stopAfter(3);
    const page = await openPage('deleted');
    const file = createFile(20);
    await pick(page, file);
    await hasStored(page, 3);
    await clear(page);
    world.service.faults.clear();
    stopAfter(3);
    gate.open();
    await hasStored(page, 6);
    assert.deepEqual(await warningsOf(page), []);
    await page.close();
    world.service.faults.clear();
    const next = await openPage('deleted');
    await next.locator('secure-uploader .row').waitFor();
    await pick(next, file);
    await isStored(next, file);
    const [started] = await eventsOf(next, 'upload-started');
    assert.ok(
      started && started.detail.resumedBytes >= 5 * CHUNK_BYTES,
      `${started?.detail.resumedBytes} bytes`,
    );
    await next.close();
  });

test('a damaged record is uploaded again from the start', async () => {
  stopAfter(3);
  const file = createFile(20);
  const first = await openPage('damaged');
  await pick(first, file);
  await hasStored(first, 3);
  const damagedCount = await first.evaluate(async () => {
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('secure-uploader-uploads');
      request.onsuccess = () => resolve(request.result);
      request.onerror = reject;
    });
    const [name = ''] = db.objectStoreNames;
    const store = db.transaction(name, 'readwrite').objectStore(name);
    const keys = await new Promise<IDBValidKey[]>((resolve) => {
      const request = store.getAllKeys();
      request.onsuccess = () => resolve(request.result);
    });
    for (const key of keys) store.put({ chunkSizeBytes: 'many', stored: 7 }, key);
    await new Promise((resolve) => {
      store.transaction.oncomplete = resolve;
    });
    db.close();
    return keys.length;
  });
  assert.ok(damagedCount > 0, 'there was something to damage');
  await first.close();
  world.service.faults.clear();
  const second = await openPage('damaged');
  await pick(second, file);
  await isStored(second, file);
  const [started] = await eventsOf(second, 'upload-started');
  assert.equal(started?.detail.resumedBytes, 0);
  await second.close();
});

test('a database of another schema with our name prevents resuming, and the page is warned', async () => {
  const before = await openPage('other-make');
  // Replaces the databases of the widget with databases of the same names that have no expected object store.
  await before.evaluate(async () => {
    document.querySelector('secure-uploader')?.remove();
    for (const name of ['secure-uploader-uploads', 'secure-uploader-chunks']) {
      await new Promise((resolve) => {
        const gone = indexedDB.deleteDatabase(name);
        gone.onsuccess = () => {
          const request = indexedDB.open(name, 3);
          request.onupgradeneeded = () => request.result.createObjectStore('something-else');
          request.onsuccess = () => resolve(request.result.close());
        };
      });
    }
  });
  await before.close();
  const page = await openPage('other-make');
  const file = createFile();
  await pick(page, file);
  await isStored(page, file);
  assert.deepEqual(await warningsOf(page), ['store-unavailable']);
  await page.evaluate(async () => {
    for (const name of ['secure-uploader-uploads', 'secure-uploader-chunks']) indexedDB.deleteDatabase(name);
  });
  await page.close();
});

for (const [what, change] of [
  ['allows no worker', (policy: string) => policy.replace(/worker-src [^;]*/, "worker-src 'none'")],
  ['does not mention workers', (policy: string) => policy.replace(/worker-src [^;]*;/, '')],
] as const) {
  test(`under a content policy that ${what}, files are still hashed`, async () => {
    world.pages.changePolicy('/policy.html', change);
    const toldBefore = world.pages.violations.length;
    const page = await openPage('policy');
    const file = createFile();
    await pick(page, file);
    await isStored(page, file);
    const refused = world.pages.violations
      .slice(toldBefore)
      .filter((reported) => reported.startsWith('worker-src'));
    // Then workers may run from files of the page's origin, as other scripts may.
    const isFileRefused = refused.some((reported) => !reported.startsWith('worker-src blob'));
    assert.deepEqual([refused.length > 0, isFileRefused], [true, what === 'allows no worker']);
    await page.close();
  });
}

test('on an insecure page, which has neither cryptography nor locks, files are still uploaded', async () => {
  const { pages, service } = world;
  pages.add('/insecure.html', world.elementWith(SETTINGS));
  const url = new URL('/insecure.html', pages.origin);
  url.hostname = 'insecure.test';
  service.allowOrigin(url.origin);
  const executablePath = findChromium();
  const browser = await chromium.launch({
    ...(executablePath && { executablePath }),
    args: [...chromiumArgs, `--host-resolver-rules=MAP ${url.hostname} 127.0.0.1`],
  });
  try {
    const page = await openElsewhere(world, await newContext(browser), url.href);
    assert.deepEqual(await page.evaluate(() => [crypto.subtle, navigator.locks]), [undefined, undefined]);
    const file = createFile();
    await pick(page, file);
    await isStored(page, file);
    assert.deepEqual(await warningsOf(page), [], 'not even resuming is lost');
  } finally {
    await browser.close();
  }
});

test('a hidden page, with throttled timers and without painting, uploads and retries', async () => {
  const { service } = world;
  service.faults.clearLog();
  service.faults.add({ operation: 'chunks', status: 503, times: 1 });
  service.faults.add({ operation: 'put', status: 500, times: 2 });
  const page = await openPage('hidden');
  assert.equal(await page.evaluate(() => document.visibilityState), 'hidden');
  const file = createFile();
  await pick(page, file);
  await isStored(page, file);
  const failed = service.log.filter(({ status }) => status === 500 || status === 503);
  assert.deepEqual(failed.map(({ operation }) => operation).sort(), ['chunks', 'put', 'put']);
  await page.close();
});

test('an upload waits while the network is away, and sends no stored chunk again', async () => {
  const { service } = world;
  service.faults.clearLog();
  const gate = stopAfter(4);
  const page = await openPage('offline');
  const file = createFile(40);
  await pick(page, file);
  await hasStored(page, 4);
  await world.context.setOffline(true);
  const [paused] = await untilEvent(page, 'upload-paused');
  assert.equal(paused?.detail.reason, 'offline');
  gate.open();
  await world.context.setOffline(false);
  await isStored(page, file);
  const answered = service.log
    .filter((entry) => entry.operation === 'put' && entry.answered)
    .map((entry) => entry.hash);
  assert.ok(
    answered.length <= 40 + 6,
    `${answered.length} PUTs for 40 chunks: only running ones may be repeated`,
  );
  await page.close();
});

test('a service worker that hides the progress of PUTs costs chunks twice only until the first PUT succeeds', async () => {
  const { pages, service } = world;
  pages.setScript('/pass.js', 'onfetch = (event) => event.respondWith(fetch(event.request));');
  pages.changePolicy('/passed.html', (policy) => policy.replace(/; require-trusted-types-for.*/, ''));
  const times = `data-engine-options='{"times":{"stallMs":100},"policy":{"baseMs":10,"capMs":40}}'`;
  const settings = `chunk-size="${CHUNK_BYTES}" concurrency="1" ${times}`;
  const first = await openPage('passed', settings);
  await first.evaluate(async () => {
    await navigator.serviceWorker.register('/pass.js', { scope: '/passed.html' });
    await navigator.serviceWorker.ready;
  });
  await first.close();
  const page = await openPage('passed', settings);
  assert.ok(await page.evaluate(() => navigator.serviceWorker.controller));
  service.faults.add({ operation: 'put', times: FOR_EVER, delayMs: 600 });
  service.faults.clearLog();
  const file = createFile(12);
  await pick(page, file);
  await isStored(page, file);
  const hashes = service.faults.log.filter(({ operation }) => operation === 'put').map(({ hash }) => hash);
  const repeated = hashes.filter((hash, index) => hashes.indexOf(hash) !== index);
  assert.ok(repeated.length > 0, 'the first PUT takes longer than the limit of 400 ms');
  const late = [...new Set(hashes)].slice(6);
  assert.deepEqual(
    repeated.filter((hash) => late.includes(hash)),
    [],
  );
  await page.close();
});
