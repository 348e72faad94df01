// Warns about custom properties of the page that look like those of the element, but do not exist.

import { warnOnceHere } from '../core/warn.ts';

const OURS = '--secure-uploader-';

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
  const own = name.slice(OURS.length);
  const [, word] = MEANT.find(([pattern]) => pattern.test(own)) ?? [];
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

/** Yields the custom properties with our prefix in rules and style sheets that these contain. */
function* namesIn(sheet: CSSStyleSheet): Generator<string> {
  for (const rule of rulesOf(sheet)) yield* namesInRule(rule);
}

function* namesInRule(rule: CSSRule): Generator<string> {
  const { style, cssRules, styleSheet } = rule as Partial<CSSStyleRule & CSSImportRule>;
  for (const name of style ?? []) if (name.startsWith(OURS)) yield name;
  for (const inner of cssRules ?? []) yield* namesInRule(inner);
  if (styleSheet) yield* namesIn(styleSheet);
}

/** Returns the rules of a style sheet; none if it comes from another origin. */
function rulesOf(sheet: CSSStyleSheet): Iterable<CSSRule> {
  try {
    return sheet.cssRules;
  } catch {
    return [];
  }
}

/** The documents and shadow roots that were looked at. */
const seen = new WeakSet<Node>();

/**
 * Warns about properties with our prefix that `styles`, the style sheets of the element, do not use. Looks once at the style sheets
 * of each document and shadow root around the shadow root `inside`.
 */
export function warnOfProperties(inside: Node, styles: string): void {
  const known = new Set(styles.match(/--secure-uploader-[\w-]+/g));
  let root = inside as Document | ShadowRoot;
  while ('host' in root) {
    root = root.host.getRootNode() as Document | ShadowRoot;
    if (seen.has(root) || !('styleSheets' in root)) break;
    seen.add(root);
    const found = [...root.styleSheets, ...root.adoptedStyleSheets].flatMap((sheet) => [...namesIn(sheet)]);
    for (const name of new Set(found)) if (!known.has(name)) warn(name, meantBy(name, known));
  }
}

const warn = (name: string, meant: string | undefined): void =>
  warnOnceHere(
    `The custom property ${name} does not exist. ${meant ? `Did you mean ${meant}?` : 'See docs/theming.md.'}`,
  );
