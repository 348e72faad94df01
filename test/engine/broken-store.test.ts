// A failing or full database does not stop an upload: the data of the upload stays in memory until the page closes.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { ResumeState } from '../../src/engine/resume/resume-state.ts';
import { TabLocks } from '../../src/engine/resume/tab-locks.ts';
import { SavedUploads, type UploadStore } from '../../src/engine/resume/upload-store.ts';
import { fileOf } from '../support/bytes.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { createUnfinished, halfWay, newStore, world } from '../support/world.ts';
import { rawDatabase } from './resume/saved.ts';

const CALLS = ['find', 'save', 'saveChunks', 'remove'] as const;

/** Returns a store whose call `name` rejects with `error`, and the names of all calls, in order. */
function failing(name: (typeof CALLS)[number], error: Error): { store: UploadStore; asked: string[] } {
  const store = newStore();
  const asked: string[] = [];
  const logged = CALLS.map((call) => {
    const work = store[call] as (...given: unknown[]) => Promise<unknown>;
    return [
      call,
      (...given: unknown[]) => {
        asked.push(call);
        return call === name ? Promise.reject(error) : work(...given);
      },
    ];
  });
  return { asked, store: { ...store, ...Object.fromEntries(logged) } };
}

const full = new UploaderError('store-full', 'no room');

describe('a store that fails', () => {
  for (const name of CALLS) {
    it(`at ${name} does not stop the upload, and is used again only to remove the record`, async () => {
      const { asked, store } = failing(name, full);
      const engine = world({ store });
      engine.service.answerAll();
      await engine.uploader.addFiles([fileOf(1, 4500, 'a.bin')]);
      await engine.waitForChange('uploads-finished');
      expect(engine.phase('a.bin')).to.equal('done');
      await until(() => asked.includes('remove'));
      await settled();
      const after = asked.slice(asked.lastIndexOf(name) + 1);
      expect(after).to.deep.equal(name === 'remove' ? [] : ['remove']);
      expect(asked.filter((call) => call === name).length).to.be.within(1, name === 'saveChunks' ? 5 : 1);
    });
  }

  for (const name of ['find', 'save', 'saveChunks'] as const) {
    it(`at ${name} is reported, and a paused upload still resumes where it stopped`, async () => {
      const engine = await halfWay({ store: failing(name, full).store });
      expect(engine.row('a.bin')?.warning).to.equal('store-full');
      await engine.uploader.pause();
      engine.service.answerAll();
      await engine.uploader.resume();
      await engine.waitForChange('upload-completed');
      expect(engine.details('upload-started')[1]?.resumedBytes).to.equal(1000);
      expect(engine.service.count('open')).to.equal(1);
    });
  }

  it('for one write does not restore a finished upload on the next visit', async () => {
    const store = newStore();
    let failureCount = 0;
    const saveChunks: typeof store.saveChunks = async (...given) => {
      failureCount += 1;
      if (failureCount === 1) throw full;
      return store.saveChunks(...given);
    };
    const engine = world({ store: { ...store, saveChunks } });
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.waitForChange('upload-completed');
    await engine.uploader.close();
    expect(await store.list()).to.deep.equal([]);
  });

  it('with an error of its own is reported as store-unavailable', async () => {
    const { store } = failing('find', new DOMException('blocked', 'SecurityError'));
    const engine = await halfWay({ store });
    expect(engine.row('a.bin')?.warning).to.equal('store-unavailable');
  });
});

it('a full disk fails the saving of a file, and no later use of its record', async () => {
  const file = fileOf(1, 2500, 'a.bin');
  const store = await createUnfinished(file);
  const [record] = await store.list();
  if (!record) throw new Error('there is no record');
  const tab = new TabLocks(new Set());
  const save = (): Promise<void> => Promise.reject(full);
  const resumeState = new ResumeState({ ...store, save }, new Map(), tab);
  const keeper = resumeState.recordKeeper(new AbortController().signal, {
    onWarning: () => expect.fail('the saving itself reports the error'),
    onNewName: () => undefined,
    onLockTaken: () => undefined,
    onLockAcquired: () => undefined,
  });
  const saving = resumeState.saveFile({ ...record, file }, () => file.arrayBuffer());
  expect(await rejection(saving)).to.equal(full);
  resumeState.detach();
  await keeper.remove(record.key);
  await tab.allReleased();
  tab.close();
});

describe('a storage that is cleared during an upload', () => {
  /** Returns an upload whose databases were deleted, and a store as that of the next visit. */
  async function cleared() {
    const name = `test-${crypto.randomUUID()}`;
    const next = new SavedUploads({ name });
    const engine = await halfWay({ store: new SavedUploads({ name }) });
    await until(async () => (await next.list())[0]?.stored.size === 1);
    for (const part of ['uploads', 'chunks']) await rawDatabase(`${name}-${part}`).remove();
    return { engine, next };
  }

  it('gets the record again, with all stored chunks, and no warning', async () => {
    const { engine, next } = await cleared();
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('chunk-uploaded', 2);
    await until(async () => (await next.list())[0]?.stored.size === 2);
    expect(engine.row('a.bin')?.warning).to.equal(undefined);
    await engine.uploader.pause();
    engine.service.answerAll();
    await engine.uploader.resume();
    await engine.waitForChange('upload-completed');
    await until(async () => (await next.list()).length === 0);
  });

  it('gets nothing after the user has signed out', async () => {
    const { engine, next } = await cleared();
    const put = await engine.service.nextRequest('put');
    const signedOut = engine.uploader.signOut();
    put.answer();
    engine.service.answerAll();
    await signedOut;
    for (let round = 0; round < 20; round += 1) await settled();
    expect(await next.list()).to.deep.equal([]);
  });
});

describe('a second row with the same file', () => {
  it('that is not saved also resumes where it was paused', async () => {
    const engine = await halfWay();
    await engine.uploader.pause();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    const second = engine.id('a.bin');
    await engine.waitForChange('upload-started', 2);
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('chunk-uploaded', 3);
    await engine.uploader.pause(second);
    engine.service.answerAll();
    await engine.uploader.resume(second);
    await engine.waitForChange('upload-completed');
    expect(engine.details('upload-started')[2]?.resumedBytes).to.equal(2000);
    expect(engine.service.count('open')).to.equal(2);
  });
});
