// Recognition of a file that was added before, and different keys for different uploads.

import { expect } from '@open-wc/testing';
import type { HashSlice } from '../../../src/core/types.ts';
import {
  FIRST_SLICE_BYTES,
  identify,
  isSameFile,
  type RecordKeyParts,
  recordKey,
} from '../../../src/engine/resume/same-file.ts';

const sha256: HashSlice = async (slice) => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await slice.arrayBuffer()));
  return { hash: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') };
};
const { signal } = new AbortController();
const fileOf = (text: string, name = 'a.txt', lastModified = 1): File =>
  new File([text], name, { lastModified });

describe('a file', () => {
  it('is recognized by name, size, time and its first bytes', async () => {
    const identity = await identify(fileOf('abc'), sha256, signal);
    expect(identity).to.deep.equal({
      name: 'a.txt',
      sizeBytes: 3,
      lastModifiedMs: 1,
      firstSliceHash: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    });
    expect(isSameFile(identity, await identify(fileOf('abc'), sha256, signal))).to.equal(true);
    for (const other of [fileOf('abd'), fileOf('abcd'), fileOf('abc', 'b.txt'), fileOf('abc', 'a.txt', 2)]) {
      expect(isSameFile(identity, await identify(other, sha256, signal))).to.equal(false);
    }
  });

  it('is read no further than its first bytes, which are not kept', async () => {
    const reads: unknown[] = [];
    const counting: HashSlice = (slice, options) => {
      reads.push([slice.size, options]);
      return sha256(slice, options);
    };
    await identify(fileOf('x'.repeat(3 * FIRST_SLICE_BYTES)), counting, signal);
    expect(reads).to.deep.equal([[FIRST_SLICE_BYTES, { keepBytes: false, signal }]]);
  });

  it('is recognized even if it is empty', async () => {
    const identity = await identify(fileOf(''), sha256, signal);
    expect(identity.firstSliceHash).to.equal(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });

  it('is not read after an abort', async () => {
    const reason = new Error('paused');
    const reading = identify(fileOf('abc'), sha256, AbortSignal.abort(reason));
    expect(await reading.catch((error: unknown) => error)).to.equal(reason);
  });
});

describe('the key of an upload', () => {
  const parts: RecordKeyParts = {
    baseUrl: 'https://s.example',
    clientId: 'c',
    parentId: 'p',
    relativePath: 'f/a.txt',
    owner: 'o',
    name: 'a.txt',
    sizeBytes: 1,
    lastModifiedMs: 2,
    firstSliceHash: 'h',
  };

  it('is the same for the same upload and differs with each of its parts', () => {
    const keys = Object.entries(parts).map(([part, value]) =>
      recordKey({ ...parts, [part]: typeof value === 'number' ? value + 1 : `${value}x` }),
    );
    expect(new Set([recordKey(parts), ...keys]).size).to.equal(1 + Object.keys(parts).length);
    expect(recordKey({ ...parts })).to.equal(recordKey(parts));
  });

  it('cannot be forged by a name that looks like a part', () => {
    expect(recordKey({ ...parts, owner: 'o","p' })).not.to.equal(
      recordKey({ ...parts, owner: 'o', parentId: 'p","p' }),
    );
    expect(recordKey({ ...parts, owner: '', parentId: 'op' })).not.to.equal(
      recordKey({ ...parts, owner: 'op', parentId: '' }),
    );
  });
});
