// JPEG files without location.

import { type Bytes, bytesOf, fail, KeptParts, textOf } from './bytes.ts';
import { cleanIcc } from './icc.ts';
import { END, HUFFMAN, QUANTIZATION, RESTART_INTERVAL, readJpeg, SCAN, type Segment } from './jpeg-parts.ts';
import { ScanReader } from './jpeg-scan.ts';
import { cleanTiff } from './tiff.ts';

const ICC = 'ICC_PROFILE\0';
const ADOBE = 0xee;
/** Marker, length, name, number of this segment and of all segments with a part of the profile. */
const ICC_HEAD_BYTES = 4 + ICC.length + 2;
/** The most bytes of a profile in a segment. */
const ICC_PART_BYTES = 65535 - (ICC_HEAD_BYTES - 2);

/** Returns the length of a table by its content. A longer segment could have anything else. */
function lengthOf(table: Uint8Array, marker: number): number {
  const byte = (at: number) => table[at] ?? 0;
  if (marker === SCAN) return 8 + 2 * byte(4);
  if (marker > QUANTIZATION && marker <= RESTART_INTERVAL) return 6;
  if (marker !== QUANTIZATION) return 10 + 3 * byte(9);
  let at = 4;
  while (at < table.length) at += byte(at) < 16 ? 65 : 129;
  return at;
}

const createSegment = (marker: number, ...content: (Uint8Array | readonly number[])[]): Bytes => {
  const length = content.reduce((sum, part) => sum + part.length, 2);
  const bytes = new Uint8Array(2 + length);
  bytes.set([0xff, marker, length >> 8, length & 0xff]);
  let at = 4;
  for (const part of content) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** Returns what is kept of an application segment. */
function cleanSegment(bytes: Bytes, marker: number): Bytes | undefined {
  const name = textOf(bytes, 4, 10);
  if (marker === 0xe0 && name.startsWith('JFIF\0'))
    // A thumbnail of zero by zero pixels.
    return bytes.length < 18 ? undefined : createSegment(marker, bytes.subarray(4, 16), [0, 0]);
  if (marker === 0xe1 && name.startsWith('Exif\0')) {
    const tiff = cleanTiff(bytes.slice(10));
    return tiff.length ? createSegment(marker, bytesOf('Exif\0\0'), tiff) : undefined;
  }
  // How colors are stored. The version and the flags before it say nothing to decoders.
  return marker === ADOBE && name.startsWith('Adobe') && bytes.length >= 16
    ? createSegment(marker, bytesOf('Adobe'), [0, 100, 0, 0, 0, 0, bytes[15] ?? 0])
    : undefined;
}

const isIcc = (bytes: Bytes, { marker, start, end }: Segment): boolean =>
  marker === 0xe2 && end - start >= ICC_HEAD_BYTES && textOf(bytes, start + 4, start + 16) === ICC;

/** Returns the segments of the cleaned color profile. Browsers ignore one that is not complete. */
function iccSegments(bytes: Bytes, segments: readonly Segment[]): Bytes[] {
  const parts = segments.filter((each) => isIcc(bytes, each));
  const content = new Uint8Array(
    parts.reduce((sum, { start, end }) => sum + end - start - ICC_HEAD_BYTES, 0),
  );
  let length = 0;
  const partsByNumber = new Map(parts.map((part) => [bytes[part.start + 16], part]));
  for (let number = 1; number <= parts.length; number++) {
    const part = partsByNumber.get(number);
    if (!part || bytes[part.start + 17] !== parts.length) return [];
    const data = bytes.subarray(part.start + ICC_HEAD_BYTES, part.end);
    content.set(data, length);
    length += data.length;
  }
  const profile = content.subarray(0, cleanIcc(content));
  const count = Math.ceil(profile.length / ICC_PART_BYTES);
  return Array.from({ length: count }, (_, index) => {
    const part = profile.subarray(index * ICC_PART_BYTES, (index + 1) * ICC_PART_BYTES);
    return createSegment(0xe2, bytesOf(ICC), [index + 1, count], part);
  });
}

/**
 * Returns the parts of a JPEG file without location: tables, the data of scans, and what is kept of its application segments.
 * Nothing between segments, behind the data of a scan or after the end of the image is kept. Throws if the file is malformed or
 * incomplete.
 */
export function cleanJpeg(bytes: Bytes): Bytes[] {
  const jpeg = readJpeg(bytes);
  if (!jpeg.isWhole) fail();
  const keptParts = new KeptParts(bytes);
  const scans = new ScanReader(bytes, jpeg);
  const firstScan = jpeg.segments.findIndex(({ marker }) => marker === SCAN);
  const isAdobe = ({ marker, start, end }: Segment) =>
    marker === ADOBE && cleanSegment(bytes.subarray(start, end), marker) !== undefined;
  // Decoders use the last one.
  const adobeSegment = jpeg.segments.slice(0, firstScan).filter(isAdobe).at(-1);
  const markers = new Set<number>();
  let isIccKept = false;
  keptParts.keep(0, 2);
  for (const each of jpeg.segments) {
    const { marker, start, end } = each;
    const segmentBytes = bytes.subarray(start, end);
    if (isIcc(bytes, each)) {
      if (!isIccKept) for (const part of iccSegments(bytes, jpeg.segments)) keptParts.add(part);
      isIccKept = true;
    } else if (marker >= 0xe0) {
      const part = cleanSegment(segmentBytes, marker);
      // One of each kind.
      if (part && (marker === ADOBE ? each === adobeSegment : !markers.has(marker))) keptParts.add(part);
      if (part) markers.add(marker);
    } else {
      if (marker === HUFFMAN) scans.readCodes(each);
      else if (marker !== END && lengthOf(segmentBytes, marker) !== segmentBytes.length) fail();
      if (marker === RESTART_INTERVAL)
        scans.setRestartInterval((segmentBytes[4] ?? 0) * 256 + (segmentBytes[5] ?? 0));
      keptParts.keep(start, end);
      if (marker === SCAN) scans.keepData(each, keptParts);
    }
  }
  return keptParts.parts;
}
