// Pause and resume: at any time, of one file or of all; a paused file never resumes automatically.

import { expect } from '@open-wc/testing';
import { fileOf } from '../support/bytes.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { halfWay, newStore, world } from '../support/world.ts';

const three = (): File[] => [1, 2, 3].map((seed) => fileOf(seed, 2500, `${seed}.bin`));

describe('pause', () => {
  it('stops the requests, keeps stored chunks, and reports no failure', async () => {
    const engine = await halfWay();
    const waiting = engine.service.waiting('put');
    await engine.uploader.pause(engine.id('a.bin'));
    expect(waiting.every(({ signal }) => signal.aborted)).to.equal(true);
    expect(engine.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'user', storedBytes: 1000 });
    const count = engine.changes.length;
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.changes.slice(count)).to.deep.equal([]);
    expect(engine.changeNames('a.bin')).to.deep.equal(['file-added', 'upload-started', 'upload-paused']);
  });

  it('reports the latest progress first', async () => {
    const engine = await halfWay();
    (await engine.service.nextRequest('put')).tell(400);
    await engine.uploader.pause();
    const names = engine.changes.map(({ name }) => name);
    const before = engine.changes[names.indexOf('upload-paused') - 1];
    expect(before?.name).to.equal('upload-progress');
    expect(before?.detail).to.include({ phase: 'uploading', sentBytes: 1400, storedBytes: 1000 });
  });

  it('and resume continue in the same session, where no stored chunk is sent again', async () => {
    const engine = await halfWay();
    const sent = engine.service.puts[0];
    await engine.uploader.pause();
    await engine.uploader.resume();
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.service.puts.filter((hash) => hash === sent)).to.have.length(1);
    expect(engine.service.count('open')).to.equal(1);
    expect(engine.changeNames('a.bin')).to.deep.equal([
      'file-added',
      'upload-started',
      'upload-paused',
      'upload-resumed',
      'upload-started',
      'upload-completed',
    ]);
    expect(engine.details('upload-started')[1]).to.include({ chunkCount: 3, resumedBytes: 1000 });
  });

  it('and resume keep the progress even if nothing is saved on disk', async () => {
    const engine = await halfWay({ noResume: true });
    const sent = engine.service.puts[0];
    await engine.uploader.pause();
    await engine.uploader.resume();
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.service.puts.filter((hash) => hash === sent)).to.have.length(1);
  });

  it('before the store has responded takes effect', async () => {
    const store = newStore();
    const asked = deferred();
    const answer = deferred();
    const find: typeof store.find = async (key) => {
      asked.resolve();
      await answer.promise;
      return store.find(key);
    };
    const engine = world({ store: { ...store, find } });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await asked.promise;
    const paused = engine.uploader.pause();
    answer.resolve();
    await paused;
    await settled();
    expect(engine.phase('a.bin')).to.equal('paused');
    expect(engine.service.log).to.deep.equal(['open']);
    expect(engine.service.waiting()).to.deep.equal([]);
    engine.service.answerAll();
    await engine.uploader.resume();
    await engine.waitForChange('upload-completed');
  });

  it('at the last chunk, from inside a listener, takes effect before the commit', async () => {
    const engine = world();
    engine.service.answerAll('open', 'presign', 'put');
    engine.uploader.on('chunk-uploaded', ({ id, index }) => {
      if (index === 0) void engine.uploader.pause(id);
    });
    await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
    await engine.waitForChange('upload-paused');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.phase('a.bin')).to.equal('paused');
    expect(engine.service.count('commit')).to.equal(0);
  });

  it('during the commit of a file of one chunk, and resume, commit the same session again', async () => {
    const engine = world();
    engine.service.answerAll('open', 'presign', 'put');
    await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
    const first = await engine.service.nextRequest('commit');
    await engine.uploader.pause();
    await engine.uploader.resume();
    const again = await engine.service.nextRequest('commit');
    expect(again.session).to.deep.equal(first.session);
    again.answer();
    await engine.waitForChange('upload-completed');
    // A service that has completed the file would refuse a second presign request.
    expect(['open', 'presign'].map((kind) => engine.service.count(kind as 'open'))).to.deep.equal([1, 1]);
    expect(engine.service.puts).to.have.length(1);
  });

  it('from inside a listener takes effect', async () => {
    const engine = world();
    engine.service.answerAll('open', 'presign');
    engine.uploader.on('chunk-uploaded', ({ id }) => void engine.uploader.pause(id));
    await engine.uploader.addFiles([fileOf(1, 9500, 'a.bin')]);
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('upload-paused');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.phase('a.bin')).to.equal('paused');
    expect(engine.changeNames('a.bin')).to.deep.equal(['file-added', 'upload-started', 'upload-paused']);
    expect(engine.service.waiting()).to.deep.equal([]);
  });

  it('and resume in the same task leave one run, which completes', async () => {
    const engine = await halfWay();
    const paused = engine.uploader.pause();
    const resumed = engine.uploader.resume();
    await Promise.all([paused, resumed]);
    engine.service.answerAll();
    await engine.waitForChange('uploads-finished');
    await until(() => engine.phase('a.bin') === 'done');
    expect(engine.service.count('commit')).to.equal(1);
  });

  it('of all stops waiting files too, and resume of all starts them in order', async () => {
    const engine = world();
    await engine.uploader.addFiles(three());
    await engine.uploader.pause();
    expect(engine.phases()).to.deep.equal(['paused', 'paused', 'paused']);
    engine.service.answerAll();
    await engine.uploader.resume();
    await engine.waitForChange('upload-completed', 3);
    expect(engine.phases()).to.deep.equal(['done', 'done', 'done']);
  });

  it('of one leaves the others unchanged', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles(three());
    await engine.uploader.pause(engine.id('2.bin'));
    await engine.waitForChange('upload-completed', 2);
    await settled();
    expect(engine.phases()).to.deep.equal(['done', 'paused', 'done']);
  });

  it('does nothing to a file that is done, failed, canceled, already paused or not in the list', async () => {
    const engine = await halfWay();
    await engine.uploader.pause();
    await engine.uploader.pause();
    engine.service.answerAll('cancel');
    await engine.uploader.cancel();
    await engine.uploader.pause();
    await engine.uploader.pause('nobody');
    expect(engine.details('upload-paused')).to.have.length(1);
  });
});

describe('a suspended list', () => {
  it('leaves its uploads to another uploader, and continues when it is restored', async () => {
    const store = newStore();
    const file = fileOf(1, 2500, 'a.bin');
    const aside = world({ store });
    aside.service.answerAll('open', 'presign');
    await aside.uploader.addFiles([file]);
    (await aside.service.nextRequest('put')).answer();
    await until(async () => (await store.list())[0]?.stored.size === 1);
    await aside.uploader.suspend();
    expect(aside.row('a.bin')?.phase).to.equal('paused');
    const other = world({ store });
    other.service.answerAll();
    await other.uploader.addFiles([file]);
    await other.waitForChange('upload-completed');
    aside.service.answerAll();
    aside.uploader.restore();
    await aside.waitForChange('upload-completed');
  });

  it('loses nothing: once it is restored, no stored chunk is sent again', async () => {
    const store = newStore();
    const engine = await halfWay({ store });
    await until(async () => (await store.list())[0]?.stored.size === 1);
    await engine.uploader.suspend();
    expect((await store.list()).map(({ stored }) => stored.size)).to.deep.equal([1]);
    engine.service.answerAll();
    engine.uploader.restore();
    await engine.waitForChange('upload-completed');
    expect(engine.details('upload-started').map(({ resumedBytes }) => resumedBytes)).to.deep.equal([0, 1000]);
    expect(engine.service.count('open')).to.equal(1);
  });

  it('starts nothing that waits in it, and leaves files paused that the user paused', async () => {
    const engine = world({ manual: true });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin'), fileOf(2, 2500, 'b.bin')]);
    await engine.uploader.pause(engine.id('b.bin'));
    await engine.uploader.suspend();
    engine.uploader.restore();
    await settled();
    expect(engine.phases()).to.deep.equal(['queued', 'paused']);
    expect(engine.service.log).to.deep.equal([]);
  });

  it('stays paused after it is back on the page if it was paused meanwhile', async () => {
    const engine = await halfWay();
    await engine.uploader.suspend();
    await engine.uploader.pause();
    engine.uploader.restore();
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.row('a.bin')).to.include({ phase: 'paused', pauseReason: 'user' });
    expect(engine.details('upload-started')).to.have.length(1);
  });
});
