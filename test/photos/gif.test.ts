// GIF files without texts and other programs' data.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bytes, bytesOf, fixture, integer, join, strip, stripped } from './support.ts';

/** Three pictures of ImageMagick and gifsicle, with a loop. What ImageMagick adds has been removed. */
const film = fixture('film.gif');

const HEAD = join(
  bytesOf('GIF89a'),
  integer(3, 2, true),
  integer(2, 2, true),
  [0x80, 0, 0],
  [0, 0, 0, 255, 255, 255],
);
const LOOP = join([0x21, 0xff, 11], bytesOf('NETSCAPE2.0'), [3, 1, 5, 0, 0]);
const CONTROL = Uint8Array.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0]);
const END = [0x3b];
/** Returns a picture: its place, size and sub-blocks. */
const picture = (place: readonly number[], data: readonly number[], codeBits = 2): Bytes =>
  join([0x2c], ...place.map((value) => integer(value, 2, true)), [0, codeBits], data);

/** Packs codes of these bits, the lowest first. */
function packed(...codes: readonly (readonly [code: number, bits: number])[]): number[] {
  const bits = codes.flatMap(([code, count]) => Array.from({ length: count }, (_, at) => (code >> at) & 1));
  return Array.from({ length: Math.ceil(bits.length / 8) }, (_, byte) =>
    bits.slice(8 * byte, 8 * byte + 8).reduce((value, bit, at) => value | (bit << at), 0),
  );
}
/** Clear, 0, 1, 0 and 1 (the first new code), 0, 1, end: six pixels. */
const codes = packed([4, 3], [0, 3], [1, 3], [6, 3], [0, 4], [1, 4], [5, 4]);
const block = (bytes: readonly number[]): number[] => [bytes.length, ...bytes];
const whole = picture([0, 0, 3, 2], [...block(codes), 0]);
const gif = (...parts: (Uint8Array | readonly number[])[]): Bytes => join(HEAD, ...parts, END);
const extension = (label: number, ...blocks: readonly number[][]): Bytes =>
  join([0x21, label], ...blocks.map(block), [0]);

test('keeps pictures, times and repetitions', async () => {
  assert.deepEqual(await stripped(film, 'a.gif', 'image/gif'), film);
  assert.deepEqual(
    await stripped(gif(LOOP, CONTROL, whole, CONTROL, whole)),
    gif(LOOP, CONTROL, whole, CONTROL, whole),
  );
  const split = picture([0, 0, 3, 2], [...block(codes.slice(0, 1)), ...block(codes.slice(1)), 0]);
  assert.deepEqual(await stripped(gif(split)), gif(split));
});

test('drops comments, texts, data of programs, and what follows the end', async () => {
  const secret = bytesOf('48.8584');
  const dropped = [
    extension(0xfe, [...secret]),
    extension(0x01, Array(12).fill(0), [...secret]),
    extension(0xff, [...bytesOf('XMP DataXMP')], [...secret]),
    extension(0xff, [...bytesOf('ICCRGBG1012')], [...secret]),
    extension(0xff, [...bytesOf('NETSCAPE2.0')], [2, ...secret]),
    extension(0xf9, [0, 10, 0, 0, ...secret]),
    extension(0x77, [...secret]),
  ];
  assert.deepEqual(await stripped(join(gif(...dropped, whole, ...dropped), secret)), gif(whole));
  const loops = extension(0xff, [...bytesOf('NETSCAPE2.0')], [1, 5, 0], [...secret]);
  assert.deepEqual(await stripped(gif(loops, whole)), gif(LOOP, whole));
  const comments = (count: number) => gif(whole, ...Array(count).fill(dropped[0]));
  assert.deepEqual(await stripped(comments(19_000)), gif(whole));
  assert.equal(await strip(comments(20_000)), 'unsupported');
});

test('keeps nothing behind the codes of a picture', async () => {
  const secret = bytesOf('48.8584');
  const place = [0, 0, 3, 2];
  const unended = codes.slice(0, 3);
  const kept = { 'with an end': codes, 'with the last pixel': unended };
  for (const [what, data] of Object.entries(kept)) {
    const after = await stripped(
      gif(picture(place, [...block([...data, ...secret]), ...block([...secret]), 0])),
    );
    assert.ok(!Buffer.from(after).includes('8.8584'), what);
    assert.deepEqual(after.subarray(0, HEAD.length + 11), gif(whole).subarray(0, HEAD.length + 11));
  }
  const behind = gif(picture(place, [...block([...codes, ...secret]), 0]));
  assert.deepEqual(await stripped(behind), gif(whole));
  assert.deepEqual(
    await stripped(gif(picture(place, [...block(codes), ...block([...secret]), 0]))),
    gif(whole),
  );
});

test('ends where browsers do, and keeps pictures beyond the screen', async () => {
  const beyond = gif(picture([2, 1, 3, 2], [...block(codes), 0]));
  for (const before of [join(HEAD, whole), gif(whole, [0], whole), gif(whole, [0x2d, 48, 46])])
    assert.deepEqual(await stripped(before), gif(whole));
  assert.deepEqual(await stripped(beyond), beyond);
});

test('refuses files that are cut or malformed', async () => {
  const wrong = {
    'no picture': gif(),
    'cut in a picture': gif(whole).subarray(0, -3),
    'too few pixels': gif(picture([0, 0, 3, 2], [...block(packed([4, 3], [0, 3], [5, 3])), 0])),
    'a code that is not there': gif(picture([0, 0, 3, 2], [...block(packed([4, 3], [7, 3])), 0])),
    'an unknown block before a picture': gif([0x2d], whole),
    'a picture without a size': gif(whole, picture([0, 0, 0, 2], [...block(codes), 0])),
    'a picture without lines': gif(picture([0, 0, 3, 0], [0])),
    'codes of no bits': gif(picture([0, 0, 3, 2], [...block(codes), 0], 0)),
  };
  for (const [what, bytes] of Object.entries(wrong))
    assert.equal(await strip(new Uint8Array(bytes)), 'unsupported', what);
});
