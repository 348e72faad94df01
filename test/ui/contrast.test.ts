// Contrast of everything that is not text: progress bars, and borders of buttons, fields and the drop zone (WCAG 1.4.11).

import { expect, fixture, html } from '@open-wc/testing';
import type { Snapshot } from '../../src/index.ts';
import { login } from '../../src/ui/styles/login.ts';
import { file, STATES, snapshot } from './fixtures/snapshots.ts';
import type { WidgetFixture } from './fixtures/widget-fixture.ts';
import './fixtures/widget-fixture.ts';
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

for (const scheme of SCHEMES) {
  const show = async (shown: Snapshot): Promise<WidgetFixture> => {
    const element = await fixture<WidgetFixture>(
      html`<widget-fixture style="color-scheme: ${scheme}"></widget-fixture>`,
    );
    await element.show(shown);
    return element;
  };
  const surfaceOf = (element: WidgetFixture): string =>
    getComputedStyle(one(element, '.base')).backgroundColor;

  describe(`in ${scheme} mode, a contrast of at least 3:1`, () => {
    for (const [what, shown] of Object.entries(BARS))
      it(`separates the two parts of a bar that ${what}`, async () => {
        const element = await show(shown);
        const track = getComputedStyle(one(element, '.bar')).backgroundColor;
        const layers = [[surfaceOf(element), 1] as const, [track, 1] as const];
        for (const selector of ['.bar .sent', '.bar .stored']) {
          const { backgroundColor, opacity } = getComputedStyle(one(element, selector));
          const shownColor = paint(...layers, [backgroundColor, Number(opacity)]);
          expect(contrast(shownColor, paint(...layers)), selector).to.be.at.least(LEAST);
        }
      });

    it('separates borders of buttons and of the drop zone from their surface', async () => {
      const element = await show(STATES.empty as Snapshot);
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
        html`<div style="color-scheme: ${scheme}"><style>${login.cssText}</style><secure-uploader-login><input /></secure-uploader-login></div>`,
      );
      const field = page.querySelector('input') as HTMLInputElement;
      const background = scheme === 'light' ? '#fff' : '#16191f';
      const { borderTopColor } = getComputedStyle(field);
      expect(contrast(paint([background, 1], [borderTopColor, 1]), paint([background, 1]))).to.be.at.least(
        LEAST,
      );
    });
  });
}

describe('a list in which every upload is paused', () => {
  it('has a total bar in the color of paused bars', async () => {
    const element = await fixture<WidgetFixture>(html`<widget-fixture></widget-fixture>`);
    const colorOf = async (shown: Snapshot): Promise<string> => {
      await element.show(shown);
      return getComputedStyle(one(element, '.totals .stored')).backgroundColor;
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
