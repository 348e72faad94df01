// Reads the segments of a JPEG file as decoders do. ITU-T T.81, annex B.

import { type Bytes, countTo, fail, type Size } from './bytes.ts';

export const HUFFMAN = 0xc4;
export const END = 0xd9;
export const SCAN = 0xda;
export const QUANTIZATION = 0xdb;
export const RESTART_INTERVAL = 0xdd;

/** Frames that browsers show: baseline, extended, progressive, all with Huffman codes. */
const FRAMES = [0xc0, 0xc1, 0xc2];
const PROGRESSIVE = 0xc2;
/** The most scans. Each one goes through the whole picture; encoders write at most about ten. */
const MAX_SCANS = 100;

export interface Segment {
  readonly marker: number;
  /** Where its marker starts, and where the bytes behind its content start. */
  readonly start: number;
  readonly end: number;
}

export interface Component {
  readonly id: number;
  /** How many blocks a unit has, from left to right and from top to bottom. */
  readonly blocksAcross: number;
  readonly blocksDown: number;
}

export interface Jpeg {
  readonly segments: readonly Segment[];
  readonly size: Size;
  readonly components: readonly Component[];
  readonly isProgressive: boolean;
  /** A decoder keeps the whole picture before it shows it. */
  readonly isBuffered: boolean;
  /** False if the file ends before the picture. */
  readonly isWhole: boolean;
}

/**
 * Returns the position of the next marker from a position on; -1 if there is none. Those of restarts, which have no length, count
 * with `isInScan` only.
 */
export function nextMarker(bytes: Uint8Array, from: number, isInScan = false): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const code = bytes[at + 1] ?? 0;
    // Zero follows a byte of the picture, 0xff comes before a marker, and the marker 1 has no length and no meaning.
    if (code > 1 && code < 0xff && (isInScan || !isRestart(code))) return at;
  }
  return -1;
}

export const isRestart = (code = 0): boolean => code >= 0xd0 && code <= 0xd7;

/**
 * Reads all segments. Decoders skip bytes between them, and what they skip is in no segment. Throws if the file is malformed, or
 * has other than one frame.
 */
export function readJpeg(bytes: Bytes): Jpeg {
  const countScan = countTo(MAX_SCANS);
  const segments: Segment[] = [];
  let frame: Segment | undefined;
  let firstScan: Segment | undefined;
  let isWhole = false;
  for (const segment of segmentsOf(bytes)) {
    const { marker } = segment;
    if (FRAMES.includes(marker)) {
      if (frame) fail();
      frame = segment;
    } else if (marker === SCAN) {
      if (!frame) fail();
      firstScan ??= segment;
      countScan();
    } else if (marker === END) {
      if (!firstScan) fail();
      isWhole = true;
    } else if (!isOtherMarker(marker)) fail();
    segments.push(segment);
  }
  if (!frame || !firstScan) fail();
  const { size, components } = readFrame(bytes, frame);
  const isProgressive = frame.marker === PROGRESSIVE;
  const isBuffered = isProgressive || bytes[firstScan.start + 4] !== components.length;
  return { segments, size, components, isProgressive, isBuffered, isWhole };
}

/** Yields segments up to the end of the image, or to one that is cut. */
function* segmentsOf(bytes: Bytes): Generator<Segment> {
  const count = countTo();
  for (let start = nextMarker(bytes, 2); start >= 0; ) {
    count();
    const marker = bytes[start + 1] ?? 0;
    const end = start + 2 + (marker === END ? 0 : lengthAt(bytes, start + 2));
    if (end > bytes.length) return;
    yield { marker, start, end };
    if (marker === END) return;
    start = nextMarker(bytes, end);
  }
}

/** A segment is not shorter than its length, which has two bytes. */
const lengthAt = (bytes: Bytes, at: number): number =>
  at + 2 > bytes.length ? 2 : Math.max(2, uint16(bytes, at));

/** Reads the content of a frame. Throws if browsers would not show it. */
function readFrame(bytes: Bytes, { start }: Segment): Pick<Jpeg, 'size' | 'components'> {
  const size = { height: uint16(bytes, start + 5), width: uint16(bytes, start + 7) };
  const components = Array.from({ length: bytes[start + 9] ?? 0 }, (_, index) =>
    readComponent(bytes, start + 10 + 3 * index),
  );
  if (![1, 3, 4].includes(components.length) || !size.height || !size.width) fail();
  return { size, components };
}

function readComponent(bytes: Bytes, at: number): Component {
  const factors = bytes[at + 1] ?? 0;
  const component = { id: bytes[at] ?? 0, blocksAcross: factors >> 4, blocksDown: factors & 15 };
  if (
    component.blocksAcross < 1 ||
    component.blocksAcross > 4 ||
    component.blocksDown < 1 ||
    component.blocksDown > 4
  )
    fail();
  return component;
}

const uint16 = (bytes: Bytes, at: number): number => (bytes[at] ?? fail()) * 256 + (bytes[at + 1] ?? fail());

/** Tables, the number of lines, segments of applications, and comments. */
const isOtherMarker = (marker: number): boolean =>
  marker === HUFFMAN ||
  (marker >= QUANTIZATION && marker <= RESTART_INTERVAL) ||
  (marker >= 0xe0 && marker <= 0xef) ||
  marker === 0xfe;
