// Small files that make a decoder fill the memory, and whose head says something else; and valid pictures of any size.
import { type Bytes, bytesOf, chunk, gifBlock, integer, join, riff, segment } from './parts.ts';

const BASELINE = 0xc0;
const PROGRESSIVE = 0xc2;

export interface JpegOptions {
  readonly isProgressive?: boolean;
  readonly components?: number;
  /** Bytes before and behind the size. */
  readonly before?: readonly Bytes[];
  readonly behind?: readonly Bytes[];
}

/** Returns the segment with the size of a JPEG file. */
export const frame = (width: number, height: number, components = 3, marker = BASELINE): Bytes =>
  segment(
    marker,
    [8, ...integer(height, 2), ...integer(width, 2), components],
    Array.from({ length: components }, (_, at) => [at + 1, 0x11, 0]).flat(),
  );

/** Returns a gray JPEG file. Each value has one code of one bit. */
export function jpegOfSize(width: number, height: number, options: JpegOptions = {}): Bytes {
  const { isProgressive = false, components = 3, before = [], behind = [] } = options;
  const codes = (id: number) => segment(0xc4, [id, 1], new Uint8Array(15), [0]);
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8) * components;
  const selectors = Array.from({ length: components }, (_, at) => [at + 1, 0]).flat();
  return join(
    [0xff, 0xd8],
    ...before,
    segment(0xdb, [0], new Uint8Array(64).fill(1)),
    frame(width, height, components, isProgressive ? PROGRESSIVE : BASELINE),
    ...behind,
    codes(0),
    codes(0x10),
    // A progressive picture may have the first value of each block only.
    segment(0xda, [components, ...selectors, 0, isProgressive ? 0 : 63, 0]),
    new Uint8Array(Math.ceil((blocks * (isProgressive ? 1 : 2)) / 8)),
    [0xff, 0xd9],
  );
}

/** Returns metadata that looks like a picture of 16 by 16 pixels, if a reader takes a marker without length for a segment. */
const hidden = (): Bytes => {
  const content = new Uint8Array(0xffff - 2);
  // A reader that takes FFD0 for a segment jumps as far as the next marker says.
  content.set(frame(16, 16), 0xffe0 - 4);
  return segment(0xe0, content);
};

/** Returns a GIF file. Each frame has one code, so its other pixels are transparent. */
export const gifOfSize = (width: number, height: number, ...frames: (readonly number[])[]): Bytes =>
  join(
    bytesOf('GIF89a'),
    integer(width, 2, true),
    integer(height, 2, true),
    [0x80, 0, 0, 0, 0, 0, 255, 255, 255],
    ...frames.map((each) =>
      join(
        gifBlock(0xf9, [0, 0, 0, 0]),
        [0x2c],
        each.flatMap((value) => integer(value, 2, true)),
        [...[0, 2, 2, 0x4c, 1, 0]],
      ),
    ),
    [0x3b],
  );

const PNG_SIGNATURE = [0x89, ...bytesOf('PNG\r\n\x1a\n')];
const pngHead = (width: number, height: number, isInterlaced: boolean): Bytes =>
  chunk('IHDR', integer(width, 4), integer(height, 4), [8, 6, 0, 0, isInterlaced ? 1 : 0]);

/** Returns a PNG file with transparency. `data` is its compressed picture. */
export const pngOfSize = (
  width: number,
  height: number,
  isInterlaced: boolean,
  data: Uint8Array,
  ...before: Bytes[]
): Bytes =>
  join(PNG_SIGNATURE, pngHead(width, height, isInterlaced), ...before, chunk('IDAT', data), chunk('IEND'));

const webpOf = (...chunks: Bytes[]): Bytes => {
  const body = join(bytesOf('WEBP'), ...chunks);
  return join(bytesOf('RIFF'), integer(body.length, 4, true), body);
};
/** A lossless picture of one color: five tables of one code, and nothing for the pixels. */
const vp8l = (width: number, height: number): Bytes =>
  riff(
    'VP8L',
    [0x2f],
    integer(width - 1 + ((height - 1) % 2 ** 14) * 2 ** 14, 4, true),
    [0x88, 0x88, 0x08, 0, 0, 0],
  );
const vp8 = (width: number, height: number): Bytes =>
  riff(
    'VP8 ',
    [0x10, 2, 0, 0x9d, 1, 0x2a],
    integer(width, 2, true),
    integer(height, 2, true),
    new Uint8Array(24),
  );
const vp8x = (width: number, height: number, flags = 0): Bytes =>
  riff('VP8X', [flags, 0, 0, 0], integer(width - 1, 3, true), integer(height - 1, 3, true));
const movingFrame = (x: number, width: number, height: number, image: Bytes): Bytes =>
  riff(
    'ANMF',
    integer(x / 2, 3, true),
    [0, 0, 0],
    integer(width - 1, 3, true),
    integer(height - 1, 3, true),
    [100, 0, 0, 0],
    image,
  );

/** Returns a lossless WebP file. */
export const webpOfSize = (width: number, height: number): Bytes => webpOf(vp8l(width, height));

/** Returns a copy with all occurrences of a text replaced by another one of the same length. */
function renamed(bytes: Bytes, from: string, to: string): Bytes {
  const text = String.fromCharCode(...bytes);
  return bytesOf(text.replaceAll(from, to));
}

/** Returns an AVIF or HEIC file with another size in its properties. */
function resized(bytes: Bytes, width: number, height: number): Bytes {
  const copy = bytes.slice();
  const text = String.fromCharCode(...bytes);
  for (let at = text.indexOf('ispe'); at > 0; at = text.indexOf('ispe', at + 4))
    copy.set([...integer(width, 4), ...integer(height, 4)], at + 8);
  return copy;
}

/** Photos that have the size of a side only, in pixels, where decoders look, and what else is needed to build them. */
interface Given {
  readonly edge: number;
  readonly avif: Bytes;
  readonly heic: Bytes;
  /** Returns the compressed picture of a PNG file. */
  readonly data: (bytes: number) => Uint8Array;
}

const animation = (...frames: (readonly [number, number])[]): Bytes[] => [
  chunk('acTL', integer(frames.length, 4), integer(0, 4)),
  ...frames.map(([width, height], at) =>
    chunk('fcTL', ...[at, width, height, 0, 0].map((value) => integer(value, 4)), [0, 1, 0, 10, 0, 0]),
  ),
];

/** Returns bombs by name. None may be decoded. */
export function bombsOf({ edge, avif, heic, data }: Given): Readonly<Record<string, Bytes>> {
  /** The size of a picture that is too large for its kind, as some decoders need more than four bytes for each pixel. */
  const large = 7990;
  const png = (width: number, isInterlaced: boolean, ...before: Bytes[]) =>
    pngOfSize(width, width, isInterlaced, data((4 * width + 1) * width), ...before);
  return {
    'size.jpg': jpegOfSize(edge, edge),
    'size-in-metadata.jpg': jpegOfSize(edge, edge, { before: [join([0xff, 0xd0], hidden())] }),
    'size-in-metadata-behind-zeros.jpg': jpegOfSize(edge, edge, {
      before: [join([0, 0], segment(0xe5, frame(16, 16)))],
    }),
    'size-in-metadata-behind-empty-marker.jpg': jpegOfSize(edge, edge, {
      before: [join([0xff, 1], segment(0xfe, frame(16, 16)))],
    }),
    'size-in-hierarchy.jpg': jpegOfSize(edge, edge, { before: [frame(16, 16, 3, 0xde)] }),
    'second-size.jpg': jpegOfSize(16, 16, { behind: [frame(edge, edge)] }),
    'second-size-in-front.jpg': jpegOfSize(edge, edge, { before: [frame(16, 16)] }),
    'height-behind.jpg': jpegOfSize(edge, 0, { behind: [segment(0xdc, integer(edge, 2))] }),
    'progressive.jpg': jpegOfSize(large, large, { isProgressive: true }),
    'size.gif': gifOfSize(edge, edge, [0, 0, edge, edge]),
    'frame-beyond-screen.gif': gifOfSize(1, 1, [0, 0, edge, edge]),
    'second-frame-beyond-screen.gif': gifOfSize(16, 16, [0, 0, 16, 16], [8, 8, edge, edge]),
    'no-screen.gif': gifOfSize(0, 0, [0, 0, edge, edge]),
    'size.png': png(edge, false),
    'interlaced.png': png(large, true),
    'frame-beyond-size.png': png(16, false, ...animation([edge, edge])),
    'second-head.png': png(16, false, pngHead(edge, edge, false)),
    'lossless.webp': webpOfSize(large, large),
    'picture-beyond-canvas.webp': webpOf(vp8x(16, 16), vp8(16383, 16383)),
    'lossless-beyond-canvas.webp': webpOf(vp8x(16, 16), vp8l(16383, 16383)),
    'canvas.webp': webpOf(vp8x(edge, edge), vp8(16, 16)),
    'second-picture.webp': webpOf(vp8l(16, 16), vp8l(16383, 16383)),
    'frame-beyond-canvas.webp': webpOf(
      vp8x(16, 16, 2),
      riff('ANIM', new Uint8Array(6)),
      movingFrame(0, 16, 16, vp8l(16, 16)),
      movingFrame(8, 16383, 16383, vp8l(16383, 16383)),
    ),
    'picture-beyond-frame.webp': webpOf(
      vp8x(16, 16, 2),
      riff('ANIM', new Uint8Array(6)),
      movingFrame(0, 16, 16, vp8l(16383, 16383)),
    ),
    'no-size.avif': renamed(avif, 'ispe', 'free'),
    'other-size-in-data.avif': resized(avif, 8, 8),
    'size.avif': resized(avif, 30_000, 30_000),
    'no-size.heic': renamed(heic, 'ispe', 'free'),
    'size.heic': resized(heic, 30_000, 30_000),
  };
}

/** Returns pictures of the same kinds that are decoded. */
export const picturesOf = ({
  avif,
  data,
}: Omit<Given, 'edge' | 'heic'>): Readonly<Record<string, Bytes>> => ({
  'small.jpg': jpegOfSize(16, 16, { before: [join([0xff, 0xd0], hidden())] }),
  'progressive.jpg': jpegOfSize(16, 16, { isProgressive: true }),
  'small.gif': gifOfSize(16, 16, [0, 0, 16, 16], [8, 8, 8, 8]),
  'interlaced.png': pngOfSize(16, 16, true, data((4 * 16 + 1) * 16)),
  'moving.png': pngOfSize(16, 16, false, data((4 * 16 + 1) * 16), ...animation([16, 16])),
  'lossless.webp': webpOfSize(16, 16),
  'canvas.webp': webpOf(vp8x(16, 16), vp8l(16, 16)),
  'small.avif': avif,
});
