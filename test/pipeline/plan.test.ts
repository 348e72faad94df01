// How files are divided into chunks: a table of sizes, and invariants for every size.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { chunkSizeFor, MAX_CHUNKS, MAX_FILE_BYTES, plan } from '../../src/pipeline/plan.ts';

const MIB = 2 ** 20;
const TIB = 2 ** 40;
const STEP = MIB / 4;

const countFor = (sizeBytes: number, chunkBytes: number): number => Math.ceil(sizeBytes / chunkBytes);

/** Returns the share of the time in which six slots are busy, if each slot sends at the same rate. */
function balanceOf(sizeBytes: number, chunkBytes: number): number {
  const slots = Array.from({ length: Math.min(6, countFor(sizeBytes, chunkBytes)) }, () => 0);
  for (const chunk of plan(sizeBytes, chunkBytes)) {
    const next = slots.indexOf(Math.min(...slots));
    slots[next] = (slots[next] ?? 0) + chunk.sizeBytes;
  }
  return sizeBytes / slots.length / Math.max(...slots);
}

describe('the size of chunks', () => {
  const table: readonly [string, number, number, number][] = [
    ['1 byte', 1, 1, STEP],
    ['5 MiB', 5 * MIB, 1, 5 * MIB],
    ['just under 10 MiB', 10 * MIB - 1, 1, 10 * MIB],
    ['10 MiB', 10 * MIB, 2, 5 * MIB],
    ['just under 30 MiB', 30 * MIB - 1, 5, 6 * MIB],
    ['30 MiB', 30 * MIB, 6, 5 * MIB],
    ['60 MiB', 60 * MIB, 6, 10 * MIB],
    ['60 MiB and a byte', 60 * MIB + 1, 12, 5.25 * MIB],
    ['128 MB', 128e6, 18, 7 * MIB],
    ['480 MiB', 480 * MIB, 48, 10 * MIB],
    ['480 MiB and a byte', 480 * MIB + 1, 61, 8 * MIB],
    ['1 GiB', 1024 * MIB, 128, 8 * MIB],
    ['78 GiB (the grid still fits)', 10_000 * 8 * MIB, 10_000, 8 * MIB],
    ['one byte more', 10_000 * 8 * MIB + 1, 5001, 16 * MIB],
    ['4 TiB', 4 * TIB, 8192, 512 * MIB],
    ['the largest allowed file', MAX_FILE_BYTES, 10_000, 512 * MIB],
  ];
  for (const [name, sizeBytes, count, chunkBytes] of table) {
    it(`cuts ${name} into ${count} of ${chunkBytes} bytes`, () => {
      expect(chunkSizeFor(sizeBytes, 'auto')).to.equal(chunkBytes);
      expect(countFor(sizeBytes, chunkBytes)).to.equal(count);
    });
  }

  it('is 5 to 10 MiB from 5 MiB up to 480 MiB, in steps, and keeps the slots busy 95 % of the time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5 * MIB, max: 480 * MIB }), (sizeBytes) => {
        const chunkBytes = chunkSizeFor(sizeBytes, 'auto');
        expect(chunkBytes).to.be.within(5 * MIB, 10 * MIB);
        expect(chunkBytes % STEP).to.equal(0);
        expect(balanceOf(sizeBytes, chunkBytes)).to.be.at.least(0.95);
      }),
    );
  });

  const small: readonly [string, number, number, number][] = [
    ['5 MiB', 5 * MIB, MIB, 5 * MIB],
    ['5 MiB and a byte', 5 * MIB + 1, MIB, MIB],
    ['20 MB', 20e6, MIB, MIB],
    ['20 MB, of at least a byte', 20e6, 1, MIB],
    ['20 MB, of at least a byte more than 1 MiB', 20e6, MIB + 1, 2 * MIB],
    ['32 MiB', 32 * MIB, MIB, MIB],
    ['32 MiB and a byte', 32 * MIB + 1, MIB, 2 * MIB],
    ['128 MiB', 128 * MIB, MIB, 4 * MIB],
    ['128 MiB and a byte, as for a storage that says nothing', 128 * MIB + 1, MIB, 7.25 * MIB],
    ['1 GiB', 1024 * MIB, MIB, 8 * MIB],
    ['20 MB, of at least 5 MiB', 20e6, 5 * MIB, 6.5 * MIB],
    ['20 MB, of at least 7 MiB', 20e6, 7 * MIB, 7 * MIB],
    ['3 MiB, of at least 7 MiB', 3 * MIB, 7 * MIB, 3 * MIB],
    ['1 GiB, of at least 64 MiB', 1024 * MIB, 64 * MIB, 64 * MIB],
  ];
  for (const [name, sizeBytes, minBytes, chunkBytes] of small)
    it(`cuts ${name} into chunks of ${chunkBytes} bytes if the storage takes ${minBytes}`, () => {
      expect(chunkSizeFor(sizeBytes, 'auto', minBytes)).to.equal(chunkBytes);
      expect(chunkSizeFor(sizeBytes, 1000_000, minBytes)).to.equal(1000_000);
    });

  it('is never below what the storage takes, and never larger than without its word, up to 5 MiB', () => {
    const sizes = fc.integer({ min: 5 * MIB + 1, max: 2048 * MIB });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 5 * MIB }), (sizeBytes, minBytes) => {
        const chunkBytes = chunkSizeFor(sizeBytes, 'auto', minBytes);
        expect(chunkBytes).to.be.within(minBytes, chunkSizeFor(sizeBytes, 'auto'));
      }),
    );
  });

  it('stays the same for 95 of 100 files that grow by 100 kB', () => {
    const sizes = Array.from({ length: 2000 }, (_, at) => 5 * MIB + at * 249_000);
    const kept = sizes.filter(
      (sizeBytes) => chunkSizeFor(sizeBytes, 'auto') === chunkSizeFor(sizeBytes + 100_000, 'auto'),
    );
    expect(kept.length / sizes.length).to.be.at.least(0.95);
  });

  it('is the same for a file whatever the number of slots, and whatever came before', () => {
    expect(chunkSizeFor(123_456_789, 'auto')).to.equal(chunkSizeFor(123_456_789, 'auto'));
  });

  it('is the number that the page set', () => {
    const warnings: string[] = [];
    expect(chunkSizeFor(100 * MIB, 1000_000, undefined, (text) => warnings.push(text))).to.equal(1000_000);
    expect(warnings).to.deep.equal([]);
  });

  it('is doubled, with a warning, if a fixed size would make more than 10,000 chunks', () => {
    const warnings: string[] = [];
    expect(chunkSizeFor(10_001 * 1000, 1000, undefined, (text) => warnings.push(text))).to.equal(2000);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('1000').and.to.contain('2000');
    expect(chunkSizeFor(10_000 * 1000, 1000, undefined, (text) => warnings.push(text))).to.equal(1000);
    expect(warnings).to.have.length(1);
  });

  it('is never more than can be read at once, whatever was set, with a warning', () => {
    const warnings: string[] = [];
    expect(chunkSizeFor(3 * TIB, TIB, undefined, (text) => warnings.push(text))).to.equal(512 * MIB);
    expect(warnings).to.have.length(1);
  });

  it('is doubled without a warning on the automatic grid', () => {
    const warnings: string[] = [];
    chunkSizeFor(4 * TIB, 'auto', undefined, (text) => warnings.push(text));
    expect(warnings).to.deep.equal([]);
  });

  it('never makes more than 10,000 chunks', () => {
    const sizes = fc.double({ min: 1, max: MAX_FILE_BYTES, noNaN: true });
    fc.assert(
      fc.property(sizes, fc.option(fc.integer({ min: 1, max: 16 * MIB })), (size, setting) => {
        const sizeBytes = Math.floor(size);
        expect(countFor(sizeBytes, chunkSizeFor(sizeBytes, setting ?? 'auto'))).to.be.at.most(MAX_CHUNKS);
      }),
    );
  });
});

describe('a plan', () => {
  it('has no chunk for an empty file', () => expect(plan(0, 4096)).to.deep.equal([]));

  it('covers the file from its first byte to its last, once, in order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.integer({ min: 1000, max: 1e5 }),
        (sizeBytes, chunkBytes) => {
          let end = 0;
          for (const [at, chunk] of plan(sizeBytes, chunkBytes).entries()) {
            expect(chunk.index).to.equal(at);
            expect(chunk.start).to.equal(end);
            expect(chunk.sizeBytes).to.be.within(1, chunkBytes);
            end += chunk.sizeBytes;
          }
          expect(end).to.equal(sizeBytes);
        },
      ),
    );
  });

  it('puts chunks that must be sent first, then those recorded as stored', () => {
    const recorded = (hash: string) => ({ hash, receipt: `receipt of ${hash}` });
    const stored = new Map([
      [0, recorded('a')],
      [2, recorded('c')],
    ]);
    expect(plan(4000, 1000, stored)).to.deep.equal([
      { index: 1, start: 1000, sizeBytes: 1000 },
      { index: 3, start: 3000, sizeBytes: 1000 },
      { index: 0, start: 0, sizeBytes: 1000, recorded: recorded('a') },
      { index: 2, start: 2000, sizeBytes: 1000, recorded: recorded('c') },
    ]);
  });

  it('ignores a record of chunks that the file does not have', () => {
    expect(plan(1000, 1000, new Map([[7, { hash: 'x', receipt: 'y' }]]))).to.have.length(1);
  });
});
