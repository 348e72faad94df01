// One upload as a protocol trace, from the first call to the commit, with possible failures.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, rejection, settled, until } from '../support/collect.ts';
import { CHUNK_BYTES, hashesOf, PAGE_BYTES, recordOf, setUpRun } from '../support/running.ts';

const lost = (status = 404): UploaderError => new UploaderError('session-expired', 'gone', { status });
const changed = (file: File, at: number): File =>
  new File([file.slice(0, at), new Uint8Array([7]), file.slice(at + 1)], file.name, {
    lastModified: file.lastModified,
  });

describe('an upload', () => {
  it('opens a session, requests tickets, sends every chunk, and commits them in order', async () => {
    const file = fileOf(20, 4500);
    const { controller, pagePool, service, start, reported } = setUpRun(file);
    const running = start();
    (await service.nextRequest('open')).answer();
    const first = await service.nextRequest('presign');
    expect(first.session.header).to.equal('header-1');
    expect(first.hashes).to.have.length(1);
    first.answer();
    service.answerAll('presign', 'put');
    const commit = await service.nextRequest('commit');
    const hashes = await hashesOf(file);
    expect(commit.hashes).to.deep.equal(hashes);
    expect(commit.receipts).to.have.length(5);
    expect(new Set(service.puts)).to.deep.equal(new Set(hashes));
    commit.answer();
    const result = await running;
    expect(result.chunks.map(({ index }) => index)).to.deep.equal([0, 1, 2, 3, 4]);
    expect(result.chunks.map(({ receipt }) => receipt)).to.deep.equal(commit.receipts);
    expect(result.body).to.deep.equal({ file_id: 'file-1' });
    expect(result.session.sessionId).to.equal('session-1');
    expect(reported.slice(0, 2)).to.deep.equal(['session-1', 'opened 5']);
    expect(reported.at(-1)).to.equal('commit');
    expect(pagePool.freeBytes).to.equal(PAGE_BYTES);
    expect(controller.signal.aborted).to.equal(false);
  });

  it('of an empty file opens a session and commits it, and requests no ticket (U13)', async () => {
    const { service, start } = setUpRun(fileOf(21, 0));
    service.answerAll();
    expect((await start()).chunks).to.deep.equal([]);
    expect(service.log).to.deep.equal(['open', 'commit 0']);
  });

  it('without a commit path is done when every chunk is stored (U10)', async () => {
    const file = fileOf(22, 2500);
    const { parts, service, start } = setUpRun(file);
    const { commit: _commit, ...calls } = service.calls;
    Object.assign(parts, { calls });
    service.answerAll();
    const result = await start();
    expect(result.chunks).to.have.length(3);
    expect(result.body).to.equal(undefined);
    expect(service.count('commit')).to.equal(0);
  });

  it('reads only a small part of its file while no bytes are sent', async () => {
    const { controller, reads, service, start } = setUpRun(fileOf(25, 200_000), {
      batch: { max: 4 },
    });
    service.answerAll('open', 'presign');
    const running = rejection(start());
    await until(() => service.waiting('put').length === 2);
    for (let round = 0; round < 100; round += 1) await settled();
    expect(reads.length).to.be.at.most(20);
    controller.abort();
    await running;
  });

  it('that is rejected when its session opens fails with that error, and sends nothing', async () => {
    const { pagePool, service, start } = setUpRun(fileOf(23, 2500));
    const running = rejection(start());
    const error = new UploaderError('forbidden', 'no', { status: 403 });
    (await service.nextRequest('open')).refuse(error);
    expect(await running).to.equal(error);
    await settled();
    expect(service.log).to.deep.equal(['open']);
    expect(pagePool.freeBytes).to.equal(PAGE_BYTES);
  });

  it('of a file that cannot be read aborts the running call', async () => {
    const error = new UploaderError('file-unreadable', 'gone');
    const { service, start } = setUpRun(fileOf(24, 2500), { hashSlice: () => Promise.reject(error) });
    const running = rejection(start());
    const request = await service.nextRequest('open');
    expect(await running).to.equal(error);
    expect(request.signal.aborted).to.equal(true);
  });

  it('is done when the service confirms it, even if the store does not respond', async () => {
    const { keeper, service, start } = setUpRun(fileOf(25, 2500));
    keeper.isStuck = true;
    service.answerAll();
    expect((await start()).chunks).to.have.length(3);
  });

  it('that is paused rejects with the reason, keeps what is stored, and releases its memory', async () => {
    const file = fileOf(26, 6500);
    const { controller, keeper, slots, pagePool, service, start } = setUpRun(file);
    service.answerAll('open', 'presign');
    const running = rejection(start());
    (await service.nextRequest('put')).answer();
    await service.nextRequest('put');
    await until(() => keeper.records.get(file.name)?.stored.size === 1);
    controller.abort('paused');
    expect(await running).to.equal('paused');
    await settled();
    expect(keeper.records.get(file.name)?.stored.size).to.equal(1);
    expect(slots.taken).to.equal(0);
    expect(pagePool.freeBytes).to.equal(PAGE_BYTES);
  });

  it('that is canceled before its session is open reports no chunk', async () => {
    const { controller, parts, start, reported } = setUpRun(fileOf(28, 6500));
    const identify = async () => {
      controller.abort('canceled');
      return { key: 'a', firstSliceHash: 'first' };
    };
    Object.assign(parts, { identify });
    expect(await rejection(start())).to.equal('canceled');
    expect(reported).to.deep.equal([]);
  });

  it('that fails releases its memory', async () => {
    const { pagePool, service, start } = setUpRun(fileOf(27, 6500));
    service.answerAll('open', 'presign');
    const running = rejection<UploaderError>(start());
    (await service.nextRequest('put')).refuse(new UploaderError('forbidden', 'no'));
    expect((await running).code).to.equal('forbidden');
    await settled();
    expect(pagePool.freeBytes).to.equal(PAGE_BYTES);
  });
});

describe('an upload resumed from an earlier visit', () => {
  it('frees the memory of the chunk that was hashed before its record was found', async () => {
    const file = fileOf(31, 2500);
    const { keeper, pagePool, service, start } = setUpRun(file);
    keeper.records.set(file.name, await recordOf(file, [0]));
    const running = start();
    const request = await service.nextRequest('presign');
    expect(pagePool.freeBytes).to.equal(PAGE_BYTES - 1500);
    request.answer();
    service.answerAll();
    await running;
  });

  it('sends only missing chunks, first, and verifies recorded ones after them', async () => {
    const file = fileOf(30, 4500);
    const { keeper, service, start, reported } = setUpRun(file, { width: 1 });
    keeper.records.set(file.name, await recordOf(file, [0, 1, 3]));
    const hashes = await hashesOf(file);
    for (const at of [0, 1, 3]) service.stored.add(hashes[at] as string);
    service.answerAll();
    const { chunks } = await start();
    expect(service.puts).to.have.members([hashes[2], hashes[4]]);
    expect(service.log).not.to.include('open');
    expect(reported.filter((line) => line.startsWith('hashed'))).to.deep.equal(
      [2, 4, 0, 1, 3].map((at) => `hashed ${at}`),
    );
    expect(
      chunks.map(({ receipt }) => receipt).filter((receipt) => receipt.startsWith('of before')),
    ).to.deep.equal(['of before 0', 'of before 1', 'of before 3']);
  });

  it('sends one more chunk if one byte of it differs', async () => {
    const file = fileOf(31, 4500);
    const now = changed(file, 1500);
    const { keeper, service, start } = setUpRun(now);
    keeper.records.set(file.name, await recordOf(file, [0, 1, 2, 3]));
    for (const hash of (await hashesOf(file)).slice(0, 4)) service.stored.add(hash);
    service.answerAll();
    const { chunks } = await start();
    const hashes = await hashesOf(now);
    expect(service.puts).to.have.members([hashes[1], hashes[4]]);
    expect(chunks.map(({ hash }) => hash)).to.deep.equal(hashes);
  });

  it('sends nothing if all chunks are stored, and commits', async () => {
    const file = fileOf(32, 2500);
    const { keeper, service, start } = setUpRun(file);
    keeper.records.set(file.name, await recordOf(file, [0, 1, 2]));
    for (const hash of await hashesOf(file)) service.stored.add(hash);
    service.answerAll();
    await start();
    expect(service.log).to.deep.equal(['commit 3']);
    // Asserts that nothing is saved: the record already has all chunks.
    expect(keeper.log.filter((name) => name.startsWith('save'))).to.deep.equal([]);
  });

  it('opens a new session if the old one is refused (403), in which nothing stored is sent again', async () => {
    const file = fileOf(33, 4500);
    const { keeper, service, start } = setUpRun(file);
    keeper.records.set(file.name, await recordOf(file, [0, 1]));
    const hashes = await hashesOf(file);
    for (const hash of hashes.slice(0, 2)) service.stored.add(hash);
    const running = start();
    await service.refuseAll('presign', new UploaderError('forbidden', 'no', { status: 403 }));
    service.answerAll();
    const { chunks, session } = await running;
    expect(session.sessionId).to.equal('session-1');
    expect(service.puts).to.have.members(hashes.slice(2));
    expect(chunks.every(({ receipt }) => receipt.startsWith('receipt-'))).to.equal(true);
  });
});

it('a run that has ended neither saves that its commit was accepted, nor takes the lock', async () => {
  const identified = deferred<{ key: string; firstSliceHash: string }>();
  const { keeper, service, start } = setUpRun(fileOf(48, 500), {
    identify: () => identified.promise,
  });
  service.answerAll('open', 'presign', 'put');
  const running = start();
  (await service.nextRequest('commit')).answer({ missing: [], pending: { retryAfterMs: 0 } });
  (await service.nextRequest('commit')).answer();
  await running;
  identified.resolve({ key: 'late', firstSliceHash: 'first' });
  await settled();
  expect(keeper.log).to.deep.equal([]);
});

describe('a session that is lost', () => {
  for (const [name, error] of [
    ['404', lost(404)],
    ['410', lost(410)],
    ['a second 401', new UploaderError('token-rejected', 'no', { status: 401 })],
  ] as const) {
    it(`(${name}) is opened again once, with new tickets for every chunk, and nothing is sent twice`, async () => {
      const file = fileOf(40, 4500);
      const { keeper, service, start, reported } = setUpRun(file, { batch: { max: 1 } });
      service.answerAll('open', 'put');
      const running = start();
      (await service.nextRequest('presign')).answer();
      await until(() => service.stored.size === 1);
      if (error.code === 'token-rejected') (await service.nextRequest('presign')).refuse(error);
      else await service.refuseAll('presign', error);
      service.answerAll('presign');
      const commit = await service.nextRequest('commit');
      expect(commit.session.header).to.equal('header-2');
      expect(keeper.records.get(file.name)?.session?.header).to.equal('header-2');
      commit.answer();
      await running;
      expect(service.puts).to.have.length(5);
      expect(service.count('open')).to.equal(2);
      expect(reported.filter((line) => line.startsWith('session'))).to.deep.equal(['session-1', 'session-2']);
      expect(reported.filter((line) => line.startsWith('hashed'))).to.have.length(5);
      expect(reported.filter((line) => line.startsWith('opened'))).to.deep.equal(['opened 5', 'opened 5']);
    });
  }

  it('is opened again with the chunk size that the service then chooses', async () => {
    const chunkSizeIn = ({ chunkSizeBytes = 0 }): number => chunkSizeBytes;
    const { service, start, reported } = setUpRun(fileOf(47, 4000), { chunkSizeBytes: 2000, chunkSizeIn });
    const running = start();
    for (const [count, chunkSizeBytes] of [2000, 1000].entries()) {
      const session = { sessionId: `session-${count}`, header: `header-${count}`, chunkSizeBytes };
      (await service.nextRequest('open')).answer(session);
      if (count === 0) await service.refuseAll('presign', lost());
    }
    service.answerAll();
    const { chunks } = await running;
    expect(chunks.map(({ sizeBytes }) => sizeBytes)).to.deep.equal([1000, 1000, 1000, 1000]);
    const opened = reported.filter((line) => line.startsWith('opened'));
    expect(opened).to.deep.equal(['opened 2', 'opened 2', 'opened 4']);
  });

  it('a second time fails the file with the error of the service', async () => {
    const { pagePool, service, start } = setUpRun(fileOf(41, 4500));
    service.answerAll('open', 'put');
    const running = rejection(start());
    await service.refuseAll('presign', lost());
    const second = lost(410);
    await service.refuseAll('presign', second);
    expect(await running).to.equal(second);
    expect(service.count('open')).to.equal(2);
    await settled();
    expect(pagePool.freeBytes).to.equal(PAGE_BYTES);
  });

  it('at the commit is opened again, and nothing is sent again', async () => {
    const { service, start } = setUpRun(fileOf(42, 2500));
    service.answerAll('open', 'presign', 'put');
    const running = start();
    await service.refuseAll('commit', lost(410));
    (await service.nextRequest('commit')).answer();
    expect((await running).session.sessionId).to.equal('session-2');
    expect(service.puts).to.have.length(3);
  });

  for (const kind of ['presign', 'commit'] as const)
    it(`is not lost yet after one 404 to ${kind}: the same call is made once more`, async () => {
      const { service, start } = setUpRun(fileOf(47, 2500));
      service.answerAll('open', 'put', ...(kind === 'commit' ? (['presign'] as const) : []));
      const running = start();
      (await service.nextRequest(kind)).refuse(lost());
      service.answerAll();
      await running;
      expect(service.count('open')).to.equal(1);
      expect(service.puts).to.have.length(3);
    });

  it('is different from a 403 on a new session, which fails the file', async () => {
    const { service, start } = setUpRun(fileOf(43, 2500));
    service.answerAll('open');
    const running = rejection<UploaderError>(start());
    (await service.nextRequest('presign')).refuse(new UploaderError('forbidden', 'no', { status: 403 }));
    expect((await running).code).to.equal('forbidden');
    expect(service.count('open')).to.equal(1);
  });
});

describe('a storage that rejects the chunks as too large (413)', () => {
  const tooLarge = new UploaderError('upload-refused', 'too large', { status: 413 });

  it('gets chunks of half the size, if these are at most ten thousand', async () => {
    const sizes = { chunkSizeBytes: 2, minChunkBytes: 1 };
    const { controller, service, start, reported } = setUpRun(fileOf(44, 10_000), sizes);
    service.answerAll('open', 'presign', 'cancel');
    const running = rejection(start());
    (await service.nextRequest('put')).refuse(tooLarge);
    await until(() => reported.includes('opened 10000'));
    expect(reported).to.include('chunks of 1 after 2');
    controller.abort('enough');
    expect(await running).to.equal('enough');
  });

  it('gets no smaller chunks otherwise, and the file fails with the error of the storage', async () => {
    const put = (): Promise<void> => Promise.reject(tooLarge);
    const { service, start } = setUpRun(fileOf(45, 10_001), { chunkSizeBytes: 2, minChunkBytes: 1, put });
    service.answerAll('open', 'presign');
    expect(await rejection(start())).to.equal(tooLarge);
    expect(service.count('open')).to.equal(1);
  });

  it('gets them in a new session, whose 403 fails the file, also if an earlier visit opened the first', async () => {
    const file = fileOf(46, 2500);
    const { keeper, service, start } = setUpRun(file, { minChunkBytes: 1 });
    keeper.records.set(file.name, await recordOf(file, []));
    const running = rejection<UploaderError>(start());
    (await service.nextRequest('presign')).answer();
    (await service.nextRequest('put')).refuse(tooLarge);
    (await service.nextRequest('cancel')).answer();
    (await service.nextRequest('open')).answer();
    (await service.nextRequest('presign')).refuse(new UploaderError('forbidden', 'no', { status: 403 }));
    service.answerAll();
    expect((await running).code).to.equal('forbidden');
    expect(service.count('open')).to.equal(1);
  });
});

describe('a commit that finds chunks missing', () => {
  it('sends those again, and no others, and repeats the commit', async () => {
    const file = fileOf(50, 4500);
    const hashes = await hashesOf(file);
    const { service, start, reported } = setUpRun(file);
    service.answerAll('open', 'presign', 'put');
    const running = start();
    const missing = [hashes[1] as string, hashes[3] as string];
    const first = await service.nextRequest('commit');
    for (const hash of missing) service.stored.delete(hash);
    first.answer({ missing });
    const second = await service.nextRequest('commit');
    expect(second.hashes).to.deep.equal(hashes);
    second.answer();
    const { chunks } = await running;
    expect(service.puts.slice(5)).to.have.members(missing);
    expect(chunks.map(({ hash }) => hash)).to.deep.equal(hashes);
    expect(reported.filter((line) => line === 'commit')).to.have.length(2);
  });

  it('for the second time fails the file', async () => {
    const file = fileOf(51, 2500);
    const [missing = ''] = await hashesOf(file);
    const { service, start } = setUpRun(file);
    service.answerAll('open', 'presign', 'put');
    const running = rejection<UploaderError>(start());
    for (let round = 0; round < 2; round += 1)
      (await service.nextRequest('commit')).answer({ missing: [missing] });
    expect((await running).code).to.equal('service-failed');
  });
});

it('a chunk that occurs twice in a file is sent once, and committed in both positions (U14)', async () => {
  const half = fileOf(60, CHUNK_BYTES);
  const file = new File([half, half, fileOf(61, 500)], 'twice.bin');
  const { service, start } = setUpRun(file);
  service.answerAll('open', 'presign', 'put');
  const running = start();
  const commit = await service.nextRequest('commit');
  expect(commit.hashes).to.deep.equal(await hashesOf(file));
  expect(commit.receipts[0]).to.equal(commit.receipts[1]);
  commit.answer();
  expect((await running).chunks).to.have.length(3);
  expect(service.puts).to.have.length(2);
});
