// How an upload starts: with the saved record of an earlier visit, or without.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { open } from '../../src/pipeline/open.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { CHUNK_BYTES, recordOf, setUpRun } from '../support/running.ts';

describe('a file of one chunk', () => {
  it('leaves no record, and nothing is read to identify it', async () => {
    const setUp = setUpRun(fileOf(1, CHUNK_BYTES), {
      identify: () => Promise.reject(new Error('it was identified')),
    });
    setUp.service.answerAll();
    await setUp.start();
    expect(setUp.keeper.log).to.deep.equal([]);
    expect(setUp.reads).to.deep.equal([CHUNK_BYTES]);
  });
});

describe('a file of several chunks', () => {
  it('cancels its session if it is paused before the session is used', async () => {
    const canceled: string[] = [];
    const { controller, service, start } = setUpRun(fileOf(28, 500), {
      retrying: (call, _signal, first) => first ?? call(),
      cancel: async ({ header }) => void canceled.push(header),
    });
    const running = rejection(start());
    (await service.nextRequest('open')).answer({ sessionId: 'late', header: 'late' });
    controller.abort('paused');
    expect(await running).to.equal('paused');
    await settled();
    expect(canceled).to.deep.equal(['late']);
  });

  it('opens a session in its folder, and saves it with the settings that change chunks', async () => {
    const file = fileOf(2, 2500, 'two and a half.bin');
    const { keeper, open: picked, parts, service } = setUpRun(file);
    const opened = await open(picked, parts);
    const request = await service.nextRequest('open');
    expect(request).to.include({ parentId: 'folder-a', fileName: file.name, fileSize: 2500 });
    request.answer();
    const session = await opened.session;
    await settled();
    expect(opened).to.include({ isResumed: false, chunkSizeBytes: CHUNK_BYTES });
    const record = keeper.records.get(file.name);
    expect(record).to.include({
      sizeBytes: 2500,
      chunkSizeBytes: CHUNK_BYTES,
      hashAlgorithm: 'sha-256',
      parentId: 'folder-a',
      firstSliceHash: 'first',
      lastModifiedMs: file.lastModified,
    });
    expect(record?.session).to.deep.equal(session);
  });

  it('that was started before continues with its session, its chunk size and its chunks, and opens no session', async () => {
    const file = fileOf(3, 2500);
    const { keeper, open: picked, parts, service } = setUpRun(file, { chunkSizeBytes: 1200 });
    keeper.records.set(file.name, await recordOf(file, [0, 2]));
    const opened = await open(picked, parts);
    expect(opened).to.include({ isResumed: true, chunkSizeBytes: CHUNK_BYTES });
    expect([...opened.stored.keys()]).to.deep.equal([0, 2]);
    expect(await opened.session).to.include({ sessionId: 'session-before' });
    expect(service.log).to.deep.equal([]);
  });

  it('that cannot be read starts no upload', async () => {
    const error = new UploaderError('file-unreadable', 'gone');
    const { open: picked, parts } = setUpRun(fileOf(4, 2500), { identify: () => Promise.reject(error) });
    expect(await rejection(open(picked, parts))).to.equal(error);
  });

  it('that is new opens its session while it is identified and its lock is taken', async () => {
    const identified = deferred<{ key: string; firstSliceHash: string }>();
    const file = fileOf(6, 2500);
    const { keeper, open: picked, parts, service } = setUpRun(file, { identify: () => identified.promise });
    const opening = open(picked, parts);
    (await service.nextRequest('open')).answer();
    expect(keeper.log).to.deep.equal([]);
    identified.resolve({ key: file.name, firstSliceHash: 'first' });
    const session = await (await opening).session;
    await settled();
    expect(keeper.records.get(file.name)?.session).to.deep.equal(session);
    expect(service.log).to.deep.equal(['open']);
  });

  it('repeats that call if it failed, with the retries of other calls, or fails with its refusal', async () => {
    for (const code of ['network', 'forbidden'] as const) {
      const { open: picked, parts, service } = setUpRun(fileOf(7, 2500));
      const opening = open(picked, parts);
      const error = new UploaderError(code, 'no');
      (await service.nextRequest('open')).refuse(error);
      const { session } = await opening;
      if (code === 'forbidden') expect(await rejection(session)).to.equal(error);
      else (await service.nextRequest('open')).answer();
      if (code === 'network') expect(await session).to.include({ sessionId: 'session-1' });
    }
  });

  for (const [why, result, identify] of [
    ['another tab has saved a record in the meantime', 'session-before', undefined],
    ['another tab has the lock', 'session-2', undefined],
    [
      'the file cannot be read',
      'file-unreadable',
      () => Promise.reject(new UploaderError('file-unreadable', 'gone')),
    ],
  ] as const)
    it(`cancels that session if ${why}`, async () => {
      const file = fileOf(8, 2500);
      const { keeper, open: picked, parts, service } = setUpRun(file, identify && { identify });
      const record = await recordOf(file, [0]);
      keeper.find = async (_key: string, onTaken?: () => void) => {
        if (result === 'session-before') return record;
        onTaken?.();
        return undefined;
      };
      const opening = open(picked, parts);
      (await service.nextRequest('open')).answer();
      service.answerAll();
      const ended = await opening.then(({ session }) => session).catch((error: UploaderError) => error);
      expect('code' in ended ? ended.code : ended.sessionId).to.equal(result);
      await settled();
      expect(service.log).to.have.members(['open', 'cancel', ...(result === 'session-2' ? ['open'] : [])]);
    });

  it('saves that it may be complete before its commit is sent', async () => {
    const { keeper, service, start } = setUpRun(fileOf(5, 2500));
    const saved = deferred<void>();
    const asked = deferred<void>();
    keeper.update = (_key, { commitSentAtMs }) => {
      if (commitSentAtMs !== undefined) asked.resolve();
      return saved.promise;
    };
    service.answerAll('open', 'presign', 'put');
    const running = start();
    await asked.promise;
    for (let round = 0; round < 20; round += 1) await settled();
    expect(service.count('commit')).to.equal(0);
    saved.resolve();
    (await service.nextRequest('commit')).answer();
    await running;
  });

  it('saves its chunks as they are stored, and removes the record when it is done', async () => {
    const file = fileOf(5, 2500);
    const { keeper, service, start } = setUpRun(file);
    service.answerAll('open', 'presign', 'put');
    const running = start();
    const commit = await service.nextRequest('commit');
    expect(keeper.records.get(file.name)?.stored.size).to.equal(3);
    commit.answer();
    await running;
    await settled();
    expect(keeper.records.size).to.equal(0);
    const chunks = ['saveChunks', 'saveChunks', 'saveChunks'];
    // The update says that a commit is without a response.
    expect(keeper.log).to.deep.equal(['find', 'save', ...chunks, 'update', 'remove']);
  });
});
