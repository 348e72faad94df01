// Format of numbers and file names for users.

import { expect } from '@open-wc/testing';
import { createFormat } from '../../src/ui/format.ts';

const english = createFormat('en');

const SIZES: readonly (readonly [bytes: number, shown: string])[] = [
  [Number.NaN, '0 kB'],
  [-1, '0 kB'],
  [0, '0 kB'],
  [0.5, '0 kB'],
  [1, '1 byte'],
  [2, '2 bytes'],
  [830, '830 bytes'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [1250, '1.3 kB'],
  [12_400, '12.4 kB'],
  [99_940, '99.9 kB'],
  [100_000, '100 kB'],
  [100_400, '100 kB'],
  [1_250_000, '1.3 MB'],
  [640_400_000, '640 MB'],
  [4.7e9, '4.7 GB'],
  [1e12, '1 TB'],
  [5e15, '5,000 TB'],
];

const DURATIONS: readonly (readonly [seconds: number, shown: string | undefined])[] = [
  [0, undefined],
  [9.999, undefined],
  [10, '10 sec'],
  [10.001, '15 sec'],
  [12, '15 sec'],
  [55, '55 sec'],
  [55.001, '1 min'],
  [61, '1 min'],
  [600, '10 min'],
  [3569, '59 min'],
  [3570, '1 hr'],
  [5400, '1.5 hr'],
  [35_900, '10 hr'],
  [36_000, '10 hr'],
  [41_400, '12 hr'],
];

const SHARES: readonly (readonly [share: number, shown: string])[] = [
  [0, '0%'],
  [0.009, '0%'],
  [0.01, '1%'],
  [0.29, '29%'],
  [0.58, '58%'],
  [0.999, '99%'],
  [1, '100%'],
  [1.5, '100%'],
];

describe('formats', () => {
  for (const [bytes, shown] of SIZES)
    it(`show ${bytes} bytes as ${shown}`, () => expect(english.size(bytes)).to.equal(shown));

  for (const [seconds, shown] of DURATIONS)
    it(`show ${seconds} seconds as ${shown ?? 'nothing'}`, () =>
      expect(english.duration(seconds * 1000)).to.equal(shown));

  for (const [share, shown] of SHARES)
    it(`show a fraction of ${share} as ${shown}`, () => expect(english.percent(share)).to.equal(shown));

  it('show a speed', () => {
    expect([0, 1, 830, 8_240_000].map(english.speed)).to.deep.equal([
      '0 kB/s',
      '1 byte/s',
      '830 byte/s',
      '8.2 MB/s',
    ]);
  });

  it('show numbers as the locale does, and as English does for an invalid locale', () => {
    expect(createFormat('de').size(12_400_000)).to.equal('12,4 MB');
    expect(createFormat('not a locale').size(12_400_000)).to.equal('12.4 MB');
  });

  it('show sizes and speeds of one language in one style of units', () => {
    const arabic = createFormat('ar');
    const units = [240_000, 12_400_000, 4.7e9].flatMap((bytes) => [arabic.size(bytes), arabic.speed(bytes)]);
    expect(units).to.deep.equal(['240 ك.ب', '240 ك.ب/ث', '12.4 م.ب', '12.4 م.ب/ث', '4.7 غ.ب', '4.7 غ.ب/ث']);
    expect(createFormat('uk').size(240_000)).to.equal('240 кБ');
  });

  it('list what is allowed as the locale does', () => {
    const types = ['image', 'PDF', 'XLSX'];
    expect(english.anyOf(types)).to.equal('image, PDF, or XLSX');
    expect(createFormat('de').anyOf(types)).to.equal('image, PDF oder XLSX');
    expect(createFormat('ja').anyOf(types)).to.equal('image、PDF、またはXLSX');
    expect([english.anyOf([]), english.anyOf(['PDF'])]).to.deep.equal(['', 'PDF']);
  });

  it('are created once for a locale', () => {
    expect(createFormat('fr')).to.equal(createFormat('fr'));
    expect(createFormat('fr')).not.to.equal(english);
  });
});
