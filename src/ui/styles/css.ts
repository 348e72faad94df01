// Styles as text, and the style sheets that they become. Lit's `css` takes 0.3 kB more, and its sheets work in one document only.

/** Marks styles for editors and formatters. */
export const css = String.raw;

const sheets = new WeakMap<Document, Map<string, CSSStyleSheet>>();

/** Adds `styles` to a root, once. A style sheet works only in the document in which it was created. */
export function adopt(root: Document | ShadowRoot, styles: string): void {
  const page = root.ownerDocument ?? (root as Document);
  // Nothing is shown in a document without a window.
  if (!page.defaultView) return;
  const ofPage = sheets.get(page) ?? new Map<string, CSSStyleSheet>();
  sheets.set(page, ofPage);
  let sheet = ofPage.get(styles);
  if (!sheet) {
    sheet = new page.defaultView.CSSStyleSheet();
    sheet.replaceSync(styles);
    ofPage.set(styles, sheet);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}
