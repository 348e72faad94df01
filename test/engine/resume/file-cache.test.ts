// `keep-files`: small files resume automatically after a reload, and are saved only as long as needed.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../../src/core/errors.ts';
import type { UploadRecord } from '../../../src/core/types.ts';
import { SavedUploads, type UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { fileOf } from '../../support/bytes.ts';
import { speedUp } from '../../support/clock.ts';
import { deferred, settled, until } from '../../support/collect.ts';
import { createUnfinished, newStore, SERVICE_URL, type World, world } from '../../support/world.ts';

let name = '';
let store: UploadStore;
beforeEach(() => {
  name = `test-${crypto.randomUUID()}`;
  store = newStore(name);
});

/** Returns the records that contain their file. */
const savedFiles = async (): Promise<UploadRecord[]> => (await store.list()).filter(({ file }) => file);
const keeps = (count: number): Promise<void> => until(async () => (await savedFiles()).length === count);
/** Waits until every record with a file also has a session. */
const keepsSessions = (): Promise<void> =>
  until(async () => (await savedFiles()).every(({ session }) => session));
const lockCount = async (key: string): Promise<number> => {
  const { held = [] } = await navigator.locks.query();
  return held.filter(({ name }) => name?.endsWith(key)).length;
};
const isLocked = (key: string): Promise<void> => until(async () => (await lockCount(key)) === 1);
const isUnlocked = (key: string): Promise<void> => until(async () => (await lockCount(key)) === 0);
/** Simulates closing the page, which releases the page's locks. */
const leave = ({ uploader }: World): Promise<void> => uploader.close();
const STOPS: Readonly<Record<string, (engine: World) => Promise<void>>> = {
  failed: async (engine) => {
    (await engine.service.nextRequest('open')).refuse(new UploaderError('forbidden', 'no'));
    await engine.waitForChange('upload-failed');
  },
  'was paused': ({ uploader }) => uploader.pause(),
  'was suspended': ({ uploader }) => uploader.suspend(),
};
const kept = { keepFiles: true, chunkSize: 'auto' };

describe('with `keep-files`', () => {
  it('files that ran or waited resume automatically after a reload, in the same session', async () => {
    const before = world({ ...kept, store });
    before.service.answerAll('open');
    await before.uploader.addFiles([
      { file: fileOf(1, 2500, 'a.bin'), relativePath: 'deep/a.bin' },
      fileOf(2, 10, 'b.bin'),
    ]);
    await before.service.nextRequest('presign');
    await keeps(2);
    await keepsSessions();
    await leave(before);
    const engine = world({ ...kept, parentId: 'folder-b', store });
    engine.service.answerAll();
    await engine.waitForChange('upload-completed', 2);
    expect(engine.service.count('open')).to.equal(0);
    expect(engine.service.stored.size).to.equal(2);
    expect(engine.row('a.bin')).to.include({ relativePath: 'deep/a.bin', parentId: 'folder-a' });
    await keeps(0);
  });

  it('a file of several chunks sends only what is missing', async () => {
    const before = world({ ...kept, chunkSize: 1000, store });
    before.service.answerAll('open', 'presign');
    await before.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    (await before.service.nextRequest('put')).answer();
    await until(async () => (await store.list())[0]?.stored.size === 1);
    await keeps(1);
    await leave(before);
    const engine = world({ ...kept, chunkSize: 1000, store });
    for (const hash of before.service.stored) engine.service.stored.add(hash);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.uploader.snapshot.files).to.have.length(1);
    expect(engine.details('upload-started')[0]?.resumedBytes).to.equal(1000);
    expect(engine.service.puts).to.have.length(2);
  });

  it('a file that an earlier visit started without saving it resumes that upload, and is saved with it', async () => {
    const file = fileOf(1, 2500, 'a.bin');
    const store = await createUnfinished(file);
    const engine = world({ keepFiles: true, store });
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([file]);
    await until(async () => (await store.list())[0]?.file !== undefined);
    const [saved] = await store.list();
    expect([saved?.stored.size, saved?.session !== undefined]).to.deep.equal([1, true]);
    expect(engine.service.count('open')).to.equal(0);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    await until(async () => (await store.list()).length === 0);
  });

  it('a file has the name that the user chose, and its session, on the next visit', async () => {
    const before = world({ ...kept, store });
    await before.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    (await before.service.nextRequest('open')).refuse(new UploaderError('name-taken', 'there is one'));
    await before.waitForChange('upload-failed');
    await keeps(1);
    await before.uploader.retry(before.id('a.bin'), 'b.bin');
    (await before.service.nextRequest('open')).answer();
    await before.service.nextRequest('presign');
    await keepsSessions();
    await leave(before);
    const engine = world({ ...kept, store });
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.details('upload-completed')[0]?.name).to.equal('b.bin');
    expect(engine.service.count('open')).to.equal(0);
  });

  for (const [what, stop] of Object.entries(STOPS))
    it(`a file that is saved after its upload ${what} leaves the lock to other tabs`, async () => {
      const mayCount = deferred();
      const slow: UploadStore = {
        ...store,
        async fileBytes() {
          await mayCount.promise;
          return store.fileBytes();
        },
      };
      const engine = world({ ...kept, store: slow });
      await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
      await stop(engine);
      mayCount.resolve();
      await keeps(1);
      await isUnlocked((await savedFiles())[0]?.key ?? '');
    });

  for (const manual of [false, true])
    it(`a file that is added to a suspended list is saved, and left to other tabs (manual: ${manual})`, async () => {
      const engine = world({ ...kept, manual, store });
      const suspended = engine.uploader.suspend();
      await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
      await keeps(1);
      await suspended;
      await isUnlocked((await savedFiles())[0]?.key ?? '');
    });

  it('a file that waits keeps its lock after it is saved', async () => {
    const engine = world({ ...kept, manual: true, store });
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    await keeps(1);
    const key = (await savedFiles())[0]?.key ?? '';
    for (let round = 0; round < 20; round += 1) await settled();
    expect(await lockCount(key)).to.equal(1);
  });

  it('a file that is renamed stays saved, however long writing the name takes', async () => {
    const isUpdating = deferred();
    const mayUpdate = deferred();
    const slow: UploadStore = {
      ...store,
      async update(...change) {
        isUpdating.resolve();
        await mayUpdate.promise;
        await store.update(...change);
      },
    };
    const engine = world({ ...kept, store: slow });
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    (await engine.service.nextRequest('open')).refuse(new UploaderError('name-taken', 'there is one'));
    await engine.waitForChange('upload-failed');
    await keeps(1);
    await isUnlocked((await savedFiles())[0]?.key ?? '');
    await engine.uploader.retry(engine.id('a.bin'), 'b.bin');
    await isUpdating.promise;
    await isLocked((await savedFiles())[0]?.key ?? '');
    for (let round = 0; round < 20; round += 1) await settled();
    mayUpdate.resolve();
    (await engine.service.nextRequest('open')).answer();
    await engine.service.nextRequest('presign');
    await keepsSessions();
    const [saved] = await store.list();
    expect([saved?.newName, saved?.file?.size]).to.deep.equal(['b.bin', 10]);
  });

  for (const [what, chunkSize] of [
    ['one chunk', 'auto'],
    ['several chunks', 1000],
  ] as const) {
    it(`a file of ${what} that the user paused stays paused, and others continue`, async () => {
      const settings = { ...kept, chunkSize };
      const before = world({ ...settings, store });
      before.service.answerAll('open');
      await before.uploader.addFiles(['a.bin', 'b.bin', 'c.bin'].map((each, at) => fileOf(at, 2500, each)));
      await before.service.nextRequest('presign');
      await keeps(3);
      await before.uploader.pause(before.id('a.bin'));
      await before.uploader.pause(before.id('b.bin'));
      await before.uploader.resume(before.id('b.bin'));
      await leave(before);
      const engine = world({ ...settings, store });
      engine.service.answerAll();
      await engine.waitForChange('upload-completed', 2);
      expect(engine.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'user' });
      expect(engine.changeNames('a.bin')).not.to.include('upload-started');
      await engine.uploader.resume(engine.id('a.bin'));
      await engine.waitForChange('upload-completed', 3);
      await keeps(0);
    });
  }

  it('a file that was only suspended with its list resumes automatically on another page', async () => {
    const before = world({ ...kept, store });
    await before.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    await keeps(1);
    await before.uploader.suspend();
    const engine = world({ ...kept, store: new SavedUploads({ name }) });
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
  });

  it('a file that is active in another page waits for that page', async () => {
    const one = world({ ...kept, store });
    await one.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    await keeps(1);
    await one.service.nextRequest('open');
    const other = world({ ...kept, store: new SavedUploads({ name }) });
    other.service.answerAll();
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    await one.uploader.suspend();
    await other.waitForChange('upload-completed');
    expect(other.phases()).to.deep.equal(['done']);
  });

  it('a file that another page uploads keeps no other file from being saved, and is saved later', async () => {
    const one = world({ ...kept, answers: ['open'], store: new SavedUploads({ name: `${name}-other` }) });
    const file = fileOf(1, 10, 'a.bin');
    await one.uploader.addFiles([file]);
    await one.service.nextRequest('presign');
    // On the clock of this test, ten times as fast, each use of the database still has the ten seconds of the default.
    const other = world({ ...kept, store: new SavedUploads({ name, deadlineMs: 100_000 }) });
    // The file whose lock is not free is left out after five seconds.
    speedUp(10);
    await other.uploader.addFiles([file, fileOf(2, 10, 'b.bin'), fileOf(3, 10, 'c.bin')]);
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    await keeps(2);
    expect((await savedFiles()).map((record) => record.name)).to.have.members(['b.bin', 'c.bin']);
    await one.uploader.suspend();
    await keeps(3);
  });

  it('nothing is saved if the browser has no locks, since no other page could take it', async () => {
    Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true });
    try {
      const saved: string[] = [];
      const save = async ({ name }: { name: string }): Promise<void> => void saved.push(name);
      const engine = world({ ...kept, store: { ...store, save } });
      await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
      engine.service.answerAll();
      await engine.waitForChange('upload-completed');
      expect(saved).to.deep.equal([]);
      await engine.uploader.close();
    } finally {
      Reflect.deleteProperty(navigator, 'locks');
    }
  });

  it('a file that was picked again is listed once, and is uploaded once', async () => {
    const before = world({ ...kept, store });
    const file = fileOf(1, 10, 'a.bin');
    await before.uploader.addFiles([file]);
    await keeps(1);
    await leave(before);
    const engine = world({ ...kept, manual: true, store });
    await engine.uploader.addFiles([file]);
    await until(async () => (await savedFiles()).length === 1);
    engine.service.answerAll();
    await engine.uploader.start();
    await engine.waitForChange('upload-completed');
    await keeps(0);
    expect(engine.phases()).to.deep.equal(['done']);
  });

  it('a file is deleted when its upload is canceled, removed or deleted with all data', async () => {
    const engine = world({ ...kept, manual: true, cancelPath: undefined, store });
    await engine.uploader.addFiles(['a', 'b', 'c'].map((each, at) => fileOf(at, 10, each)));
    await keeps(3);
    await engine.uploader.cancel(engine.id('a'));
    await keeps(2);
    await engine.uploader.remove(engine.id('b'));
    await keeps(1);
    await engine.uploader.signOut();
    await keeps(0);
    await leave(engine);
    const next = world({ ...kept, store });
    await next.uploader.addFiles([fileOf(4, 10, 'd')]);
    expect(next.uploader.snapshot.files.map((file) => file.name)).to.deep.equal(['d']);
  });

  it('files of another owner stay saved, and are restored for their owner', async () => {
    const before = world({ ...kept, owner: 'ann', store });
    await before.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    await keeps(1);
    await leave(before);
    const engine = world({ ...kept, owner: 'bob', store });
    const settings = { baseUrl: SERVICE_URL, auth: 'none', keepFiles: true } as const;
    engine.uploader.configure({ ...settings, owner: 'ann' });
    await until(() => engine.phase('a.bin') !== undefined);
    engine.uploader.configure({ ...settings, owner: 'bob' });
    expect(engine.phases()).to.deep.equal([]);
    engine.uploader.configure({ ...settings, owner: 'ann' });
    await until(() => engine.phase('a.bin') !== undefined);
    expect(await savedFiles()).to.have.length(1);
  });

  it('files of an owner who left while they were loaded are not shown', async () => {
    const before = world({ ...kept, owner: 'ann', store });
    await before.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    await keeps(1);
    await leave(before);
    const [asked, listing, never] = [deferred(), deferred(), deferred()];
    let pruneCount = 0;
    const prune = async (): Promise<void> => {
      pruneCount += 1;
      if (pruneCount > 1) await never.promise;
    };
    const list: typeof store.list = async () => {
      asked.resolve();
      await listing.promise;
      return store.list();
    };
    const engine = world({ ...kept, owner: 'ann', store: { ...store, list, prune } });
    await asked.promise;
    engine.uploader.configure({ baseUrl: SERVICE_URL, auth: 'none', keepFiles: true, owner: 'bob' });
    listing.resolve();
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.phases()).to.deep.equal([]);
  });

  it('files of more than 4 MiB, and all files if saving is off, are not saved', async () => {
    const sized = (name: string, value: number): File =>
      Object.defineProperty(fileOf(1, 10, name), 'size', { value });
    const large = sized('large.bin', 4 * 2 ** 20 + 1);
    const engine = world({ ...kept, manual: true, store });
    const nothing = world({ ...kept, manual: true, noResume: true, store });
    await nothing.uploader.addFiles([fileOf(2, 10, 'b.bin')]);
    await engine.uploader.addFiles([large, sized('exact.bin', 4 * 2 ** 20), fileOf(3, 10, 'small.bin')]);
    await keeps(2);
    for (let round = 0; round < 20; round += 1) await settled();
    expect(await savedFiles()).to.have.length(2);
  });

  it('a file that cannot be read is not saved, and keeps no other file from being saved', async () => {
    const warnings: string[] = [];
    const engine = world({ ...kept, manual: true, store, warn: (text) => warnings.push(text) });
    const gone = fileOf(1, 10, 'gone.bin');
    // The first bytes can be read, as those of a file that is deleted between the two reads.
    gone.arrayBuffer = () => Promise.reject(new DOMException('', 'NotReadableError'));
    await engine.uploader.addFiles([gone, fileOf(2, 10, 'b.bin'), fileOf(3, 10, 'c.bin')]);
    await keeps(2);
    expect(warnings).to.deep.equal([]);
  });

  it('no more than 64 MiB are saved in all, and uploads beyond that continue without saving', async () => {
    const fileBytes = async (): Promise<number> => 64 * 2 ** 20 - 15;
    const engine = world({ ...kept, store: { ...store, fileBytes } });
    await engine.uploader.addFiles([
      fileOf(1, 10, 'fits'),
      fileOf(2, 10, 'does not'),
      fileOf(3, 5, 'fits too'),
    ]);
    await keeps(2);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed', 3);
    await keeps(0);
  });

  it('a full disk stops no upload, and is reported once', async () => {
    const warnings: string[] = [];
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function full(this: IDBObjectStore) {
      try {
        this.transaction.abort();
      } catch {
        // The transaction was already aborted.
      }
      return Object.create(IDBRequest.prototype) as IDBRequest<IDBValidKey>;
    };
    try {
      const engine = world({ ...kept, store, warn: (text) => warnings.push(text) });
      await engine.uploader.addFiles([fileOf(1, 10, 'a')]);
      await until(() => warnings.length > 0);
      engine.service.answerAll();
      await engine.uploader.addFiles([fileOf(2, 10, 'b')]);
      await engine.waitForChange('upload-completed', 2);
    } finally {
      IDBObjectStore.prototype.put = put;
    }
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('keep-files');
  });
});
