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
  const keptParts = new KeptParts(bytes);
  keptParts.keep(0, HEAD_BYTES + tableBytes(bytes[10] ?? 0));
  let hasPicture = false;
  for (const block of blocksOf(bytes)) {
    const { kind, label, start, data, end } = block;
    if (kind === PICTURE) {
      hasPicture = true;
      keepPicture(bytes, block, keptParts);
    } else if (label === CONTROL && end - data === 6) keptParts.keep(start, end);
    else if (label === APPLICATION) {
      const loop = loopOf(bytes, data);
      if (loop) keptParts.add(loop);
    }
  }
  if (!hasPicture) fail();
  keptParts.add(Uint8Array.of(END));
  return keptParts.parts;
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
function keepPicture(bytes: Bytes, block: Block, keptParts: KeptParts): void {
  const { start, data, end } = block;
  const { width, height } = placeOf(viewOf(bytes), block);
  // Some browsers show a picture without a size on the whole screen, others not at all.
  if (!width || !height) fail();
  const lastByteAt = findLastByte(bytes, data, width * height);
  let at = data;
  // The sub-block with this byte becomes shorter.
  while (at + (bytes[at] ?? 0) < lastByteAt) at += 1 + (bytes[at] ?? 0);
  if (at + (bytes[at] ?? 0) === lastByteAt && lastByteAt + 2 === end) {
    keptParts.keep(start, end);
    return;
  }
  keptParts.keep(start, at);
  keptParts.add(Uint8Array.of(lastByteAt - at));
  keptParts.keep(at + 1, lastByteAt + 1);
  keptParts.add(Uint8Array.of(0));
}

/** Returns the position of the last byte that a picture of so many pixels needs. Throws if it is not complete. */
function findLastByte(bytes: Bytes, data: number, pixels: number): number {
  const codes = new CodeReader(bytes, data);
  const table = new CodeTable(bytes[data - 1] ?? 0);
  let remainingPixels = pixels;
  for (;;) {
    const code = codes.read(table.bitsOfCode);
    // Behind the last one of the picture, there may be the code of its end, or no other one.
    if (code === undefined || code === table.end) return remainingPixels > 0 ? fail() : codes.lastByteAt;
    if (code === table.clear) {
      table.reset();
      continue;
    }
    if (remainingPixels <= 0) return codes.lastByteAt;
    remainingPixels -= table.pixelsOf(code);
  }
}

/** Reads codes from sub-blocks, the lowest bit first. */
class CodeReader {
  readonly #bytes: Bytes;
  #at: number;
  #blockEnd: number;
  // Bits that were read from the sub-blocks, and are not yet in a code.
  #bits = 0;
  #count = 0;

  constructor(bytes: Bytes, data: number) {
    this.#bytes = bytes;
    this.#at = data;
    this.#blockEnd = data;
  }

  /** Where the last byte is of which a bit was read. */
  get lastByteAt(): number {
    return this.#at - 1;
  }

  /** Returns a code of so many bits; `undefined` if the sub-blocks end before it. */
  read(bitsOfCode: number): number | undefined {
    while (this.#count < bitsOfCode) {
      if (this.#at === this.#blockEnd && !this.#enterBlock()) return undefined;
      this.#bits |= (this.#bytes[this.#at++] ?? 0) << this.#count;
      this.#count += 8;
    }
    const code = this.#bits & (2 ** bitsOfCode - 1);
    this.#bits >>>= bitsOfCode;
    this.#count -= bitsOfCode;
    return code;
  }

  /** Returns false for the one without bytes, which is the last one. */
  #enterBlock(): boolean {
    const length = this.#bytes[this.#at] ?? 0;
    if (length === 0) return false;
    this.#blockEnd = this.#at + 1 + length;
    this.#at += 1;
    return true;
  }
}

/** How many pixels the codes of a picture have (LZW): each new code has one pixel more than the one that was read before it. */
class CodeTable {
  readonly clear: number;
  readonly end: number;
  /** How many bits the next code has. */
  bitsOfCode = 0;
  readonly #firstBits: number;
  readonly #pixels: Uint16Array;
  #size = 0;
  /** Pixels of the code that was read last; zero if there was none since the last reset. */
  #lastPixels = 0;

  /** `bits`: how many bits a pixel has. */
  constructor(bits: number) {
    if (bits < 1 || bits > 11) fail();
    this.clear = 2 ** bits;
    this.end = this.clear + 1;
    this.#firstBits = bits + 1;
    this.#pixels = new Uint16Array(MAX_CODES).fill(1, 0, this.clear);
    this.reset();
  }

  reset(): void {
    this.bitsOfCode = this.#firstBits;
    this.#size = this.end + 1;
    this.#lastPixels = 0;
  }

  /** Returns the pixels of a code, and adds the next code. Throws if the table does not have this code. */
  pixelsOf(code: number): number {
    const newCode = this.#size;
    const hasLast = this.#lastPixels > 0;
    if (code > newCode || (code === newCode && !hasLast)) fail();
    const pixels = code === newCode ? this.#lastPixels + 1 : (this.#pixels[code] ?? 0);
    if (hasLast && newCode < MAX_CODES) {
      this.#pixels[newCode] = this.#lastPixels + 1;
      this.#size += 1;
      if (this.#size === 2 ** this.bitsOfCode && this.bitsOfCode < 12) this.bitsOfCode += 1;
    }
    this.#lastPixels = pixels;
    return pixels;
  }
}
