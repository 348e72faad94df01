// JPEG photos without location, with the same picture.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import jpeg from 'jpeg-js';
import * as given from './support.ts';
import { type Bytes, bytesOf, has, integer, join, short, strip, stripped, tiff } from './support.ts';

const jpgs = { 'baseline, little-endian': given.littleEndian, 'progressive, big-endian': given.progressive };

const pixels = (bytes: Bytes): Bytes => new Uint8Array(jpeg.decode(bytes).data);

function segment(marker: number, ...content: (Uint8Array | readonly number[])[]): Bytes {
  const whole = join(...content);
  return join([0xff, marker], integer(whole.length + 2, 2), whole);
}

/** Inserts bytes after the start of the image. */
const insert = (bytes: Bytes, ...parts: Uint8Array[]): Bytes =>
  join(bytes.subarray(0, 2), ...parts, bytes.subarray(2));

for (const [kind, before] of Object.entries(jpgs)) {
  test(`loses location and thumbnail, but no pixel, date or orientation (${kind})`, async () => {
    const after = await stripped(before, 'photo.jpg', 'image/jpeg');
    await given.assertClean(before, after);
    assert.deepEqual(pixels(after), pixels(before));
    const scan = before.subarray(before.lastIndexOf(0xda, before.length - 1000));
    assert.ok(has(after, scan));
  });
}

test('a progressive photo has several scans with restart markers', () => {
  const bytes = Buffer.from(given.progressive);
  const markers = [0xd0, 0xd1, 0xc2].map((marker) => has(bytes, Uint8Array.of(0xff, marker)));
  assert.deepEqual(markers, [true, true, true]);
  assert.ok(bytes.toString('latin1').split('\xff\xda').length > 4);
});

test('a photo without location keeps all bytes', async () => {
  const clean = await stripped(given.littleEndian);
  assert.deepEqual(await stripped(clean), clean);
});

test('keeps color profile and Adobe segment; drops other application segments and comments', async () => {
  const kept = [
    segment(0xe2, bytesOf('ICC_PROFILE\0\x01\x01profile')),
    segment(0xee, bytesOf('Adobe'), [0, 100, 0, 0, 0, 0, 0]),
  ];
  const names = [
    'MPF\0',
    'ICC',
    'FPXR\0',
    'http://ns.adobe.com/xmp/extension/\0',
    'Photoshop 3.0\0',
    'JFXX\0',
    'Adobe',
  ];
  const dropped = names.flatMap((name) =>
    [0xe0, 0xe1, 0xe2, 0xe5, 0xeb, 0xed, 0xef, 0xfe].map((marker) =>
      segment(marker, bytesOf(`${name} dropped`)),
    ),
  );
  const clean = await stripped(given.littleEndian);
  assert.deepEqual(await stripped(insert(clean, ...kept, ...dropped)), insert(clean, ...kept));
});

test('cuts the thumbnail of a JFIF segment', async () => {
  const start = [...bytesOf('JFIF\0\x01\x02\x01'), 0, 72, 0, 72];
  const clean = await stripped(given.littleEndian);
  const after = await stripped(insert(clean, segment(0xe0, start, [1, 1, 7, 8, 9])));
  assert.deepEqual(after, insert(clean, segment(0xe0, start, [0, 0])));
  assert.deepEqual(await stripped(insert(clean, segment(0xe0, bytesOf('JFIF\0\x01\x02')))), clean);
});

test('drops previews and videos after the image', async () => {
  const clean = await stripped(given.littleEndian);
  const preview = join(clean, bytesOf('\0\0\0\x18ftypmp42\0\0\0\0 +48.8584+002.2945/'), clean);
  assert.deepEqual(await stripped(preview), clean);
});

test('keeps the orientation of malformed Exif data', async () => {
  const block = tiff(true, [short(0x112, 8), { tag: 0x8769, directory: [] }]);
  block.set([0xff, 0xff, 0xff], 8 + 2 + 12 + 8);
  const image = insert(
    (await stripped(given.littleEndian)).subarray(0),
    segment(0xe1, bytesOf('Exif\0\0'), block),
  );
  const { default: exifr } = await import('exifr');
  assert.equal(await exifr.orientation(Buffer.from(await stripped(image))), 8);
});

test('accepts fill bytes before markers', async () => {
  const clean = await stripped(given.progressive);
  const filled = join(
    clean.subarray(0, 2),
    [0xff, 0xff],
    clean.subarray(2, -2),
    [0xff, 0xff],
    clean.subarray(-2),
  );
  assert.deepEqual(pixels(await stripped(filled)), pixels(given.progressive));
});

test('refuses tables with other bytes', async () => {
  const clean = await stripped(given.littleEndian);
  const tables = {
    quantization: segment(0xdb, [0], new Uint8Array(64)),
    'quantization, 16 bits': segment(0xdb, [0x11], new Uint8Array(128)),
    Huffman: segment(0xc4, [0x13, 1, 1], new Uint8Array(14), [5, 6]),
    restart: segment(0xdd, [0, 0]),
    lines: segment(0xdc, [0, 64]),
  };
  for (const [kind, table] of Object.entries(tables)) {
    assert.deepEqual(await stripped(insert(clean, table)), insert(clean, table), kind);
    const longer = segment(table[1] ?? 0, table.subarray(4), bytesOf('48.8584'));
    assert.equal(await strip(insert(clean, longer)), 'unsupported', kind);
  }
  for (const marker of [0xc0, 0xda]) {
    const at = Buffer.from(clean).indexOf(Buffer.from([0xff, marker]));
    const end = at + 2 + Buffer.from(clean).readUInt16BE(at + 2);
    const longer = segment(marker, clean.subarray(at + 4, end), bytesOf('48.8584'));
    assert.equal(await strip(join(clean.subarray(0, at), longer, clean.subarray(end))), 'unsupported');
  }
});

test('refuses photos without an end, without a scan, or with other markers', async () => {
  const { littleEndian } = given;
  const wrong = [
    littleEndian.subarray(0, -2),
    littleEndian.subarray(0, 2000),
    join(littleEndian.subarray(0, 2), [0xff, 0xd9]),
    ...[0xd8, 0xd0, 0x01, 0xc9, 0xcc, 0xde, 0xf7].map((marker) =>
      insert(littleEndian, segment(marker, [1, 2])),
    ),
    insert(littleEndian, Uint8Array.of(0)),
    insert(littleEndian, Uint8Array.of(0xff, 0xe5, 0, 1)),
  ];
  for (const bytes of wrong) assert.equal(await strip(new Uint8Array(bytes), 'photo.jpg'), 'unsupported');
});
