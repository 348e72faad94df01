// HEIC files without location.

import type { Box } from './boxes.ts';
import { type Bytes, bytesOf, fail, keepOnly, type Range, textOf, viewOf } from './bytes.ts';
import { bytesOfItem, type Extents, type Heif, readHeif } from './heif.ts';
import { bytesOfLength, isNeeded, type Unit, unitsIn, unitsOfConfiguration } from './hevc.ts';
import { cleanIcc } from './icc.ts';
import { cleanTiff } from './tiff.ts';

/** Items that are pictures, or that describe how a picture is made of others. */
const PICTURES = /^(?:hvc1|grid|iovl|iden|tmap)$/;
const MAX_MEDIA = 100;
const MOST_EXIF_BYTES = 2 ** 20;
/** Type of a unit without content. */
const FILLER = 38;

/** Brands of the files that are cleaned, and of their features. */
const BRANDS =
  /^(?:hei[cxms]|hev[cxms]|mif[12]|msf1|miaf|MiHB|MiHA|MiHE|MiAn|MiPr|MiCm|tmap|unif|isom|iso[1-9]|mp4[12])$/;
/** Kinds of pictures that belong to another one. */
const KINDS = [
  'urn:mpeg:hevc:2015:auxid:\\d',
  'urn:mpeg:mpegB:cicp:systems:auxiliary:(?:alpha|depth)',
  'urn:iso:std:iso:ts:21496:-1',
  'urn:com:(?:apple|samsung|huawei):photo:[\\d:]{1,12}:aux:[A-Za-z]{1,20}',
];
const KIND = new RegExp(`^(?:${KINDS.join('|')})\0`);
/** A list with one reference: to this file. */
const SELF = bytesOf('\0\0\0\x1cdref\0\0\0\0\0\0\0\x01\0\0\0\x0curl \0\0\0\x01');

/** Lengths of the contents of boxes that are kept. Behind them, there may be anything. */
const LENGTHS: Readonly<Record<string, number>> = {
  ispe: 12,
  irot: 1,
  imir: 1,
  pasp: 8,
  clap: 32,
  lsel: 2,
  mdcv: 24,
  clli: 4,
  cclv: 32,
  amve: 8,
  // Behind the kind of the list, there are reserved bytes and a name.
  hdlr: 12,
};

/**
 * Returns a HEIC file of the same length without location: zeros replace thumbnails, metadata, names, and bytes that belong to no
 * item. Throws if the file is malformed, or has a film.
 */
export function cleanHeic(source: Bytes): Bytes {
  const heif = readHeif(source);
  const bytes = source.slice();
  const ranges: Range[] = [];
  const markFree = (at: number) => bytes.set(bytesOf('free'), at);
  if (heif.boxes.filter(({ type }) => type === 'mdat').length > MAX_MEDIA) fail();

  // Numbers of nothing could be anything.
  const isItem = (id: number) => heif.items.has(id);
  if (!heif.references.every(({ id, ids }) => [id, ...ids].every(isItem))) fail();
  if (![...heif.properties.keys(), ...heif.extents.keys()].every(isItem)) fail();
  const pictures = readPictures(heif);
  const isPicture = (id: number) => pictures.has(id);
  for (const each of heif.boxes) {
    const end = endOf(each, bytes, heif);
    // Properties have numbers, so a box can't be left out.
    if (end === undefined) markFree(each.start + 4);
    ranges.push([each.start, end ?? each.from, 0]);
  }
  // Without names.
  for (const { start, typeAt } of heif.items.values()) ranges.push([start, typeAt + 4, 0]);
  for (const { type, start, to, id, ids } of heif.references) {
    if (type === 'thmb' || !(isPicture(id) || ids.every(isPicture))) markFree(start + 4);
    // Some readers refuse references without numbers.
    ranges.push([start, to, 0]);
  }

  const { primaryId } = heif;
  const isMade = heif.references.some(({ type, id }) => type === 'dimg' && id === primaryId);
  if (!isPicture(primaryId) || !(heif.extents.get(primaryId)?.length || isMade)) fail();
  for (const [id, extents] of heif.extents) {
    const isExif = heif.items.get(id)?.type === 'Exif';
    // Exif data must not overlap other Exif data: it is written below.
    const dropped = isExif ? -2 - ranges.length : -1;
    let left = isPicture(id) ? keepPicture(id, extents) : 0;
    for (const [start, end] of extents) {
      const middle = Math.min(end, start + left);
      left -= middle - start;
      if (middle > start) ranges.push([start, middle, 0]);
      if (end > middle) ranges.push([middle, end, dropped]);
    }
  }
  if (!keepOnly(bytes, ranges)) fail();
  for (const { id, type, typeAt } of heif.items.values()) {
    // Decoders ignore items of an unknown type.
    if (!isPicture(id) && !(type === 'Exif' && writeExif(heif.extents.get(id) ?? []))) markFree(typeAt);
  }
  return bytes;

  /** Returns how many bytes of a picture its own numbers need, and empties what decoders do not read. */
  function keepPicture(id: number, extents: Extents): number {
    const content = bytesOfItem(source, extents);
    const type = heif.items.get(id)?.type ?? '';
    if (type !== 'hvc1') return Math.min(content.length, lengthOfDerived(type, content, heif, id));
    const box = heif.properties.get(id)?.find((property) => property.type === 'hvcC') ?? fail();
    const units = unitsIn(content, bytesOfLength(source.subarray(box.from, box.to)));
    if (units.some((unit) => !isNeeded(unit.type))) {
      const emptied = content.slice();
      for (const unit of units) if (!isNeeded(unit.type)) empty(emptied, unit);
      write(emptied, extents);
    }
    return units.at(-1)?.end ?? 0;
  }

  /** Writes the content of an item. */
  function write(content: Uint8Array, extents: Extents): void {
    let at = 0;
    for (const [start, end] of extents) {
      bytes.set(content.subarray(at, at + end - start), start);
      at += end - start;
    }
  }

  /** Writes cleaned Exif data. Returns false if nothing of it is kept. */
  function writeExif(extents: Extents): boolean {
    const content = bytesOfItem(source, extents);
    if (content.length < 4 || content.length > MOST_EXIF_BYTES) return false;
    // The offset of the TIFF header, which may follow the text `Exif`.
    const header = viewOf(content).getUint32(0) + 4;
    const tiff = header > 10 ? [] : cleanTiff(content.slice(header));
    if (!tiff.length || header + tiff.length > content.length) return false;
    const cleaned = new Uint8Array(content.length);
    if (header === 10) cleaned.set(bytesOf('Exif'), 4);
    cleaned.set(content.subarray(0, 4));
    cleaned.set(tiff, header);
    write(cleaned, extents);
    return true;
  }
}

/**
 * Returns the pictures without thumbnails, and without those that only thumbnails need: of which they are made, or which are their
 * transparency.
 */
function readPictures({ items, references, primaryId }: Heif): Set<number> {
  const sourcesOf = (wanted: string) => references.filter(({ type }) => type === wanted);
  const thumbnails = new Set(sourcesOf('thmb').map(({ id }) => id));
  const others = sourcesOf('auxl');
  const partsOf = new Map<number, number[]>();
  for (const { id, ids } of sourcesOf('dimg')) partsOf.set(id, [...(partsOf.get(id) ?? []), ...ids]);
  const parts = new Set([...partsOf.values(), others.map(({ id }) => id)].flat());
  const isFirst = (id: number): boolean => id === primaryId || !(thumbnails.has(id) || parts.has(id));
  const needed = new Set([...items.keys()].filter(isFirst));
  for (let size = -1; size !== needed.size; ) {
    size = needed.size;
    // The set grows while it is read.
    for (const id of needed) for (const part of partsOf.get(id) ?? []) needed.add(part);
    for (const { id, ids } of others) if (ids.some((each) => needed.has(each))) needed.add(id);
  }
  return new Set([...needed].filter((id) => PICTURES.test(items.get(id)?.type ?? '')));
}

/** Returns where the kept content of a box ends; `undefined` if nothing of it is kept. Writes what replaces names. */
function endOf(box: Box, bytes: Bytes, { ends, items }: Heif): number | undefined {
  const { type, from, to } = box;
  const length = LENGTHS[type];
  if (length !== undefined) return from + length <= to ? from + length : undefined;
  const byte = (at: number): number => (at < to ? (bytes[at] ?? fail()) : fail());
  switch (type) {
    case 'free':
    case 'skip':
    case 'wide':
    case 'mdat':
    case 'idat':
    case 'iprp':
    case 'ipco':
    case 'grpl':
      return from;
    case 'meta':
    case 'iref':
      return from + 4;
    case 'altr':
    case 'ster':
    case 'eqiv':
      return endOfGroup(box, bytes, items);
    case 'iinf':
      return from + (byte(from) ? 8 : 6);
    case 'pitm':
    case 'iloc':
    case 'ipma':
      return ends.get(box);
    case 'ftyp':
      return endOfBrands(box, bytes);
    case 'pixi':
      // Bits of each channel, of at most four.
      return byte(from + 4) <= 4 ? Math.min(to, from + 5 + byte(from + 4)) : undefined;
    case 'colr':
      return endOfColors(box, bytes);
    case 'auxC': {
      // Each such picture needs one. An unknown kind becomes empty.
      const [kind] = KIND.exec(textOf(bytes, from + 4, Math.min(to, from + 104))) ?? [];
      bytes.fill(0, from + 4 + (kind?.length ?? 0), to);
      return Math.min(to, from + 4 + (kind?.length ?? 1));
    }
    case 'hvcC':
      return endOfParameters(box, bytes);
    case 'dinf':
      return SELF.every((value, at) => bytes[from + at] === value) && to - from === SELF.length
        ? to
        : undefined;
    default:
      return undefined;
  }
}

/** Replaces brands that are not known by the first one, and the version by zero. */
function endOfBrands({ from, to }: Box, bytes: Bytes): number {
  if (to - from < 8 || (to - from) % 4 > 0) fail();
  const first = bytes.slice(from, from + 4);
  bytes.fill(0, from + 4, from + 8);
  for (let at = from + 8; at < to; at += 4) if (!BRANDS.test(textOf(bytes, at, at + 4))) bytes.set(first, at);
  return to;
}

/** Browsers ignore a color profile that is malformed. */
function endOfColors({ from, to }: Box, bytes: Bytes): number | undefined {
  const kind = textOf(bytes, from, from + 4);
  if (kind === 'nclx') return from + 11 <= to ? from + 11 : undefined;
  const length = /^(?:prof|rICC)$/.test(kind) ? cleanIcc(bytes.subarray(from + 4, to)) : 0;
  return length > 0 ? from + 4 + length : undefined;
}

/** Returns where the parameters of a decoder end, and empties those that it does not read. */
function endOfParameters({ from, to }: Box, bytes: Bytes): number {
  const configuration = bytes.subarray(from, to);
  const { units, end } = unitsOfConfiguration(configuration);
  for (const unit of units) if (!isNeeded(unit.type)) empty(configuration, unit);
  return from + end;
}

/** Makes a unit one of filler data (38), which decoders skip. */
function empty(bytes: Uint8Array, { start, end }: Unit): void {
  bytes.fill(0xff, start, end);
  bytes.set([FILLER << 1, 1], start);
  if (end > start + 2) bytes[end - 1] = 0x80;
}

/** Returns where a group of items ends: pictures that belong together. */
function endOfGroup({ from, to }: Box, bytes: Bytes, items: Heif['items']): number | undefined {
  const view = viewOf(bytes);
  const end = from + 12 + 4 * view.getUint32(from + 8);
  if (end > to) return undefined;
  for (let at = from + 12; at < end; at += 4) if (!items.has(view.getUint32(at))) return undefined;
  return end;
}

/** Returns how many bytes the content of a picture needs that is made of others. */
function lengthOfDerived(type: string, content: Bytes, { references }: Heif, id: number): number {
  const edge = ((content[1] ?? 0) & 1) === 1 ? 4 : 2;
  const parts = references.filter((each) => each.type === 'dimg' && each.id === id).flatMap(({ ids }) => ids);
  const lengths: Readonly<Record<string, number>> = {
    grid: 4 + 2 * edge,
    // The color of the background, the size, and the place of each part.
    iovl: 10 + 2 * edge + 2 * edge * parts.length,
    // ISO 21496-1: versions, flags, two ranges, and five fractions for one or three channels.
    tmap: 22 + 40 * ((content[5] ?? 0) & 0x80 ? 3 : 1),
  };
  return lengths[type] ?? 0;
}
