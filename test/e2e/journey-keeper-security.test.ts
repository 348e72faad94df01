// What the file keeper gives to whom: the files of a page only to the next page of the same service and owner.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright';
import { builtWidget } from '../support/built.ts';
import { eventsOf, until } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { startPages } from './support/pages.ts';
import { hasStored, pick } from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

const MIB = 2 ** 20;
const FOR_EVER = Number.POSITIVE_INFINITY;
const KEEPER = '/file-keeper.js';

let world: World;
before(async () => {
  world = await createWorld({ fsync: false });
  world.pages.add('/plain.html', '<p>A page without an uploader</p>');
});
after(() => world.close());
afterEach(async () => {
  for (const page of world.browser.pages().slice(1)) await page.close();
  world.service.faults.clear();
});

const attributes = async (owner: string): Promise<string> => {
  const { token } = await world.service.createToken('alice', 3_600_000);
  return `keeper-url="${KEEPER}" chunk-size="1MiB" owner="${owner}" data-token="${token}"`;
};

const openPlain = async (): Promise<Page> => {
  const page = await world.browser.newPage();
  await page.addInitScript('globalThis.__name = (fn) => fn;');
  await page.goto(`${world.pages.origin}/plain.html`);
  return page;
};

/** A page of its own user with an upload that has stored two chunks, and the key of the upload's record. */
interface Uploading {
  readonly page: Page;
  readonly key: string;
  readonly owner: string;
}

async function openUploading(more = ''): Promise<Uploading> {
  const owner = `ann ${Math.random()}`;
  const page = await world.open(`${more} ${await attributes(owner)}`);
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

/** Leaves the page by a link to a page without an uploader. The keeper has the file then. */
const leave = async ({ page }: Uploading): Promise<void> => {
  await page.goto(`${world.pages.origin}/plain.html`);
};

/** Asks the keeper for a file, as any script of the origin can. Returns the number of files that it gives. */
const ask = (page: Page, { owner, key }: Uploading, more: object = {}): Promise<number> =>
  page.evaluate(
    async ([url, ask]) => {
      const registration = await navigator.serviceWorker.getRegistration(url);
      if (!registration?.active) return 0;
      const { port1, port2 } = new MessageChannel();
      registration.active.postMessage({ ask }, [port2]);
      // A worker that ignores the request sends no response. Without a response, a valid request shows that it has been processed.
      const { port1: other1, port2: other2 } = new MessageChannel();
      registration.active.postMessage({ ask: { service: '', owner: '', keys: [] } }, [other2]);
      const answers: Promise<unknown>[] = [port1, other1].map(
        (port) =>
          new Promise((resolve) => {
            port.onmessage = ({ data }) => resolve(data);
          }),
      );
      const found = (await Promise.race(answers)) as unknown[];
      return found.length;
    },
    [KEEPER, { service: world.service.baseUrl, owner, keys: [key], ...more }] as const,
  );

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
  const other = await world.open(await attributes(upload.owner), '/other.html');
  await leave(upload);
  await other.evaluate(() => document.querySelector('secure-uploader')?.signOut());
  assert.equal(await ask(other, upload), 0);
});

test('after a sign-out of a page whose settings are invalid, the keeper gives nothing', async () => {
  const upload = await openUploading();
  await leave(upload);
  const page = await world.browser.newPage();
  await page.addInitScript('globalThis.__name = (fn) => fn;');
  await page.goto(
    world.pages.add(
      '/broken.html',
      `<secure-uploader base-url="ftp://files.test" keeper-url="${KEEPER}"></secure-uploader>`,
    ),
  );
  await page.waitForFunction(() => customElements.get('secure-uploader'), null, { polling: 50 });
  await page.evaluate(() =>
    document
      .querySelector('secure-uploader')
      ?.signOut()
      .catch(() => undefined),
  );
  assert.equal(await ask(page, upload), 0);
});

test('after a sign-out of a page with no-resume, the keeper gives nothing', async () => {
  const upload = await openUploading();
  const other = await world.open(`no-resume ${await attributes(upload.owner)}`, '/other.html');
  await leave(upload);
  await other.evaluate(() => document.querySelector('secure-uploader')?.signOut());
  assert.equal(await ask(other, upload), 0);
});

test('after a change of the owner in another tab, the keeper gives nothing', async () => {
  const upload = await openUploading();
  const other = await world.open(await attributes(upload.owner), '/other.html');
  await leave(upload);
  await other.evaluate(async () => {
    const element = document.querySelector('secure-uploader');
    Object.assign(element ?? {}, { owner: 'bob' });
    await element?.updateComplete;
  });
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
      const page = await world.browser.newPage();
      await page.addInitScript('globalThis.__name = (fn) => fn;');
      await page.goto(
        embedder.add('/embedder.html', `<iframe src="${world.pages.origin}/index.html"></iframe>`),
      );
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
          registration?.active?.postMessage({ ask }, [new MessageChannel().port2]);
        },
        [KEEPER, { service: world.service.baseUrl, owner: upload.owner, keys: [upload.key] }] as const,
      );
      assert.equal(await ask(upload.page, upload), 1);
    } finally {
      if (!isOwn) await embedder.close();
    }
  });
}

/** Resolves when the page's origin has no registered keeper at `url`. */
const isUnregistered = (page: Page, url: string): Promise<unknown> =>
  page.waitForFunction(
    async (url) => {
      const found = await navigator.serviceWorker.getRegistration(url);
      return found?.scope !== new URL(url, location.href).href;
    },
    url,
    { polling: 50 },
  );

test('when no page has asked in time, the keeper drops the file and unregisters itself', async () => {
  const script = readFileSync(join(builtWidget(), KEEPER), 'utf8');
  const short = script.replace('5e4', '200');
  assert.notEqual(short, script);
  world.pages.setScript('/short.js', short);
  const upload = await openUploading('keeper-url="/short.js"');
  await leave(upload);
  await isUnregistered(upload.page, '/short.js');
  const page = await world.open(await attributes(upload.owner));
  await until(page, 'upload-paused', 2);
  const reasons = (await eventsOf(page, 'upload-paused')).map(({ detail }) => detail.reason);
  assert.equal(reasons.at(-1), 'needs-file');
});

test('the keeper unregisters itself when a page without unfinished uploads is left', async () => {
  const page = await world.open(await attributes('carl'));
  const file = join(world.folder, 'small.bin');
  writeRandom(file, 1000);
  await pick(page, file);
  await until(page, 'upload-completed');
  await page.evaluate((url) => navigator.serviceWorker.getRegistration(url), KEEPER);
  await page.goto(`${world.pages.origin}/plain.html`);
  await isUnregistered(page, KEEPER);
});

test('a file that a script put in place of another is not accepted, and malformed messages change nothing', async () => {
  const upload = await openUploading();
  await leave(upload);
  await upload.page.evaluate(
    async ([url, service, owner, key]) => {
      const worker = (await navigator.serviceWorker.getRegistration(url))?.active;
      const valid = { service, owner, key, file: new File(['other'], 'film.bin'), isPaused: false };
      for (const data of [
        null,
        'text',
        { files: 'text' },
        { ask: 'text' },
        { ask: { ...valid, keys: 'text' } },
      ])
        worker?.postMessage(data);
      for (const broken of [{ file: 'text' }, { key: 7 }, { owner: null }, { isPaused: 1 }, { service: [] }])
        worker?.postMessage({ files: [{ ...valid, ...broken }, null] });
    },
    [KEEPER, world.service.baseUrl, upload.owner, upload.key] as const,
  );
  assert.equal(await ask(upload.page, upload), 1);
  await upload.page.evaluate(
    async ([url, service, owner, key]) => {
      const worker = (await navigator.serviceWorker.getRegistration(url))?.active;
      const file = new File(['other'], 'film.bin');
      worker?.postMessage({ files: [{ service, owner, key, file, isPaused: false }] });
    },
    [KEEPER, world.service.baseUrl, upload.owner, upload.key] as const,
  );
  const page = await world.open(await attributes(upload.owner));
  await until(page, 'upload-paused', 2);
  const row = await page.evaluate((key) => {
    const { files = [], rejections } = document.querySelector('secure-uploader')?.snapshot ?? {};
    return [files.find(({ name }) => key.includes(name))?.pauseReason, rejections?.length];
  }, upload.key);
  assert.deepEqual(row, ['needs-file', 0]);
});

test('a page hands over files and nothing secret', async () => {
  await world.browser.addInitScript(`{
    const send = ServiceWorker.prototype.postMessage;
    ServiceWorker.prototype.postMessage = function (message, ...rest) {
      localStorage.setItem('handed', JSON.stringify(message));
      return send.call(this, message, ...rest);
    };
  }`);
  const upload = await openUploading();
  await leave(upload);
  const handed = await upload.page.evaluate(() => localStorage.getItem('handed') ?? '');
  const { files, ...others } = JSON.parse(handed);
  assert.deepEqual(others, {});
  assert.deepEqual(Object.keys(files[0]).sort(), ['file', 'isPaused', 'key', 'owner', 'service']);
  assert.deepEqual(files[0].file, {});
});

test('a page hands over nothing secret for an upload that has not started', async () => {
  const page = await world.open(`manual ${await attributes('queued')}`, '/queued.html');
  const file = join(world.folder, 'queued.bin');
  writeRandom(file, 1000);
  await pick(page, file);
  await page.waitForFunction(
    async (url) => (await navigator.serviceWorker.getRegistration(url))?.active?.state === 'activated',
    KEEPER,
    { polling: 50 },
  );
  await page.goto(`${world.pages.origin}/plain.html`);
  const handed = await page.evaluate(() => localStorage.getItem('handed') ?? '');
  const [{ added, ...others }] = JSON.parse(handed).files;
  assert.deepEqual(Object.keys(others).sort(), ['file', 'isPaused', 'key', 'owner', 'service']);
  assert.deepEqual(Object.keys(added).sort(), ['id', 'isHeld', 'name', 'parentId', 'relativePath']);
});
