// Formats and sizes that are read before an image is decoded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFilmType, readHead } from '../../src/photos/image-head.ts';
import { bytesOf, fixture, integer, join } from './support.ts';

const sizeOf = (bytes: Uint8Array) => {
  const { type, width, height, isAnimated } = readHead(bytes) ?? {};
  return [type, width, height, isAnimated];
};
const webp = (format: string, ...rest: readonly (readonly number[])[]) =>
  join(bytesOf('RIFF\0\0\0\0WEBP'), bytesOf(format), integer(10, 4, true), ...rest);
const VP8_START = [0, 0, 0, 0x9d, 0x01, 0x2a];

test('reads the size of photos, with tiles and thumbnails', () => {
  assert.deepEqual(sizeOf(fixture('little-endian.jpg')), ['image/jpeg', 96, 64, false]);
  assert.deepEqual(sizeOf(fixture('progressive.jpg')), ['image/jpeg', 96, 64, false]);
  assert.deepEqual(sizeOf(fixture('photo.png')), ['image/png', 48, 32, false]);
  assert.deepEqual(sizeOf(fixture('photo.heic')), ['image/heif', 96, 64, false]);
  assert.deepEqual(sizeOf(fixture('photo.avif')), ['image/heif', 64, 48, false]);
});

test('reads the size of WebP and GIF, and whether they may move', () => {
  assert.deepEqual(sizeOf(webp('VP8 ', VP8_START, integer(640, 2, true), integer(0x4000 + 480, 2, true))), [
    ...['image/webp', 640, 480, false],
  ]);
  assert.deepEqual(sizeOf(webp('VP8L', [0x2f], integer(639 + 479 * 2 ** 14, 4, true), [0, 0, 0, 0])), [
    ...['image/webp', 640, 480, false],
  ]);
  for (const [flags, isAnimated] of [
    [0x10, false],
    [0x12, true],
  ] as const)
    assert.deepEqual(sizeOf(webp('VP8X', [flags, 0, 0, 0], integer(639, 3, true), integer(479, 3, true))), [
      ...['image/webp', 640, 480, isAnimated],
    ]);
  const gif = join(bytesOf('GIF89a'), integer(640, 2, true), integer(480, 2, true));
  assert.deepEqual(sizeOf(gif), ['image/gif', 640, 480, true]);
});

test('returns nothing for other files, and for those that end too early', () => {
  for (const text of [
    '',
    'x',
    '%PDF-1.7 and more',
    'RIFF\0\0\0\0WAVEfmt ',
    '\0\0\0\x18ftypqt  ',
    '<svg></svg>',
  ])
    assert.equal(readHead(bytesOf(text)), undefined, text);
  assert.equal(readHead(fixture('little-endian.jpg').subarray(0, 100)), undefined);
  assert.equal(readHead(fixture('photo.png').subarray(0, 20)), undefined);
});

test('recognizes films by their first bytes, and nothing else', () => {
  const ftyp = (brand: string, sizeBytes = 24) =>
    join(integer(sizeBytes, 4), bytesOf(`ftyp${brand}\0\0\0\0isommp42\0\0\0\x08free`));
  const matroska = (type: string) => join([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], bytesOf(type));
  assert.equal(readFilmType(fixture('green.webm')), 'video/webm');
  assert.equal(readFilmType(matroska('webm')), 'video/webm');
  assert.equal(readFilmType(matroska('matroska')), 'video/x-matroska');
  assert.equal(readFilmType(bytesOf('OggS\0\x02')), 'video/ogg');
  assert.equal(readFilmType(ftyp('qt  ')), 'video/quicktime');
  for (const brand of ['isom', 'mp42', 'avc1', 'M4V ', '3gp5', 'dash', 'iso6'])
    assert.equal(readFilmType(ftyp(brand)), 'video/mp4', brand);
  for (const sizeBytes of [0, 1, 8, 15, 17, 1028, 0x10018, 0x23455854])
    assert.equal(readFilmType(ftyp('isom', sizeBytes)), undefined, `a box of ${sizeBytes} bytes`);
  for (const text of [
    '#EXTM3U\n#EXT-X-VERSION:3',
    '\xef\xbb\xbf#EXTM3U',
    '\r\n #EXTM3U',
    '<?xml version="1.0"?><MPD>',
    '<svg></svg>',
    'RIFF\0\0\0\0AVI LIST',
    '\0\0\0\x18moov',
    '\0\0\0\x18ftyp',
    'OggS',
    '\x1aE\xdf',
    '',
  ])
    assert.equal(readFilmType(bytesOf(text)), undefined, text);
  for (const image of ['little-endian.jpg', 'photo.png', 'photo.heic', 'photo.avif'])
    assert.equal(readFilmType(fixture(image)), undefined, image);
});
