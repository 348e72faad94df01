// A journey, because it needs the built site and real layout in two color schemes.
// Every state of the widget and every page of the site has no violation that axe or Equal Access finds. The states of the sign-in
// form and the service's page are checked in auth-check-keyboard.test.ts.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startDemo } from '../../scripts/demo.mjs';
import { DOCUMENTS, PAGES, pageOf } from '../../scripts/site.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { SHOTS } from '../visual/shots.mjs';
import { assertAccessible } from './support/accessible.ts';
import { startPictures } from './support/pictures.mjs';

let pictures: Awaited<ReturnType<typeof startPictures>>;
before(async () => {
  pictures = await startPictures();
});
after(() => pictures.close());

const LOOKS =
  /-light$|^(menu|layout-bar|layout-button|layout-overlay|errors-compact|errors-dark|phases-dark)$/;
for (const { name, query, media } of SHOTS.filter(({ name }) => LOOKS.test(name)))
  test(`the picture ${name} has no violation`, async () => {
    const page = await pictures.browser.newPage(media);
    await page.goto(`${pictures.origin}/test/ui/fixtures/gallery.html?${new URLSearchParams(query)}`);
    await page.waitForSelector('widget-fixture[data-is-shown]', { state: 'attached' });
    await assertAccessible(page, 'main', name);
    await page.close();
  });

describe('The site', () => {
  const dataDir = temporaryFolder();
  let demo: Awaited<ReturnType<typeof startDemo>>;
  before(async () => {
    demo = await startDemo({ dataDir });
  });
  after(async () => {
    await demo.stop();
  });
  // All decisions look the same.
  for (const path of [...PAGES, ...DOCUMENTS.map(pageOf).filter((page) => !/decisions\/00(?!01)/.test(page))])
    test(`${path} has no violation, and fits on a phone`, async () => {
      const page = await pictures.browser.newPage({ viewport: { width: 1280, height: 900 } });
      await page.goto(demo.url + path, { waitUntil: 'networkidle' });
      await assertAccessible(page, undefined, path);
      await page.emulateMedia({ colorScheme: 'dark' });
      await assertAccessible(page, undefined, `${path}, dark`);
      await page.setViewportSize({ width: 320, height: 700 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${path} is ${overflow} px too wide`);
      await page.close();
    });
});
