// Contrast in all themes: of texts (WCAG 1.4.3), and of progress bars and borders of buttons, fields and the drop zone (1.4.11).

import { expect, fixture, html } from '@open-wc/testing';
import { file, STATES, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { Snapshot } from '../../src/index.ts';
import { loginStyles } from '../../src/ui/styles/login-styles.ts';
import { show } from './show.ts';
import { one } from './support.ts';

const LEAST = 3;
const SCHEMES = ['light', 'dark'];

type Rgb = readonly [number, number, number];

/** Returns the color that users see: `layers` painted one over the other, each with an opacity. */
function paint(...layers: readonly (readonly [color: string, opacity: number])[]): Rgb {
  const context = new OffscreenCanvas(1, 1).getContext('2d') as OffscreenCanvasRenderingContext2D;
  for (const [color, opacity] of layers) {
    context.globalAlpha = opacity;
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
  }
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const paused = (name: string) => file(name, 'paused', 1000, 0.5, { pauseReason: 'user' });

/** Lists with a bar in each color. */
const BARS: Readonly<Record<string, Snapshot>> = {
  'is sent': STATES.one as Snapshot,
  'is paused': snapshot([paused('a'), paused('b')]),
  'is uploaded': STATES.finished as Snapshot,
};

/** The themes of the package; without a name, no theme is loaded. Each with the least contrast of its texts. */
const THEMES: readonly (readonly [name: string, textLeast: number])[] = [
  ['', 4.5],
  ['default', 4.5],
  ['compact-neutral', 4.5],
  ['high-contrast', 7],
  ['material', 4.5],
];
const COLORS = ['accent', 'text', 'muted', 'danger', 'warning', 'success'];
const MOST_LINES = 60;

/** Loads a theme into the page, also for the fixture. */
async function loadTheme(name: string): Promise<HTMLStyleElement> {
  const style = document.createElement('style');
  const text = name ? await (await fetch(`/src/themes/${name}.css`)).text() : '';
  expect(text.split('\n').length, name).to.be.lessThan(MOST_LINES);
  style.textContent = text.replace('secure-uploader,', 'secure-uploader, widget-fixture,');
  document.head.append(style);
  return style;
}

for (const [theme, textLeast] of THEMES)
  for (const scheme of SCHEMES) {
    const style = `color-scheme: ${scheme}`;
    const surfaceOf = (element: WidgetFixture): string =>
      getComputedStyle(one(element, '.base')).backgroundColor;

    describe(`in ${scheme} mode${theme && ` with the theme ${theme}`}, a contrast of at least 3:1`, () => {
      let sheet: HTMLStyleElement;
      before(async () => {
        sheet = await loadTheme(theme);
      });
      after(() => sheet.remove());

      it(`separates texts from their surface, with at least ${textLeast}:1`, async () => {
        const element = await show('errors', { style });
        const probe = document.createElement('i');
        element.renderRoot.append(probe);
        const colorOf = (name: string): Rgb => {
          probe.style.color = `var(--_${name})`;
          return paint([getComputedStyle(probe).color, 1]);
        };
        const surfaces = [colorOf('surface'), colorOf('tint')];
        for (const name of COLORS)
          for (const surface of surfaces)
            expect(contrast(colorOf(name), surface), name).to.be.at.least(textLeast);
        expect(contrast(colorOf('on-accent'), colorOf('accent')), 'on-accent').to.be.at.least(textLeast);
      });

      for (const [what, shown] of Object.entries(BARS))
        it(`separates the two parts of a bar that ${what}`, async () => {
          const element = await show(shown, { style });
          const track = getComputedStyle(one(element, '.bar')).backgroundColor;
          const layers = [[surfaceOf(element), 1] as const, [track, 1] as const];
          for (const selector of ['.bar .sent']) {
            const { backgroundColor, opacity } = getComputedStyle(one(element, selector));
            const shownColor = paint(...layers, [backgroundColor, Number(opacity)]);
            expect(contrast(shownColor, paint(...layers)), selector).to.be.at.least(LEAST);
          }
        });

      it('separates borders of buttons and of the drop zone from their surface', async () => {
        const element = await show('empty', { style });
        const surface = paint([surfaceOf(element), 1]);
        const borders = [
          getComputedStyle(one(element, '[data-action=folder]')).borderTopColor,
          getComputedStyle(one(element, '.zone'), '::before').borderTopColor,
        ];
        for (const color of borders)
          expect(contrast(paint([surfaceOf(element), 1], [color, 1]), surface)).to.be.at.least(LEAST);
      });

      it('separates fields of the sign-in form from the page', async () => {
        const page = await fixture<HTMLElement>(
          html`<div style=${style}><style>${loginStyles}</style><secure-uploader-login><input /></secure-uploader-login></div>`,
        );
        const field = page.querySelector('input') as HTMLInputElement;
        field.style.color = 'var(--_surface)';
        const background = getComputedStyle(field).color;
        const { borderTopColor } = getComputedStyle(field);
        expect(contrast(paint([background, 1], [borderTopColor, 1]), paint([background, 1]))).to.be.at.least(
          LEAST,
        );
      });
    });
  }

describe('a list in which every upload is paused', () => {
  it('has a total bar in the color of paused bars', async () => {
    const element = await show('empty');
    const colorOf = async (shown: Snapshot): Promise<string> => {
      await element.show(shown);
      return getComputedStyle(one(element, '.totals .sent')).backgroundColor;
    };
    const [still, moving] = [
      await colorOf(snapshot([paused('a'), paused('b')])),
      await colorOf(STATES.uploading as Snapshot),
    ];
    expect(still).not.to.equal(moving);
    expect(still).to.equal(getComputedStyle(one(element, '.status')).color);
    expect(one(element, '.headline').textContent).not.to.equal('Paused');
    await element.show(snapshot([paused('a'), paused('b')]));
    expect(one(element, '.headline').textContent).to.equal('Paused');
  });
});
