// PNG files without location.

import { type Bytes, bytesOf, fail, KeptParts, type Size, viewOf } from './bytes.ts';
import { cleanIcc, MOST_BYTES } from './icc.ts';
import { frameAt, isData, type Png, readPng } from './png-parts.ts';
import { cleanTiff } from './tiff.ts';

/**
 * Lengths of chunks that are kept as they are; with another one, browsers ignore the chunk. All others are texts, or of other
 * software.
 */
const LENGTHS: Readonly<Record<string, number>> = {
  gAMA: 4,
  cHRM: 32,
  sRGB: 1,
  pHYs: 9,
  tIME: 7,
  cICP: 4,
  mDCV: 24,
  cLLI: 8,
  acTL: 8,
  fcTL: 26,
};
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
function cleanedExif(content: Bytes): Bytes | undefined {
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
async function cleanedProfile(content: Bytes): Promise<Bytes | undefined> {
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
  const whole = new Uint8Array(await new Blob(parts).arrayBuffer());
  const profile = whole.subarray(0, cleanIcc(whole));
  if (!profile.length) return undefined;
  const compressed = new Blob([profile]).stream().pipeThrough(new CompressionStream('deflate'));
  return chunkOf('iCCP', bytesOf('ICC\0\0'), new Uint8Array(await new Response(compressed).arrayBuffer()));
}

/** Returns the number of bytes of a picture: a byte before each row says how it is encoded. */
function bytesOfPicture({ width, height }: Size, { bitsPerPixel, isInterlaced }: Png): number {
  const bytesOfRows = (across: number, down: number): number =>
    across > 0 && down > 0 ? down * (1 + Math.ceil((across * bitsPerPixel) / 8)) : 0;
  if (!isInterlaced) return bytesOfRows(width, height);
  return PASSES.reduce(
    (sum, [stepX, startX, stepY, startY]) =>
      sum + bytesOfRows(Math.ceil((width - startX) / stepX), Math.ceil((height - startY) / stepY)),
    0,
  );
}

/** Throws unless the data is one zlib stream with as many bytes as the picture has. */
async function checkData(parts: Bytes[], length: number): Promise<void> {
  let left = length;
  let [low, high] = [1, 0];
  for await (const part of inflate(parts)) {
    left -= part.length;
    if (left < 0) fail();
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
  if (left > 0) fail();
  // The stream ends with the checksum of its content. Not all decoders refuse other bytes behind it.
  const end = new Uint8Array(await new Blob(parts).slice(-4).arrayBuffer());
  if (viewOf(end).getUint32(0) !== high * 65536 + low) fail();
}

/**
 * Resolves with the parts of a PNG file without location. Rejects if the file is malformed or incomplete, or has other bytes in the
 * data of its pictures.
 */
export async function cleanPng(bytes: Bytes): Promise<Bytes[]> {
  const png = readPng(bytes);
  if (!png.isWhole || !png.chunks.some(({ type }) => type === 'IDAT')) fail();
  const view = viewOf(bytes);
  const kept = new KeptParts(bytes);
  const palette = png.chunks.find(({ type }) => type === 'PLTE');
  const colors = palette ? (palette.to - palette.from) / 3 : 0;
  const lengths: Readonly<Record<string, number | undefined>> = {
    ...LENGTHS,
    sBIT: SBIT_BYTES[png.colorType],
    bKGD: BKGD_BYTES[png.colorType],
    hIST: png.colorType === PALETTE ? colors * 2 : -1,
  };
  /** The data of the picture that is read, the type of its chunks, and its size. */
  let data: Bytes[] = [];
  let kind = '';
  let size = png.size;
  const checkPicture = async (): Promise<void> => {
    if (data.length) await checkData(data, bytesOfPicture(size, png));
    data = [];
  };
  const types = new Set<string>();
  kept.keep(0, 8);
  for (const { type, start, from, to, end } of png.chunks) {
    const length = to - from;
    const content = bytes.subarray(from, to);
    if (isData(type)) {
      // Frames but the first one have chunks of their own, whose first four bytes are a number.
      if (data.length === 0) kind = type;
      if (type !== kind || (type === 'fdAT' && length < 4)) fail();
      const part = type === 'fdAT' ? content.subarray(4) : content;
      data.push(part);
      kept.keep(start, end);
      continue;
    }
    if (type === 'fcTL' || type === 'IEND') await checkPicture();
    if (type === 'fcTL') size = frameAt(view, from);
    // Decoders use the first chunk of a type, and refuse a second palette.
    else if (types.has(type)) {
      if (type === 'PLTE') fail();
      continue;
    }
    types.add(type);
    const other =
      type === 'eXIf' ? cleanedExif(content) : type === 'iCCP' ? await cleanedProfile(content) : undefined;
    if (other) kept.add(other);
    else if (type === 'IEND') kept.add(chunkOf(type));
    else if (type === 'IHDR' || lengths[type] === length) kept.keep(start, end);
    else if (type === 'PLTE') {
      // Other pictures do without one.
      if (png.colorType !== PALETTE) continue;
      if (!Number.isInteger(colors) || colors < 1 || colors > 256) fail();
      kept.keep(start, end);
    } else if (type === 'tRNS' && (png.colorType === PALETTE || png.colorType in TRNS_BYTES)) {
      // Browsers treat other lengths differently.
      if (png.colorType === PALETTE ? length > colors : length !== TRNS_BYTES[png.colorType]) fail();
      kept.keep(start, end);
    }
  }
  return kept.parts;
}
