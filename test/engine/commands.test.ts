// Commands on files in the list: cancel, retry, prioritize, move and close.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { halfWay, newStore, world } from '../support/world.ts';

const refused = (): UploaderError => new UploaderError('forbidden', 'no', { status: 403 });
const three = (): File[] => [1, 2, 3].map((seed) => fileOf(seed, 2500, `${seed}.bin`));

describe('cancel', () => {
  it('stops the requests, notifies the service, deletes the record, and reports no failure', async () => {
    const store = newStore();
    const engine = world({ store });
    engine.service.answerAll('open', 'presign', 'cancel');
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('chunk-uploaded');
    await until(async () => (await store.list()).length === 1);
    await engine.uploader.cancel(engine.id('a.bin'));
    expect(engine.phase('a.bin')).to.equal('canceled');
    expect(await store.list()).to.deep.equal([]);
    expect(engine.service.log.at(-1)).to.equal('cancel');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.changeNames('a.bin')).to.deep.equal(['file-added', 'upload-started', 'upload-canceled']);
  });

  it('succeeds even if the service cannot be reached', async () => {
    const engine = await halfWay();
    const canceling = engine.uploader.cancel();
    (await engine.service.nextRequest('cancel')).refuse(new UploaderError('network', 'no line'));
    await canceling;
    expect(engine.phase('a.bin')).to.equal('canceled');
  });

  it('of all leaves finished files unchanged', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(9, 10, 'done.bin')]);
    await engine.waitForChange('upload-completed');
    engine.service.hold('put');
    await engine.uploader.addFiles(three());
    await engine.uploader.cancel();
    expect(engine.phases()).to.deep.equal(['done', 'canceled', 'canceled', 'canceled']);
    expect(engine.details('upload-canceled').map(({ name }) => name)).to.deep.equal([
      '1.bin',
      '2.bin',
      '3.bin',
    ]);
  });

  it('is undone by a retry of that file, and not by a retry of all', async () => {
    const engine = await halfWay();
    engine.service.answerAll();
    await engine.uploader.cancel();
    await engine.uploader.retry();
    expect(engine.phase('a.bin')).to.equal('canceled');
    await engine.uploader.retry(engine.id('a.bin'));
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(2);
  });

  it('that is undone by a retry before it ended cancels the old upload and starts a new one', async () => {
    const store = newStore();
    const engine = world({ store });
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    (await engine.service.nextRequest('put')).answer();
    await until(async () => (await store.list())[0]?.stored.size === 1);
    const canceling = engine.uploader.cancel(engine.id('a.bin'));
    void engine.uploader.retry(engine.id('a.bin'));
    const request = await engine.service.nextRequest('cancel');
    expect(request.session.sessionId).to.equal('session-1');
    await until(async () => (await store.list())[0]?.session?.sessionId === 'session-2');
    request.answer();
    await canceling;
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.service.log.filter((line) => line === 'cancel' || line === 'open')).to.deep.equal([
      'open',
      'cancel',
      'open',
    ]);
  });

  it('before anything was sent allows adding and saving the same file again', async () => {
    const store = newStore();
    const engine = world({ store });
    const file = fileOf(1, 2500, 'a.bin');
    await engine.uploader.addFiles([file]);
    await engine.service.nextRequest('open');
    await engine.uploader.cancel();
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([file]);
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('chunk-uploaded');
    await until(async () => (await store.list())[0]?.stored.size === 1);
  });
});

describe('retry', () => {
  it('also works in a listener of the failure', async () => {
    const engine = world();
    const stop = engine.uploader.on('upload-failed', ({ id }) => {
      stop();
      void engine.uploader.retry(id);
    });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    (await engine.service.nextRequest('open')).refuse(refused());
    await engine.waitForChange('upload-failed');
    engine.service.answerAll();
    await engine.waitForChange('uploads-finished');
    expect(engine.phase('a.bin')).to.equal('done');
  });

  it('resumes a failed file where it stopped', async () => {
    const engine = await halfWay();
    const sent = engine.service.puts[0];
    (await engine.service.nextRequest('put')).refuse(refused());
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error).to.deep.equal({ code: 'forbidden', retryable: true, status: 403 });
    engine.service.answerAll();
    await engine.uploader.retry();
    await engine.waitForChange('upload-completed');
    expect(engine.row('a.bin')?.error).to.equal(undefined);
    expect(engine.service.puts.filter((hash) => hash === sent)).to.have.length(1);
  });

  it('is not offered for a file that was canceled after it failed: its error is cleared', async () => {
    const engine = world();
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    (await engine.service.nextRequest('open')).refuse(refused());
    await engine.waitForChange('upload-failed');
    await engine.uploader.cancel();
    expect(engine.row('a.bin')).to.include({ phase: 'canceled' });
    expect(engine.row('a.bin')?.error).to.equal(undefined);
  });

  it('of one file leaves other failed files unchanged', async () => {
    const engine = world();
    await engine.uploader.addFiles(three());
    for (let count = 0; count < 3; count += 1) (await engine.service.nextRequest('open')).refuse(refused());
    await engine.waitForChange('upload-failed', 3);
    engine.service.answerAll();
    await engine.uploader.retry(engine.id('2.bin'));
    await engine.waitForChange('upload-completed');
    expect(engine.phases()).to.deep.equal(['failed', 'done', 'failed']);
    await engine.uploader.retry();
    await engine.waitForChange('upload-completed', 3);
  });

  it('does not help if the file or its folder has to change first', async () => {
    const engine = world();
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    (await engine.service.nextRequest('open')).refuse(
      new UploaderError('file-too-large', 'no', { status: 413 }),
    );
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error?.retryable).to.equal(false);
    await engine.uploader.retry();
    expect(engine.phase('a.bin')).to.equal('failed');
  });
});

describe('small files', () => {
  it('run in parallel: sessions of some are opened while bytes of others are sent', async () => {
    const engine = world();
    await engine.uploader.addFiles(Array.from({ length: 10 }, (_, seed) => fileOf(seed, 500)));
    await until(() => engine.service.waiting('open').length > 1);
    (await engine.service.nextRequest('open')).answer();
    (await engine.service.nextRequest('presign')).answer();
    await until(() => engine.service.waiting('put').length === 1);
    expect(engine.service.waiting('open').length).to.be.at.least(1);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed', 10);
  });
});

describe('prioritize', () => {
  it('starts a file that waits behind a long one, and gives it the next free slot', async () => {
    const engine = world({ concurrency: 1 });
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([fileOf(1, 50_000, 'long.bin')]);
    const first = await engine.service.nextRequest('put');
    // Adds the second file only now, when the only slot is in use. While this slot is idle, the engine may start two files.
    await engine.uploader.addFiles([fileOf(2, 500, 'urgent.bin')]);
    expect(engine.phase('urgent.bin')).to.equal('queued');
    await engine.uploader.prioritize(engine.id('urgent.bin'));
    await until(() => engine.details('chunk-hashed').some(({ sizeBytes }) => sizeBytes === 500));
    await until(() => engine.changeNames('urgent.bin').includes('upload-started'));
    for (let round = 0; round < 20; round += 1) await settled();
    first.answer();
    expect((await engine.service.nextRequest('put')).body.size).to.equal(500);
  });
});

describe('move', () => {
  it('lets a file that waits start before another one that was added earlier', async () => {
    const engine = world({ concurrency: 1 });
    engine.service.answerAll('open', 'presign', 'commit');
    await engine.uploader.addFiles([fileOf(1, 50_000, 'a'), fileOf(2, 2500, 'b'), fileOf(3, 2500, 'c')]);
    await engine.service.nextRequest('put');
    expect(['b', 'c'].map((name) => engine.phase(name))).to.deep.equal(['queued', 'queued']);
    await engine.uploader.move(engine.id('c'), engine.id('b'));
    engine.service.answerAll();
    await engine.uploader.cancel(engine.id('a'));
    await engine.waitForChange('upload-completed', 2);
    const started = engine.details('upload-started').map(({ id }) => id);
    expect(started).to.deep.equal(['a', 'c', 'b'].map((name) => engine.id(name)));
  });

  it('puts a file before another one, or at the end: the list and the order of the uploads follow', async () => {
    const engine = world({ manual: true, concurrency: 1 });
    engine.service.answerAll('presign', 'commit');
    const names = (): string[] => engine.uploader.snapshot.files.map(({ name }) => name);
    await engine.uploader.addFiles(['a', 'b', 'c', 'd'].map((name, at) => fileOf(at, 100 + at, name)));
    await engine.uploader.move(engine.id('d'), engine.id('b'));
    await engine.uploader.move(engine.id('a'));
    await engine.uploader.move(engine.id('c'), engine.id('c'));
    await engine.uploader.move('nobody', engine.id('c'));
    expect(names()).to.deep.equal(['d', 'b', 'c', 'a']);
    expect(engine.details('file-moved')).to.deep.equal([
      { id: engine.id('d'), beforeId: engine.id('b') },
      { id: engine.id('a') },
    ]);
    await engine.uploader.addFiles([fileOf(4, 104, 'e')]);
    expect(names()).to.deep.equal(['d', 'b', 'c', 'a', 'e']);
    await engine.uploader.start();
    // Several files start at the same time. Only `d` gets a response at first, so that `d` gets the slot before the others.
    const others: { answer(): void }[] = [];
    for (;;) {
      const open = await engine.service.nextRequest('open');
      if (open.fileName !== 'd') others.push(open);
      else {
        open.answer();
        break;
      }
    }
    const isReady = (name = 'd'): boolean =>
      engine.changeNames(name).includes('upload-started') &&
      engine.details('chunk-hashed').some(({ id }) => id === engine.id(name));
    const sizes: number[] = [];
    while (sizes.length < 5) {
      const put = await engine.service.nextRequest('put');
      sizes.push(put.body.size);
      engine.service.answerAll('open');
      for (const open of others.splice(0)) open.answer();
      // Waits until the next file in the list is ready for the slot.
      await until(() => isReady(names()[sizes.length]));
      for (let round = 0; round < 20; round += 1) await settled();
      put.answer();
    }
    expect(sizes).to.deep.equal([103, 101, 102, 100, 104]);
  });
});

describe('close', () => {
  it('stops all work, keeps saved uploads, and reports nothing', async () => {
    const store = newStore();
    const engine = world({ store });
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    (await engine.service.nextRequest('put')).answer();
    await engine.waitForChange('chunk-uploaded');
    await until(async () => (await store.list())[0]?.stored.size === 1);
    const count = engine.changes.length;
    await engine.uploader.close();
    await settled();
    expect(engine.changes.length).to.equal(count);
    const [record] = await store.list();
    expect(record?.stored.size).to.equal(1);
    expect(engine.service.waiting('put')).to.deep.equal([]);
  });
});
