// Reads the chunks of a PNG file. W3C: Portable Network Graphics, third edition.

import { type Bytes, countTo, fail, type Size, textOf, viewOf } from './bytes.ts';

/** The most chunks with data of pictures. Encoders write at least 8 kB into each. */
const MAX_DATA_CHUNKS = 65_536;

export const isData = (type: string): boolean => type === 'IDAT' || type === 'fdAT';

export interface Chunk {
  readonly type: string;
  /** Where the chunk and its content start, and where they end. */
  readonly start: number;
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

export interface Png {
  readonly size: Size;
  readonly bitsPerPixel: number;
  readonly colorType: number;
  readonly isInterlaced: boolean;
  readonly isAnimated: boolean;
  readonly chunks: readonly Chunk[];
  /** False if the file ends before the last chunk. */
  readonly isWhole: boolean;
}

/** Values of a pixel, by color type. */
const VALUES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Chunks that decoders must understand. With another one, the picture would not be this one. */
const CRITICAL = /^(?:IHDR|PLTE|IDAT|IEND)$/;

/** Reads all chunks. Throws if the file is malformed. */
export function readPng(bytes: Bytes): Png {
  const view = viewOf(bytes);
  const count = countTo();
  const countData = countTo(MAX_DATA_CHUNKS);
  const chunks: Chunk[] = [];
  let isWhole = false;
  let isAnimated = false;
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  for (let at = 8; !isWhole && at + 12 <= bytes.length; ) {
    const chunk = chunkAt(view, at);
    const { type, from, to, end } = chunk;
    if (end > bytes.length) break;
    if (isData(type)) countData();
    else count();
    const isFirst = chunks.length === 0;
    if (isFirst !== (type === 'IHDR') || (isFirst && to - from !== 13)) fail();
    if (!/^[A-Za-z]{4}$/.test(type) || (/^[A-Z]/.test(type) && !CRITICAL.test(type))) fail();
    if (type === 'acTL') isAnimated = true;
    if (type === 'fcTL' && !isInside(view, chunk, size)) fail();
    isWhole = type === 'IEND';
    chunks.push(chunk);
    at = end;
  }
  const [depth, colorType, interlacing] = [view.getUint8(24), view.getUint8(25), view.getUint8(28)];
  const bitsPerPixel = depth * (VALUES[colorType] ?? fail());
  if (!size.width || !size.height || ![1, 2, 4, 8, 16].includes(depth) || interlacing > 1) fail();
  return { size, bitsPerPixel, colorType, isInterlaced: interlacing === 1, isAnimated, chunks, isWhole };
}

function chunkAt(view: DataView, start: number): Chunk {
  const [from, length] = [start + 8, view.getUint32(start)];
  const type = textOf(new Uint8Array(view.buffer, view.byteOffset + start + 4, 4));
  return { type, start, from, to: from + length, end: from + length + 4 };
}

/** Returns true if a frame lies inside of the picture. */
function isInside(view: DataView, { from, to }: Chunk, { width, height }: Size): boolean {
  if (to - from !== 26) return false;
  const frame = frameAt(view, from);
  return (
    frame.width > 0 &&
    frame.height > 0 &&
    view.getUint32(from + 12) + frame.width <= width &&
    view.getUint32(from + 16) + frame.height <= height
  );
}

/** Returns the size in the content of an `fcTL` chunk. */
export const frameAt = (view: DataView, from: number): Size => ({
  width: view.getUint32(from + 4),
  height: view.getUint32(from + 8),
});
