// Reads HEIC and AVIF files, which consist of boxes: `meta` lists the items (pictures, Exif data, XMP) and their properties; `mdat`
// and `idat` have the bytes of the items. ISO/IEC 23008-12 (HEIF), and 14496-12 for the boxes.

import { BOX_HEAD_BYTES, type Box, boxAt } from './boxes.ts';
import { type Bytes, countTo, fail, textOf } from './bytes.ts';

/** Where the bytes of an item are: start and end of each part. */
export type Extents = readonly (readonly [number, number])[];

export interface Item {
  readonly id: number;
  readonly type: string;
  /** Where its description starts, and where its type is in it. */
  readonly start: number;
  readonly typeAt: number;
}

/** A reference of one item to others, such as `thmb` and `dimg`. */
export interface Reference extends Box {
  readonly id: number;
  readonly ids: readonly number[];
}

export interface Heif {
  /** All boxes in the order of the file, those in `meta` too. */
  readonly boxes: readonly Box[];
  readonly items: ReadonlyMap<number, Item>;
  readonly primaryId: number;
  readonly references: readonly Reference[];
  readonly extents: ReadonlyMap<number, Extents>;
  /** Properties of items. */
  readonly properties: ReadonlyMap<number, readonly Box[]>;
  /** Where the content of boxes ends by their own numbers. Behind it, there may be anything. */
  readonly ends: ReadonlyMap<Box, number>;
}

const UNIQUE_TYPES = /^(?:meta|pitm|iinf|iref|iloc|idat|iprp|ipco)$/;
const PARENT_TYPES = /^(?:meta|iprp|ipco|grpl)$/;
/** The most properties of items, and numbers in all references. */
const MAX_NUMBERS = 20_000;
/** How many items may have the same bytes, on average. */
const MOST_SHARED = 2;

/** Reads a file. Throws if it is malformed, has a film, or items that are in another file. */
export function readHeif(source: Bytes): Heif {
  const boxes: Box[] = [];
  const uniqueBoxes = new Map<string, Box>();
  const ends = new Map<Box, number>();
  const properties: Box[] = [];
  const countBox = countTo();

  /** Throws if the integer is not within the file. */
  function uint(at: number, size: number): number {
    let value = 0;
    for (let position = at; position < at + size; position++)
      value = value * 256 + (source[position] ?? fail());
    return value;
  }

  const box = (type: string): Box => uniqueBoxes.get(type) ?? fail();

  /** At the end of the file, readers ignore bytes that are too few for a box. */
  function* boxesIn(from: number, to: number): Generator<Box> {
    for (let start = from; start < (to === source.length ? to - 7 : to); ) {
      countBox();
      const nextBox = boxAt(source.subarray(start, start + BOX_HEAD_BYTES), start, to) ?? fail();
      yield nextBox;
      start = nextBox.to;
    }
  }

  function readBoxes(from: number, to: number, parent?: string): void {
    for (const each of boxesIn(from, to)) {
      const { type } = each;
      if (/^(?:moov|moof)$/.test(type) || (UNIQUE_TYPES.test(type) && uniqueBoxes.has(type))) fail();
      uniqueBoxes.set(type, each);
      boxes.push(each);
      if (parent === 'ipco') properties.push(each);
      if (PARENT_TYPES.test(type)) readBoxes(each.from + (type === 'meta' ? 4 : 0), each.to, type);
    }
  }

  /** Returns a function that reads the next integer of a box. */
  function reader({ from, to }: Box, start = from): { readUint(size: number): number; readonly at: number } {
    let at = start;
    return {
      readUint(size) {
        at += size;
        if (at > to) fail();
        return uint(at - size, size);
      },
      get at() {
        return at;
      },
    };
  }

  function readItems(): Map<number, Item> {
    const { from, to } = box('iinf');
    const items = new Map<number, Item>();
    for (const item of boxesIn(from + (uint(from, 1) ? 8 : 6), to)) {
      const version = uint(item.from, 1);
      const idSize = version === 2 ? 2 : 4;
      const id = uint(item.from + 4, idSize);
      const typeAt = item.from + 6 + idSize;
      // Two items with one number could pass Exif data off as a picture.
      if (item.type !== 'infe' || version < 2 || items.has(id) || typeAt + 4 > item.to) fail();
      items.set(id, { id, type: textOf(source, typeAt, typeAt + 4), start: item.start, typeAt });
    }
    return items;
  }

  function readReferences(): Reference[] {
    const list = uniqueBoxes.get('iref');
    if (!list) return [];
    const idSize = uint(list.from, 1) ? 4 : 2;
    const count = countTo(MAX_NUMBERS);
    return [...boxesIn(list.from + 4, list.to)].map((each) => {
      const { readUint } = reader(each);
      const id = readUint(idSize);
      const ids = Array.from({ length: readUint(2) }, () => {
        count();
        return readUint(idSize);
      });
      // Other bytes behind the last number could be anything.
      if (each.from + idSize * (1 + ids.length) + 2 !== each.to) fail();
      return { ...each, id, ids };
    });
  }

  function readExtents(): Map<number, Extents> {
    const list = box('iloc');
    const media = boxes.filter(({ type }) => type === 'mdat' || type === 'idat');
    const extentsOf = new Map<number, Extents>();
    const count = countTo();
    // Otherwise, a small file could have very many items of much data.
    let remainingBytes = MOST_SHARED * source.length;
    const version = uint(list.from, 1);
    const sizes = uint(list.from + 4, 2);
    const idSize = version === 2 ? 4 : 2;
    const numbers = reader(list, list.from + 6);
    const { readUint } = numbers;
    for (let items = readUint(idSize); items > 0; items--) {
      const id = readUint(idSize);
      const method = version ? readUint(2) & 15 : 0;
      // The bytes are in another file, or in another item.
      if (readUint(2) || method > 1 || extentsOf.has(id)) fail();
      const base = readUint((sizes >> 4) & 15) + (method ? box('idat').from : 0);
      const extents: [number, number][] = [];
      for (let parts = readUint(2); parts > 0; parts--) {
        count();
        if (version) readUint(sizes & 15);
        const start = base + readUint(sizes >> 12);
        const end = start + readUint((sizes >> 8) & 15);
        // Zero is the rest of the file.
        if (start >= end || !media.some((part) => part.from <= start && end <= part.to)) fail();
        remainingBytes -= end - start;
        if (remainingBytes < 0) fail();
        extents.push([start, end]);
      }
      extentsOf.set(id, extents);
    }
    ends.set(list, numbers.at);
    return extentsOf;
  }

  function readProperties(): Map<number, Box[]> {
    const count = countTo(MAX_NUMBERS);
    const propertiesOf = new Map<number, Box[]>();
    for (const list of boxes) if (list.type === 'ipma') readList(list);
    return propertiesOf;

    function readList(list: Box): void {
      const [version, isLong] = [uint(list.from, 1), uint(list.from + 3, 1) & 1];
      const numbers = reader(list, list.from + 4);
      const { readUint } = numbers;
      for (let remainingItems = readUint(4); remainingItems > 0; remainingItems--) {
        count();
        const id = readUint(version ? 4 : 2);
        const propertyNumbers = Array.from({ length: readUint(1) }, () => {
          count();
          // The highest bit says that the property is essential.
          return readUint(isLong ? 2 : 1) & (isLong ? 0x7fff : 0x7f);
        });
        const itemProperties = propertyNumbers
          .filter((number) => number > 0)
          .map((number) => properties[number - 1] ?? fail());
        propertiesOf.set(id, [...(propertiesOf.get(id) ?? []), ...itemProperties]);
      }
      ends.set(list, numbers.at);
    }
  }

  readBoxes(0, source.length);
  const primary = box('pitm');
  const idSize = uint(primary.from, 1) ? 4 : 2;
  ends.set(primary, primary.from + 4 + idSize);
  return {
    boxes,
    items: readItems(),
    primaryId: uint(primary.from + 4, idSize),
    references: readReferences(),
    extents: readExtents(),
    properties: readProperties(),
    ends,
  };
}

/** Returns the bytes of an item. */
export function bytesOfItem(source: Bytes, extents: Extents): Bytes {
  const [firstExtent] = extents;
  if (extents.length === 1 && firstExtent) return source.subarray(...firstExtent);
  const bytes = new Uint8Array(extents.reduce((sum, [start, end]) => sum + end - start, 0));
  let at = 0;
  for (const [start, end] of extents) {
    bytes.set(source.subarray(start, end), at);
    at += end - start;
  }
  return bytes;
}
