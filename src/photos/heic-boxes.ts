// What is kept of the boxes of a HEIC file. ISO/IEC 23008-12 (HEIF), and 14496-12 for the boxes.

import type { Box } from './boxes.ts';
import { type Bytes, bytesOf, fail, textOf, viewOf } from './bytes.ts';
import type { Heif } from './heif.ts';
import { isNeeded, type Unit, unitsOfConfiguration } from './hevc.ts';
import { cleanIcc } from './icc.ts';

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
const SELF_REFERENCE = bytesOf('\0\0\0\x1cdref\0\0\0\0\0\0\0\x01\0\0\0\x0curl \0\0\0\x01');

/** Returns where the kept content of a box ends; `undefined` if nothing of it is kept. Writes what replaces names. */
type EndOf = (box: Box, bytes: Bytes, heif: Heif) => number | undefined;

/** Returns a byte of a box. Throws behind its end. */
const byteOf = ({ to }: Box, bytes: Bytes, at: number): number => (at < to ? (bytes[at] ?? fail()) : fail());

/** The content has this length. Behind it, there may be anything. */
const endOfLength =
  (length: number): EndOf =>
  ({ from, to }) =>
    from + length <= to ? from + length : undefined;
/** Nothing, or other boxes, which are kept on their own. */
const endBeforeContent: EndOf = ({ from }) => from;
/** Version and flags, and then other boxes. */
const endOfVersion: EndOf = ({ from }) => from + 4;
/** The end by the numbers of the box, which `readHeif` has read. */
const endByNumbers: EndOf = (box, _bytes, { ends }) => ends.get(box);

/** What is kept of each type of box. All others are metadata, or of other software. */
const BOXES: Readonly<Record<string, EndOf>> = {
  ftyp: endOfBrands,
  free: endBeforeContent,
  skip: endBeforeContent,
  wide: endBeforeContent,
  mdat: endBeforeContent,

  meta: endOfVersion,
  // Behind the kind of the list, there are reserved bytes and a name.
  hdlr: endOfLength(12),
  dinf: endOfSources,
  idat: endBeforeContent,
  iinf: (box, bytes) => box.from + (byteOf(box, bytes, box.from) ? 8 : 6),
  iloc: endByNumbers,
  iref: endOfVersion,
  pitm: endByNumbers,

  grpl: endBeforeContent,
  altr: endOfGroup,
  eqiv: endOfGroup,
  ster: endOfGroup,

  iprp: endBeforeContent,
  ipco: endBeforeContent,
  ipma: endByNumbers,
  amve: endOfLength(8),
  auxC: endOfAuxiliary,
  cclv: endOfLength(32),
  clap: endOfLength(32),
  clli: endOfLength(4),
  colr: endOfColors,
  hvcC: endOfParameters,
  imir: endOfLength(1),
  irot: endOfLength(1),
  ispe: endOfLength(12),
  lsel: endOfLength(2),
  mdcv: endOfLength(24),
  pasp: endOfLength(8),
  pixi: endOfChannels,
};

export const endOfContent: EndOf = (box, bytes, heif) => BOXES[box.type]?.(box, bytes, heif);

/** Files may have one source: themselves. */
function endOfSources({ from, to }: Box, bytes: Bytes): number | undefined {
  return SELF_REFERENCE.every((value, at) => bytes[from + at] === value) &&
    to - from === SELF_REFERENCE.length
    ? to
    : undefined;
}

/** Bits of each channel, of at most four. */
function endOfChannels(box: Box, bytes: Bytes): number | undefined {
  const { from, to } = box;
  const channels = byteOf(box, bytes, from + 4);
  return channels <= 4 ? Math.min(to, from + 5 + channels) : undefined;
}

/** Each picture that belongs to another one needs a kind. An unknown kind becomes empty. */
function endOfAuxiliary({ from, to }: Box, bytes: Bytes): number {
  const [kind] = KIND.exec(textOf(bytes, from + 4, Math.min(to, from + 104))) ?? [];
  bytes.fill(0, from + 4 + (kind?.length ?? 0), to);
  return Math.min(to, from + 4 + (kind?.length ?? 1));
}

/** Replaces brands that are not known by the first one, and the version by zero. */
function endOfBrands({ from, to }: Box, bytes: Bytes): number {
  if (to - from < 8 || (to - from) % 4 > 0) fail();
  const firstBrand = bytes.slice(from, from + 4);
  bytes.fill(0, from + 4, from + 8);
  for (let at = from + 8; at < to; at += 4)
    if (!BRANDS.test(textOf(bytes, at, at + 4))) bytes.set(firstBrand, at);
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
  emptyUnits(configuration, units);
  return from + end;
}

/** Makes units that decoders do not read ones of filler data (38), which they skip. */
export function emptyUnits(bytes: Uint8Array, units: readonly Unit[]): void {
  for (const { type, start, end } of units) {
    if (isNeeded(type)) continue;
    bytes.fill(0xff, start, end);
    bytes.set([FILLER << 1, 1], start);
    if (end > start + 2) bytes[end - 1] = 0x80;
  }
}

/** Returns where a group of items ends: pictures that belong together. */
function endOfGroup({ from, to }: Box, bytes: Bytes, { items }: Heif): number | undefined {
  const view = viewOf(bytes);
  const end = from + 12 + 4 * view.getUint32(from + 8);
  if (end > to) return undefined;
  for (let at = from + 12; at < end; at += 4) if (!items.has(view.getUint32(at))) return undefined;
  return end;
}
