// GIF files: their size, and their copies without location. CompuServe: Graphics Interchange Format, version 89a.

import { type Bytes, bytesOf, countTo, fail, KeptParts, type Size, textOf, viewOf } from './bytes.ts';

/** The most blocks: a film has two for each picture. */
const MAX_BLOCKS = 20_000;
const HEAD_BYTES = 13;
const EXTENSION = 0x21;
const PICTURE = 0x2c;
const END = 0x3b;
const CONTROL = 0xf9;
const APPLICATION = 0xff;
/** The most codes: one has at most twelve bits. */
const MAX_CODES = 4096;

interface Block {
  readonly kind: number;
  /** Kind of an extension. */
  readonly label: number;
  readonly start: number;
  /** Where its first sub-block starts. */
  readonly data: number;
  readonly end: number;
}

/** Returns the bytes of a table of colors by the flags before it. */
const tableBytes = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** Yields the blocks of a file up to its end: that is also a byte that starts no block. Throws if a block is cut. */
function* blocksOf(bytes: Bytes): Generator<Block> {
  const view = viewOf(bytes);
  const count = countTo(MAX_BLOCKS);
  for (let start = HEAD_BYTES + tableBytes(view.getUint8(10)); start < bytes.length; ) {
    count();
    const kind = view.getUint8(start);
    if (kind === EXTENSION) {
      const end = endOfData(view, start + 2);
      yield { kind, label: view.getUint8(start + 1), start, data: start + 2, end };
      start = end;
      continue;
    }
    if (kind !== PICTURE) return;
    const data = start + 11 + tableBytes(view.getUint8(start + 9));
    const end = endOfData(view, data);
    yield { kind, label: 0, start, data, end };
    start = end;
  }
}

/** Returns the position behind sub-blocks and the zero that ends them. */
function endOfData(view: DataView, start: number): number {
  let at = start;
  for (let length = view.getUint8(at); length > 0; length = view.getUint8(at)) at += 1 + length;
  return at + 1;
}

/** Returns where a picture ends on the screen, in pixels, and its size. */
function placeOf(
  view: DataView,
  { start }: Block,
): Size & { readonly right: number; readonly bottom: number } {
  const [width, height] = [view.getUint16(start + 5, true), view.getUint16(start + 7, true)];
  return {
    width,
    height,
    right: view.getUint16(start + 1, true) + width,
    bottom: view.getUint16(start + 3, true) + height,
  };
}

/**
 * Returns the size of a GIF file. Throws if it has no picture, and for pictures beyond its screen: browsers enlarge the screen
 * then.
 */
export function gifSize(bytes: Bytes): Size {
  const view = viewOf(bytes);
  const screen = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  let hasPicture = false;
  for (const block of blocksOf(bytes)) {
    if (block.kind !== PICTURE) continue;
    const { right, bottom } = placeOf(view, block);
    if (right > screen.width || bottom > screen.height) fail();
    hasPicture = true;
  }
  return hasPicture ? screen : fail();
}

/**
 * Returns the parts of a GIF file without location: pictures with their data, how long each is shown, and how often the film is
 * repeated. All texts and other extensions are dropped. Throws if a picture is malformed or incomplete.
 */
export function cleanGif(bytes: Bytes): Bytes[] {
  const kept = new KeptParts(bytes);
  kept.keep(0, HEAD_BYTES + tableBytes(bytes[10] ?? 0));
  let hasPicture = false;
  for (const block of blocksOf(bytes)) {
    const { kind, label, start, data, end } = block;
    if (kind === PICTURE) {
      hasPicture = true;
      keepPicture(bytes, block, kept);
    } else if (label === CONTROL && end - data === 6) kept.keep(start, end);
    else if (label === APPLICATION) {
      const loop = loopOf(bytes, data);
      if (loop) kept.add(loop);
    }
  }
  if (!hasPicture) fail();
  kept.add(Uint8Array.of(END));
  return kept.parts;
}

/** Returns an extension with the number of repetitions of a film only, if this is one. */
function loopOf(bytes: Bytes, data: number): Bytes | undefined {
  const name = textOf(bytes, data + 1, data + 12);
  const [length, id, low = 0, high = 0] = bytes.subarray(data + 12, data + 16);
  return bytes[data] === 11 && /^(?:NETSCAPE2\.0|ANIMEXTS1\.0)$/.test(name) && length === 3 && id === 1
    ? Uint8Array.from([EXTENSION, APPLICATION, 11, ...bytesOf(name), 3, 1, low, high, 0])
    : undefined;
}

/** Keeps a picture up to the last byte of its data that a decoder reads. */
function keepPicture(bytes: Bytes, block: Block, kept: KeptParts): void {
  const { start, data, end } = block;
  const { width, height } = placeOf(viewOf(bytes), block);
  // Some browsers show a picture without a size on the whole screen, others not at all.
  if (!width || !height) fail();
  const last = lastByte(bytes, data, width * height);
  let at = data;
  // The sub-block with this byte becomes shorter.
  while (at + (bytes[at] ?? 0) < last) at += 1 + (bytes[at] ?? 0);
  if (at + (bytes[at] ?? 0) === last && last + 2 === end) {
    kept.keep(start, end);
    return;
  }
  kept.keep(start, at);
  kept.add(Uint8Array.of(last - at));
  kept.keep(at + 1, last + 1);
  kept.add(Uint8Array.of(0));
}

/** Returns the position of the last byte that a picture of so many pixels needs. Throws if it is not complete. */
function lastByte(bytes: Bytes, data: number, pixels: number): number {
  const codeBits = bytes[data - 1] ?? 0;
  if (codeBits < 1 || codeBits > 11) fail();
  const clear = 2 ** codeBits;
  /** Pixels of each code. */
  const lengths = new Uint16Array(MAX_CODES).fill(1, 0, clear);
  let bitsOfCode = codeBits + 1;
  let codes = clear + 2;
  let lengthBefore = 0;
  let left = pixels;
  let [at, blockEnd, bits, count] = [data, data, 0, 0];
  for (;;) {
    while (count < bitsOfCode) {
      if (at === blockEnd) {
        const length = bytes[at] ?? 0;
        if (length === 0) return left > 0 ? fail() : at - 1;
        blockEnd = at + 1 + length;
        at += 1;
      }
      bits |= (bytes[at++] ?? 0) << count;
      count += 8;
    }
    const code = bits & (2 ** bitsOfCode - 1);
    bits >>>= bitsOfCode;
    count -= bitsOfCode;
    if (code === clear) {
      [bitsOfCode, codes, lengthBefore] = [codeBits + 1, clear + 2, 0];
      continue;
    }
    // The code after the last one of the picture.
    if (code === clear + 1) return left > 0 ? fail() : at - 1;
    if (left <= 0) return at - 1;
    if (code > codes || (code === codes && lengthBefore === 0)) fail();
    const length = code === codes ? lengthBefore + 1 : (lengths[code] ?? 0);
    if (lengthBefore > 0 && codes < MAX_CODES) {
      lengths[codes++] = lengthBefore + 1;
      if (codes === 2 ** bitsOfCode && bitsOfCode < 12) bitsOfCode += 1;
    }
    left -= length;
    lengthBefore = length;
  }
}
