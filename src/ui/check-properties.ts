// Warns about custom properties of the page that look like those of the element, but do not exist.

import { warnOnceHere } from '../core/warn.ts';
import { OURS } from './page-properties.ts';

/** Words of other libraries, and the names that the element has for them. */
const MEANT: readonly (readonly [word: RegExp, name: string])[] = [
  [/back|bg/, 'surface'],
  [/button.*(radius|round)|radius.*button/, 'button-radius'],
  [/radius|round/, 'radius'],
  [/on-?(primary|accent)/, 'on-accent'],
  [/border|divider|outline/, 'line'],
  [/primary|brand|theme/, 'accent'],
  [/secondary/, 'muted'],
  [/error/, 'danger'],
  [/weight/, 'font-weight'],
  [/size/, 'font-size'],
  [/family/, 'font'],
  [/padding|gap|space/, 'row-padding'],
  [/max-?height/, 'list-height'],
  [/height|progress/, 'bar-height'],
  [/colou?r/, 'text'],
];

const plain = (name: string): string => name.replace(/[-_]/g, '').toLowerCase();

/** Returns the property of `known` that the page means with `name`, if that can be guessed. */
export function meantBy(name: string, known: ReadonlySet<string>): string | undefined {
  const propertyName = name.slice(OURS.length);
  const [, word] = MEANT.find(([pattern]) => pattern.test(propertyName)) ?? [];
  const all = [...known];
  return (
    all.find((one) => plain(one) === plain(name)) ??
    all.find((one) => isTypo(plain(one), plain(name))) ??
    (word && all.find((one) => one === OURS + word))
  );
}

/** True if `name` becomes `known` with one letter more, less or different, or with two letters exchanged. */
function isTypo(known: string, name: string): boolean {
  let start = 0;
  while (start < known.length && known[start] === name[start]) start += 1;
  const [rest, typed] = [known.slice(start), name.slice(start)];
  return (
    rest.slice(1) === typed ||
    rest === typed.slice(1) ||
    rest.slice(1) === typed.slice(1) ||
    rest === `${typed[1]}${typed[0]}${typed.slice(2)}`
  );
}

/** Warns about `names`, which are not among the properties that the element knows. */
export function warnOfProperties(names: readonly string[], known: ReadonlySet<string>): void {
  for (const name of names) {
    const meant = meantBy(name, known);
    warnOnceHere(
      `The custom property ${name} does not exist. ${meant ? `Did you mean ${meant}?` : 'See docs/theming.md.'}`,
    );
  }
}
