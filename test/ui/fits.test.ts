// Asserts that no text is cut off: in all states, in narrow containers, with large text, in several languages and in longer texts.

import { expect } from '@open-wc/testing';
import { render } from 'lit';
import { STATES } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { LoginMessages } from '../../src/core/messages.ts';
import type { Snapshot } from '../../src/index.ts';
import arabic from '../../src/locales/ar.ts';
import german from '../../src/locales/de.ts';
import { ENGLISH_LOGIN } from '../../src/locales/en-login.ts';
import spanish from '../../src/locales/es.ts';
import french from '../../src/locales/fr.ts';
import hebrew from '../../src/locales/he.ts';
import italian from '../../src/locales/it.ts';
import dutch from '../../src/locales/nl.ts';
import { createFormat } from '../../src/ui/format.ts';
import { loginStyles } from '../../src/ui/styles/login-styles.ts';
import { loginStep } from '../../src/ui/views/login-step.ts';
import { isFullSize } from '../support/scope.ts';
import { STEPS, viewOf } from './login-cases.ts';
import { longer, rewritten } from './pseudo.ts';
import { type Shown, show } from './show.ts';
import { isLeftOut } from './support.ts';
import { VIEW_STATES } from './view-states.ts';

const WIDTHS_PX = [280, 320, 360, 480];
const ZOOMS = [1, 2];
/**
 * English, texts that are longer than in English, the longest locale, and one from right to left. At full size, also the next
 * longest ones and Hebrew.
 */
const LANGUAGES: readonly (readonly [name: string, LoginMessages])[] = [
  ['English', ENGLISH_LOGIN],
  ['longer texts', rewritten(ENGLISH_LOGIN, longer)],
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
const FORM = 'secure-uploader-login';
const PARTS = `.zone, .panel, .row, .totals, ${FORM}`;
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

const READY = STATES['sign-in-prompt'] as Snapshot;

/** What the element shows, and the step of the sign-in form in it. */
const LOOKS: Readonly<Record<string, Shown & { readonly step?: string }>> = {
  ...Object.fromEntries(Object.entries(STATES).map(([state, snapshot]) => [state, { snapshot }])),
  disabled: VIEW_STATES.disabled as Shown,
  misconfigured: VIEW_STATES.misconfigured as Shown,
  'without engine': VIEW_STATES['without its engine, which could not be loaded'] as Shown,
  manual: {
    snapshot: { ...READY, auth: { ...READY.auth, state: 'signed-in', required: false } },
    rules: { manual: true },
  },
  'dragging, with limits, reading and notices': {
    rules: { accept: 'image/*,.pdf,.xlsx', maxFileSize: 500_000_000, maxFiles: 20 },
    intake: { dragging: true, readingCount: 1280, emptyFolderCount: 12 },
  },
  ...Object.fromEntries(
    ['shows that the credentials were wrong', 'asks for a code that was sent'].map((step) => [
      `the form ${step}`,
      { snapshot: READY, more: { hasLogin: true }, step },
    ]),
  ),
};

/** Shows a step of the sign-in form in the element. */
function showForm(element: WidgetFixture, step: string): void {
  const { messages } = element.more as { readonly messages?: LoginMessages };
  const [state] = STEPS[step] ?? [];
  if (!state) throw new Error(`the form has no step "${step}"`);
  const form = Object.assign(document.createElement(FORM), { slot: 'login' });
  render(loginStep(viewOf({ ...state, ...(messages && { messages }) }, () => () => undefined)), form);
  addStyle(element, loginStyles.cssText);
  element.append(form);
}

/** Adds a style that ends with the element. */
function addStyle(element: HTMLElement, css: string): void {
  element.append(Object.assign(document.createElement('style'), { textContent: css }));
}

/**
 * Yields the displayed text nodes, except the hidden middles of names, and facts that don't fit in their line.
 */
function* textsIn(root: ParentNode): Generator<Text> {
  const walker = document.createTreeWalker(root as unknown as Node, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent?.trim() || !parent || parent.closest('.silent, .cut, style')) continue;
    if (parent.checkVisibility() && !isLeftOut(parent)) yield node as Text;
  }
}

function boxesOf(text: Text): DOMRect[] {
  const range = document.createRange();
  range.selectNodeContents(text);
  return [...range.getClientRects()];
}

/** Returns a function that calls `read` once for each key. */
function once<K, V>(read: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, read(key));
    return known.get(key) as V;
  };
}

/** Returns a description of each text that is cut off, covered by a button, or outside the element. */
function cutTexts(element: WidgetFixture): string[] {
  const boxOf = once((each: Element) => each.getBoundingClientRect());
  const overflowOf = once((each: Element) => {
    const { overflowX, overflowY } = getComputedStyle(each);
    return { overflowX, overflowY };
  });
  const buttonsOf = once((part: Element) => [...part.querySelectorAll('button')]);
  const host = boxOf(element);
  const problems = new Set<string>();
  const forms = element.querySelectorAll(FORM);
  for (const text of [element.renderRoot, ...forms].flatMap((root) => [...textsIn(root)])) {
    const words = text.textContent?.trim();
    for (const box of boxesOf(text)) {
      if (!isWithin(box, host)) problems.add(`outside of the element: ${words}`);
      for (let outer = text.parentElement; outer; outer = outer.assignedSlot ?? outer.parentElement) {
        const { overflowX, overflowY } = overflowOf(outer);
        const area = boxOf(outer);
        if (overflowX !== 'visible' && !isWithin(box, area)) problems.add(`cut at the side: ${words}`);
        const isScrolled = overflowY === 'auto' || overflowY === 'scroll';
        if (isScrolled) break;
        const isCut = box.top < area.top - TOLERANCE_PX || box.bottom > area.bottom + TOLERANCE_PX;
        if (overflowY !== 'visible' && isCut) problems.add(`cut above or below: ${words}`);
      }
      // Compares only with buttons of the same part of the interface: rows that are scrolled out of view can overlap the footer.
      const part = text.parentElement?.closest(PARTS);
      for (const button of part ? buttonsOf(part) : [])
        if (!button.contains(text) && overlap(box, boxOf(button)))
          problems.add(`covered by a button: ${words}`);
    }
  }
  return [...problems];
}

/** Resolves when names that are too long are shortened: before the next frame is painted. */
async function namesFit(element: WidgetFixture): Promise<void> {
  const isTooLong = (name: Element): boolean =>
    [...name.childNodes].some((part) =>
      boxesOf(part as Text).some((box) => !isWithin(box, name.getBoundingClientRect())),
    );
  if ([...element.renderRoot.querySelectorAll('.name > bdi')].some(isTooLong))
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Shows each of `looks` in each width, after `prepare`. Returns a description of each text that is cut off. */
async function cutTextsOfAll(
  prepare: (element: WidgetFixture) => void,
  looks = Object.entries(LOOKS),
): Promise<string[]> {
  const problems: string[] = [];
  for (const [state, { snapshot, rules, intake, more, step }] of looks) {
    const element = await show({ rules, intake });
    prepare(element);
    element.more = { ...element.more, ...more };
    if (step !== undefined) showForm(element, step);
    for (const width of WIDTHS_PX) {
      element.style.inlineSize = `${width}px`;
      await element.show(snapshot ?? (STATES.empty as Snapshot));
      await namesFit(element);
      problems.push(...cutTexts(element).map((problem) => `${state}, ${width} px: ${problem}`));
    }
    element.remove();
  }
  return problems;
}

/** The ids of all files of all looks. */
const ALL_IDS = Object.values(LOOKS).flatMap(({ snapshot }) => snapshot?.files.map(({ id }) => id) ?? []);

for (const [language, messages] of LANGUAGES) {
  for (const [zoom, isUndone] of [...ZOOMS.map((each) => [each, false] as const), [1, true] as const]) {
    it(`no text is cut off in ${language} at ${zoom * 100} %${isUndone ? ', with undo in each row' : ''}`, async () => {
      const problems = await cutTextsOfAll((element) => {
        element.dir = ['ar', 'he'].includes(messages.locale) ? 'rtl' : 'ltr';
        element.style.fontSize = `${zoom * 16}px`;
        const ids = new Set(isUndone ? ALL_IDS : []);
        const undo = { ids, text: messages.undoableCancel(3) };
        element.more = { messages, format: createFormat(messages.locale), undo, restoredCount: 12 };
      });
      expect(problems).to.deep.equal([]);
    });
  }
}

it('no text is cut off in any other state of the views, in longer texts', async () => {
  const messages = rewritten(ENGLISH_LOGIN, longer);
  const others = Object.entries(VIEW_STATES).filter(([title]) => !(title in LOOKS));
  const problems = await cutTextsOfAll((element) => {
    element.more = { ...element.more, messages, format: createFormat(messages.locale) };
  }, others);
  expect(problems).to.deep.equal([]);
});

/** Adds styles to the shadow root, like those that users add with an extension of the browser. */
function addStyles(element: WidgetFixture, css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const root = element.renderRoot as ShadowRoot;
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  addStyle(element, `${FORM} { ${css} }`);
}

it('no text is cut off with the text spacing that users may set', async () => {
  // The values of WCAG 2.2, criterion 1.4.12.
  const spacing =
    'line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important';
  expect(await cutTextsOfAll((element) => addStyles(element, `* { ${spacing} }`))).to.deep.equal([]);
});

it('a text with a fixed height is found if the spacing makes it too high', async () => {
  const cut = 'p { block-size: 1em; overflow: hidden; line-height: 3 !important }';
  for (const look of Object.entries(LOOKS).filter(([name]) => /^errors$|^the form asks/.test(name)))
    expect(await cutTextsOfAll((element) => addStyles(element, cut), [look])).not.to.deep.equal([]);
});

it('a row in a narrow container keeps its icon, its percentage and its menu', async () => {
  const element = await show('uploading', { style: 'inline-size: 280px' });
  const row = element.renderRoot.querySelector('.row.uploading');
  for (const selector of ['.badge', '[data-action=more]'])
    expect(row?.querySelector(selector)?.checkVisibility(), selector).to.equal(true);
  const facts = [...(row?.querySelectorAll('.facts bdi') ?? [])].filter((fact) => !isLeftOut(fact));
  expect(facts.map(({ textContent }) => textContent)).to.deep.equal(['26%']);
});
