// A storage that rejects large chunks (413), against the reference service.

import { expect } from '@open-wc/testing';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { UploadStore } from '../../src/engine/resume/upload-store.ts';
import { addFault, logOf } from '../service/reference.ts';
import { freshFile, sha256 } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { newStore, world } from '../support/world.ts';

const MIB = 2 ** 20;

/** Every PUT of the slice of this many bytes at the start of the file gets a 413. */
const rejectFirst = async (file: File, sizeBytes: number): Promise<unknown> =>
  addFault({
    operation: 'put',
    status: 413,
    match: { hash: await sha256(file.slice(0, sizeBytes)) },
    times: -1,
  });

const connect = (settings: SettingsInput = {}, store: UploadStore = newStore()) =>
  world({ service: 'reference', chunkSize: '4MiB', ...settings, store });

const sizesOf = async (fileName: string): Promise<(number | undefined)[]> =>
  (await logOf({ fileName }))
    .filter(({ operation }) => operation === 'put')
    .map(({ sizeBytes }) => sizeBytes);

describe('a chunk that the storage rejects as too large', () => {
  beforeEach(() => speedUp(10));

  for (const sizeBytes of [4 * MIB, 6 * MIB])
    it(`is sent once, and then in halves (${sizeBytes / MIB} MiB)`, async () => {
      const file = freshFile(sizeBytes);
      await rejectFirst(file, 4 * MIB);
      await captureWarnings(async (warnings) => {
        const { uploader } = await connect();
        await uploader.addFiles([file]);
        await until(() => uploader.snapshot.files[0]?.phase === 'done');
        expect(warnings).to.have.length(1);
        expect(warnings[0])
          .to.include('chunk-size')
          .and.include(`${2 * MIB}`);
      });
      const sizes = await sizesOf(file.name);
      expect(sizes.filter((size) => size === 4 * MIB)).to.have.length(1);
      expect(sizes.filter((size) => size === 2 * MIB).length).to.be.at.least(sizeBytes / (2 * MIB));
    });

  it('is halved also if its PUT is cut repeatedly, because a proxy may limit the time of a request', async () => {
    const file = freshFile(4 * MIB);
    const hash = await sha256(file);
    await addFault({ operation: 'put', cut: 'mid-body', stallMs: 300, match: { hash }, times: -1 });
    await captureWarnings(async (warnings) => {
      const { uploader } = await connect();
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[0]?.phase === 'done');
      expect(warnings.some((line) => line.includes(`chunk-size to ${2 * MIB}`))).to.equal(true);
    });
    const sizes = await sizesOf(file.name);
    expect(sizes.filter((size) => size === 4 * MIB).length).to.be.at.least(3);
  });

  it('is halved also if the response is a 413 without CORS headers', async () => {
    const file = freshFile(3 * MIB);
    const hash = await sha256(file);
    await addFault({ operation: 'put', status: 413, withoutCors: true, match: { hash }, times: -1 });
    await captureWarnings(async () => {
      const { uploader } = await connect();
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[0]?.phase === 'done');
    });
    expect(await sizesOf(file.name)).to.include(1.5 * MIB);
  });

  it('is halved also if no response can be read, and no byte was sent', async () => {
    const file = freshFile(3 * MIB);
    const match = { hash: await sha256(file) };
    await addFault({ operation: 'preflight', status: 413, withoutCors: true, match, times: -1 });
    await captureWarnings(async () => {
      const { uploader } = await connect();
      await uploader.addFiles([file]);
      await until(() => ['failed', 'done'].includes(uploader.snapshot.files[0]?.phase ?? ''));
      expect(uploader.snapshot.files[0]?.phase).to.equal('done');
    });
    expect(await sizesOf(file.name)).to.deep.equal([1.5 * MIB, 1.5 * MIB]);
  });

  it('is not halved if the storage has accepted this size before, but sent until it gets through', async () => {
    const file = freshFile(8 * MIB);
    const hash = await sha256(file.slice(4 * MIB));
    await addFault({ operation: 'put', cut: 'mid-body', stallMs: 300, match: { hash }, times: 6 });
    const { uploader } = await connect({ concurrency: 1 });
    await uploader.addFiles([file]);
    await until(() => uploader.snapshot.files[0]?.phase === 'done');
    expect([...new Set(await sizesOf(file.name))]).to.deep.equal([4 * MIB]);
  });

  it('is sent once if it is the whole file and smaller than half of `chunk-size`', async () => {
    const file = freshFile(1.5 * MIB);
    await rejectFirst(file, 1.5 * MIB);
    const { uploader } = await connect();
    await captureWarnings(async () => {
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[0]?.phase === 'done');
    });
    expect((await sizesOf(file.name)).filter((size) => size === 1.5 * MIB)).to.have.length(1);
  });

  it('fails the file below `profile.minChunkSize`', async () => {
    const file = freshFile(4 * MIB);
    await rejectFirst(file, 4 * MIB);
    await rejectFirst(file, 3 * MIB);
    const { uploader } = await connect({ profile: { minChunkSize: 3 * MIB } });
    const codes: string[] = [];
    uploader.on('upload-failed', ({ code, status }) => codes.push(`${code} ${status}`));
    await captureWarnings(async () => {
      await uploader.addFiles([file]);
      await until(() => codes.length === 1);
    });
    expect(codes).to.deep.equal(['upload-refused 413']);
  });

  it('fails the file if the chunk has 1 MiB', async () => {
    const file = freshFile(2 * MIB);
    await rejectFirst(file, MIB);
    const { uploader } = await connect({ chunkSize: '1MiB' });
    await uploader.addFiles([file]);
    await until(() => ['failed', 'done'].includes(uploader.snapshot.files[0]?.phase ?? ''));
    expect(uploader.snapshot.files[0]?.error).to.include({ code: 'upload-refused', status: 413 });
  });

  it('is sent again in the same size if the storage has accepted this size before', async () => {
    const file = freshFile(8 * MIB);
    await addFault({ operation: 'put', status: 413, match: { hash: await sha256(file.slice(6 * MIB)) } });
    const { uploader } = await connect({ chunkSize: '2MiB', concurrency: 1 });
    await uploader.addFiles([file]);
    await until(() => uploader.snapshot.files[0]?.phase === 'done');
    const log = await logOf({ fileName: file.name });
    expect(log.filter(({ operation }) => operation === 'session')).to.have.length(1);
    expect(await sizesOf(file.name)).to.deep.equal(new Array(5).fill(2 * MIB));
  });

  it('is sent again in the same size after an outage, too', async () => {
    const file = freshFile(6 * MIB);
    const hash = await sha256(file.slice(4 * MIB));
    await addFault({ operation: 'put', status: 502, match: { hash }, times: 9 });
    await addFault({ operation: 'put', status: 413, match: { hash }, skip: 9 });
    const { uploader } = await world({
      service: 'reference',
      chunkSize: '2MiB',
      concurrency: 1,
      policy: { baseMs: 1, capMs: 20 },
    });
    await uploader.addFiles([file]);
    await until(() => uploader.snapshot.files[0]?.phase === 'done');
    const log = await logOf({ fileName: file.name });
    expect(log.filter(({ operation }) => operation === 'session')).to.have.length(1);
  });

  it('is sent in halves if it is rejected again and again, and the session before is canceled', async () => {
    const file = freshFile(6 * MIB);
    const hash = await sha256(file.slice(4 * MIB));
    await addFault({ operation: 'put', status: 413, match: { hash }, times: -1 });
    await captureWarnings(async () => {
      const { uploader } = await connect({
        chunkSize: '2MiB',
        concurrency: 1,
        cancelPath: '/files/uploadsession',
      });
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[0]?.phase === 'done');
    });
    const operations = async (): Promise<string[]> =>
      (await logOf({ fileName: file.name })).map(({ operation }) => operation);
    await until(async () => (await operations()).includes('cancel'));
    expect((await operations()).filter((name) => name === 'session')).to.have.length(2);
    expect((await sizesOf(file.name)).slice(2)).to.deep.equal([
      ...new Array(5).fill(2 * MIB),
      ...new Array(6).fill(MIB),
    ]);
  });

  it('is not sent again after a reload', async () => {
    const file = freshFile(4 * MIB);
    await rejectFirst(file, 4 * MIB);
    await addFault({
      operation: 'put',
      stall: true,
      times: 1,
      match: { hash: await sha256(file.slice(2 * MIB)) },
    });
    const store = newStore();
    await captureWarnings(async () => {
      const { uploader: before } = await connect({}, store);
      await before.addFiles([file]);
      await until(async () => (await store.list())[0]?.stored.size === 1);
      // The stall applies to a single PUT. It must not apply to a PUT of the second engine.
      await until(async () => (await sizesOf(file.name)).length === 3);
      await before.close();
      const { uploader } = await connect({}, store);
      await until(() => uploader.snapshot.files[0]?.pauseReason === 'needs-file');
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[0]?.phase === 'done');
    });
    expect((await sizesOf(file.name)).filter((size) => size === 4 * MIB)).to.have.length(1);
  });
});
