// A journey, because it needs real drags and a real mouse wheel.
// The drop zone and the list show what is, with real drags, wheels, links and keys, also if no expected event comes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CDPSession, Frame, Page } from 'playwright';
import { writeRandom } from './support/files.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();
const path = join(world.folder, 'dragged.bin');
writeRandom(path, 1000);

const openWith = (html: string): Promise<Page> => world.show('/cases.html', html);

/** Starts a real drag of a file. Returns a function that moves it over the middle of the zone of the uploader at `index`. */
async function startDrag(
  page: Page,
): Promise<(type: 'dragEnter' | 'dragOver' | 'drop', index: number) => Promise<void>> {
  const session: CDPSession = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  return async (type, index) => {
    const box = await page.locator('secure-uploader >> [part~=drop-zone]').nth(index).boundingBox();
    assert.ok(box);
    await session.send('Input.dispatchDragEvent', { type, x: box.x + 20, y: box.y + 20, data });
  };
}

/** Resolves when each uploader of the page is highlighted, or not, as in `expected`. */
const highlighted = (page: Page, ...expected: boolean[]): Promise<unknown> =>
  page.waitForFunction((expected) => {
    const seen = Array.from(document.querySelectorAll('secure-uploader'), (element) => [
      element.matches(':state(dragging)'),
      element.shadowRoot?.querySelector('.dragging') !== null,
      element.shadowRoot?.querySelector('[part~=dragging]') !== null,
      element.shadowRoot?.querySelector('.invitation')?.textContent?.includes('Drop to upload'),
    ]);
    return seen.every((each, index) => each.every((is) => is === expected[index]));
  }, expected);

test('a drag from one uploader straight into the next highlights only that one, and is dropped there', async () => {
  const page = await openWith(world.elementWith('manual') + world.elementWith('manual'));
  const drag = await startDrag(page);
  await drag('dragEnter', 0);
  await drag('dragOver', 0);
  await highlighted(page, true, false);
  await drag('dragOver', 1);
  await highlighted(page, false, true);
  await drag('dragOver', 0);
  await highlighted(page, true, false);
  await drag('dragOver', 1);
  await drag('drop', 1);
  await highlighted(page, false, false);
  await page.waitForFunction(
    () => document.querySelectorAll('secure-uploader')[1]?.snapshot.files.length === 1,
  );
  assert.equal(
    await page.evaluate(() => document.querySelector('secure-uploader')?.snapshot.files.length),
    0,
  );
  await page.close();
});

test('an uploader that is disabled during a drag invites no drop, and does again once it is enabled', async () => {
  const page = await openWith(world.elementWith('manual'));
  const drag = await startDrag(page);
  const disable = (isOn: boolean): Promise<void> =>
    page.evaluate((isOn) => {
      const element = document.querySelector('secure-uploader');
      if (element) element.disabled = isOn;
    }, isOn);
  await drag('dragEnter', 0);
  await drag('dragOver', 0);
  await highlighted(page, true);
  await disable(true);
  await highlighted(page, false);
  await disable(false);
  await drag('dragOver', 0);
  await highlighted(page, true);
  await disable(true);
  await drag('drop', 0);
  await highlighted(page, false);
  assert.equal(
    await page.evaluate(() => document.querySelector('secure-uploader')?.snapshot.files.length),
    0,
  );
  await page.close();
});

const addMany = (page: Page | Frame): Promise<void> =>
  page.evaluate(async () => {
    const element = document.querySelector('secure-uploader');
    await element?.addFiles(Array.from({ length: 1000 }, (_, at) => new File([`${at}`], `${at}.txt`)));
    await element?.updateComplete;
  });

/** Resolves when rows cover the part of the list that is on the screen, from its top to its bottom. */
const covered = (page: Page | Frame): Promise<unknown> =>
  page.waitForFunction(() => {
    const { shadowRoot } = document.querySelector('secure-uploader') as HTMLElement;
    const scroller = shadowRoot?.querySelector('.scroller')?.getBoundingClientRect();
    const rows = Array.from(shadowRoot?.querySelectorAll('.row') ?? [], (row) => row.getBoundingClientRect());
    if (!scroller || rows.length > 200) return false;
    const top = Math.max(scroller.top, 0);
    const bottom = Math.min(scroller.bottom, innerHeight);
    return rows.some((row) => row.top <= top + 1) && rows.some((row) => row.bottom >= bottom - 1);
  });

/** Turns the wheel, and resolves with the place in the list when nothing scrolls any more. */
async function turn(page: Page, delta: number, frame: Page | Frame = page): Promise<number> {
  const look = (): number =>
    scrollY +
    (document.querySelector('secure-uploader')?.shadowRoot?.querySelector('.scroller')?.scrollTop ?? 0);
  await frame.evaluate(`globalThis.placeOf = ${look}`);
  const before = await frame.evaluate(look);
  await page.mouse.wheel(0, delta);
  return frame.evaluate(async (before) => {
    const { placeOf } = globalThis as unknown as { placeOf(): number };
    for (let count = 0, last = before; count < 20; ) {
      await new Promise(requestAnimationFrame);
      const place = placeOf();
      count = place === last && place !== before ? count + 1 : 0;
      last = place;
    }
    return placeOf();
  }, before);
}

const noHeight = (page: Page | Frame): Promise<void> =>
  page.evaluate(() =>
    document.querySelector('secure-uploader')?.style.setProperty('--secure-uploader-list-height', 'none'),
  );

test('a list in a frame follows the wheel, and the height that the page gives the frame', async () => {
  const url = world.pages.add('/inner.html', world.elementWith('manual'));
  const page = await openWith(
    `<iframe id="frame" src="${new URL(url).pathname}"></iframe>${world.elementWith('manual')}`,
  );
  const frame = page.frames()[1] as Frame;
  await frame.waitForFunction(() => customElements.get('secure-uploader') !== undefined);
  await noHeight(frame);
  await addMany(frame);
  await page.locator('#frame').hover();
  for (const [delta, expected] of [
    [9000, 9000],
    [12_000, 21_000],
    [-4000, 17_000],
  ] as const) {
    const seen = await turn(page, delta, frame);
    await covered(frame);
    assert.ok(Math.abs(seen - expected) < 300, `${seen} instead of ${expected}`);
  }
  await page.evaluate(() => {
    const frame = document.getElementById('frame') as HTMLElement;
    frame.style.blockSize = '2500px';
  });
  await frame.waitForFunction(() => innerHeight === 2500);
  await covered(frame);
  await page.close();
});

for (const [where, height] of [
  ['the page', 'none'],
  ['the list', '20em'],
] as const)
  test(`a turn of the wheel that is farther than the rendered rows moves ${where} as far as it was turned`, async () => {
    const page = await openWith(world.elementWith('manual'));
    await page.evaluate(
      (height) =>
        document.querySelector('secure-uploader')?.style.setProperty('--secure-uploader-list-height', height),
      height,
    );
    await addMany(page);
    await page.mouse.move(300, 300);
    for (const [delta, expected] of [
      [9000, 9000],
      [15_000, 24_000],
      [-6000, 18_000],
    ] as const) {
      const seen = await turn(page, delta);
      await covered(page);
      assert.ok(Math.abs(seen - expected) < 300, `${seen} instead of ${expected}`);
    }
    await page.close();
  });

test('a link to what is below a long list arrives there, and the way back at the rows of before', async () => {
  const page = await openWith(
    `<a id="link" href="#after">after</a>${world.elementWith('manual')}<p id="after">after</p><div id="space"></div>`,
  );
  await page.evaluate(() => {
    const { style } = document.getElementById('space') as HTMLElement;
    style.blockSize = '3000px';
  });
  await noHeight(page);
  await addMany(page);
  await page.waitForFunction(() => document.documentElement.scrollHeight > 50_000);
  const arrived = (): Promise<unknown> =>
    page.waitForFunction(
      () => Math.abs(document.getElementById('after')?.getBoundingClientRect().top ?? 99) < 1,
    );
  await page.focus('#link');
  await page.keyboard.press('Enter');
  await arrived();
  await page.evaluate(async () => {
    for (let count = 0; count < 30; count++) await new Promise(requestAnimationFrame);
  });
  await arrived();
  await page.evaluate(() => history.back());
  await page.waitForFunction(() => scrollY === 0);
  await covered(page);
  await page.close();
});

test('the keys of the browser scroll the list to its ends, and rows are there', async () => {
  const page = await openWith(world.elementWith('manual'));
  await addMany(page);
  const zone = page.locator('secure-uploader >> .scroller');
  await zone.evaluate((scroller: HTMLElement) => {
    scroller.tabIndex = 0;
    scroller.focus();
  });
  for (const [key, name] of [
    ['End', '999'],
    ['PageUp', '990'],
    ['Home', '0'],
    ['PageDown', '6'],
    ['End', '999'],
  ] as const) {
    await page.keyboard.press(key);
    const shown = page.waitForFunction((name) => {
      const { shadowRoot } = document.querySelector('secure-uploader') as HTMLElement;
      const box = shadowRoot?.querySelector('.scroller')?.getBoundingClientRect() as DOMRect;
      const row = [...(shadowRoot?.querySelectorAll('.row') ?? [])].find(
        (row) => row.querySelector('[part~=file-name]')?.textContent === `${name}.txt`,
      );
      const { top = -99, height = 0 } = row?.getBoundingClientRect() ?? {};
      const middle = top + height / 2;
      return middle >= box.top && middle <= box.bottom;
    }, name);
    await shown.catch(async () => {
      const { scrollTop, scrollHeight, isFocused } = await zone.evaluate((scroller) => ({
        ...{ scrollTop: scroller.scrollTop, scrollHeight: scroller.scrollHeight },
        isFocused: (scroller.getRootNode() as ShadowRoot).activeElement === scroller,
      }));
      assert.fail(`${key} shows no row ${name}: at ${scrollTop} of ${scrollHeight}, focus: ${isFocused}`);
    });
    // The next key would change the target of an animation that is still running.
    await zone.evaluate(async (scroller) => {
      for (let top = Number.NaN, stillCount = 0; stillCount < 20; ) {
        await new Promise(requestAnimationFrame);
        stillCount = scroller.scrollTop === top ? stillCount + 1 : 0;
        top = scroller.scrollTop;
      }
    });
    await covered(page);
  }
  await page.close();
});
