// The list and its footer stay where they are while files are uploaded.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from './support/browser.ts';
import { writeRandom } from './support/files.ts';
import { pick } from './support/transfer.ts';
import { createWorld, type World } from './support/world.ts';

const COUNT = 10;
const LIMIT = 0.01;
const WIDTHS_PX = [900, 360];

let world: World;
before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());

interface Shift extends PerformanceEntry {
  readonly value: number;
  readonly sources: readonly { readonly node?: Node | null }[];
}

/** A shift, and the elements or texts that it moved. */
interface Moved {
  readonly value: number;
  readonly moved: readonly (string | null | undefined)[];
}

for (const width of WIDTHS_PX)
  test(`while ten files are uploaded, nothing moves in a page of ${width} px`, async (t) => {
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
    await until(page, 'file-added', COUNT);
    await page
      .locator('secure-uploader .row')
      .nth(COUNT - 1)
      .waitFor();
    await page.evaluate(async () => {
      const shifts: Moved[] = [];
      Object.assign(globalThis, { shifts });
      await new Promise(requestAnimationFrame);
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const { value, sources } = entry as Shift;
          const moved = sources.map(({ node }) =>
            node?.nodeType === 1 ? (node as Element).className : node?.textContent,
          );
          shifts.push({ value, moved });
        }
      }).observe({ type: 'layout-shift' });
    });
    await until(page, 'uploads-finished');
    await page.locator('secure-uploader .totals.done').waitFor();
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: Moved[] }).shifts);
    const sum = shifts.reduce((all, { value }) => all + value, 0);
    t.diagnostic(`${shifts.length} shifts, ${sum.toFixed(4)} in all`);
    assert.ok(
      sum < LIMIT,
      JSON.stringify(shifts.toSorted((one, other) => other.value - one.value).slice(0, 5)),
    );
    await page.close();
  });
