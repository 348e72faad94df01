// Every state of the widget and every demo page has no violation that axe or Equal Access finds. The states of the sign-in form and
// the service's page are checked in auth-check-keyboard.test.ts.
import { after, before, test } from 'node:test';
import { startDemoPages } from '../../scripts/demo-pages.mjs';
import { SHOTS } from '../visual/shots.mjs';
import { assertAccessible } from './support/accessible.ts';
import { startPictures } from './support/pictures.mjs';
import { createWorld } from './support/world.ts';

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

for (const [path, button] of [
  ['', 'Choose files'],
  ['token.html', 'Sign in to this page'],
] as const)
  test(`the demo page /${path} has no violation`, async (t) => {
    const demo = await startDemoPages();
    t.after(() => demo.stop());
    const world = await createWorld({ appOrigins: [demo.origin] });
    t.after(() => world.close());
    const { baseUrl, storageUrl, seed } = world.service;
    demo.setConfig({ baseUrl, storageUrl, seed });
    const page = await pictures.browser.newPage();
    await page.goto(`${demo.url}${path}`);
    await page.getByRole('button', { name: button }).waitFor();
    await assertAccessible(page, undefined, path);
    await page.close();
  });
