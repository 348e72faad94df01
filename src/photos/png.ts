import { fail, textOf } from './bytes.ts';
import { cleanTiff } from './tiff.ts';

/** Chunks that are kept. All others are texts, or of other software. */
const KEPT =
  /IHDR|PLTE|IDAT|IEND|tRNS|gAMA|cHRM|sRGB|iCCP|sBIT|bKGD|hIST|pHYs|sPLT|tIME|cICP|mDCV|cLLI|acTL|fcTL|fdAT/;

export function crcOf(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc;
}

/** Returns an `eXIf` chunk without location, or nothing. */
function cleaned(whole: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const tiff = cleanTiff(whole.slice(8, -4));
  if (!tiff.length) return [];
  const chunk = new Uint8Array(tiff.length + 12);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, tiff.length);
  chunk.set(whole.subarray(4, 8), 4);
  chunk.set(tiff, 8);
  view.setInt32(tiff.length + 8, crcOf(chunk.subarray(4, -4)));
  return [chunk];
}

/** Returns the parts of a PNG file without location. Throws if the file is malformed or incomplete. */
export function cleanPng(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const view = new DataView(bytes.buffer);
  const parts = [bytes.subarray(0, 8)];
  for (let at = 8; ; ) {
    const end = at + 12 + view.getUint32(at);
    const type = textOf(bytes, at + 4, at + 8);
    if (end > bytes.length) fail();
    const whole = bytes.subarray(at, end);
    if (type === 'eXIf') parts.push(...cleaned(whole));
    else if (KEPT.test(type)) parts.push(whole);
    // Without a chunk that decoders must understand, the picture would be another one.
    else if (!/^[a-z][A-Za-z]{3}/.test(type)) fail();
    if (type === 'IEND') return parts;
    at = end;
  }
}
