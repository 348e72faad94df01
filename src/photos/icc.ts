// Cleans ICC profiles. ICC.1:2022, chapters 7, 9 and 10.

import { bytesOf, countTo, keepOnly, type Range, textOf, viewOf } from './bytes.ts';

/** Header, and the number of tags. */
const HEAD_BYTES = 132;
const MOST_TAGS = 100;
/** The most bytes of a profile. Those for print have up to 3 MB. */
export const MOST_BYTES = 2 ** 23;

/** Tags with texts that some programs want to see: the name of the profile, and a copyright. */
const TEXTS = /^(?:desc|cprt)$/;
/** Texts with nothing to read, by the type of a tag: the shortest ones. */
const EMPTY_TEXTS: Readonly<Record<string, string>> = {
  desc: 'desc\0\0\0\0\0\0\0\x01',
  text: 'text',
  // One text, of two bytes: a space.
  mluc: 'mluc\0\0\0\0\0\0\0\x01\0\0\0\x0cenUS\0\0\0\x02\0\0\0\x1c\0 ',
};
/** The length of a text of the type `desc`, which has room for other alphabets. */
const DESC_BYTES = 91;

/** Tags that colors need. Others are texts, or of other software. */
const KEPT_TAGS =
  /^(?:[rgb](?:XYZ|TRC)|kTRC|wtpt|bkpt|chad|A2B[0-3]|B2A[0-3]|D2B[0-3]|B2D[0-3]|gamt|cicp|lumi)$/;

/**
 * Cleans a profile in place: only the tags that colors need stay, texts become empty, and zeros replace all else. Returns the
 * length that it says; zero if it is malformed: browsers ignore it then.
 */
export function cleanIcc(bytes: Uint8Array): number {
  if (bytes.length < HEAD_BYTES) return 0;
  const profile = bytes.subarray(0, viewOf(bytes).getUint32(0));
  const view = viewOf(profile);
  const ranges: Range[] = [];
  const tags: number[] = [];
  const texts: (readonly [start: number, text: number[]])[] = [];
  try {
    if (view.getUint32(0) !== profile.length || textOf(profile, 36, 40) !== 'acsp') return 0;
    const count = countTo(MOST_TAGS);
    const end = HEAD_BYTES + 12 * view.getUint32(128);
    for (let at = HEAD_BYTES; at < end; at += 12) {
      count();
      const [start, length] = [view.getUint32(at + 4), view.getUint32(at + 8)];
      if (start < end || start + length > profile.length) return 0;
      const name = textOf(profile, at, at + 4);
      const emptyText = TEXTS.test(name) ? EMPTY_TEXTS[textOf(profile, start, start + 4)] : undefined;
      const isText =
        emptyText !== undefined && length >= (emptyText.startsWith('desc') ? DESC_BYTES : emptyText.length);
      const usedBytes = KEPT_TAGS.test(name) ? lengthOf(view, start, length) : 0;
      if (!isText && usedBytes === 0) continue;
      tags.push(at);
      if (isText) texts.push([start, bytesOf(emptyText)]);
      // Tags may share their content.
      else ranges.push([start, start + usedBytes, 0]);
    }
    // Length; version, kind, colors, date, signature; rendering intent, white point. No names of makers, and no reserved bytes.
    ranges.push([0, 4, 0], [8, 40, 0], [64, 80, 0], [128, end, 0]);
    keepOnly(profile, ranges);
    for (const [start, text] of texts) profile.set(text, start);
    for (const [index, tagAt] of tags.entries())
      profile.copyWithin(HEAD_BYTES + 12 * index, tagAt, tagAt + 12);
    profile.fill(0, HEAD_BYTES + 12 * tags.length, end);
    view.setUint32(128, tags.length);
    return profile.length;
  } catch {
    return 0;
  }
}

/** Numbers of parameters of a curve, by its function. */
const PARAMETERS = [1, 3, 4, 5, 7];

/** Returns how many bytes the content of a tag has by its own numbers; zero if that is more than `mostBytes`, or not known. */
function lengthOf(view: DataView, start: number, mostBytes: number): number {
  const type = textOf(new Uint8Array(view.buffer, view.byteOffset + start, 4));
  const [inputs, outputs, points] = [
    view.getUint8(start + 8),
    view.getUint8(start + 9),
    view.getUint8(start + 10),
  ];
  const grid = points ** inputs * outputs;
  const lengths: Readonly<Record<string, () => number>> = {
    'XYZ ': () => 20,
    sf32: () => 44,
    cicp: () => 12,
    curv: () => 12 + 2 * view.getUint32(start + 8),
    para: () => 12 + 4 * (PARAMETERS[view.getUint16(start + 8)] ?? Number.NaN),
    mft1: () => 48 + 256 * inputs + grid + 256 * outputs,
    mft2: () => 52 + 2 * (view.getUint16(start + 48) * inputs + grid + view.getUint16(start + 50) * outputs),
  };
  // The others (`mAB `, `mBA `, `mpet`) are lists of numbers with offsets.
  const length = lengths[type]?.() ?? (/^m(?:AB |BA |pet)$/.test(type) ? mostBytes : 0);
  return length <= mostBytes ? length : 0;
}
