// Asserts that no text is cut off: in all states, in narrow containers, with large text, and in several languages.

import { expect, fixture, html } from '@open-wc/testing';
import type { Snapshot } from '../../src/index.ts';
import { createFormat } from '../../src/ui/format.ts';
import { ENGLISH, type Messages } from '../../src/ui/messages.ts';
import { ARABIC } from './fixtures/arabic.ts';
import { GERMAN } from './fixtures/german.ts';
import { STATES } from './fixtures/snapshots.ts';
import type { WidgetFixture } from './fixtures/widget-fixture.ts';
import './fixtures/widget-fixture.ts';

const WIDTHS_PX = [280, 320, 360, 480];
const ZOOMS = [1, 2];
const LANGUAGES: readonly (readonly [name: string, Messages])[] = [
  ['English', ENGLISH],
  ['German', GERMAN],
  ['Arabic', ARABIC],
];
const PARTS = '.zone, .panel, .row, .totals';
/** Tolerance for the rounding of layout, in px. */
const TOLERANCE_PX = 1;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const isWithin = (inner: Box, outer: Box): boolean =>
  inner.left >= outer.left - TOLERANCE_PX && inner.right <= outer.right + TOLERANCE_PX;

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right - TOLERANCE_PX &&
  b.left < a.right - TOLERANCE_PX &&
  a.top < b.bottom - TOLERANCE_PX &&
  b.top < a.bottom - TOLERANCE_PX;

/** Yields the displayed text nodes, except the part of each file name that may be shortened. */
function* textsIn(root: ParentNode): Generator<Text> {
  const walker = document.createTreeWalker(root as unknown as Node, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent?.trim() || !parent || parent.closest('.silent, .stem, style')) continue;
    if (parent.checkVisibility()) yield node as Text;
  }
}

function boxesOf(text: Text): DOMRect[] {
  const range = document.createRange();
  range.selectNodeContents(text);
  return [...range.getClientRects()];
}

/** Returns a description of each text that is cut off, covered by a button, or outside the element. */
function cutTexts(element: WidgetFixture): string[] {
  const host = element.getBoundingClientRect();
  const problems = new Set<string>();
  for (const text of textsIn(element.renderRoot)) {
    const words = text.textContent?.trim();
    for (const box of boxesOf(text)) {
      if (!isWithin(box, host)) problems.add(`outside of the element: ${words}`);
      for (let outer = text.parentElement; outer; outer = outer.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(outer);
        const area = outer.getBoundingClientRect();
        if (overflowX !== 'visible' && !isWithin(box, area)) problems.add(`cut at the side: ${words}`);
        const isScrolled = overflowY === 'auto' || overflowY === 'scroll';
        if (isScrolled) break;
        const isCut = box.top < area.top - TOLERANCE_PX || box.bottom > area.bottom + TOLERANCE_PX;
        if (overflowY !== 'visible' && isCut) problems.add(`cut above or below: ${words}`);
      }
      // Compares only with buttons of the same part of the interface: scrolled rows can lie below the footer.
      const part = text.parentElement?.closest(PARTS);
      for (const button of part?.querySelectorAll('button') ?? [])
        if (!button.contains(text) && overlap(box, button.getBoundingClientRect()))
          problems.add(`covered by a button: ${words}`);
    }
  }
  return [...problems];
}

for (const [language, messages] of LANGUAGES) {
  for (const zoom of ZOOMS) {
    it(`no text is cut off in ${language} at ${zoom * 100} %`, async () => {
      const problems: string[] = [];
      for (const [state, shown] of Object.entries(STATES)) {
        const element = await fixture<WidgetFixture>(html`<widget-fixture></widget-fixture>`);
        element.dir = messages === ARABIC ? 'rtl' : 'ltr';
        element.style.fontSize = `${zoom * 16}px`;
        const undo = { ids: new Set<string>(), text: messages.undoableCancel(3) };
        element.more = { messages, format: createFormat(messages.locale), undo };
        for (const width of WIDTHS_PX) {
          element.style.inlineSize = `${width}px`;
          await element.show(shown as Snapshot);
          problems.push(...cutTexts(element).map((problem) => `${state}, ${width} px: ${problem}`));
        }
        element.remove();
      }
      expect(problems).to.deep.equal([]);
    });
  }
}

it('a row in a narrow container keeps its icon, its percentage and its buttons', async () => {
  const element = await fixture<WidgetFixture>(
    html`<widget-fixture style="inline-size: 280px"></widget-fixture>`,
  );
  await element.show(STATES.uploading as Snapshot);
  const row = element.renderRoot.querySelector('.row.uploading');
  for (const selector of ['.badge', '.percent', '[data-action=go]', '[data-action=end]'])
    expect(row?.querySelector(selector)?.checkVisibility(), selector).to.equal(true);
});
