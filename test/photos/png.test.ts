// PNG photos without location, with the same picture.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { cleanProfile, profile } from './profile.ts';
import { assertClean, type Bytes, bytesOf, integer, join, png, strip, stripped } from './support.ts';

const pixels = (bytes: Bytes): Buffer => PNG.sync.read(Buffer.from(bytes)).data;
const IHDR_END = 8 + 25;

function chunk(type: string, content: Uint8Array = new Uint8Array()): Bytes {
  const body = join(bytesOf(type), content);
  return join(integer(content.length, 4), body, integer(crc32(body), 4));
}
const insert = (bytes: Bytes, ...parts: Bytes[]): Bytes =>
  join(bytes.subarray(0, IHDR_END), ...parts, bytes.subarray(IHDR_END));

test('loses location, texts and thumbnail, but no pixel, date or orientation', async () => {
  const after = await stripped(png, 'photo.png', 'image/png');
  await assertClean(png, after);
  assert.deepEqual(pixels(after), pixels(png));
  // Decoders do not check this one.
  const exif = Buffer.from(after).indexOf('eXIf');
  const end = exif + 4 + Buffer.from(after).readUInt32BE(exif - 4);
  assert.equal(Buffer.from(after).readUInt32BE(end), crc32(after.subarray(exif, end)));
});

test('is recognized without name and type', async () => {
  assert.ok((await stripped(png, 'notes.txt')).length < png.length);
});

const zeros = (length: number): Bytes => new Uint8Array(length);
/** A pixel of three values. */
const plain = join(
  png.subarray(0, 8),
  chunk('IHDR', Uint8Array.from([...integer(1, 4), ...integer(1, 4), 8, 2, 0, 0, 0])),
  chunk('IDAT', deflateSync(zeros(4))),
  chunk('IEND'),
);
/** Chunks of the lengths that decoders expect in a picture of this color type (2). */
const EXACT: Readonly<Record<string, number>> = {
  tRNS: 6,
  gAMA: 4,
  cHRM: 32,
  sRGB: 1,
  sBIT: 3,
  bKGD: 6,
  pHYs: 9,
  tIME: 7,
  cICP: 4,
  mDCV: 24,
  cLLI: 8,
};

test('keeps chunks for colors, size and time, and drops all others and what follows the image', async () => {
  const clean = plain;
  const kept = Object.entries(EXACT).map(([type, length]) => chunk(type, zeros(length)));
  const types = [
    'tEXt',
    'zTXt',
    'iTXt',
    'caBX',
    'mkBF',
    'meTa',
    'eXIf',
    'iDOT',
    'dSIG',
    'sPLT',
    'iCCP',
    'hIST',
  ];
  const dropped = types.map((type) => chunk(type, deflateSync('dropped')));
  const after = await stripped(join(insert(clean, ...kept, ...dropped), bytesOf('video')));
  assert.deepEqual(after, insert(clean, ...kept));
});

test('drops chunks that are longer or shorter than decoders expect, and refuses such transparency', async () => {
  const clean = plain;
  for (const [type, length] of Object.entries(EXACT)) {
    for (const wrong of [length - 1, length + 1, length + 7]) {
      const before = insert(clean, chunk(type, zeros(wrong)));
      if (type === 'tRNS') assert.equal(await strip(before), 'unsupported', `${wrong} bytes`);
      else assert.deepEqual(await stripped(before), clean, `${type} of ${wrong} bytes`);
    }
  }
  const end = join(clean.subarray(0, -12), chunk('IEND', bytesOf('48.8584')));
  assert.deepEqual(await stripped(end), clean);
});

test('keeps a color profile without its name and its texts', async () => {
  const clean = plain;
  const named = (name: string, ...content: Uint8Array[]) =>
    insert(clean, chunk('iCCP', join(bytesOf(`${name}\0\0`), ...content)));
  const after = Buffer.from(await stripped(named('48.8584', deflateSync(profile))));
  const start = after.indexOf('iCCP') + 4;
  const content = after.subarray(start, start + after.readUInt32BE(start - 8));
  assert.equal(content.subarray(0, 5).toString('latin1'), 'ICC\0\0');
  assert.deepEqual(new Uint8Array(inflateSync(content.subarray(5))), cleanProfile);
  assert.equal(
    after.readUInt32BE(start + content.length),
    crc32(after.subarray(start - 4, start + content.length)),
  );
  assert.equal(after.length, clean.length + content.length + 12);
  const wrong = [
    named('', deflateSync(profile)),
    named('a'.repeat(80), deflateSync(profile)),
    named('a', deflateSync(profile).subarray(0, -5)),
    named('a', deflateSync(profile.subarray(0, -1))),
    named('a', bytesOf('48.8584')),
    named('a', deflateSync(zeros(2 ** 23 + 1))),
    insert(clean, chunk('iCCP', join(bytesOf('a\0\x01'), deflateSync(profile)))),
  ];
  for (const before of wrong) assert.deepEqual(await stripped(before), clean);
});

/** Returns a PNG file of one value for each pixel, with these bits. */
function pngOf(width: number, height: number, data: Uint8Array, ...others: Bytes[]): Bytes {
  const head = join(integer(width, 4), integer(height, 4), [1, 0, 0, 0, 0]);
  return join(
    png.subarray(0, 8),
    chunk('IHDR', head),
    ...others,
    chunk('IDAT', deflateSync(data)),
    chunk('IEND'),
  );
}

test('refuses data of more or fewer bytes than the picture has', async () => {
  const exact = pngOf(9, 2, zeros(6));
  assert.deepEqual(await stripped(exact), exact);
  for (const length of [0, 5, 7, 100]) assert.equal(await strip(pngOf(9, 2, zeros(length))), 'unsupported');
  const data = deflateSync(zeros(6));
  const withData = (...parts: Uint8Array[]) =>
    join(exact.subarray(0, 33), ...parts.map((part) => chunk('IDAT', part)), exact.subarray(-12));
  assert.deepEqual(await stripped(withData(data)), exact);
  const split = withData(data.subarray(0, 3), data.subarray(3));
  assert.deepEqual(await stripped(split), split);
  assert.equal(await strip(withData(data.subarray(0, -1))), 'unsupported');
  assert.equal(await strip(withData()), 'unsupported');
});

test('keeps films, and refuses frames of another size and data without a frame', async () => {
  const frame = (width: number, height: number, at = 0) =>
    chunk('fcTL', join(integer(at, 4), integer(width, 4), integer(height, 4), zeros(14)));
  const data = (length: number) => chunk('fdAT', join(integer(9, 4), deflateSync(zeros(length))));
  const film = (...frames: Bytes[]) => {
    const still = pngOf(9, 2, zeros(6), chunk('acTL', zeros(8)), frame(9, 2));
    return join(still.subarray(0, -12), ...frames, still.subarray(-12));
  };
  const whole = film(frame(8, 1), data(2), frame(9, 2), data(6));
  assert.deepEqual(await stripped(whole), whole);
  for (const frames of [
    [frame(8, 1), data(3)],
    [frame(10, 1), data(3)],
    [frame(8, 3), data(6)],
    [frame(0, 1), data(1)],
    [data(6)],
    [frame(8, 1), chunk('fdAT', zeros(3))],
    [chunk('fcTL', zeros(25)), data(2)],
  ])
    assert.equal(await strip(film(...frames)), 'unsupported');
});

test('keeps a palette and its transparency, and refuses wrong ones', async () => {
  const withPalette = (colors: number, transparent: number) => {
    const head = join(integer(9, 4), integer(2, 4), [8, 3, 0, 0, 0]);
    const table = chunk('PLTE', zeros(colors));
    const data = chunk('IDAT', deflateSync(zeros(20)));
    return join(
      png.subarray(0, 8),
      chunk('IHDR', head),
      table,
      chunk('tRNS', zeros(transparent)),
      data,
      chunk('IEND'),
    );
  };
  const exact = withPalette(6, 2);
  assert.deepEqual(await stripped(exact), exact);
  for (const [colors, transparent] of [
    [6, 3],
    [5, 1],
    [0, 0],
    [771, 1],
  ] as const)
    assert.equal(await strip(withPalette(colors, transparent)), 'unsupported');
});

test('keeps the first chunk of a type, and palettes only where they are used', async () => {
  const twice = (type: string, first: Bytes, second: Bytes) =>
    insert(plain, chunk(type, first), chunk(type, second));
  const other = (length: number) => zeros(length).fill(48);
  for (const [type, length] of Object.entries(EXACT))
    assert.deepEqual(
      await stripped(twice(type, zeros(length), other(length))),
      insert(plain, chunk(type, zeros(length))),
    );
  const profiles = twice(
    'iCCP',
    join(bytesOf('a\0\0'), deflateSync(profile)),
    join(bytesOf('b\0\0'), deflateSync(profile)),
  );
  const after = Buffer.from(await stripped(profiles)).toString('latin1');
  assert.equal(after.split('iCCP').length, 2);
  assert.deepEqual(await stripped(insert(plain, chunk('PLTE', other(48)), chunk('hIST', other(32)))), plain);
  assert.equal(await strip(twice('PLTE', zeros(3), zeros(3))), 'unsupported');
});

test('refuses very many chunks, but not those with data', async () => {
  const clean = await stripped(png);
  const texts = (count: number) => insert(clean, ...Array(count).fill(chunk('tEXt')));
  assert.deepEqual(await stripped(texts(4900)), clean);
  assert.equal(await strip(texts(5000)), 'unsupported');
  const empty = Array(6000).fill(chunk('IDAT'));
  const at = Buffer.from(clean).indexOf('IDAT') - 4;
  const many = join(clean.subarray(0, at), ...empty, clean.subarray(at));
  assert.deepEqual(pixels(await stripped(many)), pixels(png));
});

test('a photo without location keeps all bytes', async () => {
  const clean = await stripped(png);
  assert.deepEqual(await stripped(clean), clean);
});

test('refuses photos without an end, and with chunks that change the picture', async () => {
  const wrong = [
    png.subarray(0, -12),
    png.subarray(0, -1),
    png.subarray(0, 8),
    insert(png, chunk('CgBI')),
    insert(png, chunk('1abc')),
  ];
  for (const bytes of wrong) assert.equal(await strip(new Uint8Array(bytes)), 'unsupported');
});
