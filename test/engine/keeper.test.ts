// The file keeper with its service worker: the next page gets the files of unfinished uploads. One page plays all pages: the event
// `pagehide` hands the files over, and each engine is a page.

import { expect } from '@open-wc/testing';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { PickedFile } from '../../src/core/types.ts';
import type { KeeperRequest } from '../../src/engine/resume/keeper/keeper-messages.ts';
import type { UploadStore } from '../../src/engine/resume/upload-store.ts';
import { deleteUploads } from '../../src/engine/sign-out.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { signOutAndClearUnnoticed, signOutUnnoticed } from '../support/other-page.ts';
import { newStore, replace, type World, world } from '../support/world.ts';

let keeperUrl = '';
let store: UploadStore;
let settings: SettingsInput;
let warnings: string[] = [];
let registrations: Promise<unknown>[] = [];
const { register } = ServiceWorkerContainer.prototype;

const registrationOf = (url: string): Promise<ServiceWorkerRegistration | undefined> =>
  navigator.serviceWorker.getRegistration(url);

beforeEach(() => {
  // Each test has its own worker.
  keeperUrl = new URL(`/file-keeper.js?${crypto.randomUUID()}`, location.href).href;
  store = newStore();
  settings = { keeperUrl, clientId: crypto.randomUUID() };
  warnings = [];
  registrations = [];
  ServiceWorkerContainer.prototype.register = function (...args) {
    const registration = register.apply(this, args);
    registrations.push(registration);
    return registration;
  };
});
afterEach(async () => {
  ServiceWorkerContainer.prototype.register = register;
  await (await registrationOf(keeperUrl))?.unregister();
});

const file = fileOf(1, 2500, 'a.bin');
const named = (...names: string[]): File[] => names.map((name, seed) => fileOf(seed + 2, 4500, name));

/** Opens a page. */
const open = (more: SettingsInput = {}): World =>
  world({ ...settings, ...more, store, warn: (text) => warnings.push(text) });

const hide = (persisted: boolean): boolean =>
  window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted }));
const show = (): boolean => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));

/** Resolves when `count` engines can hand over their files. */
async function areReady(count = 1): Promise<void> {
  await until(() => registrations.length >= count);
  await Promise.all(registrations);
  await until(async () => (await registrationOf(keeperUrl))?.active?.state === 'activated');
  await settled();
}

/** Leaves a page with one or more uploaders that have files, as with a link or a reload. */
async function leave(...engines: World[]): Promise<void> {
  await areReady(engines.length);
  hide(false);
  await Promise.all(engines.map(({ uploader }) => uploader.close()));
}

/** Opens a page, adds a file of three chunks, and waits until one is stored. */
async function begin(more: SettingsInput = {}, picked: PickedFile | File = file): Promise<World> {
  const engine = open(more);
  engine.service.answerAll('open', 'presign');
  await engine.uploader.addFiles([picked]);
  (await engine.service.nextRequest('put')).answer();
  await until(async () => (await store.list())[0]?.stored.size === 1);
  return engine;
}

const reasonsOf = (engine: World): string[] => engine.details('upload-paused').map(({ reason }) => reason);
const names = ({ uploader }: World): string[] => uploader.snapshot.files.map(({ name }) => name);

async function expectResumed(engine: World): Promise<void> {
  engine.service.answerAll();
  await engine.waitForChange('upload-completed');
  expect(engine.details('upload-started')[0]?.resumedBytes).to.equal(1000);
  expect(engine.service.count('open')).to.equal(0);
}

/** Waits until the page asks the user for the file. */
const needsFile = (engine: World): Promise<void> =>
  until(() => engine.uploader.snapshot.files[0]?.pauseReason === 'needs-file');

/** Waits for the time after which a worker without files unregisters itself, measured with a second worker. */
async function waitAsUnused(): Promise<void> {
  const scope = new URL(`/file-keeper.js?clock-${crypto.randomUUID()}`, location.href).href;
  const { installing, waiting, active } = await navigator.serviceWorker.register(scope, { scope });
  const worker = active ?? waiting ?? installing;
  const stateOf = (): string => `the second worker is ${worker?.state ?? 'missing'}`;
  await until(() => worker?.state === 'activated', stateOf);
  worker?.postMessage({ files: [] });
  await until(async () => (await registrationOf(scope))?.scope !== scope, stateOf);
}

describe('with a file keeper, the next page', () => {
  it('keeps the worker of a page that was left without unfinished uploads meanwhile', async () => {
    const next = open();
    // The next page does not list the uploads of another owner.
    const first = open({ owner: 'another' });
    first.service.answerAll();
    await first.uploader.addFiles([file]);
    await first.waitForChange('upload-completed');
    await leave(first);
    const worker = (await registrationOf(keeperUrl))?.active;
    await next.uploader.addFiles([file]);
    await waitAsUnused();
    expect(worker?.state).to.equal('activated');
  });

  it('leaves files that were not sent yet to a new page, if a page that is still open continues the upload', async () => {
    const first = await begin();
    first.uploader.configure({ ...first.input, manual: true });
    await first.uploader.addFiles(named('b.bin'));
    const other = open();
    await until(() => reasonsOf(other).includes('other-tab'));
    // Until then, the worker has answered the other page.
    await waitAsUnused();
    await leave(first);
    await until(() => other.changeNames().includes('upload-resumed'));
    expect(names(other)).to.deep.equal(['a.bin']);
    const next = open();
    await until(() => names(next).includes('b.bin'));
  });

  const ELEMENT_IS_AWAY = ', while the page was without its element';
  for (const [what, act, when, count] of [
    ['nothing of a user who has signed out in another tab', signOutUnnoticed, ELEMENT_IS_AWAY, 0],
    ['nothing if another tab has also cleared the storage', signOutAndClearUnnoticed, ELEMENT_IS_AWAY, 0],
    ['the file of a user who has not signed out', () => undefined, ELEMENT_IS_AWAY, 1],
    ['nothing of a user who has signed out in another tab', signOutUnnoticed, ' a moment ago', 0],
    ['the file of a user who has not signed out', () => undefined, '', 1],
  ] as const)
    it(`gets ${what}${when}`, async () => {
      const first = open({ owner: 'ann', manual: true });
      await first.uploader.addFiles([file]);
      await areReady();
      if (when === ELEMENT_IS_AWAY) await first.uploader.suspend();
      act();
      const { postMessage } = ServiceWorker.prototype;
      const sent: unknown[] = [];
      replace(
        ServiceWorker.prototype,
        'postMessage',
        function (this: ServiceWorker, ...given: readonly [KeeperRequest, Transferable[]]) {
          sent.push(...(given[0].files ?? []));
          Reflect.apply(postMessage, this, given);
        },
      );
      await leave(first);
      expect(sent).to.have.length(count);
    });

  it('continues an upload without choosing the file, and gets the file once', async () => {
    await leave(await begin());
    const next = open();
    await until(() => reasonsOf(next).length === 1);
    await until(() => next.changeNames().includes('upload-resumed'));
    next.service.answerAll('presign');
    await next.service.nextRequest('put');
    await next.uploader.close();
    const last = open();
    await needsFile(last);
    expect(reasonsOf(last)).to.deep.equal(['resuming', 'needs-file']);
    await last.uploader.provide(last.id('a.bin'), file);
    await expectResumed(last);
    expect(reasonsOf(next)).to.deep.equal(['resuming']);
    expect(warnings).to.deep.equal([]);
  });

  it('keeps an upload paused that the user paused', async () => {
    const page = await begin();
    await page.uploader.pause();
    await leave(page);
    const next = open();
    await until(() => reasonsOf(next).length === 2);
    expect(reasonsOf(next)).to.deep.equal(['resuming', 'user']);
    void next.uploader.resume();
    await expectResumed(next);
  });

  it('keeps an upload paused that the user pauses before its file has arrived', async () => {
    await leave(await begin());
    const next = open();
    next.uploader.on('upload-paused', ({ reason }) => {
      if (reason === 'resuming') void next.uploader.pause();
    });
    await until(() => reasonsOf(next).length === 2);
    await settled();
    expect(reasonsOf(next)).to.deep.equal(['resuming', 'user']);
    expect(next.changeNames()).not.to.include('upload-resumed');
    void next.uploader.resume();
    await expectResumed(next);
  });

  it('continues after it had listed the uploads without a keeper', async () => {
    await leave(await begin());
    const next = open({ keeperUrl: undefined });
    await needsFile(next);
    next.uploader.configure({ ...next.input, keeperUrl });
    await expectResumed(next);
    expect(reasonsOf(next)).to.deep.equal(['needs-file', 'resuming']);
  });

  it('lists files that had not started, with all that is known about them', async () => {
    const page = open({ manual: true });
    const metadata = { tag: 'one' };
    const [first, second, third] = named('one.bin', 'two.bin', 'three.bin') as [File, File, File];
    await page.uploader.addFiles([{ file: first, relativePath: 'deep/one.bin', metadata }, second, third]);
    await page.uploader.pause(page.id('two.bin'));
    await page.uploader.cancel(page.id('three.bin'));
    await leave(page);
    const next = open({ manual: true, parentId: 'folder-b' });
    await until(() => next.phases().length === 2);
    expect(next.row('one.bin')).to.include({
      phase: 'queued',
      relativePath: 'deep/one.bin',
      parentId: 'folder-a',
      sizeBytes: 4500,
    });
    expect(next.row('two.bin')).to.include({ phase: 'paused', pauseReason: 'user', parentId: 'folder-a' });
    for (let round = 0; round < 20; round += 1) await settled();
    expect(next.service.log).to.deep.equal([]);
    await next.uploader.start(next.id('one.bin'));
    expect((await next.service.nextRequest('open')).file?.metadata).to.deep.equal(metadata);
  });

  it('starts files that had waited for a slot, with their names, and lists none of them twice', async () => {
    const page = open({ concurrency: 1 });
    const files = named('one.bin', 'two.bin', 'three.bin', 'four.bin', 'five.bin');
    await page.uploader.addFiles(files);
    await page.service.nextRequest('open');
    expect(page.phase('five.bin')).to.equal('queued');
    await leave(page);
    const next = open({ manual: true });
    // The page adds the fourth file itself, before it gets the others.
    await next.uploader.addFiles(files.slice(3, 4));
    next.service.answerAll();
    await next.waitForChange('upload-completed', 4);
    expect(names(next).sort()).to.deep.equal(['five.bin', 'four.bin', 'one.bin', 'three.bin', 'two.bin']);
    expect(next.phase('four.bin')).to.equal('queued');
  });

  it('gets the file of a paused upload from a page that is still open', async () => {
    const page = await begin();
    await page.uploader.pause();
    const next = open();
    await until(() => reasonsOf(next).length === 2);
    expect(reasonsOf(next)).to.deep.equal(['resuming', 'user']);
    void next.uploader.resume();
    await expectResumed(next);
  });

  it('gets the files of a worker that answers late', async () => {
    const page = await begin();
    const other = open({ manual: true });
    await other.uploader.addFiles(named('one.bin'));
    await leave(page, other);
    const { postMessage } = ServiceWorker.prototype;
    let sendAsk: (() => void) | undefined;
    ServiceWorker.prototype.postMessage = function (this: ServiceWorker, ...args: [unknown, never]) {
      const send = (): void => postMessage.call(this, ...args);
      if ('ask' in Object(args[0])) sendAsk = send;
      else send();
    } as typeof postMessage;
    try {
      const next = open({ manual: true });
      await needsFile(next);
      expect(names(next)).to.deep.equal(['a.bin']);
      sendAsk?.();
      await until(() => names(next).length === 2);
      await expectResumed(next);
      expect(next.phase('one.bin')).to.equal('queued');
    } finally {
      ServiceWorker.prototype.postMessage = postMessage;
    }
  });

  it('gets the files if an uploader was closed before it asked for them', async () => {
    await leave(await begin());
    void open({ manual: true }).uploader.close();
    await expectResumed(open());
  });

  it('gets the files if an uploader that asked for them was closed before the answer', async () => {
    await leave(await begin());
    const { postMessage } = ServiceWorker.prototype;
    const closed = open({ manual: true });
    const asked = new Promise<void>((resolve) => {
      ServiceWorker.prototype.postMessage = function (this: ServiceWorker, ...args: [unknown, never]) {
        postMessage.call(this, ...args);
        if (!('ask' in Object(args[0]))) return;
        ServiceWorker.prototype.postMessage = postMessage;
        void closed.uploader.close();
        resolve();
      } as typeof postMessage;
    });
    await asked;
    await expectResumed(open());
  });

  const elsewhere = { baseUrl: `https://${crypto.randomUUID()}.test`, owner: 'bob' };
  for (const [what, end] of [
    [
      'a page changed its owner',
      async () => {
        const { input, uploader } = open(elsewhere);
        uploader.configure({ ...input, owner: 'eve' });
        // Requests for registrations are answered in order.
        await registrationOf(keeperUrl);
        await settled();
      },
    ],
    // With a store of its own, the sign-out keeps the saved upload.
    ['a page signed out', () => world({ ...settings, ...elsewhere }).uploader.signOut()],
    ['a page without complete settings signed out', () => deleteUploads()],
  ] as const)
    it(`asks for the file if, in the meantime, ${what} directly after it was opened`, async () => {
      await leave(await begin());
      await end();
      const next = open();
      await needsFile(next);
      expect(reasonsOf(next)).to.deep.equal(['resuming', 'needs-file']);
    });

  it('of another user gets nothing', async () => {
    const page = open({ manual: true, owner: 'ann' });
    await page.uploader.addFiles(named('one.bin'));
    await leave(page);
    const bob = open({ manual: true, owner: 'bob' });
    await bob.uploader.addFiles(named('b.bin'));
    for (let round = 0; round < 20; round += 1) await settled();
    const ann = open({ manual: true, owner: 'ann' });
    await ann.uploader.addFiles(named('a.bin'));
    for (let round = 0; round < 20; round += 1) await settled();
    expect([names(bob), names(ann)]).to.deep.equal([['b.bin'], ['a.bin']]);
  });
});

describe('a page that comes back from the back/forward cache', () => {
  /** Opens a page whose file has not started, and goes to the next page. */
  async function goOn(): Promise<World> {
    const page = open();
    await page.uploader.addFiles(named('one.bin'));
    await page.service.nextRequest('open');
    await areReady();
    hide(true);
    expect(page.row('one.bin')?.phase).to.equal('paused');
    return page;
  }

  it('continues its uploads if no other page got their files', async () => {
    const page = await goOn();
    show();
    page.service.answerAll();
    await page.waitForChange('upload-completed');
    expect(names(page)).to.deep.equal(['one.bin']);
  });
});

describe('a page that cannot use its file keeper', () => {
  for (const [what, url] of [
    ['is not on the origin of the page', 'https://cdn.test/file-keeper.js'],
    ['does not exist', '/no-such-keeper.js'],
  ] as const)
    it(`asks for the file, and warns once, if the script ${what}`, async () => {
      const page = await begin({ keeperUrl: url });
      await until(() => warnings.length > 0);
      await page.uploader.close();
      const next = open({ keeperUrl: url });
      await needsFile(next);
      await next.uploader.provide(next.id('a.bin'), file);
      await expectResumed(next);
      expect(warnings.every((text) => /^keeper-url: .*[^.]\. After a reload, users /.test(text))).to.equal(
        true,
      );
      await deleteUploads();
    });
});

it('a page without files registers no worker', async () => {
  open();
  for (let round = 0; round < 20; round += 1) await settled();
  expect(await registrationOf(keeperUrl)).to.equal(undefined);
});
