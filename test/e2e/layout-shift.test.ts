// A journey, because it needs the layout shifts that a browser measures.
// The list and its footer stay where they are while files are uploaded.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { untilEvent } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { pick } from './support/transfer.ts';
import { createWorld, isReady } from './support/world.ts';

const COUNT = 10;
const WIDTHS_PX = [900, 360];

const world = await createWorld();

declare let shiftCount: number;

interface Shift extends PerformanceEntry {
  readonly sources: readonly {
    readonly previousRect: DOMRectReadOnly;
    readonly currentRect: DOMRectReadOnly;
  }[];
}

for (const width of WIDTHS_PX)
  test(`while ten files are uploaded, nothing moves up or down, and no row sideways, in a page of ${width} px`, async () => {
    const paths = Array.from({ length: COUNT }, (_, at) => join(world.folder, `${width} ${at}.bin`));
    for (const [at, path] of paths.entries()) writeRandom(path, 200_000 + at * 100_000);
    const page = await world.openWithToken();
    await page.setViewportSize({ width, height: 900 });
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 30,
      downloadThroughput: -1,
      uploadThroughput: 700_000,
    });
    await pick(page, ...paths);
    await untilEvent(page, 'file-added', COUNT);
    await page
      .locator('secure-uploader .row')
      .nth(COUNT - 1)
      .waitFor();
    await page.evaluate(async () => {
      const moves: string[] = [];
      Object.assign(globalThis, { moves });
      await new Promise(requestAnimationFrame);
      new PerformanceObserver((list) => {
        // Texts move within their line, and appear and disappear there. Rows and the footer are wide and higher than a line.
        // They must not move at all.
        const isBlock = ({ width, height }: DOMRectReadOnly): boolean =>
          width > innerWidth / 2 && height > 30;
        for (const { sources } of list.getEntries() as Shift[])
          for (const { previousRect: before, currentRect: now } of sources)
            if (
              before.width * now.width > 0 &&
              (before.y !== now.y || (isBlock(before) && before.x !== now.x))
            )
              moves.push(`${JSON.stringify(before)} to ${JSON.stringify(now)}`);
      }).observe({ type: 'layout-shift' });
    });
    await untilEvent(page, 'uploads-finished');
    await page.locator('secure-uploader .totals.done').waitFor();
    const moves = await page.evaluate(() => (globalThis as unknown as { moves: string[] }).moves);
    assert.deepEqual(moves, []);
    await page.close();
  });

test('when the engine and the list arrive, nothing moves', async () => {
  const arrive = createGate();
  await world.context.route(/\/uploads-[^/]+\.js/, async (route) => {
    await arrive.opened;
    await route.continue();
  });
  const { token } = await world.service.createToken('alice', 3_600_000);
  const page = await world.context.newPage();
  await page.goto(
    world.pages.add('/shift.html', `${world.elementWith(`data-token="${token}"`)}<p>Below</p>`),
  );
  await page.locator('secure-uploader >> [data-action=browse]').waitFor();
  await page.evaluate(async () => {
    Object.assign(globalThis, { shiftCount: 0 });
    await new Promise(requestAnimationFrame);
    new PerformanceObserver((list) => {
      shiftCount += list.getEntries().length;
    }).observe({ type: 'layout-shift' });
  });
  arrive.open();
  await isReady(page);
  const twoFrames = (): Promise<number> =>
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await page.evaluate(twoFrames);
  assert.equal(await page.evaluate(() => shiftCount), 0);
  // The observer works: the first file moves what is below the element.
  const path = join(world.folder, 'first.bin');
  writeRandom(path, 1000);
  await pick(page, path);
  await page.waitForFunction(() => shiftCount > 0, null, { polling: 50 });
  await page.close();
});
