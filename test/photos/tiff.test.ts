// Exif data without location, in both byte orders.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import exifr from 'exifr';
import { cleanTiff } from '../../src/photos/tiff.ts';
import {
  type Bytes,
  blob,
  bytesOf,
  has,
  integer,
  latitude,
  rational,
  secretsIn,
  short,
  text,
  tiff,
} from './support.ts';

const parse = (bytes: Bytes) =>
  exifr.parse(Buffer.from(bytes), {
    ...{ tiff: true, exif: true, gps: true, interop: true, ifd1: true, makerNote: true, userComment: true },
    ...{ reviveValues: false, translateValues: false, translateKeys: false, mergeOutput: false },
  });

const gps = { tag: 0x8825, directory: [text(1, 'N'), latitude, text(3, 'E')] };
const exif = [text(0x9003, '2024:05:06 07:08:09'), rational(0x829a, 1, 60)];

for (const isLittle of [false, true]) {
  const order = isLittle ? 'little' : 'big';

  test(`removes location, maker notes, free text and the thumbnail from ${order}-endian data`, async () => {
    const before = tiff(
      isLittle,
      [
        text(0x10e, 'Champ de Mars'),
        text(0x10f, 'Acme Inc.'),
        short(0x112, 6),
        text(0x13b, 'Ada Lovelace'),
        blob(0x2bc, bytesOf('<x:xmpmeta>48,51.5024</x:xmpmeta>')),
        text(0x8298, 'Ada Lovelace'),
        blob(0x83bb, bytesOf('Champ de Mars')),
        {
          tag: 0x8769,
          directory: [
            ...exif,
            blob(0x927c, bytesOf('Maker 48,51.5024 Champ de Mars')),
            blob(0x9286, bytesOf('ASCII\0\0\0Champ de Mars')),
            { tag: 0xa005, directory: [text(1, 'R98'), blob(2, bytesOf('0100'))] },
            text(0xa431, 'Champ de Mars'),
            short(0xa402, 1),
          ],
        },
        gps,
        blob(0xc4a5, bytesOf('Champ de Mars')),
        blob(0xea1c, bytesOf('48,51.5024')),
      ],
      [short(0x103, 6), { tag: 0x201, directory: [blob(0x202, bytesOf('Champ de Mars'))] }],
    );
    assert.ok(secretsIn(before) === 3 && (await parse(before)).gps);
    const after = cleanTiff(before.slice());
    assert.equal(secretsIn(after), 0);
    assert.deepEqual(await parse(after), {
      ifd0: { 271: 'Acme Inc.', 274: 6, 315: 'Ada Lovelace', 33432: 'Ada Lovelace' },
      exif: { 36867: '2024:05:06 07:08:09', 33434: 1 / 60, 41986: 1 },
      interop: { 1: 'R98' },
    });
  });

  test(`leaves clean ${order}-endian data as it is`, () => {
    const before = tiff(isLittle, [
      text(0x10f, 'Acme Inc.'),
      short(0x112, 6),
      { tag: 0x8769, directory: exif },
    ]);
    assert.deepEqual(cleanTiff(before.slice()), before);
  });
}

/** Returns the orientation if the data has nothing else. */
async function orientationOnly(block: Bytes): Promise<number | undefined> {
  const after = cleanTiff(block);
  if (!after.length) return undefined;
  const { ifd0, ...others } = await parse(after);
  assert.deepEqual([Object.keys(ifd0), Object.keys(others), after.length], [[`${0x112}`], [], 26]);
  return ifd0[0x112];
}

const orientation = short(0x112, 6);

/** Returns the texts in cleaned data. */
const cleanedText = (...entries: Parameters<typeof tiff>[1]): string =>
  Buffer.from(cleanTiff(tiff(false, [orientation, ...entries]))).toString('latin1');

test('cuts texts where they end, and keeps one of each', () => {
  const after = cleanedText(
    text(0x10f, 'Acme\0 48.8584'),
    text(0x13b, 'Ann'),
    text(0x13b, 'at 48.8584'),
    text(0x8298, 'Photo\0Editor\0 48.8584'),
    text(0x131, 'A\x008'),
  );
  for (const kept of ['Acme', 'Ann', 'Photo\0Editor']) assert.ok(after.includes(kept), kept);
  for (const dropped of ['48.8', 'at', 'A\x008']) assert.ok(!after.includes(dropped), dropped);
});

test('keeps no texts in numbers, no bytes in texts, and no unknown numbers between others', () => {
  const secret = bytesOf('48.8584,2.29');
  const after = cleanedText(
    text(0x11a, '48.8584'),
    blob(0x213, secret),
    text(0x112, '48.8584'),
    text(0x9005, '48.8584'),
    blob(0x9103, secret),
    text(0x1, '48.8584,2.29'),
  );
  assert.ok(!after.includes('48.8'));
});

test('keeps texts of all types that cameras write', () => {
  for (const type of [1, 2, 7, 129]) {
    const after = cleanedText({ ...text(0x13b, 'Ann Example\0 48.8584'), type });
    assert.ok(after.includes('Ann Example') && !after.includes('48.8'), `${type}`);
  }
});

test('drops a pointer to a directory that is not there, and keeps the rest', () => {
  const entries = [text(0x10f, 'Acme Inc.'), orientation];
  const dangling = (tag: number, value: number) => ({
    tag,
    type: 4,
    count: 1,
    value: () => integer(value, 4),
  });
  for (const value of [0xfffffff0, 4000]) {
    const gpsLess = cleanTiff(tiff(false, [...entries, dangling(0x8825, value)]));
    assert.deepEqual([gpsLess[9], Buffer.from(gpsLess).includes('Acme Inc.')], [2, true]);
    const directory = [text(0x9003, '2024:05:06 07:08:09'), dangling(0xa005, value)];
    const after = Buffer.from(cleanTiff(tiff(false, [...entries, { tag: 0x8769, directory }])));
    assert.ok(after.includes('2024:05:06') && after.includes('Acme'));
  }
});

test('keeps a value that two entries of a tag share', () => {
  const block = tiff(false, [text(0x10f, 'Acme Inc.'), orientation, text(0x10f, 'Acme Ltd.')]);
  block.copyWithin(8 + 2 + 24 + 8, 8 + 2 + 8, 8 + 2 + 12);
  assert.ok(Buffer.from(cleanTiff(block)).includes('Acme Inc.'));
});

test('reads 1000 entries in all directories', () => {
  const many = (count: number) =>
    cleanTiff(tiff(false, [orientation, ...Array(count).fill(text(0x10f, 'A'))]));
  assert.ok(many(990).length > 26);
  assert.equal(many(1000).length, 26);
});

test('keeps only the orientation if directories overlap', async () => {
  const block = tiff(true, [orientation, { tag: 0x8769, directory: exif }]);
  block.set(integer(8, 4, true), 8 + 2 + 12 + 8);
  assert.equal(await orientationOnly(block), 6);
});

test('keeps only the orientation if a value covers the location', async () => {
  const block = tiff(false, [text(0x10f, 'Acme Inc.'), orientation, gps]);
  assert.ok(cleanTiff(block.slice()).length > 26);
  block.set(integer(block.length - 62, 4), 8 + 2 + 4);
  assert.equal(await orientationOnly(block), 6);
});

test('keeps only the orientation if a directory is outside the data or too long', async () => {
  for (const [at, value] of [
    [8 + 2 + 12 + 8, integer(0xfffffff0, 4)],
    [38, integer(0xffff, 2)],
  ] as const) {
    const block = tiff(false, [orientation, { tag: 0x8769, directory: exif }]);
    block.set(value, at);
    assert.equal(await orientationOnly(block), 6);
  }
});

test('drops malformed data of an upright picture, and data that is no TIFF', async () => {
  const upright = tiff(false, [short(0x112, 1), { tag: 0x8769, directory: exif }]);
  upright.set(integer(0xffff, 2), 38);
  const wrong = [upright, bytesOf('II*\0'), bytesOf(''), bytesOf('XX*\0\x08\0\0\0'), tiff(true, [gps])];
  for (const block of wrong) assert.equal(await orientationOnly(block), undefined);
});

test('drops a value that is outside the data, and one that is too long for its tag', () => {
  const block = tiff(false, [
    text(0x10f, 'Acme Inc.'),
    orientation,
    blob(0x9000, new Uint8Array(49).fill(7)),
  ]);
  block.set(integer(0xffffff, 4), 8 + 2 + 4);
  const after = cleanTiff(block);
  assert.deepEqual([after[9], has(after, Uint8Array.of(7, 7))], [1, false]);
});

test('zeros bytes that belong to nothing', () => {
  const block = tiff(false, [orientation, { tag: 0x8769, directory: exif }]);
  const padded = new Uint8Array([...block, ...bytesOf('Champ de Mars'), 0, 3]);
  assert.deepEqual(cleanTiff(padded), block);
  assert.equal(secretsIn(padded), 0);
});

test('keeps only the orientation if there are too many entries', async () => {
  const many = Array.from({ length: 1000 }, () => latitude);
  const block = tiff(false, [text(0x10f, 'Acme Inc.'), orientation, { tag: 0x8825, directory: many }]);
  assert.equal(await orientationOnly(block), 6);
});
