// Reading of saved uploads, complete or damaged.

import { expect } from '@open-wc/testing';
import {
  isNewer,
  readChunks,
  readRecord,
  type SavedRecord,
  writeRecord,
} from '../../../src/engine/resume/record.ts';
import { recordOf } from './saved.ts';

const saved: SavedRecord = { ...recordOf(), chunksId: 'chunks', newName: 'b.txt', usedAtMs: 5 };

const defined = (record: SavedRecord): object =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

describe('a restored record', () => {
  it('equals the written one, with any optional field missing', () => {
    expect(readRecord(writeRecord(saved))).to.deep.equal(saved);
    for (const more of [
      { newName: undefined },
      { usedAtMs: undefined },
      { lastModifiedMs: -1 },
      { createdAtMs: 0 },
      { acceptedAtMs: 7 },
      { commitSentAtMs: 7 },
      { largestChunkBytes: 100 },
      { fileHash: 'a0'.repeat(32) },
      { metadata: { order: { id: 5 } } },
      { name: '', relativePath: '', type: '', parentId: '', key: '' },
      { hashAlgorithm: 'blake3' as const },
      { sizeBytes: 0 },
    ])
      expect(readRecord(writeRecord({ ...saved, ...more })), JSON.stringify(more)).to.deep.equal(
        defined({ ...saved, ...more }),
      );
  });

  it('is missing if any required field is missing, of another type, or out of range', () => {
    const written = writeRecord(saved);
    const damages: Readonly<Record<string, readonly unknown[]>> = {
      version: [undefined, 0, 2, '1'],
      chunksId: [undefined, 7, ''],
      key: [undefined, 7],
      name: [undefined, 7],
      relativePath: [undefined, 7],
      sizeBytes: [undefined, '1', -1, 1.5, Number.NaN],
      lastModifiedMs: [undefined, '1', Number.NaN, Number.POSITIVE_INFINITY],
      type: [undefined, 7],
      parentId: [undefined, 7],
      firstSliceHash: [undefined, 7],
      chunkSizeBytes: [undefined, '1', 0, -1, 1.5],
      hashAlgorithm: [undefined, 7, 'md5', ''],
      sessionId: [undefined, 7, ''],
      sessionHeader: [undefined, 7, ''],
      createdAtMs: [undefined, '1', -1],
    };
    for (const [name, values] of Object.entries(damages))
      for (const value of values)
        expect(readRecord({ ...written, [name]: value }), `${name}: ${value}`).to.equal(undefined);
    for (const value of [undefined, null, 7, 'text', [], {}]) expect(readRecord(value)).to.equal(undefined);
  });

  it('is read without damaged optional fields', () => {
    const read = readRecord({
      ...writeRecord(saved),
      newName: 7,
      usedAtMs: 'now',
      acceptedAtMs: -1,
      commitSentAtMs: 'now',
      largestChunkBytes: 0,
      fileHash: 'a0',
      metadata: 'none',
    });
    const { newName: _newName, usedAtMs: _usedAtMs, ...rest } = saved;
    expect(read).to.deep.equal(rest);
  });
});

it('a record of a later version is distinguished from all others', () => {
  for (const value of [{ version: 2 }, { version: '2' }]) expect(isNewer(value)).to.equal(true);
  for (const value of [undefined, null, 2, 'text', {}, { version: 1 }, { version: 'x' }])
    expect(isNewer(value), JSON.stringify(value)).to.equal(false);
});

describe('restored chunks', () => {
  const file = { sizeBytes: 950, chunkSizeBytes: 100 };

  it('are those of the file, from first to last, and the later of two entries about one', () => {
    const entries = [
      [
        [0, 'h0', 'r0'],
        [9, 'h9', 'r9'],
      ],
      [[0, 'h0', 'newer']],
      [[1, 'h1', '']],
    ];
    expect([...readChunks(entries, file)]).to.deep.equal([
      [0, { hash: 'h0', receipt: 'newer' }],
      [9, { hash: 'h9', receipt: 'r9' }],
      [1, { hash: 'h1', receipt: '' }],
    ]);
  });

  it('exclude damaged ones, and those that the file does not have', () => {
    const damaged = [
      7,
      null,
      'text',
      [-1, 'h', 'r'],
      [10, 'h', 'r'],
      [1.5, 'h', 'r'],
      ['1', 'h', 'r'],
      [1, '', 'r'],
      [1, 7, 'r'],
      [1, 'h', 7],
      [1, 'h'],
      [],
    ];
    for (const state of damaged)
      expect([...readChunks([[state]], file)], JSON.stringify(state)).to.deep.equal([]);
    for (const entry of [7, null, 'text', { 0: [1, 'h', 'r'] }])
      expect([...readChunks([entry, [[2, 'h', 'r']]], file).keys()]).to.deep.equal([2]);
  });
});
