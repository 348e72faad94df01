// Uploads of an earlier visit that wait for their file: what a user can do with them, and which file they accept.

import { expect } from '@open-wc/testing';
import type { UploadStore } from '../../../src/engine/resume/upload-store.ts';
import { fileOf, sha256 } from '../../support/bytes.ts';
import { deferred, settled, until } from '../../support/collect.ts';
import { createUnfinished, newStore, SERVICE_URL, type World, world } from '../../support/world.ts';

const file = fileOf(1, 2500, 'a.bin');

/** Returns an engine whose list has an upload of an earlier visit with one stored chunk. */
async function nextVisit(settings = {}): Promise<{ engine: World; store: UploadStore }> {
  const store = await createUnfinished(file);
  const engine = world({ ...settings, store });
  await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
  engine.service.answerAll();
  return { engine, store };
}

describe('an upload of an earlier visit', () => {
  it('shows how much is stored, before it has its file', async () => {
    const { engine } = await nextVisit();
    expect(engine.row('a.bin')).to.include({ sentBytes: 1000, storedBytes: 1000 });
  });

  it('still waits for its file after everything was paused and resumed, and others continue', async () => {
    const { engine } = await nextVisit();
    await engine.uploader.pause();
    await engine.uploader.resume();
    expect(engine.row('a.bin')?.pauseReason).to.equal('needs-file');
    await engine.uploader.addFiles([fileOf(2, 2500, 'b.bin')]);
    await engine.waitForChange('upload-completed');
    await engine.uploader.provide(engine.id('a.bin'), file);
    await engine.waitForChange('upload-completed', 2);
  });

  it('that is completed with a larger chunk size sends only what is missing, and is not restored again', async () => {
    const { engine, store } = await nextVisit({ chunkSize: 10_000 });
    engine.service.stored.add(await sha256(file.slice(0, 1000)));
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed');
    expect(engine.service.puts).to.have.length(2);
    await until(async () => (await store.list()).length === 0);
  });

  it('that was canceled asks for its file again when it is retried', async () => {
    const { engine, store } = await nextVisit();
    await engine.uploader.cancel(engine.id('a.bin'));
    expect(await store.list()).to.deep.equal([]);
    await engine.uploader.retry(engine.id('a.bin'));
    expect(engine.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'needs-file' });
    await engine.uploader.provide(engine.id('a.bin'), fileOf(2, 2400, 'a.bin'));
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['wrong-file']);
    await engine.uploader.provide(engine.id('a.bin'), file);
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
  });

  it('continues with a copy that has another time or name, and is deleted when it is done', async () => {
    for (const name of ['a.bin', 'copy.bin']) {
      const { engine, store } = await nextVisit();
      const copy = new File([file], name, { lastModified: file.lastModified + 1000 });
      await engine.uploader.provide(engine.id('a.bin'), copy);
      await engine.waitForChange('upload-completed');
      expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.bin']);
      expect(engine.service.count('open')).to.equal(0);
      expect(engine.details('upload-started')[0]?.resumedBytes).to.equal(1000);
      await until(async () => (await store.list()).length === 0);
    }
  });

  it('continues with a copy of another time that is added, and not with one of another name', async () => {
    const { engine } = await nextVisit();
    const lastModified = file.lastModified + 1000;
    const copies = ['copy.bin', 'a.bin'].map((name) => new File([file], name, { lastModified }));
    await engine.uploader.addFiles(copies);
    await engine.waitForChange('upload-completed', 2);
    expect(engine.uploader.snapshot.files.map(({ name, phase }) => [name, phase])).to.deep.equal([
      ['a.bin', 'done'],
      ['copy.bin', 'done'],
    ]);
    expect(engine.details('upload-started').map(({ resumedBytes }) => resumedBytes)).to.have.members([
      1000, 0,
    ]);
  });

  it('is not continued with a file of another time whose stored part has other bytes', async () => {
    const { engine } = await nextVisit();
    const bytes = new Uint8Array(await file.arrayBuffer());
    const other = (at: number): File => {
      const changed = bytes.slice();
      changed[at] = 255 - (changed[at] ?? 0);
      return new File([changed], 'a.bin', { lastModified: file.lastModified + 1000 });
    };
    await engine.uploader.addFiles([other(500)]);
    await engine.waitForChange('upload-completed');
    const [waiting, added] = engine.uploader.snapshot.files;
    expect([waiting?.pauseReason, added?.phase]).to.deep.equal(['needs-file', 'done']);
    expect(engine.details('upload-started')[0]?.resumedBytes).to.equal(0);
  });

  it('rejects a file of another time whose first bytes are the same, and whose stored chunk is not', async () => {
    const large = fileOf(3, 200_000, 'large.bin');
    const store = await createUnfinished(large, { chunkSize: 100_000 });
    const engine = world({ chunkSize: 100_000, store });
    await until(() => engine.row('large.bin')?.pauseReason === 'needs-file');
    const bytes = new Uint8Array(await large.arrayBuffer());
    bytes[90_000] = 255 - (bytes[90_000] ?? 0);
    const changed = new File([bytes], 'large.bin', { lastModified: large.lastModified + 1000 });
    await engine.uploader.provide(engine.id('large.bin'), changed);
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['wrong-file']);
  });

  it('rejects a file with other bytes but the same name, size and time', async () => {
    const { engine } = await nextVisit();
    const id = engine.id('a.bin');
    await engine.uploader.provide(id, fileOf(2, file.size, 'a.bin'));
    expect(engine.uploader.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['wrong-file']);
    expect(engine.row('a.bin')?.pauseReason).to.equal('needs-file');
    await engine.uploader.provide(id, file);
    await engine.waitForChange('upload-completed');
  });

  it('is not restored once it is older than `resume-for`', async () => {
    const store = await createUnfinished(file);
    const [old] = await store.list();
    if (!old) throw new Error('there is a record');
    await store.save({ ...old, createdAtMs: Date.now() - 25 * 3_600_000 });
    await createUnfinished(fileOf(2, 2500, 'young.bin'), { store });
    const pruned = deferred();
    const prune: typeof store.prune = (...limits) => store.prune(...limits).finally(() => pruned.resolve());
    const engine = world({ keepDays: 1, store: { ...store, prune } });
    await until(() => engine.row('young.bin')?.pauseReason === 'needs-file');
    expect(engine.phases()).to.deep.equal(['paused']);
    await pruned.promise;
    // A clock may be ahead for one visit, so the record is deleted at another visit on another day.
    const { now } = Date;
    try {
      Date.now = () => now() + 24 * 3_600_000;
      void world({ keepDays: 1, store });
      await until(async () => `${(await store.list()).map(({ name }) => name)}` === 'young.bin');
    } finally {
      Date.now = now;
    }
  });

  it('has how long its page wants it kept, for pages with other settings', async () => {
    const store = await createUnfinished(file, { keepDays: 2 });
    const keepMs = (await store.list()).map((record) => record.keepMs);
    expect(keepMs).to.deep.equal([2 * 24 * 3_600_000]);
  });

  it('is listed before uploads that are too old are deleted', async () => {
    const store = await createUnfinished(file);
    const [listing, pruning] = [deferred(), deferred()];
    const prune: typeof store.prune = async () => pruning.resolve();
    const list: typeof store.list = async (keys) => {
      await listing.promise;
      return store.list(keys);
    };
    const engine = world({ store: { ...store, prune, list } });
    const pruned = pruning.promise.then(() => engine.row('a.bin')?.pauseReason);
    for (let round = 0; round < 20; round += 1) await settled();
    listing.resolve();
    expect(await pruned).to.equal('needs-file');
  });

  it('is listed while others are still being read', async () => {
    const store = await createUnfinished(file);
    const [saved] = await store.list();
    if (!saved) throw new Error('there is a record');
    const keys: typeof store.keys = async () => [
      saved.key,
      ...Array.from({ length: 1000 }, (_, at) => `${at}`),
    ];
    const list: typeof store.list = async (wanted) =>
      wanted?.includes(saved.key) ? store.list([saved.key]) : new Promise(() => undefined);
    const engine = world({ store: { ...store, keys, list } });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
  });

  it('accepts the same file when it is added for the same folder', async () => {
    const { engine } = await nextVisit();
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed');
    expect(engine.phases()).to.deep.equal(['done']);
    expect(engine.service.count('open')).to.equal(0);
  });

  it('ignores a file that is added for another folder, or has another path', async () => {
    const { engine } = await nextVisit({ parentId: 'folder-b' });
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed');
    expect(engine.uploader.snapshot.files.map(({ phase, parentId }) => [phase, parentId])).to.deep.equal([
      ['paused', 'folder-a'],
      ['done', 'folder-b'],
    ]);
    await engine.uploader.addFiles([{ file, relativePath: 'other/a.bin' }]);
    await engine.waitForChange('upload-completed', 2);
    expect(engine.uploader.snapshot.files[0]?.phase).to.equal('paused');
  });

  it('is not listed beside its file if the page added the file before the saved uploads were read', async () => {
    const saved = await createUnfinished(file);
    await createUnfinished(fileOf(2, 2500, 'b.bin'), { store: saved });
    const mayList = deferred();
    const list: typeof saved.list = async () => {
      await mayList.promise;
      return saved.list();
    };
    const engine = world({ manual: true, store: { ...saved, list } });
    await engine.uploader.addFiles([file]);
    mayList.resolve();
    await until(() => engine.row('b.bin')?.pauseReason === 'needs-file');
    await settled();
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.bin', 'b.bin']);
  });

  it('accepts its file once: the same file again is another upload, and files that the user paused meanwhile stay paused', async () => {
    const { engine } = await nextVisit();
    const waiting = engine.id('a.bin');
    const { uploader } = engine;
    const unheed = uploader.on('upload-resumed', ({ id }) => void uploader.pause(id));
    await uploader.addFiles([file, file]);
    unheed();
    await engine.waitForChange('upload-completed');
    const [first, second] = uploader.snapshot.files;
    expect(first).to.include({ id: waiting, pauseReason: 'user' });
    expect(second?.phase).to.equal('done');
  });

  it('is found even if the array of added files is emptied in the same task', async () => {
    const { engine } = await nextVisit();
    const list = [file];
    const adding = engine.uploader.addFiles(list);
    list.length = 0;
    await adding;
    await settled();
    expect(engine.uploader.snapshot.files[0]?.pauseReason).to.equal(undefined);
  });
});

describe('a file that is added before the uploads of an earlier visit are restored', () => {
  it('is accepted immediately, even if the database does not respond', async () => {
    const never = new Promise<never>(() => undefined);
    const store = newStore();
    const engine = world({ store: { ...store, prune: () => never, list: () => never } });
    engine.service.answerAll();
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed');
  });

  it('resumes its upload, which is not listed twice', async () => {
    const store = await createUnfinished(file);
    const listing = deferred();
    const list: typeof store.list = async () => {
      await listing.promise;
      return store.list();
    };
    const engine = world({ store: { ...store, list } });
    engine.service.answerAll();
    await engine.uploader.addFiles([file, fileOf(2, 2500, 'b.bin')]);
    listing.resolve();
    await engine.waitForChange('upload-completed', 2);
    expect(engine.phases()).to.deep.equal(['done', 'done']);
    expect(engine.details('upload-started').map(({ resumedBytes }) => resumedBytes)).to.have.members([
      1000, 0,
    ]);
  });
});

describe('uploads of another owner', () => {
  it('leave the list with their owner, whatever their phase, stay saved, and come back with their owner', async () => {
    const store = await createUnfinished(file, { owner: 'ann' });
    const engine = world({ owner: 'ann', accept: '.bin', store });
    const settings = {
      baseUrl: SERVICE_URL,
      parentId: 'folder-a',
      auth: 'none',
      multiple: true,
    } as const;
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([fileOf(2, 2500, 'b.bin'), fileOf(3, 10, 'refused.exe')]);
    const put = await engine.service.nextRequest('put');
    put.answer();
    await until(async () => (await store.list()).some(({ name, stored }) => name === 'b.bin' && stored.size));
    engine.uploader.configure({ ...settings, owner: 'bob' });
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
    expect(engine.uploader.snapshot.rejections).to.deep.equal([]);
    await settled();
    expect(engine.service.waiting('put')).to.deep.equal([]);
    engine.uploader.configure({ ...settings, owner: 'ann' });
    await until(() => engine.uploader.snapshot.files.length === 2);
    expect(engine.uploader.snapshot.files.map(({ name, pauseReason }) => [name, pauseReason])).to.deep.equal([
      ['a.bin', 'needs-file'],
      ['b.bin', 'needs-file'],
    ]);
  });

  it('are not shown if their owner leaves while they are loaded', async () => {
    const store = await createUnfinished(file, { owner: 'ann' });
    const asked = deferred();
    const listing = deferred();
    const list: typeof store.list = async () => {
      asked.resolve();
      await listing.promise;
      return store.list();
    };
    const engine = world({ owner: 'ann', store: { ...store, list } });
    await asked.promise;
    engine.uploader.configure({ ...engine.input, owner: 'bob' });
    listing.resolve();
    await engine.uploader.addFiles([fileOf(2, 2500, 'b.bin')]);
    await engine.service.nextRequest('open');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['b.bin']);
  });

  it('are not mixed with those that were picked before an owner was set', async () => {
    const store = await createUnfinished(file);
    const engine = world({ store });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    await engine.uploader.addFiles([fileOf(2, 2500, 'b.bin')]);
    engine.uploader.configure({ baseUrl: SERVICE_URL, auth: 'none', owner: 'ann' });
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['b.bin']);
  });
});
