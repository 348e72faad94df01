// HEIC files consist of boxes: `meta` lists the items (pictures, Exif data, XMP), `mdat` and `idat` have the bytes of the items.

import { fail, keepOnly, type Range, textOf } from './bytes.ts';
import { cleanTiff } from './tiff.ts';

/** Where the bytes of an item are: start and end of each part. */
type Extents = readonly (readonly [number, number])[];

interface Box {
  readonly type: string;
  readonly start: number;
  /** Where its content starts. */
  readonly from: number;
  readonly to: number;
}

/** Boxes that are kept: the structure of the file, and properties of pictures. Any other box may have metadata. */
const KEPT = new RegExp(
  'ftyp|hdlr|dinf|pitm|iinf|iref|iloc|grpl|ipma|hvcC|lhvC|ispe|colr|pixi|irot|imir|pasp|clap|auxC|lsel|' +
    'tols|oinf|mdcv|clli|cclv|amve',
);
const UNIQUE = /meta|pitm|iinf|iref|iloc|idat/;
/** Items that are pictures, or that describe how a picture is made of others. */
const PICTURES = /hvc1|lhv1|grid|iovl|iden|tmap/;
const MAX_MEDIA = 100;

/**
 * Returns a HEIC file of the same length without location: zeros replace thumbnails, metadata, and bytes that belong to no item.
 * Returns `source` if it has nothing of that. Throws if the file is malformed, or has a film.
 */
export function cleanHeic(source: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = source.slice();
  const ranges: Range[] = [];
  const media: Box[] = [];
  const boxes = new Map<string, Box>();

  /** Throws if the integer is not within the file. */
  function uint(at: number, size: number): number {
    let value = 0;
    for (let next = at; next < at + size; next++) value = value * 256 + (source[next] ?? fail());
    return value;
  }

  const markFree = (at: number) => bytes.set([0x66, 0x72, 0x65, 0x65], at);
  const box = (type: string): Box => boxes.get(type) ?? fail();

  function* boxesIn(from: number, to: number): Generator<Box> {
    for (let start = from, end = 0; start < to; start = end) {
      const size = uint(start, 4);
      const header = size === 1 ? 16 : 8;
      // Zero is the rest of the file.
      end = size ? start + (size === 1 ? uint(start + 8, 8) : size) : to;
      if (end < start + header || end > to) fail();
      yield { type: textOf(source, start + 4, start + 8), start, from: start + header, to: end };
    }
  }

  function keepBoxes(from: number, to: number): void {
    for (const each of boxesIn(from, to)) {
      const { type, start } = each;
      let end = each.from;
      if (/moov|moof/.test(type) || (UNIQUE.test(type) && boxes.has(type))) fail();
      boxes.set(type, each);
      if (/meta|iprp|ipco/.test(type)) {
        if (type === 'meta') end += 4;
        keepBoxes(end, each.to);
      } else if (/mdat|idat/.test(type)) media.push(each);
      else if (KEPT.test(type)) end = each.to;
      // Properties have numbers, so a box can't be left out.
      else if (!/free|skip|wide/.test(type)) markFree(start + 4);
      ranges.push([start, end, 0]);
    }
  }

  /** Returns where the type of each item is. */
  function readItems(): Map<number, number> {
    const { from, to } = box('iinf');
    const items = new Map<number, number>();
    for (const item of boxesIn(from + (uint(from, 1) ? 8 : 6), to)) {
      const version = uint(item.from, 1);
      const idSize = version === 2 ? 2 : 4;
      const id = uint(item.from + 4, idSize);
      // Two items with one number could pass Exif data off as a picture.
      if (item.type !== 'infe' || version < 2 || items.has(id)) fail();
      items.set(id, item.from + 6 + idSize);
    }
    return items;
  }

  /** Returns the thumbnails, and the tiles of which only thumbnails are made. */
  function readThumbnails(): Set<number> {
    const thumbnails = new Set<number>();
    const needed: number[] = [];
    const list = boxes.get('iref');
    if (!list) return thumbnails;
    const idSize = uint(list.from, 1) ? 4 : 2;
    // References have no order, so those of thumbnails are read before those to tiles.
    for (const wanted of ['thmb', 'dimg']) {
      for (const { type, start, from, to } of boxesIn(list.from + 4, list.to)) {
        if (type !== wanted) continue;
        const id = uint(from, idSize);
        if (type === 'thmb') {
          thumbnails.add(id);
          markFree(start + 4);
          continue;
        }
        const isThumbnail = thumbnails.has(id);
        for (let at = from + idSize + 2; at < to; at += idSize) {
          if (isThumbnail) thumbnails.add(uint(at, idSize));
          else needed.push(uint(at, idSize));
        }
      }
    }
    for (const id of needed) thumbnails.delete(id);
    return thumbnails;
  }

  /** Calls `each` with every item and the ranges of its bytes. */
  function readLocations(each: (id: number, extents: Extents) => void): void {
    const { from, to } = box('iloc');
    const version = uint(from, 1);
    const sizes = uint(from + 4, 2);
    const idSize = version === 2 ? 4 : 2;
    let at = from + 6;
    function next(size: number): number {
      at += size;
      return uint(at - size, size);
    }
    for (let left = next(idSize); left > 0; left--) {
      const id = next(idSize);
      const method = version ? next(2) & 15 : 0;
      // The bytes are in another file, or in another item.
      if (next(2) || method > 1) fail();
      const base = next((sizes >> 4) & 15) + (method ? box('idat').from : 0);
      const extents: [number, number][] = [];
      for (let count = next(2); count > 0; count--) {
        if (version) next(sizes & 15);
        const start = base + next(sizes >> 12);
        const end = start + next((sizes >> 8) & 15);
        // Zero is the rest of the file.
        if (start >= end || !media.some((part) => part.from <= start && end <= part.to)) fail();
        extents.push([start, end]);
      }
      each(id, extents);
    }
    if (at > to) fail();
  }

  /** Writes cleaned Exif data. Returns false if nothing of it is kept. */
  function writeExif(extents: Extents): boolean {
    const content = extents.flatMap(([start, end]) => [...source.subarray(start, end)]);
    // The offset of the TIFF header, which may follow the text `Exif`.
    const header = content.slice(0, 4).reduce((value, byte) => value * 256 + byte, 0) + 4;
    const tiff = header > 10 ? [] : cleanTiff(Uint8Array.from(content.slice(header)));
    if (!tiff.length || header + tiff.length > content.length) return false;
    const cleaned = [...content.slice(0, header), ...tiff];
    let next = 0;
    for (const [start, end] of extents) for (let at = start; at < end; at++) bytes[at] = cleaned[next++] ?? 0;
    return true;
  }

  keepBoxes(0, bytes.length);
  if (media.length > MAX_MEDIA) fail();
  const items = readItems();
  const thumbnails = readThumbnails();
  const primary = box('pitm').from;
  const primaryId = uint(primary + 4, uint(primary, 1) ? 4 : 2);
  const typeOf = (at = 0) => textOf(source, at, at + 4);
  const isPicture = (id: number) => PICTURES.test(typeOf(items.get(id))) && !thumbnails.has(id);
  const located = new Map<number, Extents>();
  let hasPrimary = false;
  readLocations((id, extents) => {
    const isExif = typeOf(items.get(id)) === 'Exif';
    if (located.has(id)) fail();
    located.set(id, extents);
    if (id === primaryId) hasPrimary = isPicture(id) && extents.length > 0;
    for (const [start, end] of extents) {
      // Exif data must not overlap other Exif data: it is written below.
      const dropped = isExif ? -2 - ranges.length : -1;
      ranges.push([start, end, isPicture(id) ? 0 : dropped]);
    }
  });
  if (!hasPrimary || !keepOnly(bytes, ranges)) fail();
  for (const [id, at] of items) {
    // Decoders ignore items of an unknown type.
    const isExif = typeOf(at) === 'Exif';
    if (!isPicture(id) && !(isExif && writeExif(located.get(id) ?? []))) markFree(at);
  }
  return bytes;
}
