// Cleans Exif data, which has the structure of a TIFF file: a header, and directories (IFD) of entries with 12 bytes each.

import { type Bytes, fail, keepOnly, type Range, textOf, viewOf } from './bytes.ts';

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

// Tags of entries that point to another directory.
const EXIF_POINTER = 0x8769;
const GPS_POINTER = 0x8825;
const INTEROPERABILITY_POINTER = 0xa005;
const ORIENTATION = 0x112;

/**
 * The first and the last tag of each range that is kept. It lists what is kept, since cameras and apps write coordinates, place
 * names and previews into many tags, also into their own ones. Descriptions and comments may name the place, so they are left out.
 * Artist, copyright, camera, lens, software, dates, exposure and colors stay.
 */
const KEPT_TAGS = [
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
const COLOR_KIND = 0x1;

/** The tags of texts. */
const TEXTS = [
  ...[
    COLOR_KIND,
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
  KEPT_TAGS.some((first, at) => at % 2 === 0 && first <= tag && tag <= (KEPT_TAGS[at + 1] ?? 0));

/** A kind of directory. */
interface Kind {
  readonly isKept: (tag: number, size: number) => boolean;
  /** The directories to which its entries point, by tag. */
  readonly pointers: Readonly<Record<number, Kind>>;
}

/** Of coordinates, nothing is kept. */
const GPS: Kind = { isKept: () => false, pointers: {} };
const INTEROPERABILITY: Kind = { isKept: (tag, size) => tag === COLOR_KIND && size <= 4, pointers: {} };
const EXIF: Kind = { isKept: isListed, pointers: { [INTEROPERABILITY_POINTER]: INTEROPERABILITY } };
const IFD0: Kind = { isKept: isListed, pointers: { [EXIF_POINTER]: EXIF, [GPS_POINTER]: GPS } };

interface Entry {
  readonly at: number;
  readonly tag: number;
  readonly type: number;
  /** Bytes of its values. */
  readonly size: number;
  /** What the entry has: short values, or where others start. */
  readonly value: number;
  /** Where its values end; zero for short ones. */
  readonly valueEnd: number;
}

/** Returns true if the values have a type that the tag may have, or are too few to have anything else. */
function isPlain({ tag, type, size }: Entry): boolean {
  if (TEXTS.includes(tag)) return TEXT_TYPES.includes(type);
  return size <= (BYTES.includes(type) ? MAX_SINGLE_BYTES : MAX_BYTES);
}

/** Exif data with an orientation only, which is the byte at 19. */
const MINIMAL_TIFF = [77, 77, 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];

/** Returns Exif data with this orientation only; empty if the picture is upright. */
const createMinimal = (orientation: number): Bytes =>
  orientation > 1 && orientation < 9
    ? Uint8Array.from(MINIMAL_TIFF, (byte, at) => (at === 19 ? orientation : byte))
    : new Uint8Array();

/**
 * Cleans a block in place, and returns its used part. Offsets do not change. If the block is malformed, returns another one that
 * has its orientation only, or an empty one.
 */
export function cleanTiff(block: Bytes): Bytes {
  const tiff = new Tiff(block);
  try {
    if (!tiff.read()) return createMinimal(0);
    if (!tiff.zeroOthers()) return createMinimal(tiff.orientation);
  } catch {
    return createMinimal(tiff.orientation);
  }
  return tiff.shorten();
}

class Tiff {
  readonly #block: Bytes;
  readonly #view: DataView;
  readonly #isLittle: boolean;
  // Each directory is of another kind, so that nothing may overlap it.
  readonly #ranges: Range[] = [[0, 8, 1]];
  readonly #cuts: (readonly [start: number, end: number])[] = [];
  readonly #directories: { readonly start: number; readonly end: number; readonly entries: number[] }[] = [];
  #orientation = 0;
  #usedBytes = 0;
  #entriesLeft = MAX_ENTRIES;

  constructor(block: Bytes) {
    this.#block = block;
    this.#view = viewOf(block);
    this.#isLittle = block[0] === 0x49;
  }

  /** Zero if it was not read. */
  get orientation(): number {
    return this.#orientation;
  }

  /** Finds what is kept. Returns false if that is nothing. Throws if the header, IFD0 or Exif is malformed. */
  read(): boolean {
    return /II\*\0|MM\0\*/.test(textOf(this.#block, 0, 4)) && this.#readDirectory(this.#uint32(4), IFD0);
  }

  /** Zeros everything that is not kept. Returns false if something else overlaps what is kept. */
  zeroOthers(): boolean {
    if (!keepOnly(this.#block, this.#ranges)) return false;
    for (const each of this.#cuts) this.#block.fill(0, ...each);
    return true;
  }

  /** Leaves out entries that are not kept. Returns the used part. */
  shorten(): Bytes {
    const block = this.#block;
    for (const { start, end, entries } of this.#directories) {
      if (!entries.length) continue;
      let to = start + 2;
      for (const at of entries) {
        block.copyWithin(to, at, at + 12);
        to += 12;
      }
      this.#view.setUint16(start, entries.length, this.#isLittle);
      block.fill(0, to, end);
      this.#usedBytes = Math.max(this.#usedBytes, to + 4);
    }
    return block.subarray(0, this.#usedBytes);
  }

  #uint16(at: number): number {
    return this.#view.getUint16(at, this.#isLittle);
  }

  #uint32(at: number): number {
    return this.#view.getUint32(at, this.#isLittle);
  }

  /** Finds what a directory keeps. Returns false if that is nothing. Throws if the directory is malformed. */
  #readDirectory(start: number, kind: Kind): boolean {
    // Without the pointer to the next directory, which some software leaves out.
    const end = start + 2 + 12 * this.#uint16(start);
    const entries: number[] = [];
    const tags = new Set<number>();
    this.#ranges.push([start, end, kind === GPS ? -1 : 2 + this.#ranges.length]);
    for (let at = start + 2; at < end; at += 12) {
      if (this.#entriesLeft-- <= 0) fail();
      const entry = this.#entryAt(at);
      const { tag, size, value, valueEnd } = entry;
      if (tag === ORIENTATION && kind === IFD0) this.#orientation = this.#uint16(at + 8);
      const isWhole = size > 0 && valueEnd <= this.#block.length;
      const isSecond = tags.has(tag);
      const isValueKept = isWhole && kind.isKept(tag, size) && isPlain(entry) && !isSecond;
      const isKept = this.#readTarget(entry, kind) ?? isValueKept;
      if (isWhole && valueEnd && !(isSecond && isPlain(entry)))
        this.#ranges.push([value, valueEnd, isKept ? 0 : -1]);
      if (!isKept) continue;
      this.#cuts.push(this.#restOf(entry));
      tags.add(tag);
      entries.push(at);
      this.#usedBytes = Math.max(this.#usedBytes, valueEnd);
    }
    this.#directories.push({ start, end, entries });
    return entries.length > 0;
  }

  #entryAt(at: number): Entry {
    const type = this.#uint16(at + 2);
    const size = (SIZES[type] ?? 0) * this.#uint32(at + 4);
    const value = this.#uint32(at + 8);
    return { at, tag: this.#uint16(at), type, size, value, valueEnd: size > 4 ? value + size : 0 };
  }

  /** Reads the directory to which an entry points. Returns `undefined` if it points to none, and false if nothing of it is kept. */
  #readTarget({ tag, size, value }: Entry, { pointers }: Kind): boolean | undefined {
    const target = pointers[tag];
    // GPS is read only to find values that overlap it, whatever the type of its pointer.
    if (target === GPS) return this.#tryToRead(value, GPS);
    if (!target || size !== 4) return undefined;
    return target === EXIF ? this.#readDirectory(value, EXIF) : this.#tryToRead(value, target);
  }

  /** Reads a directory that programs may have left behind without its content: then, only its pointer is dropped. */
  #tryToRead(start: number, kind: Kind): boolean {
    const lists = [this.#ranges, this.#cuts, this.#directories];
    const lengths = lists.map(({ length }) => length);
    const usedBytes = this.#usedBytes;
    try {
      return this.#readDirectory(start, kind);
    } catch {
      if (this.#entriesLeft < 0) fail();
      for (const [index, list] of lists.entries()) list.length = lengths[index] ?? 0;
      this.#usedBytes = usedBytes;
      return false;
    }
  }

  /** Returns what follows the values of a kept entry up to its end. A short value is in its entry, with other bytes behind it. */
  #restOf({ at, tag, size, value, valueEnd }: Entry): readonly [start: number, end: number] {
    const [from, to] = valueEnd ? [value, valueEnd] : [at + 8, at + 12];
    return [TEXTS.includes(tag) ? this.#endOfText(tag, from, from + size) : from + size, to];
  }

  /** Returns where a text ends. Copyright is two texts, of the photographer and of the editor. */
  #endOfText(tag: number, start: number, end: number): number {
    const text = this.#block.subarray(0, end);
    const firstEnd = text.indexOf(0, start);
    const textEnd = tag === COPYRIGHT && firstEnd >= 0 ? text.indexOf(0, firstEnd + 1) : firstEnd;
    return textEnd < 0 ? end : textEnd + 1;
  }
}
