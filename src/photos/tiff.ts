// Cleans Exif data, which has the structure of a TIFF file: a header, and directories (IFD) of entries with 12 bytes each.

import { fail, keepOnly, type Range, textOf } from './bytes.ts';

/** Bytes of one value, by type. */
const SIZES: Readonly<Record<number, number>> = {
  ...[0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4],
  129: 1,
};
/** Types of texts: bytes, ASCII, bytes of any kind, UTF-8. */
const TEXT_TYPES = [1, 2, 7, 129];
/** Types whose values have one byte, and may have any content. */
const BYTES = [1, 2, 6, 7, 129];
/** The longest values: six fractions, or four single bytes. */
const MAX_BYTES = 48;
const MAX_SINGLE_BYTES = 4;
/** The most entries that are read. Cameras write about 100. */
const MAX_ENTRIES = 1000;

/** Depths of directories: IFD0, Exif, Interoperability; then GPS, of which nothing is kept. */
const INTEROPERABILITY_DEPTH = 2;
const GPS = 3;
const GPS_POINTER = 0x8825;
/** The tags in IFD0 and Exif that point to the next directory. */
const POINTERS = [0x8769, 0xa005];
const ORIENTATION = 0x112;

/**
 * The first and the last tag of each range that is kept. It lists what is kept, since cameras and apps write coordinates, place
 * names and previews into many tags, also into their own ones. Descriptions and comments may name the place, so they are left out.
 * Artist, copyright, camera, lens, software, dates, exposure and colors stay.
 */
const KEPT = [
  ...[0x10f, 0x110, ORIENTATION, ORIENTATION, 0x11a, 0x11b, 0x128, 0x128, 0x131, 0x132],
  ...[0x13b, 0x13b, 0x13e, 0x13f, 0x211, 0x214, 0x8298, 0x829d, 0x8822, 0x8822, 0x8827, 0x8827],
  ...[
    0x8830, 0x8835, 0x9000, 0x9000, 0x9003, 0x9004, 0x9010, 0x9012, 0x9101, 0x9102, 0x9201, 0x920a, 0x9214,
    0x9214, 0x9290, 0x9292, 0xa000, 0xa003,
  ],
  ...[0xa20e, 0xa217, 0xa300, 0xa301, 0xa401, 0xa40a, 0xa40c, 0xa40c, 0xa432, 0xa434, 0xa460, 0xa461],
  ...[0xa500, 0xa500],
];

/** The kind of colors, such as `R98`: all that is kept in its directory. */
const INTEROPERABILITY = 0x1;
const isInteroperability = (tag: number, size: number) => tag === INTEROPERABILITY && size <= 4;

/** The tags of texts. */
const TEXTS = [
  ...[
    INTEROPERABILITY,
    0x10f,
    0x110,
    0x131,
    0x132,
    0x13b,
    0x8298,
    0x9003,
    0x9004,
    0x9010,
    0x9011,
    0x9012,
    0x9290,
    0x9291,
  ],
  ...[0x9292, 0xa433, 0xa434],
];
const COPYRIGHT = 0x8298;

const isListed = (tag: number) =>
  KEPT.some((first, at) => at % 2 === 0 && first <= tag && tag <= (KEPT[at + 1] ?? 0));

/** Exif data with an orientation only, which is the byte at 19. */
const MINIMAL = [77, 77, 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];

/** Returns Exif data with this orientation only; empty if the picture is upright. */
const minimal = (orientation: number): Uint8Array<ArrayBuffer> =>
  orientation > 1 && orientation < 9
    ? Uint8Array.from(MINIMAL, (byte, at) => (at === 19 ? orientation : byte))
    : new Uint8Array();

/**
 * Cleans a block in place, and returns its used part. Offsets do not change. If the block is malformed, returns another one that
 * has its orientation only, or an empty one.
 */
export function cleanTiff(block: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(block.buffer, block.byteOffset, block.length);
  const isLittle = block[0] === 0x49;
  const uint16 = (at: number) => view.getUint16(at, isLittle);
  const uint32 = (at: number) => view.getUint32(at, isLittle);
  // Each directory is of another kind, so that nothing may overlap it.
  const ranges: Range[] = [[0, 8, 1]];
  const cuts: (readonly [start: number, end: number])[] = [];
  const directories: { readonly start: number; readonly end: number; readonly entries: number[] }[] = [];
  let orientation = 0;
  let used = 0;
  let entriesLeft = MAX_ENTRIES;

  /** Returns where a text ends. Copyright is two texts, of the photographer and of the editor. */
  function endOfText(tag: number, start: number, end: number): number {
    const first = block.subarray(0, end).indexOf(0, start);
    const last = tag === COPYRIGHT && first >= 0 ? block.subarray(0, end).indexOf(0, first + 1) : first;
    return last < 0 ? end : last + 1;
  }

  /** Finds what a directory keeps. Returns false if that is nothing. Throws if the directory is malformed. */
  function read(start: number, depth: number): boolean {
    // Without the pointer to the next directory, which some software leaves out.
    const end = start + 2 + 12 * uint16(start);
    const entries: number[] = [];
    const tags = new Set<number>();
    ranges.push([start, end, depth === GPS ? -1 : 2 + ranges.length]);
    for (let at = start + 2; at < end; at += 12) {
      if (entriesLeft-- <= 0) fail();
      const tag = uint16(at);
      const type = uint16(at + 2);
      const size = (SIZES[type] ?? 0) * uint32(at + 4);
      const value = uint32(at + 8);
      const valueEnd = size > 4 ? value + size : 0;
      const isWhole = size > 0 && valueEnd <= block.length;
      const longest = BYTES.includes(type) ? MAX_SINGLE_BYTES : MAX_BYTES;
      const isText = TEXTS.includes(tag);
      const isRight = isText ? TEXT_TYPES.includes(type) : size <= longest;
      const isOwn = depth < INTEROPERABILITY_DEPTH ? isListed(tag) : isInteroperability(tag, size);
      let isKept = isWhole && depth < GPS && isOwn && isRight && !tags.has(tag);
      if (tag === ORIENTATION && depth === 0) orientation = uint16(at + 8);
      if (tag === POINTERS[depth] && size === 4)
        isKept = depth > 0 ? tryToRead(value, depth + 1) : read(value, depth + 1);
      // Read only to find values that overlap it.
      if (tag === GPS_POINTER && depth === 0) tryToRead(value, GPS);
      const isRepeated = isRight && tags.has(tag);
      if (isWhole && valueEnd && !isRepeated) ranges.push([value, valueEnd, isKept ? 0 : -1]);
      if (!isKept) continue;
      // A short value is in its entry, with other bytes behind it.
      const [from, to] = valueEnd ? [value, valueEnd] : [at + 8, at + 12];
      cuts.push([isText ? endOfText(tag, from, from + size) : from + size, to]);
      tags.add(tag);
      entries.push(at);
      used = Math.max(used, valueEnd);
    }
    directories.push({ start, end, entries });
    return entries.length > 0;
  }

  /** Reads a directory that programs may have left behind without its content: then, only its pointer is dropped. */
  function tryToRead(start: number, depth: number): boolean {
    const lengths = [ranges.length, cuts.length, directories.length] as const;
    const usedBefore = used;
    try {
      return read(start, depth);
    } catch {
      if (entriesLeft < 0) fail();
      [ranges.length, cuts.length, directories.length] = lengths;
      used = usedBefore;
      return false;
    }
  }

  try {
    if (!/II\*\0|MM\0\*/.test(textOf(block, 0, 4)) || !read(uint32(4), 0)) return minimal(0);
    if (!keepOnly(block, ranges)) return minimal(orientation);
    for (const each of cuts) block.fill(0, ...each);
  } catch {
    return minimal(orientation);
  }
  for (const { start, end, entries } of directories) {
    if (!entries.length) continue;
    let to = start + 2;
    for (const at of entries) {
      block.copyWithin(to, at, at + 12);
      to += 12;
    }
    view.setUint16(start, entries.length, isLittle);
    block.fill(0, to, end);
    used = Math.max(used, to + 4);
  }
  return block.subarray(0, used);
}
