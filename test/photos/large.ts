// The largest files that are decoded or parsed, of which each is hard for another reason.
import { constants, deflateRawSync } from 'node:zlib';
import { jpegOfSize, pngOfSize, webpOfSize } from './bombs.ts';
import { type Bytes, box, bytesOf, integer, join, segment } from './parts.ts';

const MIB = 2 ** 20;

/** Returns zeros, compressed as in a PNG file, also more than fit into memory. */
export function compressedZeros(bytes: number): Bytes {
  const part = (length: number) =>
    deflateRawSync(Buffer.alloc(length), { level: 9, finishFlush: constants.Z_SYNC_FLUSH });
  const parts: Uint8Array[] = new Array(Math.floor(bytes / MIB)).fill(part(MIB));
  // Then the last block, which is empty, and the sum of all bytes, of which only the number counts.
  const sum = integer(bytes % 65_521, 2);
  return join([0x78, 0xda], ...parts, part(bytes % MIB), [3, 0], sum, [0, 1]);
}

/** Returns bytes repeated up to a size. */
const repeated = (bytes: Uint8Array, size: number): Bytes =>
  new Uint8Array(Buffer.alloc(Math.floor(size / bytes.length) * bytes.length, bytes));

/** A HEIC file whose picture is listed in parts of one byte. */
function heicOfParts(size: number): Bytes {
  const items = Math.floor(size / 65_535);
  const part = new Uint8Array(65_535).fill(1);
  const build = (mediaAt: number): Bytes => {
    const places = Array.from({ length: items }, (_, at) =>
      join(integer(at + 1, 2), [0, 0], integer(mediaAt, 4), integer(part.length, 2), part),
    );
    const info = box('infe', [2, 0, 0, 0, 0, 1, 0, 0], bytesOf('hvc1\0'));
    const meta = box(
      'meta',
      [0, 0, 0, 0],
      ...[box('pitm', [0, 0, 0, 0, 0, 1]), box('iinf', [0, 0, 0, 0, 0, 1], info)],
      box('iloc', [0, 0, 0, 0, 1, 0x40], integer(items, 2), ...places),
    );
    return join(box('ftyp', bytesOf('heic\0\0\0\0mif1')), meta, box('mdat', new Uint8Array(16)));
  };
  return build(build(0).length - 16);
}

/** Returns the bytes of a picture with transparency, whose rows have one byte more. */
const bytesOfRows = (width: number, height: number): number => (4 * width + 1) * height;
/** How many pixels apart those of the seven passes of an interlaced picture are, from left to right and from top to bottom. */
const PASSES = [8, 8, 8, 8, 4, 8, 4, 4, 2, 4, 2, 2, 1, 2];

/** Returns a PNG file whose width and height are a multiple of eight. */
function pngOf(edge: number, isInterlaced: boolean): Bytes {
  const bytes = PASSES.reduce(
    (sum, across, at) => (at % 2 ? sum : sum + bytesOfRows(edge / across, edge / (PASSES[at + 1] ?? 1))),
    0,
  );
  const data = compressedZeros(isInterlaced ? bytes : bytesOfRows(edge, edge));
  return pngOfSize(edge, edge, isInterlaced, data);
}

/** Pictures that are decoded: 64 megapixels, or fewer if their decoder needs more for each. */
export const LARGE_PICTURES: Readonly<Record<string, () => Bytes>> = {
  'baseline.jpg': () => jpegOfSize(8000, 8000),
  'baseline-with-film.jpg': () => join(jpegOfSize(8000, 8000), new Uint8Array(22 * MIB)),
  'progressive.jpg': () => jpegOfSize(5990, 5990, { isProgressive: true }),
  'not-interlaced.png': () => pngOf(8000, false),
  'interlaced.png': () => pngOf(6704, true),
  // With bytes behind the picture, so that a smaller copy has fewer bytes.
  'lossless.webp': () => join(webpOfSize(6700, 6700), new Uint8Array(MIB)),
};

/** Files of so many parts that they are refused. */
export const MANY_PARTS: Readonly<Record<string, () => Bytes>> = {
  'segments.jpg': () =>
    join(
      jpegOfSize(16, 16).subarray(0, 2),
      repeated(Uint8Array.of(0xff, 0xdd, 0, 4, 0, 0), 60 * MIB),
      jpegOfSize(16, 16).subarray(2),
    ),
  'empty-segments.jpg': () =>
    join([0xff, 0xd8], repeated(Uint8Array.of(0xff, 0xe1, 0, 2), 60 * MIB), jpegOfSize(16, 16).subarray(2)),
  'scans.jpg': () =>
    join(
      jpegOfSize(16, 16, { components: 1 }).subarray(0, -2),
      repeated(Uint8Array.of(0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0), 60 * MIB),
      [0xff, 0xd9],
    ),
  // Each block has a byte, and another one that belongs to nothing, before the next restart.
  'restarts.jpg': () => {
    const whole = jpegOfSize(31_600, 31_600, { components: 1, behind: [segment(0xdd, [0, 1])] });
    const data = Buffer.from(whole).indexOf(Buffer.of(0xff, 0xda)) + 10;
    const restarts = Array.from({ length: 8 }, (_, number) => [0, 0, 0xff, 0xd0 + number]).flat();
    return join(whole.subarray(0, data), repeated(Uint8Array.from(restarts), 60 * MIB), [0xff, 0xd9]);
  },
  'parts.heic': () => heicOfParts(63 * MIB),
  'boxes.heic': () =>
    join(
      box('ftyp', bytesOf('heic\0\0\0\0mif1')),
      repeated(box('free'), 60 * MIB),
      box('meta', [0, 0, 0, 0], repeated(box('free'), MIB)),
    ),
  'chunks.png': () =>
    pngOfSize(
      16,
      16,
      false,
      compressedZeros(bytesOfRows(16, 16)),
      repeated(join(integer(0, 4), bytesOf('gAMA'), integer(0, 4)), 60 * MIB),
    ),
  'data-chunks.png': () =>
    pngOfSize(
      16,
      16,
      false,
      compressedZeros(bytesOfRows(16, 16)),
      repeated(join(integer(0, 4), bytesOf('IDAT'), integer(0x35af061e, 4)), 60 * MIB),
    ),
  'chunks.webp': () => {
    const picture = webpOfSize(16, 16).subarray(12);
    const chunks = repeated(join(bytesOf('ALPH'), [0, 0, 0, 0]), 60 * MIB);
    const length = 4 + picture.length + chunks.length;
    return join(bytesOf('RIFF'), integer(length, 4, true), bytesOf('WEBP'), picture, chunks);
  },
  'blocks.gif': () =>
    join(
      bytesOf('GIF89a'),
      [16, 0, 16, 0, 0, 0, 0],
      repeated(Uint8Array.of(0x21, 0xf9, 4, 0, 0, 0, 0, 0), 60 * MIB),
      [0x2c, 0, 0, 0, 0, 16, 0, 16, 0, 0, 2, 2, 0x4c, 1, 0, 0x3b],
    ),
};
