// Cancel and remove with undo: what is suspended, kept, deleted and reported.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { UploadStore } from '../../src/engine/resume/upload-store.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { createUnfinished, halfWay, newStore, type World, world } from '../support/world.ts';

const withdraw = (engine: World, next: 'canceled' | 'removed', name = 'a.bin'): Promise<void> =>
  engine.uploader.undo.withdraw(next, [engine.id(name)]);
const undo = (engine: World): Promise<void> => engine.uploader.undo.undo();
const complete = (engine: World): Promise<void> => engine.uploader.undo.complete();
const keysOf = async (store: UploadStore): Promise<number> => (await store.list()).length;

describe('an upload that is withdrawn', () => {
  for (const next of ['canceled', 'removed'] as const)
    it(`is only paused until it is ${next}`, async () => {
      const engine = await halfWay();
      engine.service.answerAll('cancel');
      await withdraw(engine, next);
      expect(engine.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'user' });
      expect(engine.service.count('cancel')).to.equal(0);
      expect(engine.changeNames('a.bin')).to.deep.equal(['file-added', 'upload-started', 'upload-paused']);
      const { id } = engine.row('a.bin') ?? {};
      await complete(engine);
      expect(engine.phase('a.bin')).to.equal(next === 'removed' ? undefined : 'canceled');
      expect(engine.service.count('cancel')).to.equal(1);
      const ended = engine.changes
        .filter(({ detail }) => 'id' in detail && detail.id === id)
        .map(({ name }) => name);
      expect(ended.slice(ended.indexOf('upload-paused') + 1)).to.deep.equal([
        'upload-canceled',
        ...(next === 'removed' ? ['file-removed'] : []),
      ]);
    });

  it('continues after undo, and sends no stored chunk again', async () => {
    const engine = await halfWay();
    await withdraw(engine, 'canceled');
    await undo(engine);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
    expect(engine.details('upload-completed')[0]?.skippedBytes).to.equal(0);
    expect(engine.service.stored.size).to.equal(3);
  });

  it('is not started by commands for all files', async () => {
    const engine = await halfWay();
    await withdraw(engine, 'canceled');
    await Promise.all([engine.uploader.start(), engine.uploader.resume(), engine.uploader.retry()]);
    await settled();
    expect(engine.phase('a.bin')).to.equal('paused');
  });

  it('waits for start() again after undo, with manual', async () => {
    const engine = world({ manual: true });
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await withdraw(engine, 'canceled');
    await engine.uploader.start();
    await undo(engine);
    await settled();
    expect(engine.phase('a.bin')).to.equal('queued');
    await engine.uploader.start();
    await engine.waitForChange('upload-completed');
  });

  it('stays failed after undo, and can be retried then', async () => {
    const engine = world();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    (await engine.service.nextRequest('open')).refuse(new UploaderError('forbidden', 'no'));
    await engine.waitForChange('upload-failed');
    await withdraw(engine, 'removed');
    await engine.uploader.retry();
    expect(engine.phase('a.bin')).to.equal('failed');
    await undo(engine);
    engine.service.answerAll();
    await engine.uploader.retry();
    await engine.waitForChange('upload-completed');
  });

  for (const [title, end] of [
    ['a sign-out', (engine: World) => engine.uploader.signOut()],
    ['close()', (engine: World) => engine.uploader.close()],
    ['suspend()', (engine: World) => engine.uploader.suspend()],
    [
      'a change of the owner',
      (engine: World) => engine.uploader.configure({ ...engine.input, owner: 'bob' }),
    ],
  ] as const)
    it(`is canceled by ${title}, which deletes its record`, async () => {
      const store = newStore();
      const engine = await halfWay({ owner: 'alice', store });
      engine.service.answerAll('cancel');
      await until(async () => (await keysOf(store)) === 1);
      const [record] = await store.list();
      await withdraw(engine, 'canceled');
      await end(engine);
      await until(async () => (await store.find(record?.key ?? '')) === undefined);
    });
});

describe('`uploads-finished`', () => {
  it('is reported when the last command can no longer be undone, with what was canceled', async () => {
    const engine = await halfWay({ concurrency: 6 });
    await engine.uploader.addFiles([fileOf(2, 10, 'b.bin')]);
    engine.service.answerAll('cancel');
    await until(() => engine.service.waiting('put').length === 3);
    await withdraw(engine, 'canceled');
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    await settled();
    expect(engine.details('uploads-finished')).to.deep.equal([]);
    await complete(engine);
    await engine.waitForChange('uploads-finished');
    expect(engine.details('uploads-finished')[0]).to.include({ doneCount: 1, canceledCount: 1 });
  });

  it('is not reported again when the removal of a finished upload is undone', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.waitForChange('uploads-finished');
    engine.service.answerAll('open');
    await engine.uploader.addFiles([fileOf(2, 2500, 'b.bin')]);
    await until(() => engine.phase('b.bin') !== 'queued');
    await engine.uploader.pause(engine.id('b.bin'));
    await withdraw(engine, 'removed');
    await undo(engine);
    await settled();
    expect(engine.details('uploads-finished')).to.have.length(1);
  });
});

describe('the record of an upload that is withdrawn', () => {
  it('is deleted, and a retry after that is saved like any other upload', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    engine.service.answerAll('cancel');
    await until(async () => (await keysOf(store)) === 1);
    await withdraw(engine, 'canceled');
    await complete(engine);
    await engine.uploader.retry(engine.id('a.bin'));
    await until(() => engine.service.count('open') === 2);
    await until(async () => (await keysOf(store)) === 1);
  });

  it('is replaced if the next visit adds the file before it deletes the record', async () => {
    const file = fileOf(1, 2500, 'a.bin');
    const store = await createUnfinished(file);
    const [record] = await store.list();
    await store.update(record?.key ?? '', { isWithdrawn: true });
    const engine = world({ store: { ...store, prune: async () => undefined } });
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([file]);
    await until(async () => (await keysOf(store)) === 1);
    expect(engine.service.count('open')).to.equal(1);
  });

  it('is kept, but not restored by another visit, and deleted when no tab uses it', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    await until(async () => (await keysOf(store)) === 1);
    const [record] = await store.list();
    await withdraw(engine, 'canceled');
    await until(async () => (await keysOf(store)) === 0);
    expect((await store.find(record?.key ?? ''))?.stored.size).to.equal(1);
    const isInUse = (key: string): boolean => key === record?.key;
    await store.prune(() => Number.POSITIVE_INFINITY, isInUse);
    expect(await store.find(record?.key ?? '')).to.not.equal(undefined);
    await store.prune(() => Number.POSITIVE_INFINITY);
    expect(await store.find(record?.key ?? '')).to.equal(undefined);
  });

  it('is listed again after undo', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    await until(async () => (await keysOf(store)) === 1);
    await withdraw(engine, 'canceled');
    await until(async () => (await keysOf(store)) === 0);
    await undo(engine);
    await until(async () => (await keysOf(store)) === 1);
  });

  it('is locked, also if the upload was restored from an earlier visit', async () => {
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
    const engine = world({ store });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    const isLocked = async (): Promise<boolean> => {
      const { held = [] } = await navigator.locks.query();
      return held.some(({ name }) => name?.includes('a.bin'));
    };
    expect(await isLocked()).to.equal(false);
    await withdraw(engine, 'removed');
    await until(isLocked);
    expect(await keysOf(store)).to.be.lessThan(2);
    await undo(engine);
    await until(async () => !(await isLocked()));
    expect(await keysOf(store)).to.equal(1);
    expect(engine.row('a.bin')?.pauseReason).to.equal('needs-file');
  });

  it('is not marked while another tab runs the upload', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    await until(async () => (await keysOf(store)) === 1);
    const other = world({ store });
    await other.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    await withdraw(other, 'canceled');
    await complete(other);
    expect(other.phase('a.bin')).to.equal('canceled');
    expect(await keysOf(store)).to.equal(1);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
  });
});
