// The SHA-256 of a whole file (`profile.sendFileHash`), beside the hashes of its chunks.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Chunk, ContinueHash } from '../../src/core/types.ts';
import { FileHash } from '../../src/pipeline/file-hash.ts';
import { plan } from '../../src/pipeline/plan.ts';
import { fileOf, sha256 } from '../support/bytes.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { recordOf, setUpRun } from '../support/running.ts';
import { createPool, forever, oneGood, poolOf } from './pools.ts';

const createHash = (): ContinueHash => createPool({ hashesFiles: true }).continueHash;

const setUp = (file: File, given: Parameters<typeof setUpRun>[1] = {}) =>
  setUpRun(file, { continueHash: createHash(), ...given });

describe('the hash of a file', () => {
  for (const [what, sizeBytes] of [
    ['no chunk', 0],
    ['one chunk', 900],
    ['three chunks', 2500],
  ] as const) {
    it(`of ${what} is in the commit and in the result`, async () => {
      const file = fileOf(1, sizeBytes);
      const { service, start } = setUp(file);
      service.answerAll('open', 'presign', 'put');
      const running = start();
      const commit = await service.nextRequest('commit');
      expect(commit.fileHash).to.equal(await sha256(file));
      commit.answer();
      expect((await running).fileHash).to.equal(await sha256(file));
    });
  }

  it('is missing if the page does not ask for it', async () => {
    const { service, start } = setUp(fileOf(1, 2500), { continueHash: undefined });
    service.answerAll('open', 'presign', 'put');
    const running = start();
    const commit = await service.nextRequest('commit');
    expect(commit.fileHash).to.equal(undefined);
    commit.answer();
    expect((await running).fileHash).to.equal(undefined);
  });

  it('is SHA-256 also if the only chunk is hashed with BLAKE3', async () => {
    const file = fileOf(1, 900);
    const { continueHash, hashSlice } = createPool({ algorithm: 'blake3' });
    const [chunk] = plan(900, 1000);
    const whole = new FileHash([chunk as Chunk], {
      file,
      hashAlgorithm: 'blake3',
      continueHash,
      signal: forever,
    });
    const { hash } = await hashSlice(file, { keepBytes: false, signal: forever });
    expect(hash).to.not.equal(await sha256(file));
    whole.onHashed({ ...(chunk as Chunk), hash });
    expect(await whole.result).to.equal(await sha256(file));
  });

  it('follows the hashes of the chunks, in the order of the file', async () => {
    const file = fileOf(1, 3000);
    const starts: number[] = [];
    const hash = createHash();
    const continueHash: ContinueHash = (slice, ...more) => {
      starts.push(slice.size);
      return hash(slice, ...more);
    };
    const chunks = plan(3000, 1200);
    const whole = new FileHash(chunks, { file, hashAlgorithm: 'sha-256', continueHash, signal: forever });
    const hashes = await Promise.all(
      chunks.map(({ start, sizeBytes }) => sha256(file.slice(start, start + sizeBytes))),
    );
    const onHashed = (index: number): void =>
      whole.onHashed({ ...(chunks[index] as Chunk), hash: hashes[index] ?? '' });
    onHashed(1);
    await settled();
    expect(starts).to.deep.equal([0]);
    onHashed(0);
    await until(() => starts.length === 3);
    onHashed(2);
    expect(await whole.result).to.equal(await sha256(file));
    expect(starts).to.deep.equal([0, 1200, 1200, 600]);
  });

  it('is computed once if the session is lost, and again for smaller chunks', async () => {
    const file = fileOf(1, 2500);
    const reads: number[] = [];
    const hash = createHash();
    const { service, start } = setUp(file, {
      minChunkBytes: 100,
      continueHash: (slice, ...more) => {
        reads.push(slice.size);
        return hash(slice, ...more);
      },
    });
    service.answerAll('open', 'presign', 'cancel');
    const running = start();
    const tooLarge = new UploaderError('upload-refused', 'too large', { status: 413 });
    (await service.nextRequest('put')).refuse(tooLarge);
    service.answerAll('put');
    await service.refuseAll('commit', new UploaderError('session-expired', 'gone', { status: 410 }));
    const commit = await service.nextRequest('commit');
    expect(commit.fileHash).to.equal(await sha256(file));
    expect(reads.filter((sizeBytes) => sizeBytes < 1000)).to.deep.equal([0, 0, 500, 500, 500, 500, 500]);
    commit.answer();
    await running;
  });

  it('that cannot be computed fails the upload immediately', async () => {
    const error = new UploaderError('file-unreadable', 'gone');
    const file = fileOf(1, 2500);
    const { service, start } = setUp(file, { continueHash: () => Promise.reject(error) });
    // No PUT is answered, so the upload fails before its chunks are stored.
    service.answerAll('open', 'presign');
    expect(await rejection(start())).to.equal(error);
  });

  it('is of the same bytes as the chunks: a file that changes between the two readings fails', async () => {
    const file = fileOf(1, 20_000);
    const { slice } = file;
    let now = file;
    // A chunk that the check for changed files leaves out (`readAgain`).
    file.slice = (start, end) => {
      const read = slice.call(start === 1000 ? now : file, start, end);
      if (start === 1000) now = fileOf(2, 20_000);
      return read;
    };
    const { service, start } = setUp(file, { isWatched: false });
    service.answerAll('open', 'presign', 'put', 'commit');
    const { code, chunkIndex } = await rejection<UploaderError>(start());
    expect([code, chunkIndex, service.count('commit')]).to.deep.equal(['file-changed', 1, 0]);
  });

  it('is refused with bad-config if worker-url is the file of an older version', async () => {
    const { continueHash } = poolOf(oneGood(''), { hashesFiles: true });
    const found = rejection<UploaderError>(continueHash(new Blob(['a']), new Uint8Array(), forever));
    expect((await found).code).to.equal('bad-config');
  });

  it('is the same if chunks of an earlier visit are not sent again', async () => {
    const file = fileOf(1, 2500);
    const { keeper, service, start } = setUp(file);
    const record = await recordOf(file, [0, 2]);
    await keeper.save(record);
    service.answerAll('presign', 'put');
    const running = start();
    const commit = await service.nextRequest('commit');
    expect(commit.fileHash).to.equal(await sha256(file));
    commit.answer({ missing: [] });
    await running;
    expect(service.count('put')).to.equal(1);
  });
});
