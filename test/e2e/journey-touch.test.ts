// A journey, because it needs a touch screen, also one beside a mouse.
// A touch screen: every button is large enough for a finger, and buttons do not touch each other.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { drop, newContext, untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createWorld, isReady } from './support/world.ts';

const FINGER_PX = 44;
const world = await createWorld();

async function touchScreen(page: Page): Promise<void> {
  const session = await world.context.newCDPSession(page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  await session.send('Emulation.setDeviceMetricsOverride', {
    ...{ width: 360, height: 740, deviceScaleFactor: 2, mobile: true },
  });
  assert.equal(await page.evaluate(() => matchMedia('(pointer: coarse)').matches), true);
}

const buttonsOf = (page: Page) =>
  page.evaluate(() =>
    [...(document.querySelector('secure-uploader')?.shadowRoot?.querySelectorAll('button') ?? [])]
      .filter((button) => button.checkVisibility())
      .map((button) => {
        const { left, right, top, bottom, width, height } = button.getBoundingClientRect();
        const label = button.getAttribute('aria-label') ?? (button.title || button.textContent?.trim() || '');
        return { label, left, right, top, bottom, width, height };
      }),
  );

async function addTwo(page: Page): Promise<void> {
  const files = ['first.bin', 'second.bin'].map((name) => join(world.folder, name));
  for (const file of files) writeRandom(file, 1024);
  await drop(page, files);
  await untilEvent(page, 'file-added', 2);
}

test('every button is at least 44 px wide and high, and none overlaps another', async () => {
  const page = await world.openWithToken('manual');
  await touchScreen(page);
  const empty = await buttonsOf(page);
  assert.ok(empty.length > 0);
  await addTwo(page);
  const listed = await buttonsOf(page);
  assert.ok(listed.length >= empty.length + 4, `${listed.length} buttons`);
  for (const { label, width, height } of [...empty, ...listed])
    assert.ok(width >= FINGER_PX && height >= FINGER_PX, `${label}: ${width} x ${height} px`);
  for (const [at, a] of listed.entries())
    for (const b of listed.slice(at + 1)) {
      const isApart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      assert.ok(isApart, `${a.label} and ${b.label}`);
    }
});

test('a row has at most 64 px, and the drop zone does not ask to drop files', async () => {
  const page = await world.openWithToken('manual');
  await touchScreen(page);
  await addTwo(page);
  const { heights, title } = await page.evaluate(() => {
    // Without a meta element for the viewport, the page is 980 px wide.
    document.body.style.inlineSize = '360px';
    const all = (selector: string): HTMLElement[] => [
      ...(document.querySelector('secure-uploader')?.shadowRoot?.querySelectorAll<HTMLElement>(selector) ??
        []),
    ];
    return {
      heights: all('.row').map((row) => row.offsetHeight),
      title: all('.zone .title')[0]?.innerText,
    };
  });
  assert.equal(heights.length, 2);
  assert.ok(Math.max(...heights) <= 64, `${heights} px`);
  assert.equal(title, 'File upload');
});

// Bits of the settings of Chromium.
const [COARSE, FINE] = [2, 4];
const [NO_HOVER, HOVER] = [1, 2];

for (const [device, pointer, pointers, hover, media, isShown] of [
  ['a mouse', FINE, FINE, HOVER, '(hover: hover) and (not (any-pointer: coarse))', false],
  [
    'a touch screen and a mouse',
    COARSE,
    COARSE | FINE,
    NO_HOVER,
    '(pointer: coarse) and (any-hover: hover)',
    true,
  ],
  [
    'a mouse and a touch screen',
    FINE,
    COARSE | FINE,
    HOVER,
    '(hover: hover) and (any-pointer: coarse)',
    true,
  ],
] as const)
  test(`a row ${isShown ? 'shows' : 'hides'} "Pause" until it is pointed at with ${device}`, async (t) => {
    const settings = {
      primaryPointerType: pointer,
      availablePointerTypes: pointers,
      primaryHoverType: hover,
      availableHoverTypes: HOVER,
    };
    const list = Object.entries(settings).map((each) => each.join('='));
    const browser = await chromium.launch({
      executablePath: findChromium() as string,
      args: [...chromiumArgs, `--blink-settings=${list}`],
    });
    t.after(() => browser.close());
    const page = await (await newContext(browser)).newPage();
    await page.goto(world.pages.add('/pointers.html', world.elementWith('manual')));
    await isReady(page);
    await addTwo(page);
    assert.equal(await page.evaluate((media) => matchMedia(media).matches, media), true);
    const pauses = page.locator('.row [data-action=go]');
    assert.equal(await pauses.count(), 2);
    const opacities = await pauses.evaluateAll((all) => all.map((each) => getComputedStyle(each).opacity));
    assert.deepEqual(opacities, isShown ? ['1', '1'] : ['0', '0']);
  });
