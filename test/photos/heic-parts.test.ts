// What is kept of the pictures and properties of HEIC files, and which pictures are decoded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSize } from '../../src/photos/image-size.ts';
import { boxAt, full, heifOf, type Item, size, tile } from './heic-layout.ts';
import { box } from './parts.ts';
import { type Bytes, bytesOf, has, indexesOf, integer, join, strip, stripped } from './support.ts';

const SECRET = bytesOf('48.8584,2.29');
const picture: Item = { type: 'hvc1', content: tile, properties: [1, 2] };
const heicOf = (items: readonly Item[], properties: readonly Bytes[] = [], primaryId = 1): Bytes =>
  heifOf({ brands: 'mif1heic', items, properties: [boxAt('hvcC'), size(64, 64), ...properties], primaryId });
const isDecoded = (bytes: Bytes): boolean => readSize(bytes, 'image/heif')?.isDecoded ?? false;
const has48 = (bytes: Uint8Array): boolean => has(bytes, SECRET);

/** A unit of a picture, with its length before it. */
const unit = (type: number, content: Uint8Array): Bytes =>
  join(integer(content.length + 2, 4), [type << 1, 1], content);

test('empties units that decoders do not read, in the picture and in the parameters', async () => {
  const hvcC = boxAt('hvcC');
  const list = join([39], integer(1, 2), integer(SECRET.length + 2, 2), [39 << 1, 1], SECRET);
  const lists = hvcC[8 + 22] ?? 0;
  const longer = join(integer(hvcC.length + list.length, 4), hvcC.subarray(4), list);
  longer[8 + 22] = lists + 1;
  for (const type of [38, 39, 40, 41, 48, 63]) {
    const content = join(unit(type, SECRET), tile, unit(type, SECRET));
    const before = heicOf([{ type: 'hvc1', content, properties: [3, 2] }], [longer]);
    const after = await stripped(before);
    assert.ok(has48(before) && !has48(after) && has(after, tile), `${type}`);
    assert.equal(indexesOf(after, [38 << 1, 1]).length, 3);
    assert.deepEqual(await stripped(after), after);
    assert.ok(isDecoded(after));
  }
  const needed = heicOf([{ ...picture, content: join(unit(34, SECRET), tile) }]);
  assert.ok(has48(await stripped(needed)));
});

test('refuses units that are cut', async () => {
  for (const content of [
    tile.subarray(0, -1),
    join(tile, SECRET),
    join(unit(1, new Uint8Array()), [0, 0, 0, 1, 2]),
  ])
    assert.equal(await strip(heicOf([{ ...picture, content }])), 'unsupported');
  const bare = join(tile, [0, 0, 0]);
  assert.deepEqual(
    await stripped(heicOf([{ ...picture, content: bare }])),
    heicOf([{ ...picture, content: bare }]),
  );
});

test('keeps the numbers of pictures that are made of others, and nothing behind them', async () => {
  const grid = [0, 0, 0, 0, ...integer(64, 2), ...integer(64, 2)];
  const overlay = [
    0,
    0,
    ...Array(8).fill(9),
    ...integer(64, 2),
    ...integer(64, 2),
    ...integer(3, 2),
    ...integer(4, 2),
  ];
  const toneMap = (channels: number) => [
    0,
    0,
    0,
    0,
    0,
    channels === 3 ? 0x80 : 0,
    ...Array(16 + 40 * channels).fill(9),
  ];
  const kinds: readonly (readonly [string, readonly number[]])[] = [
    ['grid', grid],
    ['grid', [0, 1, 0, 0, ...integer(64, 4), ...integer(64, 4)]],
    ['iovl', overlay],
    [
      'iovl',
      [0, 1, ...Array(8).fill(9), ...integer(64, 4), ...integer(64, 4), ...integer(3, 4), ...integer(4, 4)],
    ],
    ['tmap', toneMap(1)],
    ['tmap', toneMap(3)],
    ['iden', []],
  ];
  for (const [type, numbers] of kinds) {
    const made = (content: Uint8Array): Item => ({
      type,
      content,
      properties: [2],
      isInMeta: true,
      references: { dimg: [1] },
    });
    const before = heicOf([picture, made(join(numbers, SECRET))], [], 2);
    const after = await stripped(before);
    assert.deepEqual(
      after,
      heicOf([picture, made(join(numbers, new Uint8Array(SECRET.length)))], [], 2),
      type,
    );
  }
});

test('keeps pictures that belong to another one, with an empty kind if it is not known', async () => {
  const kindOf = (kind: string) => full('auxC', 0, bytesOf(`${kind}\0`), SECRET);
  const other: Item = { ...picture, properties: [1, 2, 3], references: { auxl: [1] } };
  const known = [
    'urn:mpeg:hevc:2015:auxid:1',
    'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha',
    'urn:iso:std:iso:ts:21496:-1',
    'urn:com:apple:photo:2020:aux:hdrgainmap',
    'urn:com:huawei:photo:5:0:0:aux:unrefocusmap',
  ];
  for (const kind of [...known, 'urn:com:example:48.8584,2.29', '']) {
    const after = await stripped(heicOf([picture, other], [kindOf(kind)]));
    assert.ok(!has48(after) && indexesOf(after, [...bytesOf('auxC')]).length === 1, kind);
    assert.equal(has(after, bytesOf(`${kind}\0`)), known.includes(kind) || kind === '');
    assert.equal(indexesOf(after, [...tile.subarray(0, 40)]).length, 2, kind);
    if (!known.includes(kind)) assert.ok(!has(after, bytesOf('example')));
  }
});

test('drops thumbnails with their parts and their transparency, and keeps references that readers accept', async () => {
  const kind = full('auxC', 0, bytesOf('urn:mpeg:hevc:2015:auxid:1\0'));
  const items: readonly Item[] = [
    picture,
    { ...picture, references: { thmb: [1] } },
    { ...picture, properties: [1, 2, 3], references: { auxl: [2] } },
    { ...picture, properties: [1, 2, 3], references: { auxl: [1] } },
  ];
  const after = await stripped(heicOf(items, [kind]));
  assert.equal(indexesOf(after, [...tile.subarray(0, 40)]).length, 2);
  const references = (type: string, from: number, to: number) =>
    indexesOf(after, [...bytesOf(type), ...integer(from, 2), ...integer(1, 2), ...integer(to, 2)]).length;
  assert.deepEqual([references('free', 2, 1), references('free', 3, 2), references('auxl', 4, 1)], [1, 1, 1]);
  // A picture that is a thumbnail of another one is the picture.
  const reversed = heicOf([{ ...picture, references: { thmb: [2] } }, picture]);
  assert.ok(has(await stripped(reversed), tile));
});

test('refuses numbers of nothing, and keeps groups of items only', async () => {
  const made = (ids: readonly number[]): Item => ({ ...picture, references: { dimg: ids } });
  assert.equal(await strip(heicOf([made([2, 0x3438])]), 'a.heic'), 'unsupported');
  const group = (...ids: number[]) =>
    box('grpl', full('altr', 0, integer(7, 4), integer(ids.length, 4), ...ids.map((id) => integer(id, 4))));
  const withGroup = (given: Bytes) => {
    const meta = heicOf([picture, picture]);
    const at = Buffer.from(meta).indexOf('iloc') - 4;
    const start = Buffer.from(meta).indexOf('meta') - 4;
    const bytes = join(meta.subarray(0, at), given, meta.subarray(at));
    bytes.set(integer(Buffer.from(meta).readUInt32BE(start) + given.length, 4), start);
    const places = Buffer.from(bytes).indexOf('iloc') + 4 + 8;
    for (const item of [0, 1]) {
      const place = places + 16 * item + 8;
      bytes.set(integer(Buffer.from(bytes).readUInt32BE(place) + given.length, 4), place);
    }
    return bytes;
  };
  assert.ok(has(await stripped(withGroup(group(1, 2))), group(1, 2)));
  const foreign = await stripped(withGroup(group(1, 0x34382e38)));
  assert.ok(!has(foreign, bytesOf('altr')) && !has(foreign, bytesOf('48.8')));
});

test('decodes pictures whose data has their size only', () => {
  assert.ok(isDecoded(heicOf([picture])));
  const sized: Item = { ...picture, properties: [1, 3] };
  const wrong = {
    'wider than the data': heicOf([sized], [size(65, 64)]),
    'higher than the data': heicOf([sized], [size(64, 65)]),
    'of no columns': heicOf(
      [sized],
      [size(64, 1)].map(() => size(0, 64)),
    ),
    'without parameters': heicOf([{ ...picture, properties: [2] }]),
    'with a sequence in the data': heicOf([{ ...picture, content: join(unit(33, SECRET), tile) }]),
    'of tiles of another kind': heicOf([
      {
        type: 'grid',
        content: Uint8Array.from([0, 0, 0, 0, 0, 64, 0, 64]),
        properties: [2],
        references: { dimg: [2] },
      },
      { ...picture, type: 'jpeg' },
    ]),
    'of tiles with another sum': heicOf([
      {
        type: 'grid',
        content: Uint8Array.from([0, 0, 0, 1, 0, 64, 0, 64]),
        properties: [2],
        references: { dimg: [2] },
      },
      picture,
    ]),
    'of a grid of another size': heicOf([
      {
        type: 'grid',
        content: Uint8Array.from([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
        properties: [2],
        references: { dimg: [2] },
      },
      picture,
    ]),
    'of pictures above others with another size': heicOf([
      {
        ...{
          type: 'iovl',
          content: Uint8Array.from([0, 0, ...Array(8).fill(0), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
        },
        ...{ properties: [2], references: { dimg: [2] } },
      },
      picture,
    ]),
  };
  for (const [what, bytes] of Object.entries(wrong)) assert.equal(isDecoded(bytes), false, what);
  const grid = Uint8Array.from([0, 0, 0, 1, 0, 100, 0, 64]);
  const tiles: readonly Item[] = [
    { type: 'grid', content: grid, properties: [3], references: { dimg: [2, 3] } },
    picture,
    picture,
  ];
  assert.ok(isDecoded(heicOf(tiles, [size(100, 64)])));
});

test('reads the bytes of a file twice at most', async () => {
  const shared = (count: number): Bytes => {
    const file = heicOf(Array(count).fill(picture));
    const places = Buffer.from(file).indexOf('iloc') + 4 + 8;
    const first = Buffer.from(file).readUInt32BE(places + 8);
    // All items have the bytes of the first one, and all that follow.
    for (let item = 0; item < count; item++) {
      file.set(integer(first, 4), places + 16 * item + 8);
      file.set(integer(file.length - first, 4), places + 16 * item + 12);
    }
    return file;
  };
  assert.equal(await strip(shared(40)), 'unsupported');
  assert.equal(isDecoded(shared(40)), false);
});
