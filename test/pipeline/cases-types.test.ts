// Types as pages write them in `accept`, and as systems and downloads report them.

import { expect } from '@open-wc/testing';
import { matchesAccept } from '../../src/pipeline/pick.ts';

function judge(accept: string, name: string, type: string, isTaken: boolean): void {
  it(`${JSON.stringify(accept)} ${isTaken ? 'accepts' : 'rejects'} ${name} of type ${JSON.stringify(type)}`, () => {
    expect(matchesAccept({ name, type }, accept)).to.equal(isTaken);
  });
}

describe('an accept list as pages write it', () => {
  for (const [accept, name, type, isTaken] of [
    ['text/csv;charset=utf-8', 'a.csv', 'text/csv', true],
    ['text/csv; charset=utf-8', 'a.csv', 'application/vnd.ms-excel', true],
    ['application/vnd.*', 'a.zip', 'application/zip', false],
    ['image/*;capture=camera', 'a.jpg', 'image/jpeg', true],
    ['image/*;capture=camera', 'a.txt', 'text/plain', false],
    ['IMAGE/*,\n  .PDF', 'a.pdf', '', true],
    ['IMAGE/*,\n  .PDF', 'a.heif', '', true],
    [' Application/PDF ,', 'a.pdf', 'application/x-pdf', true],
  ] as const)
    judge(accept, name, type, isTaken);
});

describe('names of the same type', () => {
  for (const [one, other, extension] of [
    ['text/xml', 'application/xml', 'xml'],
    ['application/gzip', 'application/x-gzip', 'gz'],
    ['audio/wav', 'audio/x-wav', 'wav'],
    ['audio/mpeg', 'audio/mp3', 'mp3'],
    ['audio/mp4', 'audio/x-m4a', 'm4a'],
    ['audio/flac', 'audio/x-flac', 'flac'],
    ['audio/aac', 'audio/x-aac', 'aac'],
    ['video/x-msvideo', 'video/avi', 'avi'],
    ['video/mp4', 'video/x-m4v', 'm4v'],
    ['image/png', 'image/x-png', 'png'],
    ['image/jpeg', 'image/jpg', 'jfif'],
    ['application/vnd.rar', 'application/x-rar-compressed', 'rar'],
    ['application/zip', 'application/x-zip', 'zip'],
    ['text/markdown', 'text/x-markdown', 'md'],
    ['image/x-adobe-dng', 'image/dng', 'dng'],
  ] as const) {
    judge(one, `a.${extension}`, other, true);
    judge(other, `a.${extension}`, one, true);
    judge(other, `A.${extension.toUpperCase()}`, '', true);
    judge(one, 'a.exe', '', false);
  }
});

describe('a file whose type says nothing', () => {
  for (const [accept, name, type, isTaken] of [
    ['image/*', 'IMG_0001.DNG', '', true],
    ['image/*', 'photo.jfif', 'application/octet-stream', true],
    ['video/*', 'clip.m4v', '', true],
    ['video/*', 'CLIP.MTS', '', true],
    ['video/*', 'clip.mkv', 'application/x-download', true],
    ['audio/*', 'voice.opus', '', true],
    ['image/*', 'cat.png', 'application/force-download', true],
    ['image/*', 'photo.heic.exe', '', false],
    ['image/*', 'photo.heic ', '', false],
    ['image/*', 'photoheic', 'application/octet-stream', false],
    ['video/*', 'notes.m4a', '', false],
  ] as const)
    judge(accept, name, type, isTaken);
});
