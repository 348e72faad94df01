// Custom properties: the effect of those that exist, and the warnings about those that do not.

import { expect } from '@open-wc/testing';
import { file } from '../../demo/states/snapshots.ts';
import { meantBy, warnOfProperties } from '../../src/ui/check-properties.ts';
import { propertiesIn, unknownProperties } from '../../src/ui/page-properties.ts';
import { styles } from '../../src/ui/styles/styles.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { world } from '../support/world.ts';
import { show } from './show.ts';
import { all, one } from './support.ts';

const KNOWN = propertiesIn(styles.join(''));

/** Creates a shadow root in another one whose styles are `css`, and returns it. */
function insideOf(css: string): ShadowRoot {
  const outer = document.createElement('div');
  const around = outer.attachShadow({ mode: 'open' });
  around.innerHTML = `<style>${css}</style><div></div>`;
  document.body.append(outer);
  const inside = (around.querySelector('div') as HTMLElement).attachShadow({ mode: 'open' });
  return inside;
}

const warningsFor = async (css: string): Promise<readonly string[]> => {
  const inside = insideOf(css);
  let told: readonly string[] = [];
  await captureWarnings((warnings) => {
    warnOfProperties(unknownProperties(inside, KNOWN), KNOWN);
    told = [...warnings];
  });
  return told;
};

describe('a custom property that does not exist', () => {
  // First: each document is looked at once.
  it('of the page is named on the console when the element is loaded on localhost', async () => {
    const style = document.createElement('style');
    style.textContent = ':root { --secure-uploader-radios: 4px }';
    document.head.append(style);
    const expected =
      'secure-uploader: The custom property --secure-uploader-radios does not exist. Did you mean --secure-uploader-radius?';
    await captureWarnings(async (warnings) => {
      await world({ element: true });
      await until(() => warnings.includes(expected));
    });
    style.remove();
  });

  for (const [name, meant] of [
    ['border', 'line'],
    ['border-color', 'line'],
    ['acent', 'accent'],
    ['accnet', 'accent'],
    ['accents', 'accent'],
    ['fontsize', 'font-size'],
    ['on_accent', 'on-accent'],
    ['background', 'surface'],
    ['primary', 'accent'],
    ['on-primary', 'on-accent'],
    ['error-color', 'danger'],
    ['border-radius', 'radius'],
    ['button-border-radius', 'button-radius'],
    ['bar-size', 'font-size'],
    ['progress-height', 'bar-height'],
    ['row-gap', 'row-padding'],
    ['max-height', 'list-height'],
    ['text-color', 'text'],
    ['shadow', undefined],
  ] as const)
    it(`${name} probably means ${meant}`, () => {
      const prefix = '--secure-uploader-';
      expect(meantBy(prefix + name, KNOWN)).to.equal(meant && prefix + meant);
    });

  it('leads to one warning, from rules of all kinds', async () => {
    const told = await warningsFor(`
      a { --secure-uploader-edge: 1px; --secure-uploader-border: red; --other-border: 1px; color: red }
      @media (min-width: 1px) { @supports (color: red) { b { c & { --secure-uploader-bg: red } } } }
      @layer x { i { --secure-uploader-border: blue; --secure-uploader-line: blue } }
    `);
    expect([...told].sort()).to.deep.equal([
      'secure-uploader: The custom property --secure-uploader-bg does not exist. Did you mean --secure-uploader-surface?',
      'secure-uploader: The custom property --secure-uploader-border does not exist. Did you mean --secure-uploader-line?',
      'secure-uploader: The custom property --secure-uploader-edge does not exist. See docs/theming.md.',
    ]);
  });

  it('is none of those of the reference, and none of the themes', async () => {
    const themes = await Promise.all(
      ['default', 'compact-neutral', 'high-contrast', 'material'].map(async (name) =>
        (await fetch(`/src/themes/${name}.css`)).text(),
      ),
    );
    expect(await warningsFor(themes.join(''))).to.deep.equal([]);
    expect([...KNOWN].map((name) => name.replace('--secure-uploader-', '')).sort()).to.deep.equal(
      `accent bar-height button-radius danger font font-size font-weight line list-height muted on-accent radius row-padding success
      surface text warning`.split(/\s+/),
    );
  });
});

describe('the custom property', () => {
  const look = (style: string, density?: string) =>
    show([file('a.txt', 'uploading', 100, 0.5), file('b.txt', 'failed', 100)], {
      width: 600,
      style,
      ...(density && { density }),
    });

  it('button-radius changes buttons, and nothing else', async () => {
    const element = await look('--secure-uploader-button-radius: 3px; --secure-uploader-radius: 20px');
    for (const each of all(element, 'button')) expect(getComputedStyle(each).borderRadius).to.equal('3px');
    expect(getComputedStyle(one(element, '.badge')).borderRadius).not.to.equal('3px');
    expect(getComputedStyle(one(element, '.base')).borderRadius).to.equal('20px');
    const other = await look('--secure-uploader-radius: 20px');
    expect(getComputedStyle(one(other, 'button')).borderRadius).to.equal('12px');
  });

  it('row-padding changes the height of rows, which always have room for the bar', async () => {
    const heights: number[] = [];
    for (const padding of ['', '0px', '20px']) {
      const element = await look(padding && `--secure-uploader-row-padding: ${padding}`);
      const text = one(element, '.row .status').getBoundingClientRect();
      expect(one(element, '.row .bar').getBoundingClientRect().top, padding).to.be.above(text.bottom - 1);
      const row = one(element, '.row');
      if (padding) expect(getComputedStyle(row).paddingBlockStart).to.equal(padding);
      heights.push(row.offsetHeight);
    }
    const [usual = 0, least = 0, most = 0] = heights;
    expect([usual - least > 8, most - usual > 8], heights.join()).to.deep.equal([true, true]);
  });

  it('bar-height changes all bars, and rows make room for high ones', async () => {
    for (const density of ['', 'compact']) {
      const element = await look('--secure-uploader-bar-height: 20px', density);
      for (const bar of all(element, '.bar')) expect(bar.offsetHeight).to.equal(20);
      const text = one(element, '.row .status').getBoundingClientRect();
      expect(one(element, '.row .bar').getBoundingClientRect().top).to.be.above(text.bottom - 2);
    }
  });

  it('font-weight changes names and buttons, and titles by as much', async () => {
    const weight = (element: Element): string => getComputedStyle(element).fontWeight;
    const element = await look('--secure-uploader-font-weight: 400');
    expect([weight(one(element, '.name')), weight(one(element, 'button'))]).to.deep.equal(['400', '400']);
    expect([weight(one(element, '.title')), weight(one(element, '.headline'))]).to.deep.equal(['500', '500']);
    const heavy = await look('--secure-uploader-font-weight: 1000');
    expect(weight(one(heavy, '.headline'))).to.equal('1000');
    const usual = await look('');
    expect([weight(one(usual, '.name')), weight(one(usual, '.headline'))]).to.deep.equal(['500', '600']);
  });
});
