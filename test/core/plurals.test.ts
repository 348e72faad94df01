// Numbers, plural forms and sentences that all locales share.

import { expect } from '@open-wc/testing';
import { countsIn, describeEnd, isolate, withFullStop } from '../../src/core/plurals.ts';

describe('counts in a language', () => {
  it('have the number, the plural form and the seconds of the language', () => {
    const english = countsIn('en');
    const german = countsIn('de');
    expect([english.number(1200), german.number(1200)]).to.deep.equal(['1,200', '1.200']);
    expect([english.seconds(7), german.seconds(7)]).to.deep.equal(['7 sec', '7 Sek.']);
    const files = english.plural({ one: '# file', other: '# files' });
    expect([0, 1, 2, 1200].map(files)).to.deep.equal(['0 files', '1 file', '2 files', '1,200 files']);
  });

  it('use the form for other counts if the language has a form that the texts leave out', () => {
    const polish = countsIn<'one' | 'few' | 'other'>('pl');
    const files = polish.plural({ one: '# plik', few: '# pliki', other: '# plików' });
    expect([1, 2, 5].map(files)).to.deep.equal(['1 plik', '2 pliki', '5 plików']);
  });
});

describe('sentences of all languages', () => {
  it('isolate names in text from right to left', () => {
    expect(isolate('a.txt')).to.equal('\u2068a.txt\u2069');
  });

  it('end with one full stop', () => {
    expect([withFullStop('3 Min.'), withFullStop('3 min')]).to.deep.equal(['3 Min.', '3 min.']);
  });

  const announce = describeEnd(
    (count) => `${count} done.`,
    'Ended.',
    (count) => `${count} failed.`,
    (count) => `${count} canceled.`,
  );
  for (const [[done, failed, canceled], text] of [
    [[0, 0, 0], '0 done.'],
    [[1, 0, 0], '1 done.'],
    [[0, 1, 0], 'Ended. 1 failed.'],
    [[0, 0, 1], 'Ended. 1 canceled.'],
    [[0, 1, 1], 'Ended. 1 failed. 1 canceled.'],
    [[1, 1, 1], '1 done. 1 failed. 1 canceled.'],
  ] as const)
    it(`announce the end of ${done} files that are done, ${failed} that failed and ${canceled} that were canceled`, () => {
      expect(announce(done, failed, canceled)).to.equal(text);
    });

  it('have no space between them in languages without one', () => {
    const say = (count: number): string => `${count}。`;
    expect(describeEnd(say, '', say, say, '')(1, 2, 3)).to.equal('1。2。3。');
  });
});
