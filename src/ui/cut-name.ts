// Where a name that does not fit is cut: its start and its end stay, the middle is hidden.

/** Number of letters that stay before an extension, and at the end of a name without one. */
const END = 5;
const END_WITHOUT_EXTENSION = 8;
/** Largest share of the space for an extension, and for all of the end. */
const EXTENSION_SHARE = 0.8;
const END_SHARE = 0.5;

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Returns where the hidden middle of `name` starts and ends, so that the rest fits into `available`, between whole letters: an
 * emoji or a letter with its marks is one. `widthOf` is the width of a part of the name.
 */
export function cutName(
  name: string,
  available: number,
  widthOf: (start: number, end: number) => number,
): readonly [start: number, end: number] {
  const edges = [...Array.from(letters.segment(name), ({ index }) => index), name.length];
  const lastIndex = edges.length - 1;
  const edge = (index: number): number => edges[index] ?? name.length;
  const extension = /\.[\p{L}\p{M}\p{N}_-]{1,11}$/u.exec(name)?.index ?? name.length;
  const endCount = extension < name.length ? END : END_WITHOUT_EXTENSION;
  const endWidth = (index: number): number => widthOf(edge(index), name.length);
  const share = (index: number): number => (edge(index) === extension ? EXTENSION_SHARE : END_SHARE);
  let end = Math.max(1, edges.indexOf(extension) - endCount);
  while (end < lastIndex && endWidth(end) > available * share(end)) end += 1;
  // No gap beside the ellipsis.
  while (end < lastIndex && /^\s/.test(name.slice(edge(end)))) end += 1;
  const space = available - endWidth(end);
  let [start, above] = [1, end];
  while (above - start > 1) {
    const middle = (start + above) >> 1;
    if (widthOf(0, edge(middle)) <= space) start = middle;
    else above = middle;
  }
  while (start > 1 && /\s$/.test(name.slice(0, edge(start)))) start -= 1;
  return [edge(start), edge(end)];
}
