// An outage: the service responds as if the session were lost, and then opens no new session. Stored chunks must be kept.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf, sha256 } from '../support/bytes.ts';
import { stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import type { Request } from '../support/scripted-service.ts';
import { createUnfinished, newStore, replace, world } from '../support/world.ts';

const REFUSALS = [
  ['session-expired', 404],
  ['session-expired', 410],
  ['token-rejected', 401],
  ['forbidden', 403],
] as const;

/** Counts the calls of a method that have not ended. */
function countRunning<T extends object>(target: T, name: keyof T & string): () => number {
  const call = target[name] as (...given: unknown[]) => Promise<unknown>;
  let count = 0;
  replace(target, name, function counted(this: T, ...given: unknown[]) {
    count += 1;
    return call.apply(this, given).finally(() => {
      count -= 1;
    });
  });
  return () => count;
}

describe('an outage', () => {
  for (const [code, status] of REFUSALS) {
    it(`that responds with ${status} as if the session were lost, and then opens no session, keeps the saved upload`, async () => {
      const file = fileOf(1, 5500, 'a.bin');
      const store = await createUnfinished(file);
      const engine = world({ store });
      engine.service.isForgetful = true;
      engine.service.stored.add(await sha256(file.slice(0, 1000)));
      await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
      await engine.uploader.addFiles([file]);
      const refusal = new UploaderError(code, 'outage', { status });
      if (code === 'token-rejected') (await engine.service.nextRequest('presign')).refuse(refusal);
      else await engine.service.refuseAll('presign', refusal);
      (await engine.service.nextRequest('open')).refuse(
        new UploaderError('forbidden', 'outage', { status: 403 }),
      );
      await engine.waitForChange('upload-failed');
      expect((await store.list()).map(({ stored }) => stored.size)).to.deep.equal([1]);
      engine.service.answerAll();
      await engine.uploader.retry();
      await engine.waitForChange('upload-completed');
      expect(engine.details('upload-started').at(-1)?.resumedBytes).to.equal(1000);
      expect(engine.service.puts).to.have.length(5);
    });
  }

  it('in the middle of an upload loses no stored chunk', async () => {
    const store = newStore();
    const engine = world({ batchSize: 2, store });
    engine.service.isForgetful = true;
    engine.service.answerAll('open', 'put');
    await engine.uploader.addFiles([fileOf(1, 20_000, 'a.bin')]);
    for (let count = 0; count < 3; count += 1) (await engine.service.nextRequest('presign')).answer();
    await until(async () => ((await store.list())[0]?.stored.size ?? 0) >= 3);
    engine.service.hold('open');
    await engine.service.refuseAll(
      'presign',
      new UploaderError('session-expired', 'outage', { status: 404 }),
    );
    for (let count = 0; count < 3; count += 1) {
      const open = await engine.service.nextRequest('open');
      open.refuse(new UploaderError('service-failed', 'outage', { status: 502 }));
    }
    await engine.waitForChange('upload-failed');
    expect((await store.list()).map(({ stored }) => stored.size >= 3)).to.deep.equal([true]);
    engine.service.answerAll();
    await engine.uploader.retry();
    await engine.waitForChange('upload-completed');
    expect(engine.service.puts).to.have.length(20);
  });

  it('after which the service has lost the session: the file says that it starts over, until it is done', async () => {
    const engine = world();
    engine.service.isForgetful = true;
    engine.service.answerAll('open', 'put');
    await engine.uploader.addFiles([fileOf(1, 20_000, 'a.bin')]);
    (await engine.service.nextRequest('presign')).answer();
    await until(() => (engine.row('a.bin')?.storedBytes ?? 0) > 0);
    expect(engine.row('a.bin')?.warning).to.equal(undefined);
    await engine.service.refuseAll(
      'presign',
      new UploaderError('session-expired', 'outage', { status: 404 }),
    );
    await until(() => engine.row('a.bin')?.warning === 'upload-restarted');
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.row('a.bin')?.warning).to.equal(undefined);
  });

  it('after which the service has lost the session is over for a file that is canceled and retried', async () => {
    const engine = world();
    engine.service.isForgetful = true;
    engine.service.answerAll('open', 'put', 'cancel');
    await engine.uploader.addFiles([fileOf(1, 20_000, 'a.bin')]);
    (await engine.service.nextRequest('presign')).answer();
    await until(() => (engine.row('a.bin')?.storedBytes ?? 0) > 0);
    await engine.service.refuseAll(
      'presign',
      new UploaderError('session-expired', 'outage', { status: 404 }),
    );
    await until(() => engine.row('a.bin')?.warning === 'upload-restarted');
    await engine.uploader.cancel();
    await until(() => engine.phase('a.bin') === 'canceled');
    const id = engine.row('a.bin')?.id;
    const reportsBefore = engine.details('upload-progress').length;
    await engine.uploader.retry(id);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    const reports = engine.details('upload-progress').slice(reportsBefore);
    expect(reports.length).to.be.greaterThan(0);
    expect(reports.flatMap(({ warning }) => warning ?? [])).to.deep.equal([]);
  });

  it('after which a session without a stored chunk is lost is no reason to say so', async () => {
    const engine = world();
    engine.service.answerAll('open');
    await engine.uploader.addFiles([fileOf(1, 2000, 'a.bin')]);
    await engine.service.refuseAll(
      'presign',
      new UploaderError('session-expired', 'outage', { status: 404 }),
    );
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.details('upload-progress').filter(({ warning }) => warning)).to.deep.equal([]);
  });

  for (const operation of ['put', 'presign'] as const)
    it(`of a minute (${operation}) is followed by all chunks in the order of the list`, async () => {
      const files = ['a', 'b', 'c'].map((name, seed) => fileOf(seed, 4000, `${name}.bin`));
      const places = new Map<string, string>();
      for (const file of files)
        for (let at = 0; at < 4; at += 1)
          places.set(await sha256(file.slice(at * 1000, at * 1000 + 1000)), `${file.name} ${at}`);
      const { changes, service, uploader } = world({
        policy: {},
        concurrency: 1,
        answers: ['open', 'commit'],
        // On the page, the test can wait until chunks are read: they are read in real time.
        workerUrl: '/no-such-worker.js',
      });
      const running = [
        countRunning(Blob.prototype, 'arrayBuffer'),
        countRunning(ReadableStreamBYOBReader.prototype, 'read'),
        countRunning(crypto.subtle, 'digest'),
      ];
      const begun: string[] = [];
      let isDown = true;
      const down = (): UploaderError => new UploaderError('network', 'no line');
      const other = operation === 'put' ? 'presign' : 'put';
      void service.serve(other, (request) => {
        if (request.kind === 'put') begun.push(places.get((request as Request<'put'>).hash) ?? '');
        request.answer();
      });
      await uploader.addFiles(files);
      const first = await service.nextRequest(operation);
      const clock = stopClock();
      try {
        first.refuse(down());
        void service.serve(operation, (request) => {
          if (isDown) return request.refuse(down());
          if (request.kind === 'put') begun.push(places.get((request as Request<'put'>).hash) ?? '');
          request.answer();
        });
        const pass = async (ms: number): Promise<void> => {
          await clock.pass(ms);
          do for (let round = 0; round < 5; round += 1) await settled();
          while (running.some((count) => count() > 0));
        };
        for (let step = 0; step < 120; step += 1) await pass(500);
        isDown = false;
        begun.length = 0;
        // The first request that succeeds may be any of those that waited.
        for (let step = 0; begun.length === 0 && step < 30; step += 1) await pass(500);
        // Each success ends two of the other waits, and each second without one ends one.
        const isDone = (): boolean => changes.filter(({ name }) => name === 'upload-completed').length === 3;
        for (let step = 0; !isDone() && step < 300; step += 1) await pass(100);
        await until(isDone, () => JSON.stringify(uploader.snapshot.files));
        const [found, ...others] = begun;
        const expected = [...places.values()].filter((place) => place !== found);
        expect(others).to.deep.equal(expected);
      } finally {
        clock.restore();
      }
    });

  it('is not shown as `offline` while bytes are being sent', async () => {
    Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => false });
    try {
      const engine = world();
      engine.service.answerAll('open', 'presign', 'commit');
      await engine.uploader.addFiles([fileOf(1, 2000, 'a.bin')]);
      const [failing, sending] = [
        await engine.service.nextRequest('put'),
        await engine.service.nextRequest('put'),
      ];
      engine.service.hold('presign');
      failing.refuse(new UploaderError('offline', 'wrong'));
      await until(() => engine.row('a.bin')?.pauseReason === 'offline');
      sending.tell(500);
      expect(engine.phase('a.bin')).to.equal('uploading');
      sending.answer();
      engine.service.answerAll();
      await engine.waitForChange('upload-completed');
    } finally {
      Reflect.deleteProperty(navigator, 'onLine');
    }
  });

  it('ends, although the browser says that it is offline', async () => {
    Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => false });
    try {
      const engine = world();
      engine.service.answerAll('open', 'put', 'commit');
      await engine.uploader.addFiles([fileOf(1, 1000, 'a.bin')]);
      for (const code of ['service-failed', 'offline'] as const)
        (await engine.service.nextRequest('presign')).refuse(new UploaderError(code, 'outage'));
      (await engine.service.nextRequest('presign')).answer();
      await engine.waitForChange('upload-completed');
      expect(engine.details('upload-paused').map(({ reason }) => reason)).to.deep.equal(['offline']);
    } finally {
      Reflect.deleteProperty(navigator, 'onLine');
    }
  });
});
