// PNG photos without location, with the same picture.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
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

test('keeps chunks for colors, size, time and animation, and drops all others and what follows the image', async () => {
  const clean = await stripped(png);
  const types = 'tRNS gAMA cHRM sRGB iCCP sBIT bKGD hIST pHYs sPLT tIME cICP mDCV cLLI acTL fcTL fdAT';
  const kept = types.split(' ').map((type) => chunk(type, bytesOf('kept')));
  const dropped = ['tEXt', 'zTXt', 'iTXt', 'caBX', 'mkBF', 'meTa', 'eXIf', 'iDOT', 'dSIG'].map((type) =>
    chunk(type, deflateSync('dropped')),
  );
  const after = await stripped(join(insert(clean, ...kept, ...dropped), bytesOf('video')));
  assert.deepEqual(after, insert(clean, ...kept));
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
