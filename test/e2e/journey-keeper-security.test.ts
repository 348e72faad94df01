// A journey, because it needs service workers, and frames of another site.
// What the file keeper gives to whom: the files of a page only to the next page of the same service and owner.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { Frame, Page } from 'playwright';
import { chromiumArgs } from '../../scripts/browser.mjs';
import { builtWidget } from '../support/built.ts';
import { until } from '../support/until.ts';
import { startEngine } from './support/auth-browsers.ts';
import { eventsOf, newContext, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { hasKeeper, isUnregistered } from './support/keeper.ts';
import { startPages } from './support/pages.ts';
import { hasStored, pick } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
const FOR_EVER = Number.POSITIVE_INFINITY;

/** Path of the keeper. Each test has its own: a keeper unregisters itself a second after its last page, during the next test. */
let keeper = '';
let testCount = 0;
const world = await createWorld();
world.pages.add('/plain.html', '<p>A page without an uploader</p>');
// Stores the files that a page hands over, as JSON, and notes when a page has told a worker to drop its files.
await world.context.addInitScript(`{
  const send = ServiceWorker.prototype.postMessage;
  ServiceWorker.prototype.postMessage = function (message, ...rest) {
    send.call(this, message, ...rest);
    if (message?.files) localStorage.setItem('handed', JSON.stringify(message));
    if (message?.drop) localStorage.setItem('dropped', '');
  };
}`);
beforeEach(() => {
  testCount += 1;
  keeper = `/keeper-${testCount}.js`;
  world.pages.setScript(keeper, keeperScript());
});
afterEach(async () => {
  for (const page of world.context.pages().slice(1)) await page.close();
  world.service.faults.clear();
});

const keeperScript = (): string => readFileSync(join(builtWidget(), 'file-keeper.js'), 'utf8');

const attributes = async (owner: string): Promise<string> => {
  const { token } = await world.service.createToken('alice', 3_600_000);
  return `keeper-url="${keeper}" chunk-size="1MiB" owner="${owner}" data-token="${token}"`;
};

const framed = (name: string): string => `<iframe src="${world.pages.origin}/${name}.html"></iframe>`;

const openPlain = async (): Promise<Page> => {
  const page = await world.context.newPage();
  await page.goto(`${world.pages.origin}/plain.html`);
  return page;
};

/** A page of its own user with an upload that has stored two chunks, and the key of the upload's record. */
interface Uploading {
  readonly page: Page;
  readonly key: string;
  readonly owner: string;
}

async function openUploading(more = '', openPage = world.open): Promise<Uploading> {
  const owner = `ann ${Math.random()}`;
  const page = await openPage(`${more} ${await attributes(owner)}`);
  const file = join(world.folder, `film ${Math.random()}.bin`);
  writeRandom(file, 8 * MIB);
  world.service.faults.add({ operation: 'put', skip: 2, times: FOR_EVER, waitFor: createGate().opened });
  await pick(page, file);
  await hasStored(page, 2 * MIB);
  const name = file.split('/').at(-1) ?? '';
  const keys = await page.evaluate(async () => {
    const open = indexedDB.open('secure-uploader-uploads');
    await new Promise((resolve) => open.addEventListener('success', resolve));
    const [store = ''] = open.result.objectStoreNames;
    const all = open.result.transaction(store).objectStore(store).getAllKeys();
    await new Promise((resolve) => all.addEventListener('success', resolve));
    open.result.close();
    return all.result as string[];
  });
  const key = keys.find((each) => each.includes(name));
  assert.ok(key, 'the upload has a record');
  return { page, key, owner };
}

/** Creates a file that is uploaded in one chunk. */
function smallFile(): string {
  const path = join(world.folder, `small ${Math.random()}.bin`);
  writeRandom(path, 1000);
  return path;
}

/**
 * Leaves the page for a page without an uploader. Resolves with the message to the keeper, which a browser may send after the next
 * page has loaded.
 */
async function leave({ page }: Pick<Uploading, 'page'>): Promise<{ files: Record<string, object>[] }> {
  await page.evaluate(() => localStorage.removeItem('handed'));
  await page.goto(`${world.pages.origin}/plain.html`);
  await until(() => page.evaluate(() => localStorage.getItem('handed') !== null));
  return JSON.parse(await page.evaluate(() => localStorage.getItem('handed') ?? ''));
}

const requestOf = ({ owner, key }: Uploading): object => ({
  service: world.service.baseUrl,
  ...{ owner, keys: [key], document: 'of the test' },
});

/** Asks the keeper for a file, as any script of the origin can. Returns the number of files that it gives. */
const ask = (page: Page, upload: Uploading, more: object = {}): Promise<number> =>
  page.evaluate(
    async ([url, ask]) => {
      const registration = await navigator.serviceWorker.getRegistration(url);
      if (!registration?.active) return 0;
      const { port1, port2 } = new MessageChannel();
      registration.active.postMessage({ ask, id: crypto.randomUUID() }, [port2]);
      // A worker that ignores the request sends no response. Without a response, a valid request shows that it has been processed.
      const { port1: other1, port2: other2 } = new MessageChannel();
      const empty = { ...ask, service: '', owner: '', keys: [] };
      registration.active.postMessage({ ask: empty, id: crypto.randomUUID() }, [other2]);
      const answers: Promise<unknown>[] = [port1, other1].map(
        (port) =>
          new Promise((resolve) => {
            port.onmessage = ({ data }) => resolve(data);
          }),
      );
      const found = (await Promise.race(answers)) as unknown[];
      return found.length;
    },
    [keeper, { ...requestOf(upload), ...more }] as const,
  );

const signOut = (page: Page | Frame): Promise<void> =>
  page.evaluate(() => document.querySelector('secure-uploader')?.signOut());

test('the keeper gives a file to a page of the same service and owner, once', async () => {
  const upload = await openUploading();
  await leave(upload);
  const page = await openPlain();
  assert.equal(await ask(page, upload, { keys: ['another key'] }), 0);
  assert.equal(await ask(page, upload), 1);
  assert.equal(await ask(page, upload), 0);
});

test('after a sign-out in another tab, the keeper gives nothing', async () => {
  const upload = await openUploading();
  const other = await world.open(await attributes(upload.owner), { path: '/other.html' });
  await leave(upload);
  await signOut(other);
  assert.equal(await ask(other, upload), 0);
});

test('after a sign-out in a frame of the same site, the keeper gives nothing', async () => {
  const upload = await openUploading();
  await leave(upload);
  const page = await world.context.newPage();
  await page.goto(world.pages.add('/embedder.html', framed('index')));
  const [, frame] = page.frames();
  assert.ok(frame);
  await frame.waitForFunction(() => customElements.get('secure-uploader'), null, { polling: 50 });
  await signOut(frame);
  assert.equal(await ask(page, upload), 0);
});

test('after a sign-out of a page whose settings are invalid, the keeper gives nothing', async () => {
  const upload = await openUploading();
  await leave(upload);
  const page = await world.context.newPage();
  const html = `<secure-uploader base-url="ftp://files.test" keeper-url="${keeper}"></secure-uploader>`;
  await page.goto(world.pages.add('/broken.html', html));
  await page.waitForFunction(() => customElements.get('secure-uploader'), null, { polling: 50 });
  await signOut(page).catch(() => undefined);
  assert.equal(await ask(page, upload), 0);
});

for (const [what, attributesOf] of [
  ['with no-resume', async (owner: string) => `no-resume ${await attributes(owner)}`],
  ['without keeper-url', (owner: string) => `owner="${owner}"`],
] as const)
  test(`after a sign-out of a page ${what}, the keeper gives nothing`, async () => {
    const upload = await openUploading();
    const other = await world.open(await attributesOf(upload.owner), { path: '/other.html' });
    await leave(upload);
    await signOut(other);
    assert.equal(await ask(other, upload), 0);
  });

test('after a change of the owner in another tab, the keeper gives nothing', async () => {
  const upload = await openUploading();
  const other = await world.open(await attributes(upload.owner), { path: '/other.html' });
  await leave(upload);
  await other.evaluate(() => {
    localStorage.removeItem('dropped');
    Object.assign(document.querySelector('secure-uploader') ?? {}, { owner: 'bob' });
  });
  await until(() => other.evaluate(() => localStorage.getItem('dropped') !== null));
  assert.equal(await ask(other, upload), 0);
});

test('a page of another owner gets nothing, and the keeper drops the file', async () => {
  const upload = await openUploading();
  await leave(upload);
  const page = await openPlain();
  assert.equal(await ask(page, upload, { owner: 'bob' }), 0);
  assert.equal(await ask(page, upload), 0);
});

test('a page that has not named its owner yet gets nothing, and the keeper keeps the file', async () => {
  const upload = await openUploading();
  await leave(upload);
  const page = await openPlain();
  assert.equal(await ask(page, upload, { owner: '' }), 0);
  assert.equal(await ask(page, upload), 1);
});

test('a page of another service gets nothing', async () => {
  const upload = await openUploading();
  await leave(upload);
  const page = await openPlain();
  assert.equal(await ask(page, upload, { service: 'https://other.example' }), 0);
  assert.equal(await ask(page, upload), 1);
});

for (const [title, host] of [
  ['a frame in a page of the same site gets nothing, neither its uploader nor its scripts', '127.0.0.1'],
  ['a frame in a page of another site gets nothing, neither its uploader nor its scripts', 'localhost'],
] as const) {
  test(title, async () => {
    const upload = await openUploading();
    await leave(upload);
    const isOwn = host === '127.0.0.1';
    const embedder = isOwn ? world.pages : await startPages(host);
    try {
      embedder.allow(world.pages.origin);
      const page = await world.context.newPage();
      await page.goto(embedder.add('/embedder.html', framed('index')));
      const [, frame] = page.frames();
      assert.ok(frame);
      // In a page of another site, the browser has separate storage for the frame, so that it has no upload to resume.
      await frame.waitForFunction(
        (fileCount) => {
          const { files } = document.querySelector('secure-uploader')?.snapshot ?? {};
          return files?.filter(({ pauseReason }) => pauseReason === 'needs-file').length === fileCount;
        },
        isOwn ? 1 : 0,
        { polling: 100 },
      );
      // The worker does not respond to a frame. That the file is still there shows that it was not given away. In a page of another
      // site, the browser may not allow service workers.
      await frame.evaluate(
        async ([url, ask]) => {
          const registration = await navigator.serviceWorker.getRegistration(url).catch(() => undefined);
          registration?.active?.postMessage({ ask, id: 'of a frame' }, [new MessageChannel().port2]);
        },
        [keeper, requestOf(upload)] as const,
      );
      assert.equal(await ask(upload.page, upload), 1);
    } finally {
      if (!isOwn) await embedder.close();
    }
  });
}

/** Asks other tabs for a file, as any script can, first as `others`. Counts the answers in `answerCount` of the page. */
const askTabs = (page: Page | Frame, upload: Uploading, ...others: object[]): Promise<void> =>
  page.evaluate(
    ([asks]) => {
      const answers = new BroadcastChannel('answers');
      Object.assign(globalThis, { answerCount: 0 });
      answers.onmessage = () => {
        (globalThis as unknown as { answerCount: number }).answerCount += 1;
      };
      const files = new BroadcastChannel('secure-uploader:files');
      for (const ask of asks) files.postMessage({ ask, answerTo: 'answers' });
    },
    [[...others, {}].map((other) => ({ ...requestOf(upload), ...other }))] as const,
  );

const answerCountOf = (page: Page | Frame): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as { answerCount: number }).answerCount);

test('a page of another owner or service gets no file from a tab that is open', async () => {
  const upload = await openUploading();
  await upload.page.evaluate(() => document.querySelector('secure-uploader')?.pause());
  const page = await openPlain();
  const service = 'https://other.example';
  // The tab answers in the order of the requests, and the last one is of the same owner and service.
  await askTabs(page, upload, { owner: 'bob' }, { owner: '' }, { service }, { keys: ['another key'] });
  await until(async () => (await answerCountOf(page)) > 0);
  assert.equal(await answerCountOf(page), 1);
});

test('a frame in a page of another site gets no file from a tab that is open', async () => {
  const embedder = await startPages('localhost');
  // Playwright turns off the separate storage of such frames. The last list of features counts.
  const browser = await startEngine('chromium', { args: [...chromiumArgs, '--disable-features=Translate'] });
  try {
    embedder.allow(world.pages.origin);
    const context = await newContext(browser);
    const openIn = async (url: string): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    };
    const upload = await openUploading('', async (attributes = '') => {
      const page = await openIn(world.pages.add('/index.html', world.elementWith(attributes)));
      await page.waitForFunction(() => customElements.get('secure-uploader'), null, { polling: 50 });
      return page;
    });
    await upload.page.evaluate(() => document.querySelector('secure-uploader')?.pause());
    const [, frame] = (await openIn(embedder.add('/embedder.html', framed('plain')))).frames();
    assert.ok(frame);
    await frame.waitForLoadState();
    await askTabs(frame, upload);
    const other = await openIn(`${world.pages.origin}/plain.html`);
    await askTabs(other, upload);
    await until(async () => (await answerCountOf(other)) > 0);
    assert.deepEqual([await answerCountOf(other), await answerCountOf(frame)], [1, 0]);
  } finally {
    await browser.close();
    await embedder.close();
  }
});

test('when no page has asked in time, the keeper drops the file and unregisters itself', async () => {
  const short = keeperScript().replace('5e4', '200');
  assert.notEqual(short, keeperScript());
  world.pages.setScript(keeper, short);
  const upload = await openUploading();
  await leave(upload);
  await isUnregistered(upload.page, keeper);
  const page = await world.open(await attributes(upload.owner));
  await untilEvent(page, 'upload-paused', 2);
  const reasons = (await eventsOf(page, 'upload-paused')).map(({ detail }) => detail.reason);
  assert.equal(reasons.at(-1), 'needs-file');
});

test('the keeper unregisters itself when a page without unfinished uploads is left', async () => {
  const page = await world.open(await attributes('carl'));
  await pick(page, smallFile());
  await untilEvent(page, 'upload-completed');
  await hasKeeper(page, keeper);
  await leave({ page });
  await isUnregistered(page, keeper);
});

test('a file that a script put in place of another is not accepted, and malformed messages change nothing', async () => {
  const upload = await openUploading();
  await leave(upload);
  await upload.page.evaluate(
    async ([url, service, owner, key]) => {
      const worker = (await navigator.serviceWorker.getRegistration(url))?.active;
      const valid = { service, owner, key, file: new File(['other'], 'film.bin'), isPaused: false };
      const ask = { service, owner, keys: [key], document: 'of the test' };
      const texts = [null, 'text', { files: 'text' }, { ask: 'text', id: 'one' }, { got: 'nothing' }];
      const asks = [
        { ...ask, keys: 'text' },
        { ...ask, document: 1 },
      ].map((ask) => ({ ask, id: 'two' }));
      for (const data of [...texts, ...asks, { ask }])
        worker?.postMessage(data, [new MessageChannel().port2]);
      for (const broken of [{ file: 'text' }, { key: 7 }, { owner: null }, { isPaused: 1 }, { service: [] }])
        worker?.postMessage({ files: [{ ...valid, ...broken }, null] });
    },
    [keeper, world.service.baseUrl, upload.owner, upload.key] as const,
  );
  assert.equal(await ask(upload.page, upload), 1);
  await upload.page.evaluate(
    async ([url, service, owner, key]) => {
      const worker = (await navigator.serviceWorker.getRegistration(url))?.active;
      const file = new File(['other'], 'film.bin');
      worker?.postMessage({ files: [{ service, owner, key, file, isPaused: false }] });
    },
    [keeper, world.service.baseUrl, upload.owner, upload.key] as const,
  );
  const page = await world.open(await attributes(upload.owner));
  await untilEvent(page, 'upload-paused', 2);
  const row = await page.evaluate((key) => {
    const { files = [], rejections } = document.querySelector('secure-uploader')?.snapshot ?? {};
    return [files.find(({ name }) => key.includes(name))?.pauseReason, rejections?.length];
  }, upload.key);
  assert.deepEqual(row, ['needs-file', 0]);
});

test('a page hands over files and nothing secret', async () => {
  const { files, ...others } = await leave(await openUploading());
  assert.deepEqual(others, { unanswered: [] });
  assert.deepEqual(Object.keys(files[0] ?? {}).sort(), ['file', 'isPaused', 'key', 'owner', 'service']);
  assert.deepEqual(files[0]?.file, {});
});

test('a page hands over nothing secret for an upload that has not started', async () => {
  const page = await world.open(`manual ${await attributes('queued')}`, { path: '/queued.html' });
  await pick(page, smallFile());
  await hasKeeper(page, keeper);
  const [{ added, ...others } = {}] = (await leave({ page })).files;
  assert.deepEqual(Object.keys(others).sort(), ['file', 'isPaused', 'key', 'owner', 'service']);
  assert.equal(
    Object.keys(added ?? {})
      .sort()
      .join(),
    'document,id,isHeld,name,parentId,relativePath',
  );
});
