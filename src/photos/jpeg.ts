import { fail, textOf } from './bytes.ts';
import { cleanTiff } from './tiff.ts';

const HUFFMAN = 0xc4;
const SCAN = 0xda;
const QUANTIZATION = 0xdb;
const END = 0xd9;

/** Returns the position of the marker after a scan. */
function endOfScan(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    // Zero follows a byte of the picture, 0xff precedes a marker, and restart markers are part of the scan.
    if (next > 0 && next < 0xff && (next & 0xf8) !== 0xd0) return at;
  }
  fail();
}

/** Returns the length of a table by its content. A longer segment could have anything else. */
function lengthOf(table: Uint8Array, marker: number): number {
  const byte = (at: number) => table[at] ?? 0;
  if (marker === SCAN) return 8 + 2 * byte(4);
  if (marker > SCAN && marker !== QUANTIZATION) return 6;
  if (marker !== QUANTIZATION && marker !== HUFFMAN) return 10 + 3 * byte(9);
  let at = 4;
  while (at < table.length) {
    if (marker === QUANTIZATION) at += byte(at) < 16 ? 65 : 129;
    else at += table.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 17);
  }
  return at;
}

const segment = (marker: number, content: number[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 0xff, ...content]);

/** Returns what is kept of an application segment. */
function cleaned(bytes: Uint8Array<ArrayBuffer>, marker: number): Uint8Array<ArrayBuffer> | undefined {
  const name = textOf(bytes, 4, 16);
  if (marker === 0xe0 && name.startsWith('JFIF\0'))
    // A thumbnail of zero by zero pixels.
    return bytes.length < 18 ? undefined : segment(marker, [...bytes.subarray(4, 16), 0, 0]);
  if (marker === 0xe1 && name.startsWith('Exif\0')) {
    const tiff = cleanTiff(bytes.slice(10));
    return tiff.length ? segment(marker, [...bytes.subarray(4, 10), ...tiff]) : undefined;
  }
  // Both are needed for the colors.
  const isKept = marker === 0xe2 ? name === 'ICC_PROFILE\0' : marker === 0xee && name.startsWith('Adobe');
  return isKept ? bytes : undefined;
}

/**
 * Returns the parts of a JPEG file without location: tables and scans, and what is kept of its application segments. Nothing after
 * the end of the image is kept. Throws if the file is malformed or incomplete.
 */
export function cleanJpeg(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const view = new DataView(bytes.buffer);
  const parts = [bytes.subarray(0, 2)];
  let hasScan = false;
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) fail();
    while (bytes[at + 1] === 0xff) at++;
    const marker = view.getUint8(at + 1);
    if (marker === END && hasScan) return [...parts, bytes.subarray(at, at + 2)];
    const end = at + 2 + view.getUint16(at + 2);
    if (end < at + 4 || end > bytes.length) fail();
    const whole = bytes.subarray(at, end);
    at = end;
    // Without arithmetic coding and hierarchical pictures, which no browser shows.
    if ((marker >= 0xc0 && marker <= HUFFMAN) || (marker >= SCAN && marker < 0xde)) {
      if (lengthOf(whole, marker) !== whole.length) fail();
      parts.push(whole);
    } else if (marker >= 0xe0 && marker <= 0xef) {
      const part = cleaned(whole, marker);
      if (part) parts.push(part);
    } else if (marker !== 0xfe) {
      fail();
    }
    if (marker === SCAN) {
      hasScan = true;
      at = endOfScan(bytes, end);
      parts.push(bytes.subarray(end, at));
    }
  }
}
