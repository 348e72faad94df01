// Asserts that no text is cut off: in all states, in narrow containers, with large text, in several languages and in longer texts.

import { expect, fixture, html } from '@open-wc/testing';
import type { Snapshot } from '../../src/index.ts';
import arabic from '../../src/locales/ar.ts';
import german from '../../src/locales/de.ts';
import spanish from '../../src/locales/es.ts';
import french from '../../src/locales/fr.ts';
import hebrew from '../../src/locales/he.ts';
import italian from '../../src/locales/it.ts';
import dutch from '../../src/locales/nl.ts';
import { createFormat } from '../../src/ui/format.ts';
import { ENGLISH, type Messages } from '../../src/ui/messages.ts';
import { isFullSize } from '../support/scope.ts';
import { STATES } from './fixtures/snapshots.ts';
import type { WidgetFixture } from './fixtures/widget-fixture.ts';
import './fixtures/widget-fixture.ts';
import { longer, rewritten } from './pseudo.ts';

const WIDTHS_PX = [280, 320, 360, 480];
const ZOOMS = [1, 2];
/**
 * English, texts that are longer than in English, the longest locale, and one from right to left. At full size, also the next
 * longest ones and Hebrew.
 */
const LANGUAGES: readonly (readonly [name: string, Messages])[] = [
  ['English', ENGLISH],
  ['longer texts', rewritten(ENGLISH, longer)],
  ['German', german],
  ['Arabic', arabic],
  ...(isFullSize
    ? ([
        ['Dutch', dutch],
        ['French', french],
        ['Italian', italian],
        ['Spanish', spanish],
        ['Hebrew', hebrew],
      ] as const)
    : []),
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
      // Compares only with buttons of the same part of the interface: rows that are scrolled out of view can overlap the footer.
      const part = text.parentElement?.closest(PARTS);
      for (const button of part?.querySelectorAll('button') ?? [])
        if (!button.contains(text) && overlap(box, button.getBoundingClientRect()))
          problems.add(`covered by a button: ${words}`);
    }
  }
  return [...problems];
}

/** Shows each state in each width, after `prepare`. Returns a description of each text that is cut off. */
async function cutTextsOfAll(prepare: (element: WidgetFixture) => void): Promise<string[]> {
  const problems: string[] = [];
  for (const [state, shown] of Object.entries(STATES)) {
    const element = await fixture<WidgetFixture>(html`<widget-fixture></widget-fixture>`);
    prepare(element);
    for (const width of WIDTHS_PX) {
      element.style.inlineSize = `${width}px`;
      await element.show(shown as Snapshot);
      problems.push(...cutTexts(element).map((problem) => `${state}, ${width} px: ${problem}`));
    }
    element.remove();
  }
  return problems;
}

for (const [language, messages] of LANGUAGES) {
  for (const zoom of ZOOMS) {
    it(`no text is cut off in ${language} at ${zoom * 100} %`, async () => {
      const problems = await cutTextsOfAll((element) => {
        element.dir = ['ar', 'he'].includes(messages.locale) ? 'rtl' : 'ltr';
        element.style.fontSize = `${zoom * 16}px`;
        const undo = { ids: new Set<string>(), text: messages.undoableCancel(3) };
        element.more = { messages, format: createFormat(messages.locale), undo, restoredCount: 12 };
      });
      expect(problems).to.deep.equal([]);
    });
  }
}

/** Adds styles to the shadow root, like those that users add with an extension of the browser. */
function addStyles({ renderRoot }: WidgetFixture, css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const root = renderRoot as ShadowRoot;
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

it('no text is cut off with the text spacing that users may set', async () => {
  // The values of WCAG 2.2, criterion 1.4.12.
  const spacing =
    'line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important';
  expect(await cutTextsOfAll((element) => addStyles(element, `* { ${spacing} }`))).to.deep.equal([]);
});

it('a text with a fixed height is found if the spacing makes it too high', async () => {
  const cut = 'p { block-size: 1em; overflow: hidden; line-height: 3 !important }';
  expect(await cutTextsOfAll((element) => addStyles(element, cut))).not.to.deep.equal([]);
});

it('a row in a narrow container keeps its icon, its percentage and its buttons', async () => {
  const element = await fixture<WidgetFixture>(
    html`<widget-fixture style="inline-size: 280px"></widget-fixture>`,
  );
  await element.show(STATES.uploading as Snapshot);
  const row = element.renderRoot.querySelector('.row.uploading');
  for (const selector of ['.badge', '.percent', '[data-action=go]', '[data-action=end]'])
    expect(row?.querySelector(selector)?.checkVisibility(), selector).to.equal(true);
});
