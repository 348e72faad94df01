// Cleans ICC profiles. ICC.1:2022, chapters 7, 9 and 10.

import { countTo, fail, keepOnly, type Range, textOf, viewOf } from './bytes.ts';

/** Header, and the number of tags. */
const HEAD_BYTES = 132;
const MOST_TAGS = 100;
/** The most bytes of a profile. Those for print have up to 3 MB. */
export const MOST_BYTES = 2 ** 23;

/** Tags that colors need. Others are texts, or of other software. */
const KEPT = /^(?:[rgb](?:XYZ|TRC)|kTRC|[wb]tpt|chad|A2B[0-3]|B2A[0-3]|D2B[0-3]|B2D[0-3]|gamt|cicp|lumi)$/;

/**
 * Cleans a profile in place: only the tags that colors need stay, and zeros replace all else. Its length stays. Returns false if
 * it is malformed; browsers ignore it then.
 */
export function cleanIcc(profile: Uint8Array): boolean {
  const view = viewOf(profile);
  const ranges: Range[] = [];
  const tags: number[] = [];
  try {
    if (view.getUint32(0) !== profile.length || textOf(profile, 36, 40) !== 'acsp') return false;
    const count = countTo(MOST_TAGS);
    const end = HEAD_BYTES + 12 * view.getUint32(128);
    for (let at = HEAD_BYTES; at < end; at += 12) {
      count();
      const [start, length] = [view.getUint32(at + 4), view.getUint32(at + 8)];
      if (start < end || start + length > profile.length) return false;
      const isKept = KEPT.test(textOf(profile, at, at + 4));
      if (isKept) tags.push(at);
      // Tags may share their content.
      ranges.push([start, start + (isKept ? lengthOf(view, start, length) : length), isKept ? 1 : -1]);
    }
    // The last 28 bytes of the header are reserved.
    ranges.push([0, 100, 0], [128, end, 0]);
    if (!keepOnly(profile, ranges)) return false;
    for (const [index, from] of tags.entries()) profile.copyWithin(HEAD_BYTES + 12 * index, from, from + 12);
    profile.fill(0, HEAD_BYTES + 12 * tags.length, end);
    view.setUint32(128, tags.length);
    return true;
  } catch {
    return false;
  }
}

/** Numbers of parameters of a curve, by its function. */
const PARAMETERS = [1, 3, 4, 5, 7];

/** Returns how many bytes the content of a tag has by its own numbers: at most `most`. Throws if it has not so many. */
function lengthOf(view: DataView, start: number, most: number): number {
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
    para: () => 12 + 4 * (PARAMETERS[view.getUint16(start + 8)] ?? fail()),
    mft1: () => 48 + 256 * inputs + grid + 256 * outputs,
    mft2: () => 52 + 2 * (view.getUint16(start + 48) * inputs + grid + view.getUint16(start + 50) * outputs),
  };
  // The others (`mAB `, `mBA `, `mpet`) are lists of numbers with offsets.
  const length = lengths[type]?.() ?? (/^m(?:AB |BA |pet)$/.test(type) ? most : fail());
  return length <= most ? length : fail();
}
