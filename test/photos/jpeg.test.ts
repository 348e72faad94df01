// JPEG photos without location, with the same picture.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import jpeg from 'jpeg-js';
import { KeptParts } from '../../src/photos/bytes.ts';
import { cleanProfile, profile } from './profile.ts';
import * as given from './support.ts';
import {
  type Bytes,
  bytesOf,
  has,
  indexesOf,
  integer,
  join,
  short,
  strip,
  stripped,
  tiff,
} from './support.ts';

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
    segment(0xe2, bytesOf('ICC_PROFILE\0\x01\x01'), cleanProfile),
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

test('keeps nothing behind the twelve bytes of an Adobe segment', async () => {
  const clean = await stripped(given.littleEndian);
  const exact = [...bytesOf('Adobe'), 0, 100, 0, 0, 0, 0, 0];
  const after = await stripped(insert(clean, segment(0xee, exact, bytesOf('48.8584'))));
  assert.deepEqual(after, insert(clean, segment(0xee, exact)));
  assert.deepEqual(await stripped(insert(clean, segment(0xee, exact.slice(0, -1)))), clean);
  const named = [...bytesOf('Adobe48.885'), 2];
  const plain = [...exact.slice(0, -1), 2];
  assert.deepEqual(await stripped(insert(clean, segment(0xee, named))), insert(clean, segment(0xee, plain)));
});

test('keeps one segment of each kind', async () => {
  const clean = await stripped(given.littleEndian);
  const jfif = [...bytesOf('JFIF\0\x01\x02\x01'), 0, 72, 0, 72, 0, 0];
  const adobe = [...bytesOf('Adobe'), 0, 100, 0, 0, 0, 0];
  const exif = join(bytesOf('Exif\0\0'), tiff(true, [short(0x112, 3)]));
  const again = [segment(0xe0, jfif), segment(0xe1, exif), segment(0xee, adobe, [1])];
  const end = Buffer.from(clean).indexOf(Buffer.from([0xff, 0xdb]));
  const before = join(clean.subarray(0, end), segment(0xee, adobe, [0]), ...again, clean.subarray(end));
  assert.deepEqual(
    await stripped(before),
    join(clean.subarray(0, end), segment(0xee, adobe, [1]), clean.subarray(end)),
  );
});

test('cleans a color profile in several parts, in any order, and drops one that is not complete', async () => {
  const clean = await stripped(given.littleEndian);
  const part = (number: number, count: number, content: Uint8Array) =>
    segment(0xe2, bytesOf('ICC_PROFILE\0'), [number, count], content);
  const [first, second] = [profile.subarray(0, 200), profile.subarray(200)];
  const whole = insert(clean, part(1, 1, cleanProfile));
  assert.deepEqual(await stripped(insert(clean, part(2, 2, second), part(1, 2, first))), whole);
  for (const parts of [
    [part(1, 2, first)],
    [part(1, 2, first), part(1, 2, second)],
    [part(1, 3, first), part(2, 3, second)],
    [part(1, 1, profile.subarray(0, -1))],
    [part(1, 1, bytesOf('48.8584 profile'))],
  ])
    assert.deepEqual(await stripped(insert(clean, ...parts)), clean);
});

test('cuts the thumbnail of a JFIF segment', async () => {
  const start = [...bytesOf('JFIF\0\x01\x02\x01'), 0, 72, 0, 72];
  const whole = await stripped(given.littleEndian);
  assert.equal(whole[3], 0xe0);
  const clean = join(whole.subarray(0, 2), whole.subarray(20));
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

test('skips what decoders skip between segments, and keeps nothing of it', async () => {
  const clean = await stripped(given.progressive);
  const short = segment(0xe5, bytesOf('its length leaves out two bytes'));
  short[3] = (short[3] ?? 0) - 2;
  const skipped = {
    'a zero byte': [0],
    'two zero bytes': [0, 0],
    'any bytes': bytesOf('48.8584'),
    'bytes with 0xff and zero': [0xff, 0, 48, 0xff, 0],
    'a marker without content': [0xff, 0x01],
    'a marker of a restart': [0xff, 0xd3, 48, 46],
    'a segment with a length that is too small': short,
    'a segment with a length of zero': [0xff, 0xe5, 0, 0, 48],
    'a segment with a length of one': [0xff, 0xe5, 0, 1, 48],
  };
  for (const [what, bytes] of Object.entries(skipped)) {
    assert.deepEqual(await stripped(insert(clean, Uint8Array.from(bytes))), clean, what);
    const beforeScan = Buffer.from(clean).lastIndexOf(Buffer.from([0xff, 0xda]));
    const inside = join(clean.subarray(0, beforeScan), bytes, clean.subarray(beforeScan));
    assert.deepEqual(await stripped(inside), clean, `${what}, between two scans`);
  }
});

test('keeps nothing behind the data of each scan', async () => {
  for (const photo of Object.values(jpgs)) {
    const clean = await stripped(photo);
    const starts = indexesOf(clean, [0xff, 0xda]).slice(1);
    for (const at of [...starts, clean.length - 2])
      for (const text of [bytesOf('48.8584'), [0], [0xff, 0xd5], [0xff, 0, 48]])
        assert.deepEqual(await stripped(join(clean.subarray(0, at), text, clean.subarray(at))), clean);
  }
});

test('keeps nothing between the data and the marker of a restart', async () => {
  const clean = await stripped(given.progressive);
  const restarts = indexesOf(clean, [0xff, 0xd0]);
  assert.ok(restarts.length > 4);
  for (const at of restarts)
    assert.deepEqual(await stripped(join(clean.subarray(0, at), bytesOf('48'), clean.subarray(at))), clean);
});

test('keeps a last scan with less data than the picture has, and restarts that are missing or late', async () => {
  for (const photo of Object.values(jpgs)) {
    const clean = await stripped(photo);
    for (const length of [1, 3, 20]) {
      const short = join(clean.subarray(0, -2 - length), clean.subarray(-2));
      if (short.at(-3) === 0xff) continue;
      assert.deepEqual(await stripped(short), short);
    }
  }
  const clean = await stripped(given.progressive);
  const restarts = [0xd0, 0xd1, 0xd2].map((marker) => indexesOf(clean, [0xff, marker])[0] ?? 0);
  const [first = 0, second = 0] = restarts;
  assert.ok(first < second);
  // Decoders leave out all bytes up to the next restart, or skip a second one.
  const missing = join(clean.subarray(0, first), clean.subarray(first + 2));
  const left = join(clean.subarray(0, first), clean.subarray(second));
  assert.deepEqual(await stripped(missing), left);
  const late = join(clean.subarray(0, second), [0xff, 0xd0, 1, 2], clean.subarray(second));
  assert.deepEqual(await stripped(late), clean);
});

test('refuses codes that no table has, tables of other numbers, and components that are not there', async () => {
  for (const photo of Object.values(jpgs)) {
    const clean = await stripped(photo);
    const table = Buffer.from(clean).indexOf(Buffer.from([0xff, 0xc4]));
    const end = table + 2 + Buffer.from(clean).readUInt16BE(table + 2);
    assert.equal(await strip(join(clean.subarray(0, table), clean.subarray(end))), 'unsupported');
    const changed = (at: number, value: number) => {
      const copy = clean.slice();
      copy[at] = value;
      return copy;
    };
    const scan = Buffer.from(clean).indexOf(Buffer.from([0xff, 0xda]));
    for (const wrong of [changed(table + 4, 0x04), changed(table + 4, 0x20), changed(scan + 5, 77)])
      assert.equal(await strip(wrong), 'unsupported');
  }
});

test('refuses a second frame, more than 100 scans, and more than 5000 segments', async () => {
  const clean = await stripped(given.littleEndian);
  const frame = Buffer.from(clean).indexOf(Buffer.from([0xff, 0xc0]));
  const frameEnd = frame + 2 + Buffer.from(clean).readUInt16BE(frame + 2);
  const scan = Buffer.from(clean).indexOf(Buffer.from([0xff, 0xda]));
  const again = (start: number, end: number, count: number) =>
    join(clean.subarray(0, scan), ...Array(count).fill(clean.subarray(start, end)), clean.subarray(scan));
  assert.equal(await strip(again(frame, frameEnd, 1)), 'unsupported');
  assert.deepEqual(await stripped(again(scan, clean.length - 2, 99)), again(scan, clean.length - 2, 99));
  assert.equal(await strip(again(scan, clean.length - 2, 100)), 'unsupported');
  const comments = (count: number) => insert(clean, ...Array(count).fill(segment(0xfe)));
  assert.deepEqual(await stripped(comments(4900)), clean);
  assert.equal(await strip(comments(5000)), 'unsupported');
});

test('keeps neighbors as one part, and not very many parts', () => {
  const bytes = new Uint8Array(400_010);
  const kept = new KeptParts(bytes);
  for (let at = 0; at < 200_000; at += 2) kept.keep(at, at + 2);
  assert.deepEqual(kept.parts, [bytes.subarray(0, 200_000)]);
  const keepAll = (count: number) => {
    const parts = new KeptParts(bytes);
    for (let at = 0; at < count; at++) parts.keep(4 * at, 4 * at + 2);
  };
  keepAll(100_000);
  assert.throws(() => keepAll(100_001), RangeError);
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
    ...[0xd8, 0xc3, 0xc5, 0xc9, 0xcc, 0xde, 0xf7, 0x02].map((marker) =>
      insert(littleEndian, segment(marker, [1, 2])),
    ),
  ];
  for (const bytes of wrong) assert.equal(await strip(new Uint8Array(bytes), 'photo.jpg'), 'unsupported');
});
