// `density="compact"`: rows of 40 px in wide places, lower rows in narrow ones, and no text that is cut off.

import { expect } from '@open-wc/testing';
import { file, STATES } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { LoginMessages } from '../../src/core/messages.ts';
import german from '../../src/locales/de.ts';
import { ENGLISH_LOGIN } from '../../src/locales/en-login.ts';
import { createFormat } from '../../src/ui/format.ts';
import { longer, rewritten } from './pseudo.ts';
import { show } from './show.ts';
import { all, isLeftOut } from './support.ts';

const ROW_PX = 40;
const WIDTHS_PX = [280, 320, 360, 480, 600, 760];
const PHASES = ['queued', 'hashing', 'uploading', 'committing', 'done', 'paused', 'canceled'] as const;
const FILES = PHASES.map((phase) =>
  file(`${phase}.pdf`, phase, 45_000_000, 0.5, { ...(phase === 'paused' && { pauseReason: 'user' }) }),
);

const heightsOf = (element: WidgetFixture, selector = '.row'): number[] =>
  all(element, selector).map((row) => Math.round(row.getBoundingClientRect().height * 100) / 100);

/** Returns a description of each text that is wider than its row, or covered by a button. */
function cutTexts(element: WidgetFixture): string[] {
  return all(element, '.row').flatMap((row) => {
    const buttons = [...row.querySelectorAll('button')];
    const texts = [...row.querySelectorAll('.phase, .facts bdi, .problem, .body button')].filter(
      (text) => text.checkVisibility() && !isLeftOut(text),
    );
    return texts
      .filter((text) => {
        const status = text.closest('.status');
        const isHidden = status !== null && getComputedStyle(status).clipPath !== 'none';
        const box = text.getBoundingClientRect();
        const outer = row.getBoundingClientRect();
        const isOutside =
          box.left < outer.left || box.right > outer.right + 1 || box.bottom > outer.bottom + 1;
        const isCovered = buttons.some((button) => {
          const { left, right, top, bottom } = button.getBoundingClientRect();
          const isBeside =
            right <= box.left + 1 || left >= box.right - 1 || bottom <= box.top + 1 || top >= box.bottom - 1;
          return !button.contains(text) && !isBeside;
        });
        return !isHidden && (isOutside || isCovered);
      })
      .map((text) => `${row.className}: ${text.textContent?.trim()}`);
  });
}

const LANGUAGES: readonly (readonly [name: string, LoginMessages])[] = [
  ['English', ENGLISH_LOGIN],
  ['German', german],
  ['longer texts', rewritten(ENGLISH_LOGIN, longer)],
];

/** Returns a description of each text, icon and worded button of a row that its progress bar crosses. */
function struckTexts(element: WidgetFixture): string[] {
  return all(element, '.row').flatMap((row) => {
    const bar = row.querySelector('.bar')?.getBoundingClientRect();
    if (!bar) return [];
    const range = document.createRange();
    const boxesOf = (part: Element): readonly DOMRect[] => {
      if (part.matches('button, .icon')) return [part.getBoundingClientRect()];
      range.selectNodeContents(part);
      return [...range.getClientRects()];
    };
    return [...row.querySelectorAll('.name bdi > span, .phase, .facts bdi, .problem, .body button, .icon')]
      .filter((part) => part.checkVisibility() && !isLeftOut(part))
      .filter((part) =>
        boxesOf(part).some(
          ({ left, right, top, bottom }) =>
            left < bar.right && right > bar.left && top < bar.bottom - 0.5 && bottom > bar.top + 0.5,
        ),
      )
      .map((part) => `${row.className}: ${part.textContent?.trim()}`);
  });
}

describe('density', () => {
  for (const [density, languages] of [
    ['compact', LANGUAGES],
    ['comfortable', LANGUAGES.slice(0, 1)],
  ] as const)
    for (const [language, messages] of languages)
      it(`${density} has no progress bar that crosses a text: ${language}`, async () => {
        const struck: string[] = [];
        for (const [state, shown] of Object.entries(STATES)) {
          if (shown.files.length === 0 || shown.files.length > 100) continue;
          const element = await show(shown, { density, width: 760 });
          element.more = { ...element.more, messages, format: createFormat(messages.locale) };
          await element.show(shown);
          for (let width = 280; width <= 800; width += 40)
            for (const zoom of [1, 1.5]) {
              Object.assign(element.style, { inlineSize: `${width}px`, fontSize: `${zoom * 16}px` });
              struck.push(...struckTexts(element).map((text) => `${state}, ${width} px, ${zoom}: ${text}`));
            }
          element.remove();
        }
        expect(struck).to.deep.equal([]);
      });

  it('compact has rows of 40 px in a wide place', async () => {
    for (const width of [600, 760]) {
      const element = await show(FILES, { density: 'compact', width });
      expect(heightsOf(element), `${width} px`).to.deep.equal(PHASES.map(() => ROW_PX));
    }
  });

  it('compact has lower rows in a narrow place, too, all of the same height', async () => {
    for (const width of [280, 320, 360]) {
      const heights = async (density: string): Promise<number[]> =>
        heightsOf(await show(FILES, { density, width })).slice(1);
      const compact = await heights('compact');
      const [usual = 0] = await heights('');
      expect(new Set(compact).size, `${width} px`).to.equal(1);
      expect(compact[0], `${width} px`).to.be.within(45, usual - 8);
    }
  });

  it('comfortable has higher rows, and is the default', async () => {
    const [other, usual] = await Promise.all(
      ['', 'comfortable'].map(async (density) => heightsOf(await show(FILES, { density, width: 760 }))),
    );
    expect(usual).to.deep.equal(other);
    expect(Math.min(...(usual ?? []))).to.be.greaterThan(ROW_PX);
  });

  it('compact cuts off no text in any state', async () => {
    const cut: string[] = [];
    for (const [state, shown] of Object.entries(STATES)) {
      for (const width of WIDTHS_PX)
        for (const zoom of [1, 2]) {
          const element = await show(shown, { density: 'compact', width });
          element.style.fontSize = `${zoom * 16}px`;
          cut.push(...cutTexts(element).map((text) => `${state}, ${width} px, ${zoom * 100} %: ${text}`));
          element.remove();
        }
    }
    expect(cut).to.deep.equal([]);
  });

  it('compact has no axe violations', async () => {
    await expect(await show('errors', { density: 'compact', width: 360 })).to.be.accessible();
    await expect(await show('uploading', { density: 'compact', width: 760 })).to.be.accessible();
  });
});
