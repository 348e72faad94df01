// Formats and sizes that are read before an image is decoded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFilmType } from '../../src/photos/films.ts';
import { readSize, typeOf } from '../../src/photos/image-size.ts';
import { bytesOf, fixture, integer, join } from './support.ts';

const read = (bytes: Uint8Array) => {
  const type = typeOf(bytes);
  return type && readSize(new Uint8Array(bytes), type);
};
const sizeOf = (bytes: Uint8Array) => {
  const size = read(bytes);
  return size ? [typeOf(bytes), size.width, size.height, size.isAnimated] : undefined;
};
const isDecoded = (bytes: Uint8Array): boolean => read(bytes)?.isDecoded ?? false;

const chunk = (type: string, ...content: (Uint8Array | readonly number[])[]) => {
  const body = join(...content);
  return join(bytesOf(type), integer(body.length, 4, true), body, new Uint8Array(body.length & 1));
};
const webp = (...chunks: Uint8Array[]) => {
  const body = join(bytesOf('WEBP'), ...chunks);
  return join(bytesOf('RIFF'), integer(body.length, 4, true), body);
};
const lossy = (width: number, height: number) =>
  chunk('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a], integer(width, 2, true), integer(height, 2, true));
const lossless = (width: number, height: number) =>
  chunk('VP8L', [0x2f], integer(width - 1 + (height - 1) * 2 ** 14, 4, true));
const features = (flags: number, width: number, height: number) =>
  chunk('VP8X', [flags, 0, 0, 0], integer(width - 1, 3, true), integer(height - 1, 3, true));
const frame = (width: number, height: number, part: Uint8Array) =>
  chunk(
    'ANMF',
    new Uint8Array(6),
    integer(width - 1, 3, true),
    integer(height - 1, 3, true),
    [0, 0, 0, 0],
    part,
  );

const segment = (marker: number, ...content: (Uint8Array | readonly number[])[]) => {
  const body = join(...content);
  return join([0xff, marker], integer(body.length + 2, 2), body);
};
const sof = (marker: number, width: number, height: number, components = 3) =>
  segment(marker, [8], integer(height, 2), integer(width, 2), [components], Array(3 * components).fill(0x11));
const sos = (components = 3) => segment(0xda, [components], Array(2 * components + 3).fill(0));
const jpeg = (...parts: Uint8Array[]) => join([0xff, 0xd8], ...parts, [1, 2, 3, 0xff, 0xd9]);

const png = (width: number, height: number, interlace = 0, depth = 8, ...others: Uint8Array[]) => {
  const head = join(integer(13, 4), bytesOf('IHDR'), integer(width, 4), integer(height, 4), [depth, 6, 0, 0]);
  return join([0x89], bytesOf('PNG\r\n\x1a\n'), head, [interlace], [0, 0, 0, 0], ...others);
};
const gif = (width: number, height: number, ...places: readonly (readonly number[])[]) =>
  join(
    bytesOf('GIF89a'),
    integer(width, 2, true),
    integer(height, 2, true),
    [0, 0, 0],
    ...places.map((place) => join([0x2c], ...place.map((value) => integer(value, 2, true)), [0, 2, 1, 0, 0])),
    [0x3b],
  );

test('reads the size of photos, with tiles and thumbnails', () => {
  assert.deepEqual(sizeOf(fixture('little-endian.jpg')), ['image/jpeg', 96, 64, false]);
  assert.deepEqual(sizeOf(fixture('progressive.jpg')), ['image/jpeg', 96, 64, false]);
  assert.deepEqual(sizeOf(fixture('photo.png')), ['image/png', 48, 32, false]);
  assert.deepEqual(sizeOf(fixture('photo.heic')), ['image/heif', 96, 64, false]);
  assert.deepEqual(sizeOf(fixture('photo.avif')), ['image/heif', 64, 48, false]);
  assert.deepEqual(sizeOf(fixture('film.gif')), ['image/gif', 12, 9, true]);
  for (const name of [
    'little-endian.jpg',
    'progressive.jpg',
    'photo.png',
    'photo.heic',
    'photo.avif',
    'film.gif',
  ])
    assert.ok(isDecoded(fixture(name)), name);
});

test('reads the size of WebP and GIF, and whether they may move', () => {
  assert.deepEqual(sizeOf(webp(lossy(640, 0x4000 + 480))), ['image/webp', 640, 480, false]);
  assert.deepEqual(sizeOf(webp(lossless(640, 480))), ['image/webp', 640, 480, false]);
  assert.deepEqual(sizeOf(webp(features(0x10, 640, 480), lossy(640, 480))), ['image/webp', 640, 480, false]);
  const film = webp(features(0x12, 640, 480), frame(8, 9, lossless(8, 9)));
  assert.deepEqual(sizeOf(film), ['image/webp', 640, 480, true]);
  assert.deepEqual(sizeOf(gif(640, 480, [0, 0, 640, 480])), ['image/gif', 640, 480, true]);
});

test('finds the size behind what decoders skip, and not in metadata', () => {
  const photo = [sof(0xc0, 640, 480), sos()];
  const fake = segment(0xe1, sof(0xc0, 8, 8));
  for (const parts of [
    photo,
    [fake, ...photo],
    [segment(0xe0), Uint8Array.of(0, 0), ...photo],
    [Uint8Array.of(0xff, 0xff, 0xff, 0x01), ...photo],
    // A marker without a length, before a segment that looks as if it were part of it.
    [Uint8Array.of(0xff, 0xd0, 0, 20), ...photo],
    [Uint8Array.of(0xff, 0xd0), segment(0xe1, [0, 9], sof(0xc0, 8, 8)), ...photo],
  ])
    assert.deepEqual(sizeOf(jpeg(...parts)), ['image/jpeg', 640, 480, false]);
});

test('returns nothing for other files, and for those that end too early', () => {
  for (const text of [
    '',
    'x',
    '%PDF-1.7 and more',
    'RIFF\0\0\0\0WAVEfmt ',
    '\0\0\0\x18ftypqt  ',
    '<svg></svg>',
  ])
    assert.equal(sizeOf(bytesOf(text)), undefined, text);
  assert.equal(sizeOf(fixture('little-endian.jpg').subarray(0, 100)), undefined);
  assert.equal(sizeOf(fixture('photo.png').subarray(0, 20)), undefined);
});

test('returns nothing for files that have no size, or more than one', () => {
  const heic = fixture('photo.heic');
  const avif = fixture('photo.avif');
  const replaced = (bytes: Uint8Array, from: string, to: string | readonly number[], offset = 0) => {
    const copy = bytes.slice();
    copy.set(typeof to === 'string' ? bytesOf(to) : to, Buffer.from(bytes).indexOf(from) + offset);
    return copy;
  };
  const wrong = {
    'JPEG with two frames': jpeg(sof(0xc0, 64, 48), sof(0xc0, 6400, 4800), sos()),
    'JPEG with a second start': jpeg(sof(0xc0, 64, 48), Uint8Array.of(0xff, 0xd8), sos()),
    'JPEG of no lines': jpeg(sof(0xc0, 64, 0), sos()),
    'JPEG without a scan': jpeg(sof(0xc0, 64, 48)),
    'JPEG that ends before its scan': join([0xff, 0xd8, 0xff, 0xd9], sof(0xc0, 64, 48), sos()),
    'arithmetic JPEG': jpeg(sof(0xc9, 64, 48), sos()),
    'PNG with two sizes': png(64, 48, 0, 8, png(6400, 4800).subarray(8)),
    'PNG that starts with another chunk': join(
      png(64, 48).subarray(0, 8),
      [0, 0, 0, 0],
      bytesOf('tEXt0000'),
      png(64, 48).subarray(8),
    ),
    'PNG with a frame beyond it': png(
      64,
      48,
      0,
      8,
      join(integer(26, 4), bytesOf('fcTL'), [0, 0, 0, 0], integer(65, 4), integer(48, 4), new Uint8Array(18)),
    ),
    'PNG of no lines': png(64, 0),
    'GIF with a picture beyond its screen': gif(1, 1, [0, 0, 20_000, 20_000]),
    'GIF with a second picture beyond its screen': gif(64, 48, [0, 0, 64, 48], [8, 0, 64, 48]),
    'GIF without a picture': gif(64, 48),
    'WebP whose picture is larger': webp(features(0, 64, 48), lossy(16_000, 16_000)),
    'WebP whose frame is larger': webp(features(2, 64, 48), frame(65, 48, lossy(65, 48))),
    'WebP whose frame has a larger picture': webp(features(2, 64, 48), frame(8, 8, lossless(16_000, 16_000))),
    'HEIC without a size': replaced(heic, 'ispe', 'free'),
    'HEIC whose data is larger': replaced(heic, 'ispe', [0, 0, 0, 16], 8),
    'HEIC whose size is zero': replaced(heic, 'ispe', [0, 0, 0, 0], 8),
    'AVIF without a size': replaced(avif, 'ispe', 'free'),
    'AVIF whose data is larger': replaced(avif, 'ispe', [0, 0, 0, 32], 8),
    'AVIF whose data has no size': replaced(avif, 'mdat', [0x12, 0, 0x32], 4),
    'AVIF with a film': join(avif, integer(8, 4), bytesOf('moov')),
  };
  for (const [what, bytes] of Object.entries(wrong)) {
    assert.ok(typeOf(bytes), what);
    assert.equal(read(bytes), undefined, what);
  }
});

test('allows 64 megapixels, and less for pictures that decoders keep more than once', () => {
  const limits = {
    'baseline JPEG': [64, (mega: number) => jpeg(sof(0xc0, 1000, mega * 1000), sos())],
    'progressive JPEG': [36, (mega: number) => jpeg(sof(0xc2, 1000, mega * 1000), sos())],
    'JPEG in several scans': [36, (mega: number) => jpeg(sof(0xc0, 1000, mega * 1000), sos(1))],
    'progressive JPEG for print': [30, (mega: number) => jpeg(sof(0xc2, 1000, mega * 1000, 4), sos(4))],
    PNG: [64, (mega: number) => png(1000, mega * 1000)],
    'interlaced PNG': [46, (mega: number) => png(1000, mega * 1000, 1)],
    GIF: [64, (mega: number) => gif(1000, mega * 1000, [0, 0, 9, 9])],
    'WebP with transparency': [
      41,
      (mega: number) =>
        webp(features(0x10, 10_000, mega * 100), chunk('ALPH', [0]), lossy(10_000, mega * 100)),
    ],
    'film with transparency': [
      41,
      (mega: number) => {
        const [width, height] = [10_000, mega * 100];
        return webp(
          features(2, width, height),
          frame(width, height, join(chunk('ALPH', [0]), lossy(width, height))),
        );
      },
    ],
    'lossless WebP': [46, (mega: number) => webp(lossless(10_000, mega * 100))],
  } as const;
  for (const [what, [most, file]] of Object.entries(limits)) {
    assert.deepEqual([isDecoded(file(most)), isDecoded(file(most + 1))], [true, false], what);
  }
});

test('counts the bytes of the file, which is in memory, too', () => {
  const photo = (bytes: number) => join(jpeg(sof(0xc0, 1000, 64_000), sos()), new Uint8Array(bytes));
  assert.deepEqual([isDecoded(photo(24e6)), isDecoded(photo(25e6))], [true, false]);
});

test('refuses very many parts', () => {
  const comment = segment(0xfe);
  const text = join(integer(0, 4), bytesOf('tEXt'), [0, 0, 0, 0]);
  const many = (make: (count: number) => Uint8Array) => [isDecoded(make(4900)), isDecoded(make(20_001))];
  const photo = [sof(0xc0, 64, 48), sos()];
  assert.deepEqual(
    many((count) => jpeg(...Array(count).fill(comment), ...photo)),
    [true, false],
  );
  assert.deepEqual(
    many((count) => png(64, 48, 0, 8, ...Array(count).fill(text))),
    [true, false],
  );
  assert.deepEqual(
    many((count) => gif(9, 9, ...Array(count).fill([0, 0, 9, 9]))),
    [true, false],
  );
  assert.deepEqual(
    many((count) => webp(lossy(64, 48), ...Array(count).fill(chunk('prVt')))),
    [true, false],
  );
  const free = join(integer(8, 4), bytesOf('free'));
  assert.deepEqual(
    many((count) => join(fixture('photo.heic'), ...Array(count).fill(free))),
    [true, false],
  );
});

/** Returns a box of an ISO file. */
const box = (type: string, ...parts: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> => {
  const content = join(...parts);
  return join(integer(8 + content.length, 4), bytesOf(type), content);
};

test('recognizes films by their content, and nothing else', async () => {
  const typeOf = (...parts: Uint8Array<ArrayBuffer>[]) => readFilmType(new Blob(parts));
  const source = (type: string, flags: number, parent = 'dinf') =>
    box(
      'trak',
      box(
        'mdia',
        box('minf', box(parent, box('dref', new Uint8Array(8), box(type, join([0, 0, 0, flags]))))),
      ),
    );
  const film = box('moov', box('mvhd', bytesOf('a')), source('url ', 1));
  const ftyp = (brand: string, sizeBytes = 24) =>
    join(integer(sizeBytes, 4), bytesOf(`ftyp${brand}\0\0\0\0isommp42`), box('free'), film);
  const matroska = (type: string) => join([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], bytesOf(type));
  assert.equal(await typeOf(fixture('green.webm')), 'video/webm');
  assert.equal(await typeOf(matroska('webm')), 'video/webm');
  assert.equal(await typeOf(matroska('matroska')), 'video/x-matroska');
  assert.equal(await typeOf(bytesOf('OggS\0\x02')), 'video/ogg');
  assert.equal(await typeOf(ftyp('qt  ')), 'video/quicktime');
  for (const brand of ['isom', 'mp42', 'avc1', 'M4V ', '3gp5', 'dash', 'iso6'])
    assert.equal(await typeOf(ftyp(brand)), 'video/mp4', brand);
  for (const sizeBytes of [0, 1, 8, 15, 17, 1028, 0x10018, 0x23455854])
    assert.equal(await typeOf(ftyp('isom', sizeBytes)), undefined, `a box of ${sizeBytes} bytes`);
  for (const text of [
    '#EXTM3U\n#EXT-X-VERSION:3',
    '\xef\xbb\xbf#EXTM3U',
    '\r\n #EXTM3U',
    '<?xml version="1.0"?><MPD>',
    '<svg></svg>',
    'RIFF\0\0\0\0AVI LIST',
    '\0\0\0\x18moov',
    '\0\0\0\x18ftyp',
    'OggS',
    '\x1aE\xdf',
    '',
  ])
    assert.equal(await typeOf(bytesOf(text)), undefined, text);
  for (const image of ['little-endian.jpg', 'photo.png', 'photo.heic', 'photo.avif'])
    assert.equal(await typeOf(fixture(image)), undefined, image);
  const head = ftyp('isom').subarray(0, 24);
  const large = join(integer(1, 4), bytesOf('mdat'), integer(20, 8), bytesOf('film'));
  const toEnd = join(integer(0, 4), bytesOf('mdat'), bytesOf('film'));
  assert.equal(await typeOf(head, large, film, toEnd), 'video/mp4');
  const reference = box('rmra', box('rmda', box('rdrf', bytesOf('url '))));
  for (const [what, parts] of Object.entries({
    'no movie': [box('free')],
    'a reference to another film': [box('moov', reference)],
    'a reference in a second movie': [film, box('moov', reference)],
    'a compressed movie': [box('moov', box('cmov'))],
    'media in another file': [box('moov', source('url ', 0))],
    'media in an alias': [film, box('moov', source('alis', 0))],
    'a track that is malformed': [box('moov', box('trak', bytesOf('b')))],
    'a list of URLs': [bytesOf('#EXTM3U\nhttps://a.example/\n')],
    'a list of URLs behind the movie': [film, bytesOf('#EXTM3U\nhttps://a.example/\n')],
    'a box that ends behind the file': [film, join(integer(9, 4)), bytesOf('free')],
    'a box that ends before it starts': [film, join(integer(7, 4)), bytesOf('free')],
    'a box of no known size': [film, join(integer(1, 4)), bytesOf('free')],
  }))
    assert.equal(await typeOf(head, ...parts), undefined, what);
});
