// Chunk sizes that follow what the service says about its storage, against the reference service.

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

const connect = (settings: SettingsInput = {}, store: UploadStore = newStore()) =>
  world({ service: 'reference', chunkSize: 'auto', ...settings, store });

/** The sessions of this file say these sizes as their `min_chunk_size`, the last one also in all later sessions. */
async function saysMin(file: File, ...sizes: readonly unknown[]): Promise<void> {
  for (const [skip, size] of sizes.entries())
    await addFault({
      operation: 'session',
      answerFields: { min_chunk_size: size },
      match: { fileName: file.name },
      skip,
      times: skip === sizes.length - 1 ? -1 : 1,
    });
}

const countOf = async (operation: string, fileName: string): Promise<number> =>
  (await logOf({ fileName })).filter((entry) => entry.operation === operation).length;

const sizesOf = async (fileName: string): Promise<Set<number | undefined>> =>
  new Set(
    (await logOf({ fileName }))
      .filter(({ operation }) => operation === 'put')
      .map(({ sizeBytes }) => sizeBytes),
  );

const upload = async (file: File, settings: SettingsInput = {}): Promise<Set<number | undefined>> => {
  const { uploader } = await connect(settings);
  await uploader.addFiles([file]);
  await until(() => uploader.snapshot.files[0]?.phase === 'done');
  return sizesOf(file.name);
};

describe('the chunk size', () => {
  it('is 1 MiB if the session says that the storage takes chunks of this size', async () => {
    expect(await upload(freshFile(6 * MIB))).to.deep.equal(new Set([MIB]));
  });

  it('is that of a storage that takes 5 MiB if the session says nothing', async () => {
    const file = freshFile(11 * MIB);
    await saysMin(file, null);
    expect(await upload(file)).to.deep.equal(new Set([5.5 * MIB]));
  });

  it('is that of each session, also if the one before said something else', async () => {
    const [first, second, third] = [freshFile(6 * MIB), freshFile(11 * MIB), freshFile(6 * MIB)];
    await saysMin(second, 5 * MIB);
    const { uploader } = await connect();
    for (const [at, file] of [first, second, third].entries()) {
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[at]?.phase === 'done');
    }
    expect(await sizesOf(first.name)).to.deep.equal(new Set([MIB]));
    expect(await sizesOf(second.name)).to.deep.equal(new Set([5.5 * MIB]));
    expect(await sizesOf(third.name)).to.deep.equal(new Set([MIB]));
  });

  it('is at least what the session says', async () => {
    const file = freshFile(12 * MIB);
    await saysMin(file, 7 * MIB);
    expect(await upload(file)).to.deep.equal(new Set([7 * MIB, 5 * MIB]));
  });

  it('does not depend on the session if `profile.minChunkSize` says it', async () => {
    const [small, large] = [freshFile(6 * MIB), freshFile(11 * MIB)];
    for (const file of [small, large]) await saysMin(file, file === small ? 5 * MIB : MIB);
    expect(await upload(small, { profile: { minChunkSize: MIB } })).to.deep.equal(new Set([MIB]));
    expect(await upload(large, { profile: { minChunkSize: 5 * MIB } })).to.deep.equal(new Set([5.5 * MIB]));
  });

  it('is `chunk-size`, whatever the session says', async () => {
    const file = freshFile(6 * MIB);
    await saysMin(file, 5 * MIB);
    expect(await upload(file, { chunkSize: '3MiB' })).to.deep.equal(new Set([3 * MIB]));
  });

  it('is the whole file up to 5 MiB, in which case nothing is saved', async () => {
    const file = freshFile(5 * MIB);
    const store = newStore();
    const { uploader } = await connect({}, store);
    await addFault({ operation: 'put', stall: true, match: { fileName: file.name } });
    await uploader.addFiles([file]);
    await until(async () => (await sizesOf(file.name)).size === 1);
    expect(await store.list()).to.deep.equal([]);
    expect(await sizesOf(file.name)).to.deep.equal(new Set([5 * MIB]));
    await uploader.close();
  });

  it('is that of a session that says nothing if `min_chunk_size` is no number of bytes, with a line on the console', async () => {
    const file = freshFile(6 * MIB);
    await saysMin(file, '1048576');
    await captureWarnings(async (warnings) => {
      expect(await upload(file)).to.deep.equal(new Set([6 * MIB]));
      expect(warnings.filter((line) => line.includes('min_chunk_size'))).to.have.length(1);
    });
  });

  const stallSecondPut = (file: File): Promise<unknown> =>
    addFault({ operation: 'put', skip: 1, stall: true, match: { fileName: file.name } });
  const firstVisit = async (file: File, store: UploadStore): Promise<void> => {
    await stallSecondPut(file);
    const { uploader } = await connect({ concurrency: 1 }, store);
    await uploader.addFiles([file]);
    await until(async () => (await store.list())[0]?.stored.size === 1);
    await until(async () => (await countOf('put', file.name)) === 2);
    await uploader.close();
  };
  const nextVisit = async (file: File, store: UploadStore, settings: SettingsInput): Promise<void> => {
    const { uploader } = await connect(settings, store);
    await until(() => uploader.snapshot.files.length === 1);
    await uploader.addFiles([file]);
    await until(() => uploader.snapshot.files[0]?.phase === 'done');
  };

  it('stays in a session that continues on the next visit, whatever the page says by then', async () => {
    const file = freshFile(6 * MIB);
    const store = newStore();
    await firstVisit(file, store);
    await nextVisit(file, store, { profile: { minChunkSize: 5 * MIB } });
    expect(await countOf('session', file.name)).to.equal(1);
    expect(await sizesOf(file.name)).to.deep.equal(new Set([MIB]));
  });

  it('stays if such a session is lost, since the service may still have the chunks, and the next one takes them', async () => {
    const file = freshFile(6 * MIB);
    const store = newStore();
    await firstVisit(file, store);
    await addFault({ operation: 'chunks', status: 410, times: 2, match: { fileName: file.name } });
    await nextVisit(file, store, { profile: { minChunkSize: MIB / 2 } });
    expect(await countOf('session', file.name)).to.equal(2);
    expect(await sizesOf(file.name)).to.deep.equal(new Set([MIB]));
  });

  it('changes if such a session is lost, and the page says by then that the storage takes no such chunks', async () => {
    const file = freshFile(6 * MIB);
    const store = newStore();
    await firstVisit(file, store);
    await addFault({ operation: 'chunks', status: 410, times: 2, match: { fileName: file.name } });
    await nextVisit(file, store, { profile: { minChunkSize: 5 * MIB } });
    expect(await sizesOf(file.name)).to.deep.equal(new Set([MIB, 6 * MIB]));
  });

  it('is known only with the session, but the row says at once what the upload does', async () => {
    const file = freshFile(6 * MIB);
    await addFault({ operation: 'session', stall: true, match: { fileName: file.name } });
    const { uploader } = await connect();
    await uploader.addFiles([file]);
    await until(() => (uploader.snapshot.files[0]?.hashedBytes ?? 0) > 0);
    expect(uploader.snapshot.files[0]?.phase).to.equal('hashing');
    await uploader.close();
  });

  it('leads to no record if the session gives the file one chunk', async () => {
    const file = freshFile(6 * MIB);
    const store = newStore();
    await saysMin(file, 5 * MIB);
    await addFault({ operation: 'put', stall: true, match: { fileName: file.name } });
    const { uploader } = await connect({}, store);
    await uploader.addFiles([file]);
    await until(async () => (await countOf('put', file.name)) === 1);
    expect(await store.list()).to.deep.equal([]);
    await uploader.close();
  });

  for (const size of ['5 MiB', Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 65 * MIB])
    it(`ignores \`profile.minChunkSize\` ${size}, with a line on the console`, async () => {
      const file = freshFile(11 * MIB);
      await saysMin(file, 5 * MIB);
      await captureWarnings(async (warnings) => {
        const profile = { minChunkSize: size as number };
        expect(await upload(file, { profile })).to.deep.equal(new Set([5.5 * MIB]));
        expect(warnings.some((line) => line.includes('profile.minChunkSize'))).to.equal(true);
      });
    });
});

describe('a 413', () => {
  beforeEach(() => speedUp(10));

  const reject = async (file: File, sizeBytes: number): Promise<unknown> =>
    addFault({
      operation: 'put',
      status: 413,
      match: { hash: await sha256(file.slice(0, sizeBytes)) },
      times: -1,
    });

  it('halves chunks no further than the session allows', async () => {
    const file = freshFile(9 * MIB);
    await saysMin(file, 3 * MIB);
    await reject(file, 4 * MIB);
    await reject(file, 3 * MIB);
    await captureWarnings(async () => {
      const { uploader } = await connect({ chunkSize: '4MiB' });
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[0]?.phase === 'failed');
      expect(uploader.snapshot.files[0]?.error).to.deep.include({ code: 'upload-refused', status: 413 });
    });
    const sizes = await sizesOf(file.name);
    expect(sizes.has(3 * MIB)).to.equal(true);
    expect(sizes.has(2 * MIB)).to.equal(false);
  });

  for (const chunkSize of ['4MiB', 'auto'])
    it(`does not lead to chunks that are smaller than the next session allows (chunk-size ${chunkSize})`, async () => {
      const file = freshFile(9 * MIB);
      await saysMin(file, null, chunkSize === 'auto' ? 5 * MIB : 3 * MIB);
      await reject(file, chunkSize === 'auto' ? 9 * MIB : 4 * MIB);
      await captureWarnings(async () => {
        const { uploader } = await connect({ chunkSize });
        await uploader.addFiles([file]);
        await until(() => uploader.snapshot.files[0]?.phase === 'done');
      });
      const expected = chunkSize === 'auto' ? [9, 5, 4] : [4, 3];
      const sizes = await sizesOf(file.name);
      for (const size of expected) sizes.delete(size * MIB);
      // Of the chunks that the storage rejected, the last one may have been sent.
      sizes.delete(MIB);
      expect(sizes).to.deep.equal(new Set());
    });

  it('fails the file if the next session allows only chunks that are as large', async () => {
    const file = freshFile(9 * MIB);
    await saysMin(file, null, 4 * MIB);
    await reject(file, 4 * MIB);
    await captureWarnings(async () => {
      const { uploader } = await connect({ chunkSize: '4MiB' });
      await uploader.addFiles([file]);
      await until(() => uploader.snapshot.files[0]?.phase === 'failed');
      expect(uploader.snapshot.files[0]?.error).to.deep.include({ code: 'upload-refused', status: 413 });
    });
  });

  it('after which the session requires larger chunks is not repeated after a pause', async () => {
    const file = freshFile(9 * MIB);
    const store = newStore();
    await saysMin(file, null, 5 * MIB);
    await reject(file, 9 * MIB);
    const last = await sha256(file.slice(5 * MIB));
    await addFault({ operation: 'put', stall: true, match: { hash: last } });
    await captureWarnings(async () => {
      const { uploader } = await connect({ concurrency: 1 }, store);
      await uploader.addFiles([file]);
      await until(async () => (await store.list())[0]?.stored.size === 1);
      const id = uploader.snapshot.files[0]?.id as string;
      await uploader.pause(id);
      await until(() => uploader.snapshot.files[0]?.phase === 'paused');
      await uploader.resume(id);
      await until(() => uploader.snapshot.files[0]?.phase === 'done');
    });
    expect(await countOf('session', file.name)).to.equal(2);
  });
});
