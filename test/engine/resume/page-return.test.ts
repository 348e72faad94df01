// A page that comes back from the back/forward cache: what other pages have done with its uploads meanwhile. Messages of other tabs
// do not arrive in the cache, so these tests change the store without them.

import { expect } from '@open-wc/testing';
import { fileOf, sha256 } from '../../support/bytes.ts';
import { deferred, settled, until } from '../../support/collect.ts';
import { createUnfinished, halfWay, newStore, world } from '../../support/world.ts';

const file = fileOf(1, 2500, 'a.bin');
const comeBack = (): unknown => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));

/** Returns an engine whose list has an upload that needs its file, and the key of its record. */
async function waiting() {
  const store = await createUnfinished(file);
  const engine = world({ store });
  await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
  const [{ key = '' } = {}] = await store.list();
  return { engine, store, key };
}

describe('after a return from the back/forward cache', () => {
  it('an upload that another page has ended leaves the list', async () => {
    const { engine, store, key } = await waiting();
    await store.remove(key);
    comeBack();
    await until(() => engine.phases().length === 0);
  });

  it('an upload that another page has continued shows its progress, and continues from there', async () => {
    const { engine, store, key } = await waiting();
    const hash = await sha256(file.slice(1000, 2000));
    await store.saveChunks(key, [{ index: 1, hash, receipt: 'receipt' }]);
    comeBack();
    await until(() => engine.row('a.bin')?.storedBytes === 2000);
    expect(engine.row('a.bin')?.pauseReason).to.equal('needs-file');
    engine.service.answerAll();
    await engine.uploader.addFiles([file]);
    await engine.waitForChange('upload-completed');
    expect(engine.details('upload-started')[0]?.resumedBytes).to.equal(2000);
    expect(engine.service.count('open')).to.equal(0);
  });

  it('an upload that the user paused here, and another page has ended, is not sent again', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    await engine.uploader.pause();
    const [{ key = '' } = {}] = await store.list();
    await store.remove(key);
    comeBack();
    await until(() => engine.phases().length === 0);
  });

  it('a paused upload whose record is still there stays, and resumes', async () => {
    const [listed, store] = [deferred(), newStore()];
    const list: typeof store.list = (keys) => store.list(keys).finally(() => listed.resolve());
    const engine = await halfWay({ store: { ...store, list } });
    await engine.uploader.pause();
    await until(async () => (await store.list()).length === 1);
    comeBack();
    await listed.promise;
    await settled();
    engine.service.answerAll();
    await engine.uploader.resume();
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
  });

  it('an upload that another page has saved is listed', async () => {
    const { engine, store } = await waiting();
    await createUnfinished(fileOf(2, 2500, 'b.bin'), { store });
    comeBack();
    await until(() => engine.row('b.bin')?.pauseReason === 'needs-file');
    expect(engine.phases()).to.have.length(2);
  });
});
