// Recognizes images and films by their first bytes, and reads the size of images, so that only files of known formats are decoded,
// and no image that is too large.

export interface ImageHead {
  readonly type: 'image/jpeg' | 'image/png' | 'image/webp' | 'image/gif' | 'image/heif';
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
}

/** Returns what the first bytes of a file say; `undefined` if they are not those of a known image. */
export function readHead(bytes: Uint8Array): ImageHead | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (at: number, length = 4): string => String.fromCharCode(...bytes.subarray(at, at + length));
  try {
    if (view.getUint32(0) === 0x89504e47)
      return {
        type: 'image/png',
        width: view.getUint32(16),
        height: view.getUint32(20),
        isAnimated: indexOf(bytes, 'acTL') > 0,
      };
    if (view.getUint16(0) === 0xffd8) return { type: 'image/jpeg', ...jpegSize(view), isAnimated: false };
    if (text(0, 3) === 'GIF') {
      const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
      return { type: 'image/gif', width, height, isAnimated: true };
    }
    if (text(0) === 'RIFF' && text(8) === 'WEBP') return { type: 'image/webp', ...webpSize(view, text(12)) };
    if (text(4) === 'ftyp' && /^(hei[cx]|mif1|avif)/.test(text(8)))
      return { type: 'image/heif', ...heifSize(view, bytes), isAnimated: false };
  } catch {
    // The file ends too early.
  }
  return undefined;
}

const FILM_HEAD_BYTES = 64;
/** Greatest size of the first box of an ISO file. It lists brands of four bytes. */
const MAX_FTYP_BYTES = 1024;
/** Greatest number of boxes that are looked at. */
const MAX_BOXES = 2000;
/** What a film may contain. Others may refer to another file (`rmra`) or are compressed (`cmov`). */
const MOVIE_BOXES = new Set(
  'clip ctab free iods meta mvex mvhd prfl pssh skip trak udta uuid wide'.split(' '),
);

/** Types of the films that are shown. */
export type FilmType = 'video/mp4' | 'video/quicktime' | 'video/webm' | 'video/x-matroska' | 'video/ogg';

/**
 * Resolves with the type of a film by its content; `undefined` for all other files. Type and name don't count: players also play
 * lists of URLs (HLS) and films that refer to others (QuickTime), and request these.
 */
export async function readFilmType(file: Blob): Promise<FilmType | undefined> {
  const bytes = await bytesAt(file, 0, FILM_HEAD_BYTES);
  const head = String.fromCharCode(...bytes);
  if (head.startsWith('\x1aE\xdf\xa3')) return head.includes('webm') ? 'video/webm' : 'video/x-matroska';
  if (head.startsWith('OggS\0')) return 'video/ogg';
  if (!/^\0\0.{2}ftyp[\w ]{4}/s.test(head) || /^.{8}(?:hei|hev|mif|msf|avi)/s.test(head)) return undefined;
  const sizeBytes = (bytes[2] ?? 0) * 256 + (bytes[3] ?? 0);
  if (sizeBytes < 16 || sizeBytes > MAX_FTYP_BYTES || sizeBytes % 4 > 0) return undefined;
  if (!(await hasOwnMovie(file))) return undefined;
  return head.startsWith('qt', 8) ? 'video/quicktime' : 'video/mp4';
}

/** Resolves with true if all movies in an ISO file (`moov`) are in the file itself, and there is one. */
async function hasOwnMovie(file: Blob): Promise<boolean> {
  let hasMovie = false;
  for await (const box of boxesIn(file, 0, file.size)) {
    if (box?.type !== 'moov') {
      if (!box) return false;
      continue;
    }
    hasMovie = true;
    for await (const part of boxesIn(file, box.start, box.end))
      if (!part || !MOVIE_BOXES.has(part.type)) return false;
  }
  return hasMovie;
}

interface Box {
  readonly type: string;
  /** Where the content starts and ends in the file, in bytes. */
  readonly start: number;
  readonly end: number;
}

/** Yields the boxes between two positions; at last `undefined` if they are malformed, or too many. */
async function* boxesIn(
  file: Blob,
  from: number,
  to: number,
): AsyncGenerator<Box | undefined, void, undefined> {
  let at = from;
  for (let count = 0; at < to; count += 1) {
    const bytes = await bytesAt(file, at, 16);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (count === MAX_BOXES || bytes.length < 8) return void (yield undefined);
    const size32 = view.getUint32(0);
    const isLarge = size32 === 1;
    if (isLarge && bytes.length < 16) return void (yield undefined);
    const sizeBytes = isLarge ? Number(view.getBigUint64(8)) : size32 === 0 ? to - at : size32;
    const start = at + (isLarge ? 16 : 8);
    const end = at + sizeBytes;
    if (end < start || end > to) return void (yield undefined);
    yield { type: String.fromCharCode(...bytes.subarray(4, 8)), start, end };
    at = end;
  }
}

const bytesAt = async (file: Blob, start: number, count: number): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await file.slice(start, start + count).arrayBuffer());

type Size = Pick<ImageHead, 'width' | 'height'>;

function jpegSize(view: DataView): Size {
  for (let at = 2; ; ) {
    const marker = view.getUint16(at);
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    // Before a marker, there may be more bytes 0xff.
    at += marker === 0xffff ? 1 : 2 + view.getUint16(at + 2);
  }
}

function webpSize(view: DataView, format: string): Size & Pick<ImageHead, 'isAnimated'> {
  const lossless = view.getUint32(21, true);
  const [width, height] =
    format === 'VP8X'
      ? [(view.getUint32(24, true) & 0xffffff) + 1, (view.getUint32(26, true) >>> 8) + 1]
      : format === 'VP8L'
        ? [(lossless & 0x3fff) + 1, ((lossless >>> 14) & 0x3fff) + 1]
        : [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  return { width, height, isAnimated: format === 'VP8X' && (view.getUint8(20) & 2) > 0 };
}

/** A HEIF file has the size of the image, of its tiles and of its thumbnails: the greatest counts. */
function heifSize(view: DataView, bytes: Uint8Array): Size {
  let size = { width: 0, height: 0 };
  for (let at = indexOf(bytes, 'ispe'); at > 0; at = indexOf(bytes, 'ispe', at + 4)) {
    const [width, height] = [view.getUint32(at + 8), view.getUint32(at + 12)];
    if (width * height > size.width * size.height) size = { width, height };
  }
  return size;
}

function indexOf(bytes: Uint8Array, name: string, from = 0): number {
  const codes = Array.from(name, (letter) => letter.charCodeAt(0));
  for (let at = bytes.indexOf(codes[0] ?? 0, from); at >= 0; at = bytes.indexOf(codes[0] ?? 0, at + 1))
    if (codes.every((code, index) => bytes[at + index] === code)) return at;
  return -1;
}
