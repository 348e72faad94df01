// WebP files without location.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import ExifReader from 'exifreader';
import { cleanProfile, profile } from './profile.ts';
import {
  type Bytes,
  bytesOf,
  has,
  integer,
  join,
  latitude,
  short,
  strip,
  stripped,
  tiff,
} from './support.ts';

const chunk = (type: string, ...content: (Uint8Array | readonly number[])[]): Bytes => {
  const body = join(...content);
  return join(bytesOf(type), integer(body.length, 4, true), body, new Uint8Array(body.length & 1));
};
export const webp = (...chunks: Uint8Array[]): Bytes => {
  const body = join(bytesOf('WEBP'), ...chunks);
  return join(bytesOf('RIFF'), integer(body.length, 4, true), body);
};
const lossy = (width: number, height: number) =>
  chunk('VP8 ', [0x10, 2, 0, 0x9d, 0x01, 0x2a], integer(width, 2, true), integer(height, 2, true), [1, 2, 3]);
const lossless = (width: number, height: number) =>
  chunk('VP8L', [0x2f], integer(width - 1 + (height - 1) * 2 ** 14, 4, true), [1, 2, 3]);
const features = (flags: number, width: number, height: number, reserved = 0) =>
  chunk('VP8X', [flags, reserved, 0, 0], integer(width - 1, 3, true), integer(height - 1, 3, true));
const frame = (width: number, height: number, left: number, ...parts: Uint8Array[]) =>
  chunk(
    'ANMF',
    integer(left / 2, 3, true),
    [0, 0, 0],
    integer(width - 1, 3, true),
    integer(height - 1, 3, true),
    [9, 0, 0, 0],
    ...parts,
  );
const SECRET = bytesOf('48.8584');
const exif = tiff(true, [short(0x112, 6), { tag: 0x8825, directory: [latitude] }]);

test('keeps pictures that have no metadata, byte by byte', async () => {
  const files = [
    webp(lossy(64, 48)),
    webp(lossless(64, 48)),
    webp(features(0x10, 64, 48), chunk('ALPH', [0, 1, 2]), lossy(64, 48)),
    webp(
      features(0x12, 64, 48),
      chunk('ANIM', new Uint8Array(6)),
      frame(64, 48, 0, lossy(64, 48)),
      frame(8, 8, 56, lossless(8, 8)),
    ),
  ];
  for (const file of files) assert.deepEqual(await stripped(file, 'a.webp', 'image/webp'), file);
});

test('drops metadata and unknown chunks, and keeps orientation, colors and the right length', async () => {
  const before = join(
    webp(
      features(0x3c + 2, 64, 48, 0x30),
      chunk('ICCP', profile),
      chunk('ANIM', new Uint8Array(6)),
      frame(64, 48, 0, lossy(64, 48), chunk('prVt', SECRET)),
      chunk('EXIF', bytesOf('Exif\0\0'), exif),
      chunk('XMP ', SECRET),
      chunk('prVt', SECRET),
    ),
    SECRET,
  );
  const after = await stripped(before, 'a.webp', 'image/webp');
  const orientation = tiff(true, [short(0x112, 6)]);
  const expected = webp(
    features(0x3a, 64, 48),
    chunk('ICCP', cleanProfile),
    chunk('ANIM', new Uint8Array(6)),
    frame(64, 48, 0, lossy(64, 48)),
    chunk('EXIF', after.subarray(-orientation.length)),
  );
  assert.deepEqual(after, expected);
  assert.ok(!has(after, Uint8Array.from(SECRET)) && has(before, Uint8Array.from(SECRET)));
  const { exif: tags } = ExifReader.load(Buffer.from(after), { expanded: true });
  assert.deepEqual([tags?.Orientation?.value, tags?.GPSLatitude], [6, undefined]);
  const bare = webp(features(8, 64, 48), lossy(64, 48), chunk('EXIF', exif));
  assert.ok(ExifReader.load(Buffer.from(bare), { expanded: true }).exif?.GPSLatitude);
  assert.deepEqual((await stripped(bare)).subarray(-orientation.length), after.subarray(-orientation.length));
});

test('clears the flags of what is dropped, and the bytes that make lengths even', async () => {
  const before = webp(
    features(0x2c, 64, 48),
    chunk('ICCP', SECRET),
    chunk('EXIF', SECRET),
    chunk('XMP ', SECRET),
    lossless(64, 48),
  );
  assert.deepEqual(await stripped(before), webp(features(0, 64, 48), lossless(64, 48)));
  const odd = chunk('VP8L', [0x2f], integer(7 + 7 * 2 ** 14, 4, true), [1, 2]);
  const padded = odd.slice();
  padded[padded.length - 1] = 48;
  assert.equal(odd.length % 2, 0);
  assert.deepEqual(await stripped(webp(padded)), webp(odd));
  const film = (part: Bytes) =>
    webp(features(2, 8, 8), chunk('ANIM', new Uint8Array(6)), frame(8, 8, 0, part));
  assert.deepEqual(await stripped(film(padded)), film(odd));
});

test('keeps one picture of a file and of a frame, with its transparency only', async () => {
  const alpha = chunk('ALPH', SECRET);
  const picture = lossy(64, 48);
  const film = chunk('ANIM', new Uint8Array(6));
  const plain = features(0, 64, 48);
  const cases: readonly (readonly [string, Bytes, Bytes])[] = [
    ['a second picture', webp(picture, lossy(64, 48), lossless(64, 48)), webp(picture)],
    ['transparency of nothing', webp(plain, lossless(64, 48), alpha), webp(plain, lossless(64, 48))],
    ['transparency without losses', webp(plain, alpha, lossless(64, 48)), webp(plain, lossless(64, 48))],
    ['a second transparency', webp(plain, alpha, alpha, picture), webp(plain, alpha, picture)],
    [
      'a picture in a film',
      webp(features(2, 64, 48), film, picture, frame(64, 48, 0, picture)),
      webp(features(2, 64, 48), film, frame(64, 48, 0, picture)),
    ],
    ['a frame without a film', webp(plain, picture, film, frame(64, 48, 0, picture)), webp(plain, picture)],
    [
      'a second picture in a frame',
      webp(features(2, 64, 48), frame(64, 48, 0, picture, alpha, picture)),
      webp(features(2, 64, 48), frame(64, 48, 0, picture)),
    ],
    [
      'a second profile',
      webp(features(0x20, 64, 48), chunk('ICCP', profile), chunk('ICCP', profile), picture),
      webp(features(0x20, 64, 48), chunk('ICCP', cleanProfile), picture),
    ],
    ['metadata without features', webp(picture, chunk('EXIF', exif)), webp(picture)],
    ['metadata without its flag', webp(plain, picture, chunk('EXIF', exif)), webp(plain, picture)],
    [
      'transparency behind another chunk',
      webp(plain, alpha, chunk('prVt'), picture),
      webp(plain, alpha, picture),
    ],
  ];
  for (const [what, before, after] of cases) assert.deepEqual(await stripped(before), after, what);
});

test('refuses files that are cut or malformed, and pictures of another size', async () => {
  const good = webp(lossy(64, 48));
  const wrong = {
    cut: good.subarray(0, -1),
    'a longer chunk than the file': webp(lossy(64, 48), join(bytesOf('XMP '), integer(9, 4, true))),
    'no picture': webp(features(0, 64, 48)),
    'no chunk': webp(),
    'another size than the file': webp(features(0, 64, 47), lossy(64, 48)),
    'a second picture': webp(lossy(64, 48), lossless(65, 48)),
    'another size than its frame': webp(features(2, 64, 48), frame(8, 8, 0, lossy(9, 8))),
    'a frame beyond the picture': webp(features(2, 64, 48), frame(8, 8, 58, lossy(8, 8))),
    'a frame without the size of the file': webp(frame(8, 8, 0, lossy(8, 8))),
    'the size of the file behind a picture': webp(lossy(64, 48), features(0, 64, 48)),
    'very many chunks': webp(lossy(64, 48), ...Array(20_000).fill(chunk('prVt'))),
    'very many chunks in a frame': webp(
      features(2, 64, 48),
      frame(8, 8, 0, ...Array(20_000).fill(chunk('prVt')), lossy(8, 8)),
    ),
  };
  for (const [what, bytes] of Object.entries(wrong))
    assert.equal(await strip(new Uint8Array(bytes), 'a.webp'), 'unsupported', what);
});
