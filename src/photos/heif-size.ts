// Reads the sizes of pictures in HEIC and AVIF files, also those in their data, so that nothing larger is decoded. ISO/IEC
// 23008-12; AV1 Bitstream & Decoding Process Specification, 5.3 to 5.5.

import type { Box } from './boxes.ts';
import { type Bytes, bitReader, countTo, fail, type Size, viewOf } from './bytes.ts';
import { bytesOfItem, type Heif, readHeif } from './heif.ts';
import { bytesOfLength, SEQUENCE, sizeOfSequence, unitsIn, unitsOfConfiguration } from './hevc.ts';

const PICTURES = /^(?:hvc1|av01|grid|iovl|iden|tmap)$/;
const SEQUENCE_HEADER = 1;
/** A frame, and the header of one. */
const FRAMES = [3, 6];
/** The most frames that a decoder keeps. */
const MOST_FRAMES = 8;

export interface HeifSize extends Size {
  /** The most pixels that its data may have. */
  readonly pixels: number;
  /** The most bytes that a decoder keeps of the values of a pixel, beside the picture. */
  readonly extraBytes: number;
}

/**
 * Returns the size of the greatest picture that a browser may decode. Throws if the file is malformed, or a picture has no size, or
 * another one in its data.
 */
export function heifSize(source: Bytes): HeifSize {
  const heif = readHeif(source);
  const view = viewOf(source);
  const propertiesOf = (id: number): readonly Box[] => heif.properties.get(id) ?? [];
  const sizeOf = (id: number): Size => {
    const [ispe, ...otherSizes] = propertiesOf(id).filter(({ type }) => type === 'ispe');
    if (!ispe || otherSizes.length > 0) fail();
    const size = { width: view.getUint32(ispe.from + 4), height: view.getUint32(ispe.from + 8) };
    return size.width && size.height ? size : fail();
  };
  let greatestSize = { width: 0, height: 0 };
  let pixels = 0;
  // Of pictures, and of their transparency.
  const valueBytes = [0, 0];
  const transparencyIds = new Set(heif.references.filter(({ type }) => type === 'auxl').map(({ id }) => id));
  for (const { id, type } of heif.items.values()) {
    if (!PICTURES.test(type)) continue;
    const size = sizeOf(id);
    const content = bytesOfItem(source, heif.extents.get(id) ?? []);
    if (type === 'grid') checkGrid(content, size, heif, id, sizeOf);
    if (type === 'iovl') checkOverlay(content, size);
    if (type === 'hvc1') checkHevc(source, content, size, propertiesOf(id));
    const { pixels: pixelsOfData, frames } =
      type === 'av01' ? readAv1(content, size) : { pixels: size.width * size.height, frames: 1 };
    pixels = Math.max(pixels, pixelsOfData);
    if (size.width * size.height > greatestSize.width * greatestSize.height) greatestSize = size;
    const kind = transparencyIds.has(id) ? 1 : 0;
    for (const property of propertiesOf(id))
      valueBytes[kind] = Math.max(valueBytes[kind] ?? 0, frames * valueBytesOf(view, property));
  }
  if (!PICTURES.test(heif.items.get(heif.primaryId)?.type ?? '')) fail();
  return { ...greatestSize, pixels, extraBytes: (valueBytes[0] ?? 0) + (valueBytes[1] ?? 0) };
}

/** Returns the bytes of a pixel's values by the configuration of the decoder. */
function valueBytesOf(view: DataView, { type, from }: Box): number {
  if (type === 'hvcC')
    return ([1, 1.5, 2, 3][view.getUint8(from + 16) & 3] as number) * (view.getUint8(from + 17) & 7 ? 2 : 1);
  if (type !== 'av1C') return 0;
  const flags = view.getUint8(from + 2);
  const values = flags & 16 ? 1 : flags & 8 ? (flags & 4 ? 1.5 : 2) : 3;
  return values * (flags & 64 ? 2 : 1);
}

/** Throws unless a grid has the size of the picture, and tiles that just cover it. */
function checkGrid(content: Bytes, size: Size, heif: Heif, id: number, sizeOf: (id: number) => Size): void {
  const view = viewOf(content);
  const isLong = view.getUint8(1) & 1;
  const [rows, columns] = [view.getUint8(2) + 1, view.getUint8(3) + 1];
  const [width, height] = isLong
    ? [view.getUint32(4), view.getUint32(8)]
    : [view.getUint16(4), view.getUint16(6)];
  const tiles = heif.references.filter((each) => each.type === 'dimg' && each.id === id);
  const ids = tiles.flatMap((each) => each.ids);
  if (width !== size.width || height !== size.height || ids.length !== rows * columns) fail();
  const [firstId] = ids;
  const tile = sizeOf(firstId ?? fail());
  if (ids.some((each) => !PICTURES.test(heif.items.get(each)?.type ?? ''))) fail();
  for (const each of ids) {
    const { width, height } = sizeOf(each);
    if (width !== tile.width || height !== tile.height) fail();
  }
  const covers = (length: number, count: number, edge: number) =>
    length * count >= edge && length * (count - 1) < edge;
  if (!covers(tile.width, columns, width) || !covers(tile.height, rows, height)) fail();
}

/** Throws unless pictures above others have the size of the whole. */
function checkOverlay(content: Bytes, { width, height }: Size): void {
  const view = viewOf(content);
  const isLong = view.getUint8(1) & 1;
  // Behind the color of the background.
  if (isLong ? view.getUint32(10) !== width : view.getUint16(10) !== width) fail();
  if (isLong ? view.getUint32(14) !== height : view.getUint16(12) !== height) fail();
}

/** The most pixels that a sequence has more than its picture, because blocks have up to 64. */
const MOST_CUT = 64;

/** Throws unless the parameters of a picture have its size. Those in its data could have another one. */
function checkHevc(source: Bytes, content: Bytes, size: Size, properties: readonly Box[]): void {
  const box = properties.find(({ type }) => type === 'hvcC') ?? fail();
  const configuration = source.subarray(box.from, box.to);
  const sequences = unitsOfConfiguration(configuration).units.filter(({ type }) => type === SEQUENCE);
  if (unitsIn(content, bytesOfLength(configuration)).some(({ type }) => type === SEQUENCE)) fail();
  const isNear = (edge: number, codedEdge: number) => edge <= codedEdge && codedEdge < edge + MOST_CUT;
  for (const unit of sequences) {
    const codedSize = sizeOfSequence(configuration, unit);
    if (!isNear(size.width, codedSize.width) || !isNear(size.height, codedSize.height)) fail();
  }
  if (sequences.length === 0) fail();
}

/**
 * Returns the most pixels that a picture in AV1 may have, and how many pictures a decoder may keep. Throws if a sequence has
 * another size, or if there is none.
 */
function readAv1(content: Bytes, size: Size): { readonly pixels: number; readonly frames: number } {
  const count = countTo();
  let pixels = 0;
  let frames = 0;
  for (let at = 0; at < content.length; ) {
    count();
    const header = content[at] ?? 0;
    at += header & 4 ? 2 : 1;
    let length = content.length - at;
    if (header & 2) {
      length = 0;
      for (let shift = 0, byte = 128; byte & 128; shift += 7) {
        if (shift > 28) fail();
        byte = content[at++] ?? fail();
        length += (byte & 127) * 2 ** shift;
      }
    }
    if (length > content.length - at) fail();
    const type = (header >> 3) & 15;
    if (FRAMES.includes(type)) frames += 1;
    if (type === SEQUENCE_HEADER)
      pixels = Math.max(pixels, pixelsOfSequence(content.subarray(at, at + length), size));
    at += length;
  }
  return pixels ? { pixels, frames: Math.min(Math.max(frames, 1), MOST_FRAMES) } : fail();
}

function pixelsOfSequence(content: Bytes, size: Size): number {
  const read = bitReader(content);
  // Profile, and whether it is a still picture.
  read(4);
  const isReduced = read(1) === 1;
  if (isReduced) read(5);
  else {
    // Pictures have no times.
    if (read(1)) fail();
    const hasDelay = read(1);
    for (let remainingPoints = read(5); remainingPoints >= 0; remainingPoints--) {
      read(12);
      if (read(5) > 7) read(1);
      if (hasDelay && read(1)) read(4);
    }
  }
  const [widthBits, heightBits] = [read(4) + 1, read(4) + 1];
  if (read(widthBits) + 1 !== size.width || read(heightBits) + 1 !== size.height) fail();
  // Otherwise, each frame may have a size of its own in as many bits.
  return isReduced ? size.width * size.height : 2 ** (widthBits + heightBits);
}
