// A journey, because it needs a real popup blocker and real windows.
// Sign-in windows that the popup blocker blocks, and windows that stay open after their connection to the page is severed.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { startEngine } from './support/auth-browsers.ts';
import {
  fillIn,
  isGone,
  isSignedIn,
  openWaiting,
  openWindow,
  panel,
  signInButton,
  times,
  turns,
} from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { eventsOf, newContext, untilEvent } from './support/browser.ts';

/**
 * Script that starts sign-in without a user gesture. Calls from Playwright count as user gestures, so the browser would allow the
 * pop-up window.
 */
const BY_ITSELF = `addEventListener('DOMContentLoaded', async () => {
  document.addEventListener('auth-failed', ({ detail }) => console.log('failed: ' + detail.code));
  const element = document.querySelector('secure-uploader');
  if (!element || location.hash) return;
  await customElements.whenDefined('secure-uploader');
  await element.updateComplete;
  if (element.hasAttribute('data-without-file')) return element.signIn();
  await element.addFiles([new File(['some bytes'], 'a.bin')]);
  const look = () => {
    const button = element.shadowRoot.querySelector('[data-action="sign-in"]');
    if (button) button.click();
    else setTimeout(look, 20);
  };
  look();
});`;

/** Starts a browser with the popup blocker, which Playwright disables by default. */
const startBlocking = (): Promise<Browser> =>
  startEngine('chromium', { ignoreDefaultArgs: ['--disable-popup-blocking'] });

inWorlds({ sites: BOTH_AT_FULL_SIZE, only: 'chromium' }, () => {
  describe('with the popup blocker on', () => {
    let browser: Browser;
    before(async () => {
      browser = await startBlocking();
    });
    after(() => browser.close());

    /** Opens a page that tries to open a sign-in window. Asserts that the browser blocks the window. */
    async function openBlocked(attributes = ''): Promise<Page> {
      const context = await newContext(browser);
      const page = await context.newPage();
      await page.addInitScript(BY_ITSELF);
      const said = page.waitForEvent('console', (message) => message.text().startsWith('failed: '));
      await page.goto(world.pages.add('/blocked.html', world.elementWith(`silent="off" ${attributes}`)));
      assert.equal((await said).text(), 'failed: popup-blocked');
      assert.equal(world.service.log.length, 0, 'nothing was sent');
      assert.equal(page.context().pages().length, 1, 'no window is open');
      return page;
    }

    test('given the browser blocks the window, when Sign in is clicked, then popup-blocked appears with a working "Try again", and nothing was sent', async () => {
      const page = await openBlocked();
      await panel(page, 'prompt').getByText('Your browser blocked the sign-in window.').waitFor();
      await fillIn(await openWindow(page), world);
      await untilEvent(page, 'upload-completed');
      await page.context().close();
    });

    test('given the browser blocks the window and nothing would be lost, then "Continue in this tab" signs in there and returns', async () => {
      const page = await openBlocked('data-without-file');
      const address = page.url();
      await page.getByRole('button', { name: 'Continue in this tab' }).click();
      await page.getByLabel('Email address').waitFor();
      await fillIn(page, world);
      await isSignedIn(page);
      assert.equal(page.url(), address);
      assert.equal(page.context().pages().length, 1);
      assert.equal(world.count('token'), 1);
      await page.context().close();
    });
  });
});

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  test('given a severed window that stays open for four minutes, then it can still finish', async () => {
    await world.context.clock.install();
    const page = await openWaiting(world, `idp-id="corp" ${times({ closedGraceMs: 50 })}`);
    const window = await openWindow(page);
    await panel(page, 'popup-lost').waitFor();
    await signInButton(page).getByText('Open again').waitFor();
    await page.locator('[data-action="cancel-sign-in"]').waitFor();
    assert.equal(window.isClosed(), false, 'it reads as closed, and is open');
    world.service.clock.shift(240_000);
    await page.clock.fastForward(240_000);
    await turns(page);
    assert.equal(await panel(page, 'popup-lost').count(), 1);
    await fillIn(window, world);
    await untilEvent(page, 'upload-completed');
    await isGone(window);
    assert.deepEqual(await eventsOf(page, 'auth-failed'), []);
    assert.equal(world.count('token'), 1);
  });

  test('given a closed window that is not opened again, then its deadline reports popup-closed once, and Sign in works again', async () => {
    await world.context.clock.install();
    const page = await openWaiting(world, times({ closedGraceMs: 50 }));
    await (await openWindow(page)).close();
    await panel(page, 'popup-lost').waitFor();
    await page.clock.fastForward(AUTH_TIMES.popupMs);
    await panel(page, 'prompt').waitFor();
    const codes = (await eventsOf(page, 'auth-failed')).map(({ detail }) => detail.code);
    assert.deepEqual(codes, ['popup-closed']);
    const window = await openWindow(page);
    await fillIn(window, world);
    await untilEvent(page, 'upload-completed');
  });
});
