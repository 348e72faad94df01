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

/** Returns the property of `knownNames` that the page means with `name`, if that can be guessed. */
export function meantBy(name: string, knownNames: ReadonlySet<string>): string | undefined {
  const propertyName = name.slice(OURS.length);
  const [, word] = MEANT.find(([pattern]) => pattern.test(propertyName)) ?? [];
  const names = [...knownNames];
  return (
    names.find((one) => plain(one) === plain(name)) ??
    names.find((one) => isTypo(plain(one), plain(name))) ??
    (word && names.find((one) => one === OURS + word))
  );
}

/** True if `name` becomes `knownName` with one letter more, less or different, or with two letters exchanged. */
function isTypo(knownName: string, name: string): boolean {
  let start = 0;
  while (start < knownName.length && knownName[start] === name[start]) start += 1;
  const [knownTail, typedTail] = [knownName.slice(start), name.slice(start)];
  return (
    knownTail.slice(1) === typedTail ||
    knownTail === typedTail.slice(1) ||
    knownTail.slice(1) === typedTail.slice(1) ||
    knownTail === `${typedTail[1]}${typedTail[0]}${typedTail.slice(2)}`
  );
}

/** Warns about `names`, which are not among the properties that the element knows. */
export function warnOfProperties(names: readonly string[], knownNames: ReadonlySet<string>): void {
  for (const name of names) {
    const meant = meantBy(name, knownNames);
    warnOnceHere(
      `The custom property ${name} does not exist. ${meant ? `Did you mean ${meant}?` : 'See docs/theming.md.'}`,
    );
  }
}
