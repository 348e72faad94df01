// A saved upload that another tab runs while the page opens, and two uploaders on one page.

import { expect } from '@open-wc/testing';
import type { UploadStore } from '../../../src/engine/resume/upload-store.ts';
import type { UploaderOptions } from '../../../src/engine/uploader-options.ts';
import { fileOf } from '../../support/bytes.ts';
import { speedUp, stopClock } from '../../support/clock.ts';
import { settled, until } from '../../support/collect.ts';
import { createUnfinished, halfWay, newStore, type World, world } from '../../support/world.ts';

const file = fileOf(1, 2500, 'a.bin');

describe('a saved upload that another tab runs while the page opens', () => {
  beforeEach(() => speedUp(10));

  /** Returns two tabs: `one` runs the upload and has stored one of three chunks, `other` was opened afterwards. */
  async function opened(): Promise<{ store: UploadStore; one: World; other: World }> {
    const store = newStore();
    const one = await halfWay({ store });
    await until(async () => (await store.list())[0]?.stored.size === 1);
    const other = world({ store });
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    return { store, one, other };
  }

  it('is listed with its progress, and is done with that tab', async () => {
    const { one, other } = await opened();
    await until(() => other.row('a.bin')?.storedBytes === 1000);
    expect(other.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'other-tab' });
    one.service.answerAll();
    await other.waitForChange('upload-completed');
    expect(other.phases()).to.deep.equal(['done']);
    expect(other.service.log).to.deep.equal([]);
  });

  it('asks for its file once that tab is gone, and then sends only what is missing', async () => {
    const { one, other } = await opened();
    other.service.answerAll();
    await one.uploader.close();
    await until(() => other.row('a.bin')?.pauseReason === 'needs-file');
    await other.uploader.provide(other.id('a.bin'), file);
    await other.waitForChange('upload-completed');
    expect(other.service.count('open')).to.equal(0);
    expect(other.details('upload-started')[0]?.resumedBytes).to.equal(1000);
  });

  it('takes its file, and waits for that tab', async () => {
    const { one, other } = await opened();
    other.service.answerAll();
    await other.uploader.addFiles([file]);
    await until(() => other.changeNames('a.bin').includes('upload-resumed'));
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    await one.uploader.close();
    await other.waitForChange('upload-completed');
    expect(other.phases()).to.deep.equal(['done']);
    expect(other.service.count('open')).to.equal(0);
  });

  it('needs its file once it is paused there, and continues with it', async () => {
    const { store, one, other } = await opened();
    other.service.answerAll();
    await one.uploader.pause();
    await until(() => other.row('a.bin')?.pauseReason === 'needs-file');
    expect((await store.list())[0]?.isPaused).to.equal(true);
    await other.uploader.addFiles([file]);
    await other.waitForChange('upload-completed');
    await until(async () => (await store.list()).length === 0);
  });

  it('stays paused if it was paused here, and then left there', async () => {
    const { store, one, other } = await opened();
    await other.uploader.pause();
    await one.uploader.close();
    await until(async () => (await store.list())[0]?.isPaused === true);
    expect(other.row('a.bin')?.pauseReason).to.equal('user');
  });

  it('is paused here without a pause there', async () => {
    const { store, one, other } = await opened();
    await other.uploader.pause();
    expect(other.row('a.bin')?.pauseReason).to.equal('user');
    expect((await store.list())[0]?.isPaused).to.equal(undefined);
    one.service.answerAll();
    await other.waitForChange('upload-completed');
  });

  it('leaves the list if it is canceled there', async () => {
    const { one, other } = await opened();
    one.service.answerAll('cancel');
    await one.uploader.cancel(one.id('a.bin'));
    await other.waitForChange('file-removed');
    expect(other.phases()).to.deep.equal([]);
  });

  it('that was canceled and undone here, and then left there, needs its file', async () => {
    const { store, one, other } = await opened();
    const id = other.id('a.bin');
    await other.uploader.undo.withdraw('canceled', [id]);
    await one.uploader.close();
    await settled();
    await other.uploader.undo.undo(id);
    await until(() => other.row('a.bin')?.pauseReason === 'needs-file');
    expect(await store.list()).to.have.length(1);
  });

  it('completes without its file if that tab is closed after the service has accepted the commit', async () => {
    const { store, one, other } = await opened();
    one.service.answerAll('put', 'presign');
    (await one.service.nextRequest('commit')).answer({ missing: [], pending: {} });
    await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
    for (const hash of one.service.stored) other.service.stored.add(hash);
    other.service.answerAll();
    await one.uploader.close();
    await other.waitForChange('upload-completed');
    expect(other.service.count('put')).to.equal(0);
  });

  it('leaves the list if it is canceled there, although it was paused and resumed here', async () => {
    const { one, other } = await opened();
    await other.uploader.pause();
    await other.uploader.resume();
    one.service.answerAll('cancel');
    await one.uploader.cancel(one.id('a.bin'));
    await other.waitForChange('file-removed');
  });

  it('is canceled in the tab that paused it a moment ago', async () => {
    const { store, one } = await opened();
    one.service.answerAll('cancel');
    await one.uploader.pause();
    await one.uploader.cancel();
    expect(await store.list()).to.deep.equal([]);
    expect(one.service.count('cancel')).to.equal(1);
  });

  it('starts in its turn if that tab is closed while many uploads wait for it', async () => {
    const store = newStore();
    const names = Array.from({ length: 30 }, (_, index) => `${index}.bin`);
    const files = names.map((name, index) => fileOf(index, 2500, name));
    const one = world({ store, keepFiles: true, concurrency: 1 });
    await one.uploader.addFiles(files);
    await until(async () => (await store.list()).length === files.length);
    const other = world({ store, concurrency: 1 });
    await other.uploader.addFiles(files);
    await until(() => names.every((name) => other.row(name)?.pauseReason === 'other-tab'));
    // An upload that nothing has responded to for a second gives its turn to the next one.
    stopClock({ areTimersStopped: false });
    await one.uploader.close();
    await until(() => names.every((name) => other.row(name)?.phase !== 'paused'));
    for (let round = 0; round < 20; round += 1) await settled();
    expect(names.filter((name) => other.row(name)?.phase !== 'queued')).to.have.length.within(1, 3);
    expect(other.service.count('open')).to.be.within(1, 3);
    other.service.answerAll();
    await other.waitForChange('upload-completed', files.length);
  });

  it('still waits for that tab after its list was hidden', async () => {
    const { one, other } = await opened();
    await other.uploader.suspend();
    other.uploader.restore();
    await one.uploader.close();
    await until(() => other.row('a.bin')?.pauseReason === 'needs-file');
  });

  it('that is removed here does not come back while that tab runs it', async () => {
    const { store, other } = await opened();
    await createUnfinished(fileOf(2, 2500, 'b.bin'), { store });
    await other.uploader.remove(other.id('a.bin'));
    other.uploader.configure({ ...other.input, concurrency: 3 });
    await until(() => other.row('b.bin')?.pauseReason === 'needs-file');
    expect(other.row('a.bin')).to.equal(undefined);
  });
});

describe('a kept file that another tab sends while the page opens', () => {
  beforeEach(() => speedUp(10));

  /** Like `opened()`, with `keep-files`. */
  async function kept(): Promise<{ store: UploadStore; one: World; other: World }> {
    const store = newStore();
    const one = await halfWay({ keepFiles: true, store });
    await until(async () => {
      const [record] = await store.list();
      return record?.file !== undefined && record.stored.size === 1;
    });
    const other = world({ keepFiles: true, store });
    other.service.answerAll();
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    return { store, one, other };
  }

  it('is not sent here if it is canceled there', async () => {
    const { one, other } = await kept();
    one.service.answerAll('cancel');
    await one.uploader.cancel();
    await other.waitForChange('file-removed');
    expect(other.service.log).to.deep.equal([]);
  });

  it('is paused here once it is paused there, and continues with a click', async () => {
    const { one, other } = await kept();
    await one.uploader.pause();
    await until(() => other.row('a.bin')?.pauseReason === 'user');
    expect(other.service.log).to.deep.equal([]);
    await other.uploader.resume();
    await other.waitForChange('upload-completed');
    expect(other.service.count('open')).to.equal(0);
  });

  it('continues by itself once that tab is gone, however often the settings change', async () => {
    const { one, other } = await kept();
    await one.uploader.close();
    let count = 0;
    const timer = setInterval(() => {
      count += 1;
      other.uploader.configure({ ...other.input, batchSize: 10 + count });
    }, 300);
    await other.waitForChange('upload-completed').finally(() => clearInterval(timer));
    expect(other.details('upload-started')[0]?.resumedBytes).to.equal(1000);
  });

  it('continues in one of two other tabs, and is canceled for both of them there', async () => {
    const { store, one, other } = await kept();
    const third = world({ keepFiles: true, store });
    await until(() => third.row('a.bin')?.pauseReason === 'other-tab');
    for (const { service } of [other, third]) service.hold('put');
    await one.uploader.close();
    const tabs = [other, third];
    await until(() => tabs.some(({ service }) => service.waiting('put').length > 0));
    const [runs, waits] = other.service.waiting('put').length > 0 ? [other, third] : [third, other];
    await runs.uploader.cancel();
    await waits.waitForChange('file-removed');
    expect(waits.service.log).to.deep.equal([]);
  });

  it('is not sent again if it ends while the records are read', async () => {
    const store = newStore();
    const before = world({ keepFiles: true, store });
    before.service.answerAll('open', 'presign', 'commit');
    await before.uploader.addFiles([fileOf(1, 10, 'a.bin'), fileOf(2, 10, 'b.bin')]);
    await until(async () => (await store.list()).filter((record) => record.file).length === 2);
    const [first, second] = [
      await before.service.nextRequest('put'),
      await before.service.nextRequest('put'),
    ];
    const list: typeof store.list = async () => {
      const records = await store.list();
      first.answer();
      await before.waitForChange('upload-completed');
      await until(async () => (await store.list()).length === 1);
      return records;
    };
    const engine = world({ keepFiles: true, store: { ...store, list } });
    await until(() => engine.uploader.snapshot.files.some(({ pauseReason }) => pauseReason === 'other-tab'));
    second.answer();
    await before.waitForChange('upload-completed', 2);
    await until(() => engine.phases().every((phase) => phase === 'done'));
    await settled();
    expect(engine.service.log).to.deep.equal([]);
  });

  it('is not taken for one of another tab if the settings change while it is restored', async () => {
    const { store, one, other } = await kept();
    await Promise.all([one, other].map(({ uploader }) => uploader.close()));
    const next = world({ keepFiles: true, store });
    next.service.answerAll();
    for (const batchSize of [10, 11, 12]) next.uploader.configure({ ...next.input, batchSize });
    await next.waitForChange('upload-completed');
    expect(next.details('upload-paused')).to.deep.equal([]);
  });

  it('asks for the file if the kept one is another file', async () => {
    const { store, one, other: first } = await kept();
    const find: UploadStore['find'] = async (key) => {
      const record = await store.find(key);
      return record && { ...record, firstSliceHash: 'another' };
    };
    const other = world({ keepFiles: true, store: { ...store, find } });
    await until(() => other.row('a.bin')?.pauseReason === 'other-tab');
    await Promise.all([one, first].map(({ uploader }) => uploader.close()));
    await until(() => other.row('a.bin')?.pauseReason === 'needs-file');
  });
});

it('an upload that one tab paused and another one continues is no longer saved as paused', async () => {
  const store = newStore();
  const one = await halfWay({ store });
  await until(async () => (await store.list())[0]?.stored.size === 1);
  const other = world({ store });
  other.service.answerAll('presign');
  await other.uploader.addFiles([file]);
  await one.uploader.pause();
  await other.service.nextRequest('put');
  await until(async () => (await store.list())[0]?.isPaused === undefined);
});

describe('two uploaders on one page', () => {
  for (const end of ['suspend', 'close'] as const)
    it(`list a saved upload once, and the second one lists it after the first one's ${end}()`, async () => {
      const store = await createUnfinished(file);
      await createUnfinished(fileOf(2, 2500, 'b.bin'), { store });
      const page: UploaderOptions['page'] = new Set();
      const first = world({ store, page });
      const second = world({ store, page });
      const names = ({ uploader }: World): string[] => uploader.snapshot.files.map(({ name }) => name);
      const listed = (): string[] => [...names(first), ...names(second)];
      await until(() => listed().length >= 2);
      await settled();
      expect(listed().sort()).to.deep.equal(['a.bin', 'b.bin']);
      await first.uploader[end]();
      await until(() => names(second).length === 2);
    });
});
