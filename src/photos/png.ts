// PNG files without location.

import { type Bytes, bytesOf, fail, KeptParts, type Size, viewOf } from './bytes.ts';
import { cleanIcc, MOST_BYTES } from './icc.ts';
import { frameAt, isData, type Png, readPng } from './png-parts.ts';
import { cleanTiff } from './tiff.ts';

/** By color type: lengths of `sBIT` and `bKGD`, and of `tRNS` where there is no palette. */
const SBIT_BYTES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 };
const BKGD_BYTES: Readonly<Record<number, number>> = { 0: 2, 2: 6, 3: 1, 4: 2, 6: 6 };
const TRNS_BYTES: Readonly<Record<number, number>> = { 0: 2, 2: 6 };
const PALETTE = 3;
/** Of the checksum Adler-32. */
const ADLER_BASE = 65521;

/**
 * Widths of the steps of the seven passes of an interlaced picture, and where they start: from left to right, from top to bottom.
 */
const PASSES = [
  [8, 0, 8, 0],
  [8, 4, 8, 0],
  [4, 0, 8, 4],
  [4, 2, 4, 0],
  [2, 0, 4, 2],
  [2, 1, 2, 0],
  [1, 0, 2, 1],
] as const;

export function crcOf(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc;
}

function chunkOf(type: string, ...parts: (Uint8Array | readonly number[])[]): Bytes {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const chunk = new Uint8Array(length + 12);
  const view = viewOf(chunk);
  view.setUint32(0, length);
  let at = 4;
  for (const part of [bytesOf(type), ...parts]) {
    chunk.set(part, at);
    at += part.length;
  }
  view.setInt32(at, crcOf(chunk.subarray(4, at)));
  return chunk;
}

/** Returns an `eXIf` chunk without location, or nothing. */
function cleanExif(content: Bytes): Bytes | undefined {
  const tiff = cleanTiff(content.slice());
  return tiff.length ? chunkOf('eXIf', tiff) : undefined;
}

/** Yields what is behind a zlib stream's compression. Throws if the stream is malformed, or bytes follow it. */
async function* inflate(parts: Bytes[]): AsyncGenerator<Bytes> {
  const reader = new Blob(parts).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Returns a chunk with the cleaned color profile and no name of it, or nothing. Browsers ignore a profile that is malformed. */
async function cleanProfile(content: Bytes): Promise<Bytes | undefined> {
  // A name, zero, and the method of compression.
  const start = content.indexOf(0) + 2;
  if (start < 3 || start > 81 || content[start - 1] !== 0) return undefined;
  const parts: Bytes[] = [];
  let length = 0;
  try {
    for await (const part of inflate([content.subarray(start)])) {
      length += part.length;
      if (length > MOST_BYTES) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined;
  }
  const wholeProfile = new Uint8Array(await new Blob(parts).arrayBuffer());
  const profile = wholeProfile.subarray(0, cleanIcc(wholeProfile));
  if (!profile.length) return undefined;
  const compressedProfile = new Blob([profile]).stream().pipeThrough(new CompressionStream('deflate'));
  return chunkOf(
    'iCCP',
    bytesOf('ICC\0\0'),
    new Uint8Array(await new Response(compressedProfile).arrayBuffer()),
  );
}

/** Returns the number of bytes of a picture: a byte before each row says how it is encoded. */
function bytesOfPicture({ width, height }: Size, { bitsPerPixel, isInterlaced }: Png): number {
  const bytesOfRows = (columns: number, rows: number): number =>
    columns > 0 && rows > 0 ? rows * (1 + Math.ceil((columns * bitsPerPixel) / 8)) : 0;
  if (!isInterlaced) return bytesOfRows(width, height);
  return PASSES.reduce(
    (sum, [stepX, startX, stepY, startY]) =>
      sum + bytesOfRows(Math.ceil((width - startX) / stepX), Math.ceil((height - startY) / stepY)),
    0,
  );
}

/** Throws unless the data is one zlib stream with as many bytes as the picture has. */
async function checkData(parts: Bytes[], length: number): Promise<void> {
  let remainingBytes = length;
  let [low, high] = [1, 0];
  for await (const part of inflate(parts)) {
    remainingBytes -= part.length;
    if (remainingBytes < 0) fail();
    for (let at = 0; at < part.length; ) {
      // So many bytes can be added before a sum has more than 32 bits.
      const end = Math.min(part.length, at + 3800);
      for (; at < end; at++) {
        low += part[at] ?? 0;
        high += low;
      }
      low %= ADLER_BASE;
      high %= ADLER_BASE;
    }
  }
  if (remainingBytes > 0) fail();
  // The stream ends with the checksum of its content. Not all decoders refuse other bytes behind it.
  const end = new Uint8Array(await new Blob(parts).slice(-4).arrayBuffer());
  if (viewOf(end).getUint32(0) !== high * 65536 + low) fail();
}

/** The data of one picture after the other: of the file, and of the frames of a film. */
class PictureData {
  readonly #png: Png;
  /** The data of the picture that is read, the type of its chunks, and its size. */
  #parts: Bytes[] = [];
  #type = '';
  #size: Size;

  constructor(png: Png) {
    this.#png = png;
    this.#size = png.size;
  }

  /** The size of the next picture. */
  set size(size: Size) {
    this.#size = size;
  }

  /** Adds the content of a chunk. Frames but the first one have chunks of their own, whose first four bytes are a number. */
  add(type: string, content: Bytes): void {
    if (this.#parts.length === 0) this.#type = type;
    if (type !== this.#type || (type === 'fdAT' && content.length < 4)) fail();
    this.#parts.push(type === 'fdAT' ? content.subarray(4) : content);
  }

  /** Ends the picture, if there is one. Rejects if its data is not complete, or has other bytes. */
  async end(): Promise<void> {
    if (this.#parts.length) await checkData(this.#parts, bytesOfPicture(this.#size, this.#png));
    this.#parts = [];
  }
}

/** What is kept of a chunk: all of it (`true`), another chunk instead, or nothing. */
type Part = boolean | Bytes | undefined;

/** `colors`: of the palette; not an integer if its length is wrong. */
type Rule = (content: Bytes, png: Png, colors: number) => Part | Promise<Part>;

/** With another length, browsers ignore the chunk. */
const keepIfLength =
  (length: number): Rule =>
  (content) =>
    content.length === length;

/** What is kept of each type of chunk but those with data. All others are texts, or of other software. */
const RULES: Readonly<Record<string, Rule>> = {
  IHDR: () => true,
  PLTE: keepPalette,
  tRNS: keepTransparency,
  gAMA: keepIfLength(4),
  cHRM: keepIfLength(32),
  sRGB: keepIfLength(1),
  pHYs: keepIfLength(9),
  tIME: keepIfLength(7),
  cICP: keepIfLength(4),
  mDCV: keepIfLength(24),
  cLLI: keepIfLength(8),
  acTL: keepIfLength(8),
  fcTL: keepIfLength(26),
  sBIT: ({ length }, { colorType }) => length === SBIT_BYTES[colorType],
  bKGD: ({ length }, { colorType }) => length === BKGD_BYTES[colorType],
  hIST: ({ length }, { colorType }, colors) => colorType === PALETTE && length === colors * 2,
  eXIf: cleanExif,
  iCCP: cleanProfile,
  IEND: () => chunkOf('IEND'),
};

/** Pictures without indexes into a palette do without one. */
function keepPalette(_content: Bytes, { colorType }: Png, colors: number): boolean {
  if (colorType !== PALETTE) return false;
  if (!Number.isInteger(colors) || colors < 1 || colors > 256) fail();
  return true;
}

/** Browsers treat other lengths differently. */
function keepTransparency({ length }: Bytes, { colorType }: Png, colors: number): boolean {
  if (colorType !== PALETTE && !(colorType in TRNS_BYTES)) return false;
  if (colorType === PALETTE ? length > colors : length !== TRNS_BYTES[colorType]) fail();
  return true;
}

/**
 * Resolves with the parts of a PNG file without location. Rejects if the file is malformed or incomplete, or has other bytes in the
 * data of its pictures.
 */
export async function cleanPng(bytes: Bytes): Promise<Bytes[]> {
  const png = readPng(bytes);
  if (!png.isWhole || !png.chunks.some(({ type }) => type === 'IDAT')) fail();
  const view = viewOf(bytes);
  const keptParts = new KeptParts(bytes);
  const palette = png.chunks.find(({ type }) => type === 'PLTE');
  const colors = palette ? (palette.to - palette.from) / 3 : 0;
  const data = new PictureData(png);
  const types = new Set<string>();
  keptParts.keep(0, 8);
  for (const { type, start, from, to, end } of png.chunks) {
    const content = bytes.subarray(from, to);
    if (isData(type)) {
      data.add(type, content);
      keptParts.keep(start, end);
      continue;
    }
    if (type === 'fcTL' || type === 'IEND') await data.end();
    if (type === 'fcTL') data.size = frameAt(view, from);
    // Decoders use the first chunk of a type, and refuse a second palette.
    else if (types.has(type)) {
      if (type === 'PLTE') fail();
      continue;
    }
    types.add(type);
    const part = await RULES[type]?.(content, png, colors);
    if (part === true) keptParts.keep(start, end);
    else if (part) keptParts.add(part);
  }
  return keptParts.parts;
}
