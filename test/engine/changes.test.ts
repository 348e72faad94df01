// The order of reported changes, frozen data, progress, and the report that all uploads are finished.

import { expect } from '@open-wc/testing';
import type { Change } from '../../src/core/changes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { world } from '../support/world.ts';

/** Asserts that `value` and everything in it is frozen. */
function expectFrozen(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  expect(Object.isFrozen(value), `${path} is frozen`).to.equal(true);
  for (const [name, inner] of Object.entries(value)) expectFrozen(inner, `${path}.${name}`);
}

it('do not contain the id of the session if the secret session header contains it', async () => {
  const engine = world();
  const { openSession } = engine.service.calls;
  Object.assign(engine.service.calls, {
    openSession: async (...given: Parameters<typeof openSession>) => {
      const session = await openSession(...given);
      return { ...session, header: `Upload ${session.sessionId}` };
    },
  });
  engine.service.answerAll();
  await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
  await engine.waitForChange('uploads-finished');
  expect(engine.details('upload-completed')[0]).not.to.have.property('sessionId');
});

describe('the changes of one file', () => {
  it('are reported in order, with the details of their events', async () => {
    const engine = world();
    engine.service.answerAll();
    const startMs = performance.now();
    await engine.uploader.addFiles([{ file: fileOf(1, 2500, 'a.bin'), relativePath: 'in/a.bin' }]);
    await engine.waitForChange('uploads-finished');
    const tookMs = performance.now() - startMs;
    expect(engine.changeNames()).to.deep.equal([
      'file-added',
      'upload-started',
      'upload-completed',
      'uploads-finished',
    ]);
    const names = engine.changes.map(({ name }) => name);
    expect(names.indexOf('chunk-hashed')).to.be.greaterThan(names.indexOf('upload-started'));
    expect(names.indexOf('chunk-uploaded')).to.be.greaterThan(names.indexOf('chunk-hashed'));
    expect(names.lastIndexOf('chunk-uploaded')).to.be.lessThan(names.indexOf('upload-completed'));
    const phases = engine.details('upload-progress').map(({ phase }) => phase);
    expect(phases.filter((phase, at) => phase !== phases[at - 1])).to.deep.equal([
      'hashing',
      'uploading',
      'committing',
    ]);
    expect(engine.details('chunk-hashed').map(({ index }) => index)).to.have.members([0, 1, 2]);
    const uploaded = engine.details('chunk-uploaded');
    const [completed] = engine.details('upload-completed');
    expect(completed).to.deep.include({
      id: engine.id('a.bin'),
      name: 'a.bin',
      relativePath: 'in/a.bin',
      sizeBytes: 2500,
      sentBytes: 2500,
      skippedBytes: 0,
      sessionId: 'session-1',
      commit: { file_id: 'file-1' },
    });
    expect(completed?.durationMs).to.be.within(0, tookMs);
    expect(completed?.chunks).to.deep.equal(
      [0, 1, 2].map((at) => {
        const { index, hash, receipt } = uploaded.find(({ index: found }) => found === at) ?? {};
        return { index, hash, receipt };
      }),
    );
    expect(engine.details('uploads-finished')).to.deep.equal([
      { doneCount: 1, failedCount: 0, canceledCount: 0, waitingCount: 0 },
    ]);
  });

  it('contain no secrets: no session header, no presigned URL', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(2, 2500, 'a.bin')]);
    await engine.waitForChange('uploads-finished');
    const text = JSON.stringify([engine.changes, engine.uploader.snapshot]);
    expect(text).not.to.contain('header-1');
    expect(text).not.to.contain('store.test');
  });

  it('of an empty file are the same as for any other (U13)', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(3, 0, 'empty.bin')]);
    await engine.waitForChange('uploads-finished');
    expect(engine.changeNames()).to.deep.equal([
      'file-added',
      'upload-started',
      'upload-completed',
      'uploads-finished',
    ]);
    expect(engine.details('upload-completed')[0]).to.deep.include({ sizeBytes: 0, chunks: [], sentBytes: 0 });
  });

  it('of a file that the service already has report that nothing was sent (U4)', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(4, 2500, 'a.bin')]);
    await engine.waitForChange('upload-completed');
    await engine.uploader.addFiles([fileOf(4, 2500, 'copy.bin')]);
    await engine.waitForChange('upload-completed', 2);
    expect(engine.details('upload-completed')[1]).to.include({
      name: 'copy.bin',
      sentBytes: 0,
      skippedBytes: 2500,
    });
    expect(engine.row('copy.bin')).to.include({ storedBytes: 2500, skippedBytes: 2500 });
    expect(engine.service.puts).to.have.length(3);
  });

  it('that fails include the reason, and other files continue', async () => {
    const engine = world();
    await engine.uploader.addFiles([fileOf(5, 10, 'bad.bin'), fileOf(6, 10, 'good.bin')]);
    const request = await engine.service.nextRequest('open');
    expect(request.fileName).to.equal('bad.bin');
    request.refuse(new UploaderError('name-taken', 'there is one', { status: 409 }));
    engine.service.answerAll();
    await engine.waitForChange('uploads-finished');
    expect(engine.details('upload-failed')).to.deep.equal([
      { id: engine.id('bad.bin'), name: 'bad.bin', code: 'name-taken', retryable: true, status: 409 },
    ]);
    expect(engine.phases()).to.deep.equal(['failed', 'done']);
    expect(engine.details('uploads-finished')).to.deep.equal([
      { doneCount: 1, failedCount: 1, canceledCount: 0, waitingCount: 0 },
    ]);
  });

  it('include the time of the next attempt from the first failure until a request succeeds or sends bytes', async () => {
    const engine = world({ policy: { attempts: 3, baseMs: 0, capMs: 0 } });
    const network = (): UploaderError => new UploaderError('network', 'no line');
    const retryAtMs = (): number | undefined => engine.row('a.bin')?.retryAtMs;
    await engine.uploader.addFiles([fileOf(8, 10, 'a.bin')]);
    (await engine.service.nextRequest('open')).refuse(network());
    const open = await engine.service.nextRequest('open');
    expect(retryAtMs()).to.be.within(Date.now() - 60_000, Date.now());
    open.answer();
    const presign = await engine.service.nextRequest('presign');
    expect(retryAtMs()).to.equal(undefined);
    presign.answer();
    (await engine.service.nextRequest('put')).refuse(network());
    (await engine.service.nextRequest('presign')).answer();
    const put = await engine.service.nextRequest('put');
    expect(retryAtMs()).to.be.within(Date.now() - 60_000, Date.now());
    put.tell(4);
    expect(retryAtMs()).to.equal(undefined);
    const reported = engine.details('upload-progress').map(({ retryAtMs }) => retryAtMs !== undefined);
    // Counts changes to waiting, because a slow browser can report the same state more than once.
    expect(reported.filter((isWaiting, at) => isWaiting && !reported[at - 1])).to.have.length(2);
  });

  it('that waits for a retry include the time of the retry, and the last error', async () => {
    const engine = world({ policy: { attempts: 3, baseMs: 1e9, capMs: 1e9 } });
    await engine.uploader.addFiles([fileOf(7, 10, 'a.bin')]);
    (await engine.service.nextRequest('open')).refuse(
      new UploaderError('service-failed', 'a secret', { status: 503 }),
    );
    await until(() => engine.row('a.bin')?.retryAtMs !== undefined);
    expect(engine.row('a.bin')?.retryAtMs).to.be.at.least(Date.now() - 1000);
    const lastError = { code: 'service-failed', retryable: true, status: 503 };
    expect(engine.row('a.bin')?.lastError).to.deep.equal(lastError);
    expect(engine.details('upload-progress').at(-1)?.lastError).to.deep.equal(lastError);
    await engine.uploader.pause();
    expect([engine.row('a.bin')?.retryAtMs, engine.row('a.bin')?.lastError]).to.deep.equal([
      undefined,
      undefined,
    ]);
  });
});

describe('uploads-finished', () => {
  it('is reported once for many files, whatever their results', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles(Array.from({ length: 30 }, (_, at) => fileOf(at, 10 * at, `${at}.bin`)));
    await engine.waitForChange('uploads-finished');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.details('uploads-finished')).to.deep.equal([
      { doneCount: 30, failedCount: 0, canceledCount: 0, waitingCount: 0 },
    ]);
  });

  it('is reported once if the first file is done before the last is added', async () => {
    const engine = world();
    engine.service.answerAll();
    // Makes adding each file slow, so that a task adds only a few files.
    engine.uploader.mayAdd = ({ name }) => {
      const endMs = performance.now() + 20;
      while (engine.phase('first.bin') !== 'done' && performance.now() < endMs);
      return name !== 'skipped.bin';
    };
    const skipped = Array.from({ length: 400 }, () => fileOf(1, 10, 'skipped.bin'));
    await engine.uploader.addFiles([fileOf(1, 10, 'first.bin'), ...skipped, fileOf(2, 10, 'last.bin')]);
    expect(engine.phase('first.bin')).to.equal('done');
    await engine.waitForChange('upload-completed', 2);
    await engine.waitForChange('uploads-finished');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.details('uploads-finished')).to.deep.equal([
      { doneCount: 2, failedCount: 0, canceledCount: 0, waitingCount: 0 },
    ]);
  });

  it('is not reported on a pause, but once when the file is done after it', async () => {
    const engine = world();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.service.nextRequest('open');
    await engine.uploader.pause();
    expect(engine.details('uploads-finished')).to.deep.equal([]);
    engine.service.answerAll();
    await engine.uploader.resume();
    await engine.waitForChange('uploads-finished');
    expect(engine.details('uploads-finished')).to.have.length(1);
  });

  it('is reported when the last file is canceled', async () => {
    const engine = world();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.service.nextRequest('open');
    await engine.uploader.cancel();
    expect(engine.details('uploads-finished')).to.deep.equal([
      { doneCount: 0, failedCount: 0, canceledCount: 1, waitingCount: 0 },
    ]);
  });
});

describe('changes and snapshots', () => {
  it('are deeply frozen', async () => {
    const engine = world({ maxFiles: 1 });
    engine.uploader.onChange((change) => {
      expect(Object.isFrozen(change)).to.equal(true);
      if (change.name !== 'upload-completed') expectFrozen(change.detail, change.name);
      expectFrozen(engine.uploader.snapshot, 'snapshot');
    });
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin'), fileOf(2, 10, 'refused.bin')]);
    await engine.waitForChange('uploads-finished');
    const [completed] = engine.details('upload-completed');
    expect(Object.isFrozen(completed)).to.equal(true);
    expectFrozen(completed?.chunks, 'chunks');
  });

  it('keep their identity until something changes', async () => {
    const engine = world({ manual: true });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    const { snapshot } = engine.uploader;
    expect(engine.uploader.snapshot).to.equal(snapshot);
    let different = 0;
    engine.uploader.onChange(({ name }) => {
      const before = engine.uploader.snapshot;
      if (name.startsWith('chunk-') && before !== seen) different += 1;
      seen = before;
    });
    let seen = snapshot;
    engine.service.answerAll();
    await engine.uploader.start();
    await engine.waitForChange('uploads-finished');
    expect(engine.uploader.snapshot).not.to.equal(snapshot);
    expect(different).to.equal(0);
  });

  it('reach every listener even if one throws, and the upload continues', async () => {
    const engine = world();
    const { reportError } = globalThis;
    const reported: unknown[] = [];
    globalThis.reportError = (error) => reported.push(error);
    try {
      engine.uploader.onChange(() => {
        throw new Error('a defect of the page');
      });
      const received: Change[] = [];
      engine.uploader.onChange((change) => received.push(change));
      engine.service.answerAll();
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await engine.waitForChange('uploads-finished');
      expect(engine.phase('a.bin')).to.equal('done');
      expect(received).to.deep.equal(engine.changes);
      expect(reported.length).to.equal(received.length);
    } finally {
      globalThis.reportError = reportError;
    }
  });

  it('include no uploads-finished if no upload started', async () => {
    const engine = world({ manual: true });
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    await engine.uploader.cancel();
    for (let round = 0; round < 10; round += 1) await settled();
    expect(engine.changeNames()).to.deep.equal(['file-added', 'upload-canceled']);
  });

  it('are not sent to a listener after it unsubscribed', async () => {
    const engine = world({ manual: true });
    const received: string[] = [];
    const leave = engine.uploader.on('file-added', ({ name }) => received.push(name));
    await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    leave();
    await engine.uploader.addFiles([fileOf(1, 10, 'b.bin')]);
    expect(received).to.deep.equal(['a.bin']);
  });
});
