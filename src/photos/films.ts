// Recognizes films by their content.

import { BOX_HEAD_BYTES, type Box, boxAt } from './boxes.ts';
import { textOf } from './bytes.ts';

const HEAD_BYTES = 64;
/** Greatest size of the first box of an ISO file. It lists brands of four bytes. */
const MAX_FTYP_BYTES = 1024;
/** Greatest number of boxes that are looked at. */
const MAX_BOXES = 2000;
/** What a film may contain. Others may refer to another file (`rmra`) or are compressed (`cmov`). */
const MOVIE_BOXES = new Set(
  'clip ctab free iods meta mvex mvhd prfl pssh skip trak udta uuid wide'.split(' '),
);

/** Types of the films that are shown. */
export type FilmType = 'video/mp4' | 'video/quicktime' | 'video/webm' | 'video/x-matroska' | 'video/ogg';

/**
 * Resolves with the type of a film by its content; `undefined` for all other files. Type and name don't count: players also play
 * lists of URLs (HLS) and films that refer to others (QuickTime), and request these.
 */
export async function readFilmType(file: Blob): Promise<FilmType | undefined> {
  const bytes = await bytesAt(file, 0, HEAD_BYTES);
  const head = textOf(bytes);
  if (head.startsWith('\x1aE\xdf\xa3')) return head.includes('webm') ? 'video/webm' : 'video/x-matroska';
  if (head.startsWith('OggS\0')) return 'video/ogg';
  if (!/^\0\0.{2}ftyp[\w ]{4}/s.test(head) || /^.{8}(?:hei|hev|mif|msf|avi)/s.test(head)) return undefined;
  const sizeBytes = (bytes[2] ?? 0) * 256 + (bytes[3] ?? 0);
  if (sizeBytes < 16 || sizeBytes > MAX_FTYP_BYTES || sizeBytes % 4 > 0) return undefined;
  if (!(await hasOwnMovie(file))) return undefined;
  return head.startsWith('qt', 8) ? 'video/quicktime' : 'video/mp4';
}

/** Resolves with true if all movies in an ISO file (`moov`) are in the file itself, and there is one. */
async function hasOwnMovie(file: Blob): Promise<boolean> {
  let hasMovie = false;
  for await (const box of boxesIn(file, 0, file.size)) {
    if (box?.type !== 'moov') {
      if (!box) return false;
      continue;
    }
    hasMovie = true;
    for await (const part of boxesIn(file, box.from, box.to))
      if (!part || !MOVIE_BOXES.has(part.type) || !(await isOwn(file, part))) return false;
  }
  return hasMovie;
}

/** Resolves with true if all media of a track are in the file itself. */
async function isOwn(file: Blob, parent: Box): Promise<boolean> {
  const isList = parent.type === 'dref';
  if (!isList && !/^(?:trak|mdia|minf|dinf)$/.test(parent.type)) return true;
  // A list has version, flags and a number first.
  for await (const box of boxesIn(file, parent.from + (isList ? 8 : 0), parent.to)) {
    if (!box) return false;
    const [, , , flags = 0] = isList ? await bytesAt(file, box.from, 4) : [];
    if (isList ? (flags & 1) === 0 : !(await isOwn(file, box))) return false;
  }
  return true;
}

/** Yields the boxes between two positions; at last `undefined` if they are malformed, or too many. */
async function* boxesIn(
  file: Blob,
  from: number,
  to: number,
): AsyncGenerator<Box | undefined, void, undefined> {
  let at = from;
  for (let count = 0; at < to; count += 1) {
    const box = count < MAX_BOXES ? boxAt(await bytesAt(file, at, BOX_HEAD_BYTES), at, to) : undefined;
    yield box;
    if (!box) return;
    at = box.to;
  }
}

const bytesAt = async (file: Blob, start: number, count: number): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await file.slice(start, start + count).arrayBuffer());
