// What the page around sign-in may be: under a strict content policy, in a frame, with a wrong clock, by keyboard alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { fillIn, pick, signInByWindow, signInThere } from './support/auth-steps.ts';
import { BOTH, inWorlds, world } from './support/auth-world.ts';
import { until } from './support/browser.ts';

const MODES: Record<string, () => Promise<Page>> = {
  token: async () => {
    const { token } = await world.service.createToken('alice');
    const page = await world.openWidget();
    await page.evaluate((token) => {
      Object.assign(document.querySelector('secure-uploader') as HTMLElement, { getToken: () => token });
    }, token);
    await pick(page, world);
    return page;
  },
  popup: async () => {
    const page = await world.openWidget('auth="popup" silent="off"');
    await pick(page, world);
    await signInByWindow(page, world);
    return page;
  },
  'auto, silently': async () => {
    const first = await world.openWidget();
    await pick(first, world);
    await signInByWindow(first, world);
    await until(first, 'upload-completed');
    await first.close();
    const page = await world.openWidget();
    await pick(page, world);
    return page;
  },
  redirect: async () => {
    const page = await world.openWidget('auth="redirect" silent="off"');
    await signInThere(page, world);
    await pick(page, world);
    return page;
  },
  local: async () => {
    const page = await world.openWidget('auth="local"');
    await pick(page, world);
    await fillIn(page, world);
    return page;
  },
};

inWorlds({ sites: BOTH }, ({ site }) => {
  for (const [mode, begin] of Object.entries(MODES)) {
    if (mode === 'auto, silently' && site === 'cross-site') continue;
    test(`check 38: given a strict content policy with trusted types, then mode ${mode} works with zero violation reports`, async () => {
      const before = world.pages.violations.length;
      const page = await begin();
      await until(page, 'upload-completed');
      // A report of one that would have come by now is on its way before this.
      await page.evaluate(() => fetch('/violation', { method: 'POST', body: 'the last one' }));
      assert.deepEqual(world.pages.violations.slice(before), ['the last one']);
    });
  }

  test('check 39: given a page that frames the interactive pages of the service, then they refuse to be shown', async () => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'secure-uploader',
      redirect_uri: `${world.pages.origin}/secure-uploader-callback.html`,
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      state: 'some-state',
    });
    const url = `${world.service.baseUrl}/authorize?${query}`;
    const alone = await world.context.newPage();
    await alone.goto(url);
    await alone.locator('main').getByLabel('E-mail address').waitFor();
    await alone.close();
    const page = await world.context.newPage();
    await page.goto(
      world.pages.add('/framing.html', `<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`),
    );
    // The load of a page is that of its frames too, whatever became of them.
    assert.equal(world.count('authorize'), 2);
    assert.equal(await page.frameLocator('iframe').locator('main').count(), 0);
  });

  for (const hours of [2, -2]) {
    test(`check 32: given a device clock that is ${hours} h off, then the upload completes, with at most two exchanges`, async () => {
      const shift = `{ const now = Date.now; Date.now = () => now() + ${hours * 3_600_000}; }`;
      const page = await world.openWidget('auth="popup" silent="off"', shift);
      await pick(page, world);
      await signInByWindow(page, world);
      await until(page, 'upload-completed');
      assert.ok(world.count('token') <= 2, `${world.count('token')} exchanges`);
    });
  }
});
