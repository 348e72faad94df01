// Finds custom properties of the page that look like those of the element, but do not exist.

export const OURS = '--secure-uploader-';

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
const seenRoots = new WeakSet<Node>();

/** Returns the custom properties that `styles` use. */
export const propertiesIn = (styles: string): ReadonlySet<string> =>
  new Set(styles.match(/--secure-uploader-[\w-]+/g));

/**
 * Returns properties with our prefix that are not in `knownNames`. Looks once at the style sheets of each document and shadow root
 * around the shadow root `inside`.
 */
export function unknownProperties(inside: Node, knownNames: ReadonlySet<string>): readonly string[] {
  const setNames = new Set<string>();
  let root = inside as Document | ShadowRoot;
  while ('host' in root) {
    root = root.host.getRootNode() as Document | ShadowRoot;
    if (seenRoots.has(root) || !('styleSheets' in root)) break;
    seenRoots.add(root);
    for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets])
      for (const name of namesIn(sheet)) setNames.add(name);
  }
  return [...setNames].filter((name) => !knownNames.has(name));
}
