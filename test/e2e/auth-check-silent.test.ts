// A journey, because it needs the cookies of two sites in a hidden frame.
// A hidden frame that has the cookie of the service gets and renews tokens silently during an upload.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { assertStoredOnce, begin, SETTINGS } from './support/auth-expiry.ts';
import { pick, signInByWindow } from './support/auth-steps.ts';
import { inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import type { Site } from './support/world.ts';

/**
 * Sites with the settings that let a hidden frame use the session of a window. Across sites, the token response must set the
 * cookie.
 */
const SILENT: [Site, object][] = [
  ['same-site', {}],
  ['cross-site', { credentials: { token: 'include' } }],
];

for (const [only, authOptions] of SILENT) {
  inWorlds({ sites: [only], replant: only === 'cross-site' }, ({ site }) => {
    const open = async (attributes = ''): Promise<Page> => {
      const page = await world.open(attributes);
      await page.evaluate((authOptions) => {
        Object.assign(document.querySelector('secure-uploader') as HTMLElement, { authOptions });
      }, authOptions);
      return page;
    };

    test('given a session that a hidden frame sees, when a file is added, then the token is requested silently, no window opens, and no frame is left', async () => {
      const first = await open();
      await pick(first, world);
      await signInByWindow(first, world);
      await untilEvent(first, 'upload-completed');
      await first.close();
      world.service.faults.clearLog();
      const page = await open();
      let hasPopup = false;
      page.on('popup', () => {
        hasPopup = true;
      });
      await pick(page, world);
      await untilEvent(page, 'upload-completed');
      assert.equal(hasPopup, false);
      assert.equal(await page.locator('iframe').count(), 0);
      assert.equal(world.count('token'), 1);
      assert.deepEqual(world.pages.violations, [], site);
    });

    test('given a token that expires mid-upload and a silent channel, then all bytes arrive once, the user sees nothing, and eight workers cost one renewal', async () => {
      const page = await open(SETTINGS);
      const sha256 = await begin(page, world);
      const seenBefore = (await eventsOf(page)).length;
      await assertStoredOnce(page, world, sha256);
      const [, second] = world.entries('token');
      assert.equal(world.count('token'), 2, 'one sign-in, one renewal');
      const later = world.entries('chunks').filter(({ at }) => at > (second?.at ?? 0));
      assert.ok(later.length > 8, `tickets were requested after the first token expired: ${later.length}`);
      const names = (await eventsOf(page)).slice(seenBefore).map(({ name }) => name);
      for (const name of ['auth-required', 'auth-failed', 'upload-paused', 'upload-failed', 'signed-out'])
        assert.equal(names.includes(name), false, name);
      assert.equal(await page.locator('[part~="sign-in"]').count(), 0);
      assert.equal(await page.locator('iframe').count(), 0);
    });
  });
}
