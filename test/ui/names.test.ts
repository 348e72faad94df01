// Names of files in their rows: whole if they fit; otherwise shortened in the middle for the eye only.

import { expect } from '@open-wc/testing';
import { a11ySnapshot } from '@web/test-runner-commands';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import { shownText } from '../../src/core/names.ts';
import type { FileSnapshot } from '../../src/index.ts';
import { cutName } from '../../src/ui/cut-name.ts';
import { show } from './show.ts';

const LONG = 'Annual general meeting of all members, recording of the second day.mp4';
const FLAG = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';

/** Names of all kinds that are too long for a row of 360 px, each with the end that must stay readable. */
const NAMES: Readonly<Record<string, readonly [name: string, end: string]>> = {
  'with an extension': [LONG, 'd day.mp4'],
  'without an extension': ['a-name-without-any-extension-that-goes-on-and-on-and-on', 'n-and-on'],
  'with a long extension': ['the notes of a meeting of all members.elevenchars', '.elevenchars'],
  'with an extension that is none': [`v1.${'a name that is no extension '.repeat(3)}`.trim(), 'xtension'],
  'without a break': [`${'A'.repeat(300)}.pdf`, 'AAAAA.pdf'],
  'in Arabic': [`${'تقرير الربع الأول '.repeat(4)}2026.pdf`, '2026.pdf'],
  'in Hebrew and English': [`${'דוח רבעוני final version '.repeat(3)}ראשון.pdf`, 'ראשון.pdf'],
  'in English and Arabic': [`final report ${'تقرير الربع '.repeat(4)}v2.pdf`, 'v2.pdf'],
  'of emoji': [`${FLAG.repeat(30)}.png`, `${FLAG}.png`],
  'of letters with marks': [`${'e\u0301u\u0308o\u0302'.repeat(30)}.txt`, 'e\u0301u\u0308o\u0302.txt'],
  'in Hindi': [`${'क्षत्रिय'.repeat(20)}.txt`, 'य.txt'],
  'in Japanese': [`${'四半期報告書'.repeat(10)}.xlsx`, '.xlsx'],
  'with marks that change the direction': [`invoice ${'of the year '.repeat(6)}\u202efdp.exe`, 'fdp.exe'],
};

/** Only Chromium finds texts in shadow trees with a script, and only its accessibility tree can be read. */
const isChromium = navigator.userAgent.includes('Chrome/');
const find = (text: string): boolean => (window as unknown as { find(text: string): boolean }).find(text);

const nameIn = (element: WidgetFixture): HTMLElement =>
  element.renderRoot.querySelector('[part~=file-name]') as HTMLElement;

/** Resolves after the browser has told the observers of sizes. */
const settled = (): Promise<void> =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));

async function shownIn(name: string, width = 360, dir = 'ltr'): Promise<WidgetFixture> {
  const element = await show([file(name, 'done', 5e6)], { width });
  element.dir = dir;
  await settled();
  return element;
}

/** The parts of a name that are displayed: all of it, or its start and its end. */
const partsOf = (name: Element): string[] =>
  [...name.childNodes].flatMap((part) =>
    part.textContent && !(part as Element).classList?.contains('cut') ? [part.textContent] : [],
  );

function widthOf(part: Node): number {
  const range = document.createRange();
  range.selectNodeContents(part);
  return [...range.getClientRects()].reduce((sum, { width }) => sum + width, 0);
}

/** Says what is wrong with how a name is displayed, or nothing. */
function faultsOf(name: HTMLElement, whole: string): string[] {
  const faults: string[] = [];
  const box = name.parentElement?.getBoundingClientRect() as DOMRect;
  // The page may be scaled.
  const em =
    parseFloat(getComputedStyle(name).fontSize) *
    (box.width / (name.parentElement as HTMLElement).offsetWidth);
  const content = [...name.childNodes].filter((part) => part.textContent);
  const displayed = content.filter((part) => !(part as Element).classList?.contains('cut'));
  if (name.textContent !== whole) faults.push(`the text is ${name.textContent}`);
  const [start, end] = displayed;
  const inside = content.flatMap((part) => {
    const range = document.createRange();
    range.selectNode(part);
    const rects = part instanceof Element ? part.getClientRects() : range.getClientRects();
    return [...rects].filter(({ width }) => width > 0);
  });
  if (inside.some(({ left, right }) => left < box.left - 1 || right > box.right + 1)) faults.push('outside');
  if (content.length === 1) return faults;
  if (content.length !== 3 || !start || !end) return [...faults, `${content.length} parts`];
  const letters = new Set(
    [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(whole)].map(({ index }) => index),
  );
  const [startText, endText] = [String(start.textContent), String(end.textContent)];
  if (!letters.has(startText.length) || !letters.has(whole.length - endText.length))
    faults.push('half a letter');
  if (/\s$/.test(startText) || /^\s/.test(endText)) faults.push('a blank beside the ellipsis');
  const used = inside.reduce((sum, { width }) => sum + width, 0);
  // A wide letter, the blank before it, and what an ellipsis is narrower than an em.
  if (used < box.width - 3 * em) faults.push(`${Math.round(box.width - used)} px unused`);
  const spacing = parseFloat(getComputedStyle(name).wordSpacing) || 0;
  const sorted = inside.toSorted((one, other) => one.left - other.left);
  for (const [index, { left }] of sorted.entries()) {
    const hole = left - (sorted[index - 1]?.right ?? left);
    // Between words, WebKit leaves out their spacing.
    if (hole > spacing + 1) faults.push(`a hole of ${hole} px`);
  }
  return faults;
}

interface TreeNode {
  readonly role: string;
  readonly name?: string;
  readonly children?: readonly TreeNode[];
}

describe('a name that fits', () => {
  it('is one text, in the page, in its row and in find in page', async () => {
    const element = await shownIn('backup.zip');
    const name = nameIn(element);
    expect([...name.childNodes].map(({ nodeType, textContent }) => [nodeType, textContent])).to.deep.equal([
      [Node.TEXT_NODE, 'backup.zip'],
    ]);
    if (isChromium) expect(find('backup.zip')).to.equal(true);
    getSelection()?.removeAllRanges();
  });

  it('is not shortened at the width that it needs', async () => {
    const element = await shownIn(LONG, 1200);
    const name = nameIn(element);
    expect(name.childNodes).to.have.length(1);
    const spare = (name.parentElement as HTMLElement).offsetWidth - widthOf(name);
    element.style.inlineSize = `${1200 - Math.floor(spare)}px`;
    await settled();
    expect(name.childNodes).to.have.length(1);
    element.style.inlineSize = `${1200 - Math.ceil(spare) - 2}px`;
    await settled();
    expect(name.childNodes).to.have.length(3);
  });
});

describe('a name that does not fit', () => {
  for (const [kind, [name, end]] of Object.entries(NAMES))
    for (const dir of ['ltr', 'rtl'])
      it(`${kind} is shortened in the middle, without a hole, in a page from ${dir}`, async () => {
        const element = await shownIn(name, 360, dir);
        const whole = shownText(name);
        expect(faultsOf(nameIn(element), whole)).to.deep.equal([]);
        const [, shownEnd = ''] = partsOf(nameIn(element));
        expect(shownEnd.endsWith(end), shownEnd).to.equal(true);
        expect(nameIn(element).title).to.equal(whole);
      });

  it('is copied whole and once, and found whole', async () => {
    const element = await shownIn(LONG);
    const name = nameIn(element);
    expect(partsOf(name)).to.have.length(2);
    getSelection()?.setBaseAndExtent(name, 0, name, name.childNodes.length);
    expect(getSelection()?.toString()).to.equal(LONG);
    getSelection()?.removeAllRanges();
    if (isChromium) expect(find(LONG)).to.equal(true);
    getSelection()?.removeAllRanges();
  });

  for (const name of ['backup.zip', LONG])
    it(`is the name of its row for screen readers: ${name}`, async () => {
      if (!isChromium) return;
      await shownIn(name);
      const rows: string[] = [];
      const walk = ({ role, name: own = '', children = [] }: TreeNode): void => {
        if (role === 'row') rows.push(own);
        for (const child of children) walk(child);
      };
      walk((await a11ySnapshot({})) as unknown as TreeNode);
      expect(rows).to.deep.equal([`${name} Done 5 MB`]);
    });

  it('follows its space, the size of letters, the font, the direction and a new name', async () => {
    const errors: string[] = [];
    const onError = ({ message }: ErrorEvent): void => void errors.push(message);
    window.addEventListener('error', onError);
    const element = await shownIn(LONG);
    const name = nameIn(element);
    const looks: string[] = [];
    for (const change of [
      () => undefined,
      () => (element.style.inlineSize = '300px'),
      () => (element.style.inlineSize = '560px'),
      () => (element.style.fontSize = '32px'),
      () => (element.style.fontSize = '16px'),
      () => element.style.setProperty('--secure-uploader-font', 'monospace'),
      () => (element.dir = 'rtl'),
      () => element.setAttribute('density', 'compact'),
      () => (element.style.inlineSize = '700px'),
      () => (element.style.scale = '0.5'),
      () => (element.style.inlineSize = '410px'),
    ]) {
      change();
      await settled();
      expect(faultsOf(name, LONG), String(change)).to.deep.equal([]);
      looks.push(partsOf(name).join('…'));
    }
    expect(new Set(looks.slice(0, 4)).size).to.equal(4);
    expect(looks[5], 'in a font of another width').not.to.equal(looks[4]);
    const renamed = `Another ${LONG}`;
    await element.show(snapshot([{ ...(element.snapshot.files[0] as FileSnapshot), name: renamed }]));
    await settled();
    expect(nameIn(element)).to.equal(name);
    expect(faultsOf(name, renamed)).to.deep.equal([]);
    window.removeEventListener('error', onError);
    expect(errors).to.deep.equal([]);
  });

  it('has no gap for the hidden letters if the page spaces letters and words', async () => {
    const element = await show([file(LONG, 'done', 5e6)], {
      width: 360,
      style: 'letter-spacing: 2px; word-spacing: 4px',
    });
    await settled();
    expect(faultsOf(nameIn(element), LONG)).to.deep.equal([]);
  });

  it('is shortened as well in a page that is zoomed', async () => {
    const element = await shownIn(LONG);
    const name = nameIn(element);
    const usual = partsOf(name);
    for (const zoom of ['2', '0.7', '1.3']) {
      document.body.style.zoom = zoom;
      await settled();
      expect(faultsOf(name, LONG), `by ${zoom}`).to.deep.equal([]);
    }
    document.body.style.zoom = '';
    await settled();
    expect(partsOf(name)).to.deep.equal(usual);
  });

  it('is left alone after an add-on has translated it, until the file has another name', async () => {
    const element = await shownIn('Rechnung.pdf');
    const name = nameIn(element);
    name.innerHTML = '<font><font>Invoice.pdf</font></font>';
    element.style.inlineSize = '400px';
    await settled();
    expect(name.textContent).to.equal('Invoice.pdf');
    await element.show(snapshot([{ ...(element.snapshot.files[0] as FileSnapshot), name: 'Brief.pdf' }]));
    expect(name.innerHTML).to.equal('Brief.pdf');
  });

  it('wraps instead in a very narrow place, also after it was shortened', async () => {
    const errors: string[] = [];
    const onError = ({ message }: ErrorEvent): void => void errors.push(message);
    window.addEventListener('error', onError);
    const other = nameIn(await shownIn(LONG, 200));
    const element = await shownIn(LONG);
    const name = nameIn(element);
    const shortened = partsOf(name);
    expect([other.childNodes.length, shortened.length]).to.deep.equal([1, 2]);
    element.style.inlineSize = '200px';
    await settled();
    expect([name.offsetHeight, name.innerText]).to.deep.equal([other.offsetHeight, other.innerText]);
    expect(name.offsetHeight).to.be.above(60);
    element.style.inlineSize = '360px';
    await settled();
    expect(partsOf(name)).to.deep.equal(shortened);
    window.removeEventListener('error', onError);
    expect(errors).to.deep.equal([]);
  });

  it('is measured only for the rows of the list that are rendered', async () => {
    let measured = 0;
    const { getClientRects } = Range.prototype;
    Range.prototype.getClientRects = function () {
      measured += 1;
      return getClientRects.call(this);
    };
    const element = await show(
      Array.from({ length: 10_000 }, (_, index) => file(`${index} ${LONG}`, 'queued', 5e6)),
      { width: 360 },
    );
    await settled();
    Range.prototype.getClientRects = getClientRects;
    const rows = element.renderRoot.querySelectorAll('.row').length;
    expect(measured).to.be.within(rows, 40 * rows);
  });
});

describe('the place of an extension', () => {
  // Decision 83.
  const places = (name: HTMLElement): readonly [start: number, extension: number] => {
    const text = name.firstChild as Text;
    const middleOf = (start: number, end: number): number => {
      const range = document.createRange();
      range.setStart(text, start);
      range.setEnd(text, end);
      const { left, width } = range.getBoundingClientRect();
      return left + width / 2;
    };
    return [middleOf(0, 1), middleOf(text.data.length - 1, text.data.length)];
  };

  for (const dir of ['ltr', 'rtl'])
    for (const [name, isAtTheRight, kind] of [
      ['report.pdf', true, 'PDF'],
      ['تقرير.pdf', false, 'PDF'],
      ['דוח.exe', false, 'EXE'],
      ['2026 תקציב.xlsx', false, 'XLSX'],
      ['report תקציב.xlsx', true, 'XLSX'],
    ] as const)
      it(`is the end of ${name}, read from its first letter, in a page from ${dir}`, async () => {
        const element = await shownIn(name, 360, dir);
        const [start, extension] = places(nameIn(element));
        expect(extension > start).to.equal(isAtTheRight);
        expect(element.renderRoot.querySelector('[part~=file-icon]')?.textContent).to.equal(kind);
      });
});

describe('cut names', () => {
  const cut = (name: string, available: number): string => {
    const [start, end] = cutName(name, available, (from, to) => to - from);
    return `${name.slice(0, start)}…${name.slice(end)}`;
  };

  for (const [name, available, expected] of [
    ['IMG_20260914_174411.jpg', 15, 'IMG_2026…411.jpg'],
    ['IMG_20260914_174411.jpg', 12, 'IMG_20…11.jpg'],
    ['a.elevenchars', 5, 'a.e…rs'],
    ['notes of us.elevenchars', 15, 'not….elevenchars'],
    ['no-extension-at-all', 12, 'no-ext…at-all'],
    ['a name with blanks  .txt', 11, 'a name….txt'],
    ['.gitignore-of-this', 8, '.git…this'],
    ['ab', 1, 'a…'],
  ] as const)
    it(`leave ${expected} of ${name} in ${available}`, () => expect(cut(name, available)).to.equal(expected));
});
