// HEIC files without location.

import { type Bytes, bytesOf, fail, keepOnly, type Range, viewOf } from './bytes.ts';
import { emptyUnits, endOfContent } from './heic-boxes.ts';
import { bytesOfItem, type Extents, type Heif, readHeif } from './heif.ts';
import { bytesOfLength, isNeeded, unitsIn } from './hevc.ts';
import { cleanTiff } from './tiff.ts';

/** Items that are pictures, or that describe how a picture is made of others. */
const PICTURES = /^(?:hvc1|grid|iovl|iden|tmap)$/;
const MAX_MEDIA = 100;
const MOST_EXIF_BYTES = 2 ** 20;

/**
 * Returns a HEIC file of the same length without location: zeros replace thumbnails, metadata, names, and bytes that belong to no
 * item. Throws if the file is malformed, or has a film.
 */
export function cleanHeic(source: Bytes): Bytes {
  const heif = readHeif(source);
  checkNumbers(heif);
  const pictures = readPictures(heif);
  checkPrimary(heif, pictures);
  return new HeicCopy(source, heif, pictures).clean();
}

/** Throws if there are numbers of nothing, which could be anything, or very many boxes with media. */
function checkNumbers({ boxes, items, references, properties, extents }: Heif): void {
  if (boxes.filter(({ type }) => type === 'mdat').length > MAX_MEDIA) fail();
  const isItem = (id: number) => items.has(id);
  if (!references.every(({ id, ids }) => [id, ...ids].every(isItem))) fail();
  if (![...properties.keys(), ...extents.keys()].every(isItem)) fail();
}

/** Throws if the primary item is no picture, or has neither content nor pictures of which it is made. */
function checkPrimary({ primaryId, references, extents }: Heif, pictures: ReadonlySet<number>): void {
  const isDerived = references.some(({ type, id }) => type === 'dimg' && id === primaryId);
  if (!pictures.has(primaryId) || !(extents.get(primaryId)?.length || isDerived)) fail();
}

/** The copy of a file, in which other bytes replace what is not kept. */
class HeicCopy {
  readonly #source: Bytes;
  readonly #heif: Heif;
  readonly #pictures: ReadonlySet<number>;
  readonly #bytes: Bytes;
  readonly #ranges: Range[] = [];

  constructor(source: Bytes, heif: Heif, pictures: ReadonlySet<number>) {
    this.#source = source;
    this.#heif = heif;
    this.#pictures = pictures;
    this.#bytes = source.slice();
  }

  /** Returns the bytes of the copy. Throws if something else overlaps what is kept. */
  clean(): Bytes {
    this.#keepBoxes();
    this.#keepDescriptions();
    this.#keepReferences();
    this.#keepExtents();
    if (!keepOnly(this.#bytes, this.#ranges)) fail();
    this.#replaceItems();
    return this.#bytes;
  }

  /** Replaces the type of a box or of an item: readers ignore it then. */
  #markFree(at: number): void {
    this.#bytes.set(bytesOf('free'), at);
  }

  #keepBoxes(): void {
    for (const box of this.#heif.boxes) {
      const end = endOfContent(box, this.#bytes, this.#heif);
      // Properties have numbers, so a box can't be left out.
      if (end === undefined) this.#markFree(box.start + 4);
      this.#ranges.push([box.start, end ?? box.from, 0]);
    }
  }

  /** Keeps the descriptions of items without their names. */
  #keepDescriptions(): void {
    for (const { start, typeAt } of this.#heif.items.values()) this.#ranges.push([start, typeAt + 4, 0]);
  }

  #keepReferences(): void {
    const isPicture = (id: number) => this.#pictures.has(id);
    for (const { type, start, to, id, ids } of this.#heif.references) {
      if (type === 'thmb' || !(isPicture(id) || ids.every(isPicture))) this.#markFree(start + 4);
      // Some readers refuse references without numbers.
      this.#ranges.push([start, to, 0]);
    }
  }

  #keepExtents(): void {
    for (const [id, extents] of this.#heif.extents) {
      const isExif = this.#heif.items.get(id)?.type === 'Exif';
      // Exif data must not overlap other Exif data: it is written after the others were zeroed.
      const otherKind = isExif ? -2 - this.#ranges.length : -1;
      let remainingBytes = this.#pictures.has(id) ? this.#keepPicture(id, extents) : 0;
      for (const [start, end] of extents) {
        const keptEnd = Math.min(end, start + remainingBytes);
        remainingBytes -= keptEnd - start;
        if (keptEnd > start) this.#ranges.push([start, keptEnd, 0]);
        if (end > keptEnd) this.#ranges.push([keptEnd, end, otherKind]);
      }
    }
  }

  /** Returns how many bytes of a picture its own numbers need, and empties what decoders do not read. */
  #keepPicture(id: number, extents: Extents): number {
    const content = bytesOfItem(this.#source, extents);
    const type = this.#heif.items.get(id)?.type ?? '';
    if (type !== 'hvc1') return Math.min(content.length, lengthOfDerived(type, content, this.#heif, id));
    const box = this.#heif.properties.get(id)?.find((property) => property.type === 'hvcC') ?? fail();
    const units = unitsIn(content, bytesOfLength(this.#source.subarray(box.from, box.to)));
    if (units.some((unit) => !isNeeded(unit.type))) {
      const emptiedContent = content.slice();
      emptyUnits(emptiedContent, units);
      this.#write(emptiedContent, extents);
    }
    return units.at(-1)?.end ?? 0;
  }

  /** Writes Exif data without location. All other items but pictures get a type that decoders ignore. */
  #replaceItems(): void {
    for (const { id, type, typeAt } of this.#heif.items.values()) {
      if (this.#pictures.has(id)) continue;
      if (type === 'Exif' && this.#writeExif(this.#heif.extents.get(id) ?? [])) continue;
      this.#markFree(typeAt);
    }
  }

  /** Writes cleaned Exif data. Returns false if nothing of it is kept. */
  #writeExif(extents: Extents): boolean {
    const content = bytesOfItem(this.#source, extents);
    if (content.length < 4 || content.length > MOST_EXIF_BYTES) return false;
    // The offset of the TIFF header, which may follow the text `Exif`.
    const header = viewOf(content).getUint32(0) + 4;
    const tiff = header > 10 ? [] : cleanTiff(content.slice(header));
    if (!tiff.length || header + tiff.length > content.length) return false;
    const cleanedContent = new Uint8Array(content.length);
    if (header === 10) cleanedContent.set(bytesOf('Exif'), 4);
    cleanedContent.set(content.subarray(0, 4));
    cleanedContent.set(tiff, header);
    this.#write(cleanedContent, extents);
    return true;
  }

  /** Writes the content of an item. */
  #write(content: Uint8Array, extents: Extents): void {
    let at = 0;
    for (const [start, end] of extents) {
      this.#bytes.set(content.subarray(at, at + end - start), start);
      at += end - start;
    }
  }
}

/**
 * Returns the pictures without thumbnails, and without those that only thumbnails need: of which they are made, or which are their
 * transparency.
 */
function readPictures({ items, references, primaryId }: Heif): Set<number> {
  const sourcesOf = (referenceType: string) => references.filter(({ type }) => type === referenceType);
  const thumbnails = new Set(sourcesOf('thmb').map(({ id }) => id));
  const auxiliaryReferences = sourcesOf('auxl');
  const partsOf = new Map<number, number[]>();
  for (const { id, ids } of sourcesOf('dimg')) partsOf.set(id, [...(partsOf.get(id) ?? []), ...ids]);
  const parts = new Set([...partsOf.values(), auxiliaryReferences.map(({ id }) => id)].flat());
  const isFirst = (id: number): boolean => id === primaryId || !(thumbnails.has(id) || parts.has(id));
  const neededIds = new Set([...items.keys()].filter(isFirst));
  for (let size = -1; size !== neededIds.size; ) {
    size = neededIds.size;
    // The set grows while it is read.
    for (const id of neededIds) for (const part of partsOf.get(id) ?? []) neededIds.add(part);
    for (const { id, ids } of auxiliaryReferences)
      if (ids.some((each) => neededIds.has(each))) neededIds.add(id);
  }
  return new Set([...neededIds].filter((id) => PICTURES.test(items.get(id)?.type ?? '')));
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
