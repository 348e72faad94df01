// A service that accepts a commit (202) and completes the file later. Runs against the reference service, also over a reload.

import { expect } from '@open-wc/testing';
import type { Profile } from '../../src/core/read-profile.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { UploadStore } from '../../src/engine/resume/upload-store.ts';
import { addFault, findReference, logOf, tokenOf } from '../service/reference.ts';
import { freshFile, sha256 } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { newStore, world } from '../support/world.ts';

async function createEngine(
  store: UploadStore = newStore(),
  settings: SettingsInput = {},
  commitDeadlineMs?: number,
) {
  const { uploader } = await world({
    service: 'reference',
    ...settings,
    store,
    ...(commitDeadlineMs !== undefined && { commitDeadlineMs }),
  });
  const events: string[] = [];
  const fileIds: string[] = [];
  const codes: string[] = [];
  uploader.onChange(({ name }) => events.push(name));
  uploader.on('upload-completed', ({ commit }) => fileIds.push((commit as { file_id: string }).file_id));
  uploader.on('upload-failed', ({ code }) => codes.push(code));
  return { codes, events, fileIds, phase: () => uploader.snapshot.files[0]?.phase, uploader };
}

async function operationsOf(file: File): Promise<string[]> {
  return (await logOf({ fileName: file.name })).map(({ operation }) => operation);
}

const commitCount = async (file: File): Promise<number> =>
  (await operationsOf(file)).filter((operation) => operation === 'commit').length;

async function download(fileId: string): Promise<Blob> {
  const { baseUrl } = await findReference();
  const headers = { authorization: `Bearer ${await tokenOf('alice')}` };
  return (await fetch(`${baseUrl}/files/${fileId}`, { headers })).blob();
}

/** Makes the service respond to the next `times` commits of `file` with 202. */
const accept = (file: File, times: number, more: Record<string, unknown> = {}): Promise<unknown> =>
  addFault({ operation: 'commit', pending: true, times, match: { fileName: file.name }, ...more });

describe('a commit that the service answers with 202', () => {
  it('is repeated until the file is complete, which is done only then', async () => {
    const file = freshFile(3 * 65_536);
    await accept(file, 2, { headers: { 'retry-after': '0' } });
    const { events, fileIds, phase, uploader } = await createEngine();
    await uploader.addFiles([file]);
    await until(() => phase() === 'done');
    expect(events.filter((name) => name === 'upload-completed')).to.have.length(1);
    expect(await commitCount(file)).to.equal(3);
    expect(await sha256(await download(fileIds[0] ?? ''))).to.equal(await sha256(file));
  });

  it('is repeated after the time in `Retry-After`', async () => {
    const file = freshFile(100);
    await accept(file, 1, { headers: { 'retry-after': '1' } });
    const { phase, uploader } = await createEngine();
    performance.clearResourceTimings();
    await uploader.addFiles([file]);
    await until(() => phase() === 'done');
    // The times of the browser: a busy service may log its answer after the answer has arrived.
    const commits = (): PerformanceResourceTiming[] =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('/commit')) as PerformanceResourceTiming[];
    await until(() => commits().length === 2);
    const [first, second] = commits();
    expect((second?.startTime ?? 0) - (first?.responseEnd ?? Number.NaN)).to.be.at.least(990);
  });

  it('is not saved any more once the file is done', async () => {
    const file = freshFile(2 * 65_536 + 100);
    await accept(file, 1, { headers: { 'retry-after': '0' } });
    const store = newStore();
    const mayWrite = deferred();
    // A disk that is busy when the first 202 is noted.
    const update: UploadStore['update'] = async (key, change) => {
      if (change.acceptedAtMs !== undefined) await mayWrite.promise;
      return store.update(key, change);
    };
    const { phase, uploader } = await createEngine({ ...store, update });
    await uploader.addFiles([file]);
    await until(() => phase() === 'done');
    mayWrite.resolve();
    await uploader.close();
    await settled();
    expect(await store.list()).to.deep.equal([]);
  });

  it('ends with the error of a later answer', async () => {
    const file = freshFile(100);
    await accept(file, 1, { headers: { 'retry-after': '0' } });
    await addFault({ operation: 'commit', status: 422, skip: 1, match: { fileName: file.name } });
    const { codes, phase, uploader } = await createEngine();
    await uploader.addFiles([file]);
    await until(() => phase() === 'failed');
    expect(codes).to.deep.equal(['upload-refused']);
    await uploader.retry();
    await until(() => phase() === 'done');
    expect((await operationsOf(file)).filter((operation) => operation === 'chunks')).to.have.length(1);
  });

  it('fails with `timeout` after `commitDeadlineMs`, and a retry asks again', async () => {
    const file = freshFile(100);
    await accept(file, 2, { headers: { 'retry-after': '30' } });
    const { codes, phase, uploader } = await createEngine(newStore(), {}, 1000);
    await uploader.addFiles([file]);
    await until(() => phase() === 'failed');
    expect(codes).to.deep.equal(['timeout']);
    await uploader.retry();
    await until(() => phase() === 'done');
    expect(await operationsOf(file)).to.deep.equal([
      'session',
      'chunks',
      'put',
      'commit',
      'commit',
      'commit',
    ]);
  });

  for (const sizeBytes of [100, 3 * 65_536]) {
    it(`continues after a reload without the file (${sizeBytes} bytes)`, async () => {
      const file = freshFile(sizeBytes);
      const store = newStore();
      await accept(file, 1, { headers: { 'retry-after': '300' } });
      await accept(file, 1, { skip: 1, headers: { 'retry-after': '1' } });
      const before = await createEngine(store);
      await before.uploader.addFiles([file]);
      await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
      await before.uploader.close();
      const puts = (await operationsOf(file)).filter((operation) => operation === 'put').length;

      const { events, fileIds, phase, uploader } = await createEngine(store);
      await until(() => phase() === 'done');
      expect(events).not.to.include('upload-paused');
      expect(uploader.snapshot.files.map(({ name }) => name)).to.deep.equal([file.name]);
      expect(await sha256(await download(fileIds[0] ?? ''))).to.equal(await sha256(file));
      expect((await operationsOf(file)).filter((operation) => operation === 'put')).to.have.length(puts);
      await until(async () => (await store.list()).length === 0);
    });
  }

  it('stays paused after a reload if the user paused it', async () => {
    const file = freshFile(100);
    const store = newStore();
    await accept(file, -1, { headers: { 'retry-after': '1' } });
    const before = await createEngine(store);
    await before.uploader.addFiles([file]);
    await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
    await before.uploader.pause();
    await before.uploader.close();
    const { phase, uploader } = await createEngine(store);
    await until(() => phase() === 'paused');
    expect(uploader.snapshot.files[0]?.pauseReason).to.equal('user');
    await uploader.resume();
    await until(() => phase() === 'committing');
  });

  it('fails after a reload if the service has lost the session, because the file may be complete', async () => {
    const file = freshFile(3 * 65_536);
    const store = newStore();
    await accept(file, 1, { headers: { 'retry-after': '300' } });
    const before = await createEngine(store);
    await before.uploader.addFiles([file]);
    await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
    await before.uploader.close();
    await addFault({ operation: 'commit', status: 410, times: 4, match: { fileName: file.name } });

    const { codes, phase } = await createEngine(store);
    await until(() => phase() === 'failed');
    expect(codes).to.deep.equal(['session-expired']);
    expect((await operationsOf(file)).filter((operation) => operation === 'session')).to.have.length(1);
  });

  it('asks for the file after a reload if the service lacks a chunk, and does not say that the upload expired', async () => {
    const file = freshFile(3 * 65_536);
    const store = newStore();
    await accept(file, 1, { headers: { 'retry-after': '300' } });
    const before = await createEngine(store, { chunkSize: 65_536 });
    await before.uploader.addFiles([file]);
    await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
    await before.uploader.close();
    const missing = [await sha256(file.slice(0, 65_536))];
    await addFault({ operation: 'commit', status: 409, body: { missing }, match: { fileName: file.name } });

    const { phase, uploader } = await createEngine(store, { chunkSize: 65_536 });
    await until(() => uploader.snapshot.files[0]?.pauseReason === 'needs-file');
    expect(uploader.snapshot.files[0]?.warning).to.equal(undefined);
    await uploader.addFiles([file]);
    await until(() => phase() === 'done');
  });

  it('does not keep other files from starting', async () => {
    speedUp(10);
    const waiting = Array.from({ length: 40 }, () => freshFile(10));
    for (const file of waiting) await accept(file, -1, { headers: { 'retry-after': '300' } });
    const { uploader } = await createEngine(newStore(), { concurrency: 1 });
    const last = freshFile(10);
    await uploader.addFiles([...waiting, last]);
    await until(() => uploader.snapshot.files.at(-1)?.phase === 'done');
    expect(uploader.snapshot.totals.doneCount).to.equal(1);
  });
});

describe('`profile.commitPending`', () => {
  it('recognizes an answer that is not complete by its body', async () => {
    const file = freshFile(100);
    const body = { state: 'processing' };
    await addFault({
      operation: 'commit',
      status: 200,
      body,
      headers: { 'retry-after': '0' },
      match: { fileName: file.name },
    });
    const seen: unknown[] = [];
    const commitPending: Profile['commitPending'] = (answer) => {
      seen.push(answer);
      return (answer.body as { state?: string }).state === 'processing';
    };
    const { fileIds, phase, uploader } = await createEngine(newStore(), { profile: { commitPending } });
    await uploader.addFiles([file]);
    await until(() => phase() === 'done');
    expect(seen[0]).to.deep.equal({ status: 200, body });
    expect(seen).to.have.length(2);
    expect(fileIds[0]).to.be.a('string');
  });
});
