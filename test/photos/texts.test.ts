// A text with the location, in each place of a photo where a text fits: it is not in the photo that is sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { jpegOfSize, pngOfSize, webpOfSize } from './bombs.ts';
import { heicOf } from './heic-layout.ts';
import { chunksOf, exifOf, place, placeBytes, placesIn, xmpOf } from './layouts.ts';
import { box, bytesOf, chunk, gifBlock, integer, join, profile, riff, segment } from './parts.ts';
import { type Bytes, fixture, strip } from './support.ts';

type Fate = 'cleaned' | 'refused';

/** Asserts that photos are refused, or lose the text. The expected fates are those of the picture without the text, too. */
async function assertFates(fate: Fate, photos: Readonly<Record<string, Bytes>>): Promise<void> {
  const wrong: string[] = [];
  for (const [where, bytes] of Object.entries(photos)) {
    assert.ok(placesIn(bytes).length > 0, where);
    const result = await strip(bytes);
    const seen = result === 'unsupported' ? 'refused' : 'cleaned';
    if (seen !== fate) wrong.push(`${where} is ${seen}`);
    else if (result !== 'unsupported' && placesIn(new Uint8Array(await result.arrayBuffer())).length)
      wrong.push(`${where} has the text`);
  }
  assert.deepEqual(wrong, []);
}

const insert = (bytes: Bytes, at: number, ...parts: Uint8Array[]): Bytes =>
  join(bytes.subarray(0, at), ...parts, bytes.subarray(at));
const indexOf = (bytes: Bytes, ...part: number[]): number => Buffer.from(bytes).indexOf(Buffer.from(part));

test('JPEG photos lose it, wherever decoders skip it', async () => {
  const jpeg = fixture('firefox.jpg');
  const words = placeBytes('text');
  const first = indexOf(jpeg, 0xff, 0xdb);
  await assertFates('cleaned', {
    'between segments': insert(jpeg, first, words),
    'before the frame': insert(jpeg, indexOf(jpeg, 0xff, 0xc0), words),
    'between fill bytes': insert(jpeg, first, Uint8Array.of(0xff, 0xff, 0), words, Uint8Array.of(0xff, 0xff)),
    'behind an empty marker': insert(jpeg, first, Uint8Array.of(0xff, 1), words),
    'behind a restart marker': insert(jpeg, first, Uint8Array.of(0xff, 0xd5), words),
    'behind a segment that is too short': insert(jpeg, first, Uint8Array.of(0xff, 0xec, 0, 4, 1, 2), words),
    'behind a segment without content': insert(jpeg, first, Uint8Array.of(0xff, 0xec, 0, 0), words),
    'behind the start': insert(jpeg, indexOf(jpeg, 0xff, 0xdb), words),
    'behind Adobe': insert(jpeg, first, segment(0xee, bytesOf('Adobe'), [0, 100, 0, 0, 0, 0, 1], words)),
    'in JFIF': insert(jpeg, 2, segment(0xe0, bytesOf('JFIF\0\x01\x01\0'), [0, 1, 0, 1, 0, 0], words)),
    'behind the data of the scan': insert(jpeg, jpeg.length - 2, words),
    'behind the end': join(jpeg, words),
    'behind the data of a restart': (() => {
      const restarts = fixture('cjpeg-restart.jpg');
      return insert(restarts, indexOf(restarts, 0xff, 0xd2), words);
    })(),
    'behind the data of the first scan': (() => {
      const scans = fixture('cjpeg-scans.jpg');
      const second = Buffer.from(scans).indexOf(Buffer.of(0xff, 0xda), indexOf(scans, 0xff, 0xda) + 2);
      const tables = Buffer.from(scans).lastIndexOf(Buffer.of(0xff, 0xc4), second);
      return insert(scans, tables > indexOf(scans, 0xff, 0xda) ? tables : second, words);
    })(),
    'behind the data of a progressive scan': (() => {
      const scans = fixture('magick-progressive.jpg');
      return insert(scans, scans.length - 2, words);
    })(),
    'in a color profile': insert(
      jpeg,
      first,
      segment(0xe2, bytesOf('ICC_PROFILE\0\x01\x01'), profile(place('profile'))),
    ),
    'behind a color profile': insert(
      jpeg,
      first,
      segment(0xe2, bytesOf('ICC_PROFILE\0\x01\x01'), profile(''), words),
    ),
    'in a malformed color profile': insert(
      jpeg,
      first,
      segment(0xe2, bytesOf('ICC_PROFILE\0\x01\x01'), profile('').subarray(0, 200), words),
    ),
    'in a color profile without its second part': insert(
      jpeg,
      first,
      segment(0xe2, bytesOf('ICC_PROFILE\0\x01\x02'), profile(place('profile'))),
    ),
  });
  await assertFates('refused', {
    'in a table': insert(jpeg, first, segment(0xdb, [0], new Uint8Array(64), words)),
    'in the frame': (() => {
      const at = indexOf(jpeg, 0xff, 0xc0);
      const frame = segment(0xc0, jpeg.subarray(at + 4, at + 19), words);
      return join(jpeg.subarray(0, at), frame, jpeg.subarray(at + 19));
    })(),
    'in a restart interval': insert(jpeg, first, segment(0xdd, [0, 0], words)),
  });
});

test('PNG photos lose it, and are refused if it is in the data of the picture', async () => {
  const words = placeBytes('text');
  const chunks = chunksOf(fixture('chromium.png'));
  const build = (change: (type: string, content: Bytes) => Bytes): Bytes =>
    join(fixture('chromium.png').subarray(0, 8), ...chunks.map(({ type, content }) => change(type, content)));
  const behindHead = (...more: Bytes[]) =>
    build((type, content) => join(chunk(type, content), ...(type === 'IHDR' ? more : [])));
  const icc = deflateSync(profile(''));
  const named = (name: string, type: string, ...content: (Uint8Array | number[])[]) =>
    behindHead(chunk(type, bytesOf(`${name}\0`), ...content));
  await assertFates('cleaned', {
    ...Object.fromEntries(
      Object.entries({
        gAMA: 4,
        cHRM: 32,
        sRGB: 1,
        pHYs: 9,
        tIME: 7,
        sBIT: 4,
        bKGD: 6,
        cICP: 4,
        mDCV: 24,
        cLLI: 8,
      }).map(([type, length]) => [`behind ${type}`, behindHead(chunk(type, new Uint8Array(length), words))]),
    ),
    'in the name of a profile': named(place('name'), 'iCCP', [0], icc),
    'behind a profile': named('ICC', 'iCCP', [0], icc, words),
    'in the name of a palette': named(place('name'), 'sPLT', [8]),
    'in a palette': named('name', 'sPLT', [8], words),
    'in Exif data': behindHead(chunk('eXIf', exifOf({ make: 'Acme', model: 'One' }))),
    'in a chunk of other software': behindHead(chunk('prVt', words)),
    'in a chunk that is safe to copy': behindHead(chunk('prVT', words), chunk('teXt', words)),
    'in the end': build((type, content) => chunk(type, content, ...(type === 'IEND' ? [words] : []))),
    'behind the end': join(fixture('chromium.png'), words),
    'in transparency beside that of each pixel': behindHead(chunk('tRNS', words)),
    'in a palette without use': behindHead(chunk('PLTE', words)),
  });
  const last = chunks.filter(({ type }) => type === 'IDAT').length;
  let nth = 0;
  await assertFates('refused', {
    'behind the data': build((type, content) => {
      if (type === 'IDAT') nth += 1;
      return chunk(type, content, ...(type === 'IDAT' && nth === last ? [words] : []));
    }),
    'in data of its own': build((type, content) =>
      join(...(type === 'IEND' ? [chunk('IDAT', words)] : []), chunk(type, content)),
    ),
    'in the data of a second stream': build((type, content) =>
      join(
        ...(type === 'IEND' ? [chunk('IDAT', deflateSync(words, { level: 0 }))] : []),
        chunk(type, content),
      ),
    ),
    'in more rows than the picture has': pngOfSize(
      4,
      4,
      false,
      deflateSync(join(new Uint8Array(17 * 4), words), { level: 0 }),
    ),
    'in a critical chunk': behindHead(chunk('ABCD', words)),
  });
});

test('WebP photos lose it', async () => {
  const words = placeBytes('text');
  const webp = (first: Bytes[], flags: number, ...last: Bytes[]): Bytes => {
    const [head, ...picture] = chunksOf(fixture('cwebp-alpha.webp'));
    const canvas = head?.content.slice() ?? new Uint8Array(10);
    canvas[0] = (canvas[0] ?? 0) | flags;
    const body = join(
      ...[bytesOf('WEBP'), riff('VP8X', canvas), ...first],
      ...picture.map(({ type, content }) => riff(type, content)),
      ...last,
    );
    return join(bytesOf('RIFF'), integer(body.length, 4, true), body);
  };
  const simple = webpOfSize(4, 4);
  const moving = fixture('gif2webp.webp');
  const frame = Buffer.from(moving).indexOf('ANMF');
  const length = Buffer.from(moving).readUInt32LE(frame + 4);
  const grown = insert(moving, frame + 8 + length, riff('XMP ', words));
  grown.set(integer(length + riff('XMP ', words).length, 4, true), frame + 4);
  grown.set(integer(grown.length - 8, 4, true), 4);
  await assertFates('cleaned', {
    'in XMP': webp([], 4, riff('XMP ', xmpOf())),
    'in XMP without a flag': webp([], 0, riff('XMP ', xmpOf())),
    'in Exif data': webp([], 8, riff('EXIF', exifOf({ make: 'Acme', model: 'One' }))),
    'in Exif data with a head': webp(
      [],
      8,
      riff('EXIF', bytesOf('Exif\0\0'), exifOf({ make: 'Acme', model: 'One', isLittle: true })),
    ),
    'in malformed Exif data': webp([], 8, riff('EXIF', words)),
    'in a profile': webp([riff('ICCP', profile(place('profile')))], 0x20),
    'in a malformed profile': webp([riff('ICCP', words)], 0x20),
    'in an unknown chunk': webp([riff('UNKN', words)], 0, riff('UNKN', words)),
    'behind the picture': join(simple, words),
    'in a chunk behind a simple picture': (() => {
      const bytes = join(simple, riff('XMP ', words));
      bytes.set(integer(bytes.length - 8, 4, true), 4);
      return bytes;
    })(),
    'in a frame': grown,
  });
});

test('GIF pictures lose it', async () => {
  const words = placeBytes('text');
  const gif = fixture('magick.gif');
  const end = 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1);
  const behindHead = (...more: Uint8Array[]) => insert(gif, end, ...more);
  await assertFates('cleaned', {
    'in a comment': behindHead(gifBlock(0xfe, words)),
    'in plain text': behindHead(gifBlock(0x01, new Uint8Array(12), words)),
    'in an application': behindHead(gifBlock(0xff, bytesOf('XMP DataXMP'), words)),
    'in an unknown block': behindHead(gifBlock(0x42, words)),
    'behind the number of repetitions': behindHead(
      gifBlock(0xff, bytesOf('NETSCAPE2.0'), join([1, 0, 0], words)),
    ),
    'in a second block of repetitions': behindHead(
      join([0x21, 0xff, 11], bytesOf('NETSCAPE2.0'), [3, 1, 0, 0, words.length], words, [0]),
    ),
    'behind the control of a frame': behindHead(join([0x21, 0xf9, 4, 0, 0, 0, 0, words.length], words, [0])),
    'behind the data of a frame': insert(gif, gif.length - 2, Uint8Array.of(words.length), words),
    'behind the end': join(gif, words),
  });
});

test('HEIC photos lose it, with the same length', async () => {
  const words = placeBytes('text');
  const exif = exifOf({ make: 'Apple', model: 'iPhone' });
  const given = { brands: 'mif1heic', exif, xmp: xmpOf(), mark: '' };
  const brands = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4);
  const photos = {
    'in Exif data and XMP': heicOf(given),
    'in a profile': heicOf({ ...given, mark: place('profile') }),
    'in names of items': heicOf({ ...given, names: place('name') }),
    'in the name of the handler': heicOf({ ...given, handler: place('handler') }),
    'in brands': heicOf({ ...given, brands: `mif1heic${brands(place('brand'))}` }),
    'in other boxes': heicOf({
      ...given,
      after: ['free', 'skip', 'uuid', 'mdat', 'udta', 'sefd'].map((type) => box(type, words)),
    }),
  };
  await assertFates('cleaned', photos);
  for (const bytes of Object.values(photos)) {
    const result = await strip(bytes);
    assert.ok(result !== 'unsupported' && result.size === bytes.length);
  }
});

test('other images with it are refused', async () => {
  const words = placeBytes('text');
  const icon = (picture: Bytes) =>
    join(
      [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0],
      integer(picture.length, 4, true),
      [22, 0, 0, 0],
      picture,
    );
  const png = pngOfSize(
    16,
    16,
    false,
    deflateSync(new Uint8Array(65 * 16)),
    chunk('tEXt', bytesOf('a\0'), words),
  );
  await assertFates('refused', {
    XCF: join(bytesOf('gimp xcf v011\0'), words),
    EPS: join(bytesOf('%!PS-Adobe-3.0 EPSF-3.0\n'), words),
    'EPS with a preview': join([0xc5, 0xd0, 0xd3, 0xc6], words),
    'TGA by its end': join(
      [0, 0, 2, 0],
      new Uint8Array(14),
      words,
      new Uint8Array(8),
      bytesOf('TRUEVISION-XFILE.\0'),
    ),
    'ICO with PNG': icon(png),
    'CUR with PNG': (() => {
      const cursor = icon(png);
      cursor[2] = 2;
      return cursor;
    })(),
    'ICO with JPEG': icon(join(jpegOfSize(8, 8), words)),
    AVIF: join(fixture('photo.avif'), box('free', words)),
    TIFF: join(bytesOf('II*\0\x08\0\0\0'), words),
    MNG: join([0x8a], bytesOf('MNG\r\n\x1a\n'), words),
  });
  for (const name of ['a.tga', 'a.xcf', 'a.eps'])
    assert.equal(await strip(join(new Uint8Array(18), words), name), 'unsupported', name);
});
