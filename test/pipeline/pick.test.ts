// Which files are accepted, and the reason for each rejection.

import { expect } from '@open-wc/testing';
import { matchesAccept, type PickLimits, refusal } from '../../src/pipeline/pick.ts';

const NONE: PickLimits = {
  accept: '',
  maxFiles: Number.POSITIVE_INFINITY,
  maxFileSizeBytes: Number.POSITIVE_INFINITY,
  refuseEmpty: false,
};

const picked = (name: string, sizeBytes = 10, type = '') => ({
  file: new File([new Uint8Array(sizeBytes)], name, { type }),
  relativePath: name,
});

describe('an accept list', () => {
  const cases: readonly [string, string, string, boolean][] = [
    ['', 'a.bin', '', true],
    [' , ', 'a.bin', '', true],
    ['.png', 'a.png', '', true],
    ['.png', 'A.PNG', '', true],
    ['.PNG', 'a.png', '', true],
    ['.png', 'a.png.exe', 'image/png', false],
    ['.png', 'png', '', false],
    ['.tar.gz', 'a.tar.gz', '', true],
    ['image/*', 'a', 'image/webp', true],
    // Types as systems report them, or not at all.
    ['image/*', 'a.png', '', true],
    ['image/*', 'a.HEIC', '', true],
    ['image/heic', 'a.heic', 'application/octet-stream', true],
    ['image/*', 'a.avif', '', true],
    ['image/*', 'a.pdf', '', false],
    ['image/*', 'heic', '', false],
    ['image/jpeg', 'a.jpg', 'image/pjpeg', true],
    ['image/jpg', 'a.jpeg', 'image/jpeg', true],
    ['image/jpg', 'a.png', 'image/png', false],
    ['image/png', 'a.jpg', '', false],
    ['application/zip', 'a.zip', 'application/x-zip-compressed', true],
    ['application/x-zip-compressed', 'a.zip', 'application/zip', true],
    ['application/zip', 'a.rar', 'application/x-zip-compressed', false],
    ['text/csv', 'a.csv', 'application/vnd.ms-excel', true],
    ['text/csv', 'a.xls', 'application/vnd.ms-excel', false],
    ['text/markdown', 'a.md', '', true],
    ['text/plain', 'a.log', '', true],
    ['video/*', 'a.mkv', '', true],
    ['audio/*', 'a.m4a', 'video/mp4', true],
    ['application/pdf', 'a.PDF', 'binary/octet-stream', true],
    ['application/pdf', 'a.pdf.exe', '', false],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'a.docx', '', true],
    ['application/unknown', 'a.unknown', '', false],
    ['constructor/*', 'a.png', '', false],
    ['image/*', 'a', 'imagery/x', false],
    ['image/png', 'a', 'image/png', true],
    ['image/png', 'a', 'IMAGE/PNG', true],
    ['image/png', 'a', 'image/jpeg', false],
    ['text/plain', 'a.txt', 'text/plain;charset=utf-8', true],
    ['*/*', 'a', '', true],
    ['*', 'a', '', true],
    ['image/*, .pdf', 'a.pdf', 'application/pdf', true],
    ['image/*, .pdf', 'a.doc', 'application/msword', false],
  ];
  for (const [accept, name, type, isTaken] of cases) {
    it(`${JSON.stringify(accept)} ${isTaken ? 'accepts' : 'rejects'} ${name} of type ${JSON.stringify(type)}`, () => {
      expect(matchesAccept({ name, type }, accept)).to.equal(isTaken);
    });
  }
});

describe('a picked file', () => {
  it('is accepted if there are no limits, even if it is empty', () => {
    expect(refusal(picked('a.bin'), NONE, 1e6)).to.equal(undefined);
    expect(refusal(picked('a.bin', 0), NONE, 0)).to.equal(undefined);
  });

  it('is rejected for its type, with the accepted types', () => {
    expect(refusal(picked('a.exe'), { ...NONE, accept: '.png' }, 0)).to.deep.equal({
      code: 'file-type-refused',
      limit: '.png',
    });
  });

  it('is rejected above the size limit, and accepted at it', () => {
    const limits = { ...NONE, maxFileSizeBytes: 10 };
    expect(refusal(picked('a', 10), limits, 0)).to.equal(undefined);
    expect(refusal(picked('a', 11), limits, 0)).to.deep.equal({ code: 'file-too-large', limit: 10 });
  });

  it('is rejected when the list is full, and accepted as the last that fits', () => {
    const limits = { ...NONE, maxFiles: 3 };
    expect(refusal(picked('a'), limits, 2)).to.equal(undefined);
    expect(refusal(picked('a'), limits, 3)).to.deep.equal({ code: 'too-many-files', limit: 3 });
  });

  it('is rejected if it is empty and empty files are not allowed', () => {
    expect(refusal(picked('a', 0), { ...NONE, refuseEmpty: true }, 0)).to.deep.equal({ code: 'file-empty' });
    expect(refusal(picked('a', 1), { ...NONE, refuseEmpty: true }, 0)).to.equal(undefined);
  });

  it('reports errors of the file itself before those of the list', () => {
    expect(
      refusal(picked('a.exe', 99), { ...NONE, accept: '.png', maxFiles: 0, maxFileSizeBytes: 1 }, 5)?.code,
    ).to.equal('file-type-refused');
    expect(refusal(picked('a', 99), { ...NONE, maxFiles: 0, maxFileSizeBytes: 1 }, 5)?.code).to.equal(
      'file-too-large',
    );
  });
});
