// What is kept of an upload is forgotten with it, and nothing is kept where the page wants that.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { createUploadStore } from '../../src/store/uploads.ts';
import { fileOf } from '../support/bytes.ts';
import { untilAsync } from '../support/collect.ts';
import { closeEngines, halfWay, leftBehind, TestEngine } from '../support/engine.ts';

afterEach(closeEngines);

describe('what is kept of an upload', () => {
  it('is forgotten when its row is removed before it is done', async () => {
    const store = createUploadStore({ name: `test-${crypto.randomUUID()}` });
    const engine = await halfWay({ cancelPath: '' }, { store });
    await untilAsync(async () => (await store.list())[0]?.stored.size === 1);
    await engine.uploader.remove(engine.id('a.bin'));
    expect(await store.list()).to.deep.equal([]);
  });

  it('is forgotten when the person signs out, also that of another owner, which has no row', async () => {
    const store = await leftBehind(fileOf(1, 2500, 'a.bin'), { owner: 'ann' });
    const engine = new TestEngine({ owner: 'bob' }, { store });
    await engine.uploader.signOut();
    expect(await store.list()).to.deep.equal([]);
  });

  it('is nothing with `no-resume`, however many chunks there are', async () => {
    const asked: string[] = [];
    const store = createUploadStore({ name: `test-${crypto.randomUUID()}` });
    const engine = await halfWay(
      { noResume: true },
      {
        store: {
          ...store,
          save: async () => void asked.push('save'),
          saveChunks: async () => void asked.push('saveChunks'),
        },
      },
    );
    engine.service.answerAll();
    await engine.hears('upload-completed');
    expect(asked).to.deep.equal([]);
  });

  it('could not be kept: that is said while it is on its way, and no longer when it is done', async () => {
    const store = createUploadStore({ name: `test-${crypto.randomUUID()}` });
    const find = () => Promise.reject(new UploaderError('store-unavailable', 'no'));
    const engine = await halfWay({}, { store: { ...store, find } });
    expect(engine.row('a.bin')?.warning).to.equal('store-unavailable');
    engine.service.answerAll();
    await engine.hears('upload-completed');
    expect(engine.row('a.bin')?.warning).to.equal(undefined);
  });
});
