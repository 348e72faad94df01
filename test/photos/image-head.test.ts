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

/** Returns a box of an ISO file. */
const box = (type: string, ...parts: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> => {
  const content = join(...parts);
  return join(integer(8 + content.length, 4), bytesOf(type), content);
};

test('recognizes films by their content, and nothing else', async () => {
  const typeOf = (...parts: Uint8Array<ArrayBuffer>[]) => readFilmType(new Blob(parts));
  const film = box('moov', box('mvhd', bytesOf('a')), box('trak', bytesOf('b')));
  const ftyp = (brand: string, sizeBytes = 24) =>
    join(integer(sizeBytes, 4), bytesOf(`ftyp${brand}\0\0\0\0isommp42`), box('free'), film);
  const matroska = (type: string) => join([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], bytesOf(type));
  assert.equal(await typeOf(fixture('green.webm')), 'video/webm');
  assert.equal(await typeOf(matroska('webm')), 'video/webm');
  assert.equal(await typeOf(matroska('matroska')), 'video/x-matroska');
  assert.equal(await typeOf(bytesOf('OggS\0\x02')), 'video/ogg');
  assert.equal(await typeOf(ftyp('qt  ')), 'video/quicktime');
  for (const brand of ['isom', 'mp42', 'avc1', 'M4V ', '3gp5', 'dash', 'iso6'])
    assert.equal(await typeOf(ftyp(brand)), 'video/mp4', brand);
  for (const sizeBytes of [0, 1, 8, 15, 17, 1028, 0x10018, 0x23455854])
    assert.equal(await typeOf(ftyp('isom', sizeBytes)), undefined, `a box of ${sizeBytes} bytes`);
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
    assert.equal(await typeOf(bytesOf(text)), undefined, text);
  for (const image of ['little-endian.jpg', 'photo.png', 'photo.heic', 'photo.avif'])
    assert.equal(await typeOf(fixture(image)), undefined, image);
  const head = ftyp('isom').subarray(0, 24);
  const large = join(integer(1, 4), bytesOf('mdat'), integer(20, 8), bytesOf('film'));
  const toEnd = join(integer(0, 4), bytesOf('mdat'), bytesOf('film'));
  assert.equal(await typeOf(head, large, film, toEnd), 'video/mp4');
  const reference = box('rmra', box('rmda', box('rdrf', bytesOf('url '))));
  for (const [what, parts] of Object.entries({
    'no movie': [box('free')],
    'a reference to another film': [box('moov', reference)],
    'a reference in a second movie': [film, box('moov', reference)],
    'a compressed movie': [box('moov', box('cmov'))],
    'a list of URLs': [bytesOf('#EXTM3U\nhttps://a.example/\n')],
    'a list of URLs behind the movie': [film, bytesOf('#EXTM3U\nhttps://a.example/\n')],
    'a box that ends behind the file': [film, join(integer(9, 4)), bytesOf('free')],
    'a box that ends before it starts': [film, join(integer(7, 4)), bytesOf('free')],
    'a box of no known size': [film, join(integer(1, 4)), bytesOf('free')],
  }))
    assert.equal(await typeOf(head, ...parts), undefined, what);
});
