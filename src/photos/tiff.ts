// Cleans Exif data, which has the structure of a TIFF file: a header, and directories (IFD) of entries with 12 bytes each.

import { fail, keepOnly, type Range, textOf } from './bytes.ts';

/** Bytes of one value, by type. */
const SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];
const TEXT = 2;
/** The longest value that is no text: six fractions. */
const MAX_BYTES = 48;
/** The most ranges that are read. Cameras write about 100. */
const MAX_RANGES = 1000;

/** Depths of directories: IFD0, Exif, Interoperability; then GPS, of which nothing is kept. */
const GPS = 3;
const GPS_POINTER = 0x8825;
/** The tags in IFD0 and Exif that point to the next directory. */
const POINTERS = [0x8769, 0xa005];
const ORIENTATION = 0x112;

/**
 * The first and the last tag of each range that is kept. It lists what is kept, since cameras and apps write coordinates, place
 * names and previews into many tags, also into their own ones. Descriptions and comments may name the place, so they are left
 * out. Artist, copyright, camera, lens, software, dates, exposure and colors stay.
 */
const KEPT = [
  ...[0x1, 0x1, 0x10f, 0x110, ORIENTATION, ORIENTATION, 0x11a, 0x11b, 0x128, 0x128, 0x131, 0x132],
  ...[0x13b, 0x13b, 0x13e, 0x13f, 0x211, 0x214, 0x8298, 0x829d, 0x8822, 0x8822, 0x8827, 0x8827],
  ...[0x8830, 0x8835, 0x9000, 0x9012, 0x9101, 0x920a, 0x9214, 0x9214, 0x9290, 0x9292, 0xa000, 0xa003],
  ...[0xa20e, 0xa217, 0xa300, 0xa301, 0xa401, 0xa40a, 0xa40c, 0xa40c, 0xa432, 0xa434, 0xa460, 0xa461],
  ...[0xa500, 0xa500],
];

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
 * Cleans a block in place, and returns its used part. Offsets do not change. If the block is malformed, returns another one
 * that has its orientation only, or an empty one.
 */
export function cleanTiff(block: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(block.buffer, block.byteOffset, block.length);
  const isLittle = block[0] === 0x49;
  const uint16 = (at: number) => view.getUint16(at, isLittle);
  const uint32 = (at: number) => view.getUint32(at, isLittle);
  // Each directory is of another kind, so that nothing may overlap it.
  const ranges: Range[] = [[0, 8, 1]];
  const directories: { readonly start: number; readonly end: number; readonly entries: number[] }[] = [];
  let orientation = 0;
  let used = 0;

  /** Finds what a directory keeps. Returns false if that is nothing. Throws if the directory is malformed. */
  function read(start: number, depth: number): boolean {
    // Without the pointer to the next directory, which some software leaves out.
    const end = start + 2 + 12 * uint16(start);
    const entries: number[] = [];
    ranges.push([start, end, depth === GPS ? -1 : 2 + ranges.length]);
    for (let at = start + 2; at < end; at += 12) {
      if (ranges.length > MAX_RANGES) fail();
      const tag = uint16(at);
      const type = uint16(at + 2);
      const size = (SIZES[type] ?? 0) * uint32(at + 4);
      const value = uint32(at + 8);
      const valueEnd = size > 4 ? value + size : 0;
      const isWhole = size > 0 && valueEnd <= block.length;
      let isKept = isWhole && depth < GPS && isListed(tag) && (type === TEXT || size <= MAX_BYTES);
      if (tag === ORIENTATION && depth === 0) orientation = uint16(at + 8);
      if (tag === POINTERS[depth] && size === 4) isKept = read(value, depth + 1);
      // Read only to find values that overlap it.
      if (tag === GPS_POINTER && depth === 0) read(value, GPS);
      if (isWhole && valueEnd) ranges.push([value, valueEnd, isKept ? 0 : -1]);
      if (isKept) {
        entries.push(at);
        used = Math.max(used, valueEnd);
      }
    }
    directories.push({ start, end, entries });
    return entries.length > 0;
  }

  try {
    if (!/II\*\0|MM\0\*/.test(textOf(block, 0, 4)) || !read(uint32(4), 0)) return minimal(0);
    if (!keepOnly(block, ranges)) return minimal(orientation);
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
