// A journey, because it needs the headers of a strict content policy.
// Sign-in under difficult conditions: a strict content policy, a page in a frame, and a wrong clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { fillIn, pick, signInByWindow, signInThere, times } from './support/auth-steps.ts';
import { authorizeUrl, BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { untilEvent } from './support/browser.ts';

/** Returns the status of each call that opens an upload session, and whether the call had a bearer token. */
const sessionCalls = (): unknown[] =>
  world.entries('session').map(({ status, hasBearer }) => [status, hasBearer]);

const MODES: Record<string, () => Promise<Page>> = {
  token: async () => {
    const { token } = await world.service.createToken('alice');
    const page = await world.open();
    await page.evaluate((token) => {
      Object.assign(document.querySelector('secure-uploader') as HTMLElement, { getToken: () => token });
    }, token);
    await pick(page, world);
    return page;
  },
  popup: async () => {
    const page = await world.open('auth="popup" silent="off"');
    await pick(page, world);
    await signInByWindow(page, world);
    return page;
  },
  'auto, silently': async () => {
    // Signs in with the form. A hidden frame has the cookie of that session, also across sites.
    const first = await world.open('auth="local"');
    await pick(first, world);
    await fillIn(first, world);
    await untilEvent(first, 'upload-completed');
    await first.close();
    const page = await world.open();
    await pick(page, world);
    return page;
  },
  redirect: async () => {
    const page = await world.open('auth="redirect" silent="off"');
    await signInThere(page, world);
    await pick(page, world);
    return page;
  },
  none: async () => {
    const page = await world.open('auth="none"');
    await pick(page, world);
    return page;
  },
  local: async () => {
    const page = await world.open('auth="local"');
    await pick(page, world);
    await fillIn(page, world);
    return page;
  },
};

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  for (const [mode, begin] of Object.entries(MODES)) {
    test(`given a strict content policy with trusted types, then mode ${mode} works with zero violation reports`, async () => {
      const before = world.pages.violations.length;
      const page = await begin();
      // The mode `none` sends no bearer token, which this service requires, so the upload must fail.
      await untilEvent(page, mode === 'none' ? 'upload-failed' : 'upload-completed');
      if (mode === 'none') assert.deepEqual(sessionCalls(), [[401, false]]);
      // Sends one report after the upload. The reports of earlier violations would arrive before this report.
      await page.evaluate(() => fetch('/violation', { method: 'POST', body: 'the last one' }));
      assert.deepEqual(world.pages.violations.slice(before), ['the last one']);
    });
  }

  test('given a page that frames the interactive pages of the service, then they refuse to be shown', async () => {
    const url = authorizeUrl(world.service);
    const alone = await world.context.newPage();
    await alone.goto(url);
    await alone.locator('main').getByLabel('Email address').waitFor();
    await alone.close();
    const page = await world.context.newPage();
    await page.goto(
      world.pages.add('/framing.html', `<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`),
    );
    // `goto` waits for the load event of the page, which happens after the frame has loaded or failed.
    assert.equal(world.count('authorize'), 2);
    assert.equal(await page.frameLocator('iframe').locator('main').count(), 0);
  });

  for (const hours of [2, -2])
    for (const isShown of [true, false]) {
      test(`given a device clock that is ${hours} h off, with the clock of the service ${isShown ? 'shown' : 'hidden'}, and a hidden frame that could renew without end, then the upload completes, with at most two exchanges`, async () => {
        const headers = { 'access-control-expose-headers': 'Retry-After' };
        if (!isShown) world.service.faults.add({ operation: 'token', headers, times: 1000 });
        const shift = `{ const now = Date.now; Date.now = () => now() + ${hours * 3_600_000}; }`;
        // With these short times, only the widget's limits prevent a renewal before each call.
        const page = await world.open(
          `auth="local" chunk-size="32768" batch-size="1" ${times({ renewalGapMs: 1, checkMs: 20 })}`,
          { script: shift },
        );
        await pick(page, world, 12 * 32_768);
        await fillIn(page, world);
        await untilEvent(page, 'upload-completed');
        assert.ok(world.count('chunks') >= 12);
        assert.ok(world.count('token') <= 2, `${world.count('token')} exchanges`);
      });
    }
});
