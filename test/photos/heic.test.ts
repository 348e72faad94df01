// HEIC photos without location. The length of the file does not change, so the picture stays at its place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as given from './support.ts';
import { type Bytes, bytesOf, heic, integer, join, strip, stripped } from './support.ts';

const find = (bytes: Uint8Array, text: string, from = 0): number => Buffer.from(bytes).indexOf(text, from);
const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
const box = (type: string, ...content: Uint8Array[]): Bytes => {
  const body = join(...content);
  return join(integer(body.length + 8, 4), bytesOf(type), body);
};

/** Returns a copy of the fixture with bytes changed. */
function changed(
  ...changes: readonly (readonly [at: number, bytes: Uint8Array | readonly number[]])[]
): Bytes {
  const copy = heic.slice();
  for (const [at, bytes] of changes) copy.set(bytes, at);
  return copy;
}

test('loses location, XMP and thumbnails, but not the picture, date or orientation', async () => {
  const after = await stripped(heic, 'IMG_0001.HEIC', 'image/heic');
  await given.assertClean(heic, after);
  assert.equal(after.length, heic.length);
  assert.deepEqual(after.subarray(...given.HEIC_PICTURE), heic.subarray(...given.HEIC_PICTURE));
  assert.ok(!isZero(heic.subarray(...given.HEIC_TILE)) && isZero(after.subarray(...given.HEIC_TILE)));
  const types = ['thmb', 'mime', 'grid'].map((type) => find(after, type));
  assert.deepEqual(types, [-1, -1, -1]);
  assert.deepEqual([find(after, 'hvc1') > 0, find(after, 'hvc1', find(after, 'hvc1') + 4)], [true, -1]);
});

test('a photo without location keeps all bytes', async () => {
  const clean = await stripped(heic);
  assert.deepEqual(await stripped(clean), clean);
});

test('zeros videos and other boxes after the picture, and bytes that belong to no item', async () => {
  const clean = await stripped(heic);
  const extra = ['mpvd', 'uuid', 'sefd', 'free'].map((type) => box(type, bytesOf('+48.8584+002.2945/')));
  const media = box('mdat', bytesOf('+48.8584'));
  const long = join(integer(1, 4), bytesOf('mpvd'), integer(24, 8), bytesOf('48,51.50'));
  const open = join(integer(0, 4), bytesOf('mpvd'), bytesOf('48,51.50'));
  const after = await stripped(join(heic, ...extra, media, long, open));
  const emptied = [...extra, media].map((each) => box('free', new Uint8Array(each.length - 8)));
  emptied[4]?.set(bytesOf('mdat'), 4);
  const ends = [
    join(integer(1, 4), bytesOf('free'), integer(24, 8), new Uint8Array(8)),
    join(integer(0, 4), bytesOf('free'), new Uint8Array(8)),
  ];
  assert.deepEqual(after, join(clean, ...emptied, ...ends));
});

test('empties other metadata boxes and descriptions of pictures', async () => {
  const pixi = find(heic, 'pixi');
  const after = await stripped(changed([pixi, bytesOf('udes')]));
  assert.equal(find(after, 'udes'), -1);
  assert.ok(isZero(after.subarray(pixi + 4, pixi - 4 + 16)));
  assert.equal(Buffer.from(after.subarray(pixi, pixi + 4)).toString(), 'free');
});

test('zeros names, brands that are not known, and what is behind the numbers of a box', async () => {
  const clean = await stripped(heic);
  const secret = bytesOf('48.8584,2.29');
  /** Makes a box longer by some bytes at its end, and all boxes around it. */
  const longer = (before: Bytes, type: string, bytes: Uint8Array): Bytes => {
    const view = Buffer.from(before);
    const start = view.indexOf(type) - 4;
    const end = start + view.readUInt32BE(start);
    const parents = ['meta', 'iprp', 'ipco', 'iinf', 'iref'].map((parent) => view.indexOf(parent) - 4);
    const around = [...parents.filter((at) => at < start && at + view.readUInt32BE(at) >= end), start];
    const copy = before.slice();
    for (const at of around) copy.set(integer(view.readUInt32BE(at) + bytes.length, 4), at);
    const moved = join(copy.subarray(0, end), bytes, copy.subarray(end));
    if (start > view.indexOf('mdat')) return moved;
    // Everything behind the box moves.
    const items = Buffer.from(moved).indexOf('iloc') + 4 + 8;
    for (const item of [0, 1, 2, 3]) {
      const at = items + 20 * item + 6;
      const offset = Buffer.from(moved).readUInt32BE(at);
      moved.set(integer(offset + bytes.length, 4), at);
    }
    return moved;
  };
  assert.equal(Buffer.from(heic).readUInt16BE(find(heic, 'iloc') + 10), 5);
  for (const type of ['ispe', 'hvcC', 'pixi', 'ipma', 'iloc', 'pitm', 'hdlr', 'infe', 'irot']) {
    if (find(heic, type) < 0) continue;
    const after = await stripped(longer(heic, type, secret));
    assert.equal(find(after, '48.8584'), -1, type);
    assert.deepEqual(after, longer(clean, type, new Uint8Array(secret.length)), type);
  }
  const branded = longer(heic, 'ftyp', bytesOf('48.8'));
  assert.deepEqual(await stripped(branded), longer(clean, 'ftyp', heic.subarray(8, 12)));
  const version = changed([12, bytesOf('48.8')]);
  assert.equal(find(await stripped(version), '48.8'), -1);
});

test('keeps the tile of a thumbnail that is also part of a picture', async () => {
  const description = find(heic, 'cdsc', find(heic, 'cdsc') + 4);
  const after = await stripped(
    changed([description, bytesOf('dimg')], [description + 4, [0, 1, 0, 1, 0, 4]]),
  );
  assert.deepEqual(after.subarray(...given.HEIC_TILE), heic.subarray(...given.HEIC_TILE));
});

test('removes Exif data that is malformed or starts somewhere else', async () => {
  const [start, end] = given.HEIC_EXIF;
  for (const bytes of [integer(7, 4), integer(0xffffffff, 4), [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]]) {
    const after = await stripped(changed([start, bytes]));
    assert.ok(isZero(after.subarray(start, end)));
    assert.equal(find(after, 'Exif'), -1);
  }
});

test('cleans Exif data in several parts', async () => {
  const iloc = find(heic, 'iloc') + 4;
  const second = iloc + 8 + 20;
  const [start, end] = given.HEIC_EXIF;
  // The second part needs eight bytes, so everything after them moves.
  const sizes = [iloc - 8, find(heic, 'meta') - 4, ...[0, 1, 2, 3].map((item) => iloc + 14 + 20 * item)];
  const moved = changed(
    ...sizes.map((at) => [at, integer(Buffer.from(heic).readUInt32BE(at) + 8, 4)] as const),
  );
  moved.set([...integer(2, 2), ...integer(0, 4), ...integer(300, 4)], second + 10);
  const part = [...integer(300, 4), ...integer(end - start - 300, 4)];
  const before = join(moved.subarray(0, second + 20), part, moved.subarray(second + 20));
  await given.assertClean(before, await stripped(before));
});

test('refuses films, other pictures, and items in other files or items', async () => {
  const iloc = find(heic, 'iloc') + 4;
  const wrong = [
    join(heic, box('moov')),
    join(heic, box('moof')),
    join(heic, ...Array.from({ length: 100 }, () => box('mdat'))),
    join(heic, heic.subarray(find(heic, 'meta') - 4, find(heic, 'mdat') - 4)),
    changed([find(heic, 'hvc1'), bytesOf('av01')]),
    changed([find(heic, 'hvc1'), bytesOf('jpeg')]),
    changed([iloc + 8 + 40, [0, 1]]),
    changed([find(heic, 'hvc1', find(heic, 'hvc1') + 4) - 4, [0, 2]]),
    changed([iloc + 8 + 2, [0, 2]]),
    changed([iloc + 8 + 4, [0, 1]]),
    changed([find(heic, 'pitm') + 8, [0, 9]]),
    changed([find(heic, 'infe') + 4, [1]]),
    join(heic, bytesOf('trailers')),
    join(heic, integer(7, 4), bytesOf('free')),
    heic.subarray(0, -1),
  ];
  for (const bytes of wrong) assert.equal(await strip(new Uint8Array(bytes)), 'unsupported');
});

test('refuses a picture that overlaps Exif data, or lies outside the media data', async () => {
  const location = find(heic, 'iloc') + 4 + 8 + 6;
  for (const [start, length] of [
    [given.HEIC_PICTURE[0], given.HEIC_EXIF[0] - given.HEIC_PICTURE[0] + 1],
    [given.HEIC_EXIF[0], 100],
    [40, 100],
    [heic.length - 10, 11],
    [given.HEIC_PICTURE[0], 0],
  ] as const)
    assert.equal(
      await strip(changed([location, integer(start, 4)], [location + 10, integer(length, 4)])),
      'unsupported',
    );
});
