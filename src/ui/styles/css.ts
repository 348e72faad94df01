// The style sheets of a root. Lit's own adoption of styles shares one sheet of the page in which it was loaded, but a sheet works
// only in the document in which it was created, and pages can move elements to other documents.

import type { CSSResult } from 'lit';

const sheets = new WeakMap<Document, Map<CSSResult, CSSStyleSheet>>();

/** Returns the sheet of `styles` for `page`. */
function sheetOf(styles: CSSResult, page: Document, scope: Window & typeof globalThis): CSSStyleSheet {
  const ofPage = sheets.get(page) ?? new Map<CSSResult, CSSStyleSheet>();
  sheets.set(page, ofPage);
  const sheet = ofPage.get(styles) ?? new scope.CSSStyleSheet();
  if (!ofPage.has(styles)) sheet.replaceSync(styles.cssText);
  ofPage.set(styles, sheet);
  return sheet;
}

/** Gives a root these `styles`, in their order, after the styles of others. */
export function adopt(root: Document | ShadowRoot, styles: readonly CSSResult[]): void {
  const page = root.ownerDocument ?? (root as Document);
  // Nothing is shown in a document without a window.
  const scope = page.defaultView;
  if (!scope) return;
  const sheetsOfStyles = styles.map((each) => sheetOf(each, page, scope));
  if (sheetsOfStyles.every((sheet) => root.adoptedStyleSheets.includes(sheet))) return;
  const others = root.adoptedStyleSheets.filter((sheet) => !sheetsOfStyles.includes(sheet));
  root.adoptedStyleSheets = [...others, ...sheetsOfStyles];
}
