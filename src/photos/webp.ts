// WebP files: their size, and their copies without location. RFC 9649.

import { type Bytes, countTo, fail, KeptParts, type Size, textOf, viewOf } from './bytes.ts';
import { cleanIcc } from './icc.ts';
import { cleanTiff } from './tiff.ts';

const HEAD_BYTES = 12;
/** Flags of a file that has more than one picture without transparency. */
const ANIMATION = 2;
const EXIF = 8;
const ALPHA = 16;
const ICC = 32;
/** The most chunks: a film has three for each picture. */
const MAX_CHUNKS = 20_000;
/** What decoders keep of each pixel beside the picture, in bytes. Transparency is decoded as a picture without losses. */
const EXTRA_BYTES: Readonly<Record<string, number>> = { VP8L: 4, ALPH: 5 };

interface Chunk {
  readonly type: string;
  readonly start: number;
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

export interface WebpSize extends Size {
  readonly isAnimated: boolean;
  /** What a decoder keeps of each pixel beside the picture, in bytes. */
  readonly extraBytes: number;
}

function* chunksOf(bytes: Bytes, from: number, to: number): Generator<Chunk> {
  const view = viewOf(bytes);
  for (let start = from; start < to; ) {
    const length = view.getUint32(start + 4, true);
    const chunk = { type: textOf(bytes, start, start + 4), start, from: start + 8, to: start + 8 + length };
    const end = chunk.to + (length & 1);
    if (end > to) fail();
    yield { ...chunk, end };
    start = end;
  }
}

/** Returns where the chunks of a file end. */
function endOfChunks(bytes: Bytes): number {
  const end = 8 + viewOf(bytes).getUint32(4, true);
  return end <= bytes.length ? end : fail();
}

/** Returns the size in the data of a picture; `undefined` for other chunks. */
function sizeOf(view: DataView, { type, from }: Chunk): Size | undefined {
  if (type === 'VP8L') {
    const bits = view.getUint32(from + 1, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (type !== 'VP8 ') return undefined;
  return { width: view.getUint16(from + 6, true) & 0x3fff, height: view.getUint16(from + 8, true) & 0x3fff };
}

const uint24 = (view: DataView, at: number): number => view.getUint32(at - 1, true) >>> 8;

/** Returns the size of a file. Throws if it is malformed, or if a picture is not of the size that the file or its frame has. */
export function webpSize(bytes: Bytes): WebpSize {
  const view = viewOf(bytes);
  const count = countTo(MAX_CHUNKS);
  let canvas: Size | undefined;
  let isAnimated = false;
  let extraBytes = 0;
  let hasPicture = false;
  const check = (chunk: Chunk, expectedSize: Size | undefined): void => {
    extraBytes = Math.max(extraBytes, EXTRA_BYTES[chunk.type] ?? 0);
    const size = sizeOf(view, chunk);
    if (!size) return;
    if (expectedSize && (size.width !== expectedSize.width || size.height !== expectedSize.height)) fail();
    canvas ??= size;
    hasPicture = true;
  };
  for (const chunk of chunksOf(bytes, HEAD_BYTES, endOfChunks(bytes))) {
    count();
    const { type, from, to, start } = chunk;
    if (type === 'VP8X') {
      if (start !== HEAD_BYTES || to - from !== 10) fail();
      isAnimated = (view.getUint8(from) & ANIMATION) > 0;
      canvas = { width: uint24(view, from + 4) + 1, height: uint24(view, from + 7) + 1 };
    } else if (type === 'ANMF') {
      const frame = { width: uint24(view, from + 6) + 1, height: uint24(view, from + 9) + 1 };
      const [frameX, frameY] = [2 * uint24(view, from), 2 * uint24(view, from + 3)];
      if (!canvas || frameX + frame.width > canvas.width || frameY + frame.height > canvas.height) fail();
      for (const part of chunksOf(bytes, from + 16, to)) {
        count();
        check(part, frame);
      }
    } else check(chunk, canvas);
  }
  if (!canvas || !hasPicture) fail();
  return { ...canvas, isAnimated, extraBytes };
}

/**
 * Returns the parts of a WebP file without location. Throws if the file is malformed or incomplete. The data of pictures is kept as
 * it is: its end is only known to a decoder.
 */
export function cleanWebp(bytes: Bytes): Bytes[] {
  webpSize(bytes);
  const keptParts = new KeptParts(bytes);
  const head = bytes.slice(0, HEAD_BYTES);
  keptParts.add(head);
  const chunks = [...chunksOf(bytes, HEAD_BYTES, endOfChunks(bytes))];
  const [firstChunk] = chunks;
  const features = firstChunk?.type === 'VP8X' ? bytes.slice(firstChunk.start, firstChunk.end) : undefined;
  const isFilm = ((features?.[8] ?? 0) & ANIMATION) > 0;
  const pictures = isFilm ? [] : pictureIn(chunks);
  let addedFlags = 0;
  // Of each, the first one counts, and only if the file says that it has one.
  const isFlagged = (flag: number): boolean => ((features?.[8] ?? 0) & ~addedFlags & flag) > 0;
  for (const chunk of chunks) {
    const { type, from, to } = chunk;
    if (features && chunk === firstChunk) keptParts.add(features);
    else if (type === 'ANMF' && isFilm) keptParts.add(cleanFrame(bytes, chunk));
    else if (type === 'ICCP') {
      const profile = bytes.slice(from, to);
      const length = cleanIcc(profile);
      // Browsers ignore one that is malformed.
      if (length === 0 || !isFlagged(ICC)) continue;
      keptParts.add(chunkOf('ICCP', profile.subarray(0, length)));
      addedFlags |= ICC;
    } else if (type === 'EXIF') {
      const content = bytes.slice(from, to);
      const tiff = cleanTiff(textOf(content, 0, 6) === 'Exif\0\0' ? content.slice(6) : content);
      if (tiff.length === 0 || !isFlagged(EXIF)) continue;
      keptParts.add(chunkOf('EXIF', tiff));
      addedFlags |= EXIF;
    } else if (pictures.includes(chunk) || (type === 'ANIM' && isFilm && to - from === 6))
      keptParts.add(chunkWithoutPadding(bytes, chunk));
  }
  // Behind the flags, 24 bits are reserved.
  features?.set([((features[8] ?? 0) & (ANIMATION | ALPHA)) | addedFlags, 0, 0, 0], 8);
  const length = keptParts.parts.reduce((sum, part) => sum + part.length, 0);
  viewOf(head).setUint32(4, length - 8, true);
  return keptParts.parts;
}

/** Returns the chunks of the picture that decoders show: of the first one, and of its transparency before it. */
function pictureIn(chunks: readonly Chunk[]): Chunk[] {
  const at = chunks.findIndex(({ type }) => /^VP8[ L]$/.test(type));
  const picture = chunks[at];
  if (!picture) return [];
  const transparency = chunks
    .slice(0, at)
    .filter(({ type }) => type === 'ALPH')
    .at(-1);
  return transparency && picture.type === 'VP8 ' ? [transparency, picture] : [picture];
}

/** Returns the chunk of a frame with its picture only. */
function cleanFrame(bytes: Bytes, { from, to }: Chunk): Bytes {
  const head = bytes.slice(from, from + 16);
  // Of its flags, six are reserved.
  head[15] = (head[15] ?? 0) & 3;
  const pictures = pictureIn([...chunksOf(bytes, from + 16, to)]);
  return chunkOf('ANMF', head, ...pictures.map((each) => chunkWithoutPadding(bytes, each)));
}

/** Returns a chunk in which the byte that makes its length even is zero. */
const chunkWithoutPadding = (bytes: Bytes, { type, from, to }: Chunk): Bytes =>
  chunkOf(type, bytes.subarray(from, to));

function chunkOf(type: string, ...parts: Bytes[]): Bytes {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const chunk = new Uint8Array(8 + length + (length & 1));
  chunk.set(Uint8Array.from(type, (letter) => letter.charCodeAt(0)));
  viewOf(chunk).setUint32(4, length, true);
  let at = 8;
  for (const part of parts) {
    chunk.set(part, at);
    at += part.length;
  }
  return chunk;
}
