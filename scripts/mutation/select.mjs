// Selects the mutants of a run. The selection is the same for the same sources and seed.
import { createHash } from 'node:crypto';

/** Returns a generator of numbers in [0, 1). The numbers are the same for the same seed (mulberry32). */
function randomFrom(seed) {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled(items, seed) {
  const random = randomFrom(seed);
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}

const isSame = (known, mutant) =>
  ['file', 'operator', 'within', 'before', 'after'].every(
    (key) => known[key] === undefined || known[key] === mutant[key],
  );

/**
 * Selects `count` mutants of `found` that are not equivalents. Also returns the equivalents that were skipped, with their reasons.
 * `known` is the checked-in list of equivalents, `[{file, operator, within, before, after, reason}]`.
 */
export function select(found, { seed, count, known }) {
  const taken = [];
  const equivalents = [];
  for (const mutant of shuffled(found, seed)) {
    if (taken.length === count) break;
    const match = known.find((each) => isSame(each, mutant));
    if (match) equivalents.push({ ...mutant, reason: match.reason });
    else taken.push(mutant);
  }
  return { taken, equivalents };
}

/** Returns entries of the checked-in list whose file is in `files`, but that no longer match a mutant of `found`. */
export const stale = (known, found, files) =>
  known.filter((each) => files.includes(each.file) && !found.some((mutant) => isSame(each, mutant)));
