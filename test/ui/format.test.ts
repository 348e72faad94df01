// Numbers and names as people read them.

import { expect } from '@open-wc/testing';
import { createFormat, shownName, splitName } from '../../src/ui/format.ts';

describe('formats', () => {
  const english = createFormat('en');

  it('writes sizes as operating systems do', () => {
    expect([0, 1, 830, 1000, 12_400, 1_250_000, 640_000_000, 4.7e9].map(english.size)).to.deep.equal([
      '0 kB',
      '1 byte',
      '830 bytes',
      '1 kB',
      '12.4 kB',
      '1.3 MB',
      '640 MB',
      '4.7 GB',
    ]);
  });

  it('writes speed, and time left without flicker', () => {
    expect(english.speed(8_240_000)).to.equal('8.2 MB/s');
    expect([3000, 12_000, 61_000, 600_000, 5_400_000].map(english.duration)).to.deep.equal([
      undefined,
      '15 sec',
      '1 min',
      '10 min',
      '1.5 hr',
    ]);
  });

  it('rounds percentages down, so that 100 is only said when it is so', () => {
    expect(english.percent(0.999)).to.equal('99%');
    expect(english.percent(1)).to.equal('100%');
  });

  it('writes numbers as the locale does, and falls back for one that is none', () => {
    expect(createFormat('de').size(12_400_000)).to.equal('12,4 MB');
    expect(createFormat('not a locale').size(12_400_000)).to.equal('12.4 MB');
  });

  it('splits a name before its ending', () => {
    expect(splitName('report.final.pdf')).to.deep.equal(['report.final', '.pdf']);
    expect(splitName('.gitignore')).to.deep.equal(['.gitignore', '']);
    expect(splitName('v1.a name that is no ending')).to.deep.equal(['v1.a name that is no ending', '']);
  });

  it('takes out what turns the direction of text', () => {
    expect(shownName('invoice\u202efdp.exe')).to.equal('invoicefdp.exe');
  });
});
