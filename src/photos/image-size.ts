// Recognizes images by their first bytes, and reads the sizes of all their pictures, so that only files of known formats are
// decoded, and none that is too large, has no size, or more than one.

import { type Bytes, type Size, textOf } from './bytes.ts';
import { gifSize } from './gif.ts';
import { heifSize } from './heif-size.ts';
import { readJpeg } from './jpeg-parts.ts';
import { readPng } from './png-parts.ts';
import { webpSize } from './webp.ts';

/** A browser needs four bytes for each pixel of a picture, and some more to draw it smaller. */
const PIXEL_BYTES = 4;
const DRAWN_PIXEL_BYTES = 5.4;
/** A larger image is not decoded: 64 megapixels, and what a decoder and the file need in memory. */
const MAX_PIXELS = 64e6;
const MAX_NEEDED_BYTES = 370e6;

export type ImageType = 'image/jpeg' | 'image/png' | 'image/webp' | 'image/gif' | 'image/heif';

export interface ImageSize extends Size {
  readonly isAnimated: boolean;
  /** False if it must not be decoded. */
  readonly isDecoded: boolean;
}

/** Signatures, as regular expressions of bytes. */
const TYPES: readonly (readonly [ImageType, RegExp])[] = [
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/png', /^\x89PNG\r\n\cZ\n/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/heif', /^.{4}ftyp(?:hei[cxms]|mif[12]|avif)/s],
];

/** The bytes that `typeOf` needs. */
export const SIGNATURE_BYTES = 12;

/** Returns the format of a file by its first bytes; `undefined` if it is no known image. */
export function typeOf(bytes: Uint8Array): ImageType | undefined {
  const head = textOf(bytes, 0, SIGNATURE_BYTES);
  return TYPES.find(([, signature]) => signature.test(head))?.[0];
}

/** Returns the size of an image by its whole file; `undefined` if it is malformed, or contradicts itself. */
export function readSize(bytes: Bytes, type: ImageType): ImageSize | undefined {
  try {
    const {
      width,
      height,
      isAnimated = false,
      extraBytes = 0,
      pixels = width * height,
    } = READERS[type](bytes);
    const neededBytes = pixels * Math.max(PIXEL_BYTES + extraBytes, DRAWN_PIXEL_BYTES) + bytes.length;
    const isDecoded = pixels > 0 && pixels <= MAX_PIXELS && neededBytes <= MAX_NEEDED_BYTES;
    return { width, height, isAnimated, isDecoded };
  } catch {
    return undefined;
  }
}

interface ReadResult extends Size {
  readonly isAnimated?: boolean;
  /** What a decoder needs for each pixel beside the picture, if it needs that for the whole picture. */
  readonly extraBytes?: number;
  /** The most pixels that its data may have, if that is not its size. */
  readonly pixels?: number;
}

const READERS: Readonly<Record<ImageType, (bytes: Bytes) => ReadResult>> = {
  'image/jpeg': (bytes) => {
    const { size, components, isBuffered } = readJpeg(bytes);
    return { ...size, extraBytes: isBuffered ? 2 * components.length : 0 };
  },
  'image/png': (bytes) => {
    const { size, isAnimated, isInterlaced, bitsPerPixel } = readPng(bytes);
    return { ...size, isAnimated, extraBytes: isInterlaced ? Math.max(4, bitsPerPixel / 8) : 0 };
  },
  'image/gif': (bytes) => ({ ...gifSize(bytes), isAnimated: true }),
  'image/webp': webpSize,
  'image/heif': heifSize,
};
