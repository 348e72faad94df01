// A journey, because it needs frames of another site and third-party cookies.
// A page in a frame of another site: sign-in by window works there, and the form is not shown.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Browser, BrowserContext, Frame, Page } from 'playwright';
import { chromiumArgs, disableFeatures, unusedFeatures } from '../../scripts/browser.mjs';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { startEngine } from './support/auth-browsers.ts';
import { call, fillIn, inState, panel, pick, showForm, signInButton, times } from './support/auth-steps.ts';
import { BOTH, inWorlds, world } from './support/auth-world.ts';
import { eventsOf, newContext } from './support/browser.ts';
import { isReady } from './support/world.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

/**
 * Opens the page `outer`, which has a frame. If `middle` is given, that frame shows the page `middle`, which contains another
 * frame. Resolves with the outer page and the innermost frame when the innermost frame is ready for sign-in.
 */
async function openFrames(outer: string, middle?: string): Promise<[Page, Frame]> {
  const page = await world.context.newPage();
  await page.goto(outer);
  if (middle) await page.locator('iframe').evaluate((frame, url) => frame.setAttribute('src', url), middle);
  const inside = async (frame: Frame): Promise<Frame> => {
    const handle = await frame.locator('iframe').elementHandle();
    return (await handle?.contentFrame()) as Frame;
  };
  const first = await inside(page.mainFrame());
  const frame = middle ? await inside(first) : first;
  await frame.getByText('Sign in here').waitFor();
  await frame.waitForFunction(() => 'tools' in globalThis, null, { polling: 100 });
  return [page, frame];
}

inWorlds({ sites: BOTH }, () => {
  for (const [where, open] of [
    ['a page of another site', () => openFrames(world.outer)],
    ['one of another site in one of its own', () => openFrames(`${world.bare.origin}/outer`, world.outer)],
  ] as const) {
    test(`given a page inside ${where}, then the form is not shown and says why`, async () => {
      const [, frame] = await open();
      await showForm(frame, world);
      const reason = frame.getByText("you can't sign in on an embedded page");
      const form = frame.locator('secure-uploader-login input');
      await reason.or(form).first().waitFor();
      assert.equal(await form.count(), 0);
      await frame.locator('secure-uploader').evaluate((element) => element.remove());
      await showForm(frame, world, { allowFramedLogin: true });
      await frame.getByLabel('Email address').waitFor();
    });
  }

  test('given a page inside a page of its own, then the form is shown', async () => {
    const [, frame] = await openFrames(`${world.bare.origin}/outer`);
    await showForm(frame, world);
    await frame.getByLabel('Email address').waitFor();
  });
});

inWorlds({ sites: BOTH, only: 'chromium' }, () => {
  let browser: Browser;
  let context: BrowserContext;
  before(async () => {
    // Playwright disables the partitioning of storage by site. This list of disabled features replaces the list of Playwright, so
    // that Chromium partitions storage as in a user's browser.
    const features = disableFeatures(['Translate', ...unusedFeatures]);
    browser = await startEngine('chromium', { args: [...chromiumArgs, features] });
  });
  after(() => browser.close());
  beforeEach(async () => {
    await context?.close();
    context = await newContext(browser);
  });

  /** Opens the page `outer`. Resolves with the page and its frame, which shows a page of another site. */
  async function openFramed(outer: string): Promise<[Page, Frame]> {
    const page = await context.newPage();
    await page.goto(outer);
    return [page, page.frames()[1] as Frame];
  }

  test('given a page inside a page of another site, then the window works', async () => {
    const [page, frame] = await openFramed(world.outer);
    await frame.waitForFunction(() => 'tools' in globalThis, null, { polling: 100 });
    const settings = { baseUrl: world.service.baseUrl, auth: 'popup' } as const;
    await frame.evaluate((input) => void tools.open(input), settings);
    const waiting = call(frame, world);
    await inState(frame, 'prompt');
    const [window] = await Promise.all([
      page.context().waitForEvent('page'),
      frame.getByText('Sign in here').click(),
    ]);
    await fillIn(window, world);
    assert.equal(await waiting, 'done');
  });

  test('given the widget inside a page of another site and a window that severs itself, then Cancel stays available, and without it the deadline ends it', async () => {
    await context.clock.install();
    const attributes = `auth="popup" idp-id="corp" silent="off" ${times({ closedGraceMs: 100 })}`;
    const address = world.pages.add('/framed.html', world.elementWith(attributes));
    const { origin, port } = new URL(world.pages.add('/outer.html', `<iframe src="${address}"></iframe>`));
    world.pages.changePolicy('/outer.html', (policy) =>
      policy.replace(/frame-src [^;]+/, `frame-src ${origin}`),
    );
    const [page, frame] = await openFramed(`http://localhost:${port}/outer.html`);
    await isReady(frame);
    await pick(frame, world);
    const cancel = frame.locator('[data-action="cancel-sign-in"]');
    const press = async (): Promise<Page> => {
      await panel(frame, 'prompt').waitFor();
      const [window] = await Promise.all([context.waitForEvent('page'), signInButton(frame).click()]);
      await cancel.waitFor();
      await panel(frame, 'popup-lost').waitFor();
      await cancel.waitFor();
      return window;
    };
    await press();
    await cancel.click();
    const window = await press();
    await fillIn(window, world);
    // The window has completed sign-in, but cannot notify the page.
    await window.clock.runFor(1_500);
    await window.getByText('You can close this window').waitFor();
    await page.clock.fastForward(AUTH_TIMES.popupMs - 60_000);
    await cancel.waitFor();
    await page.clock.fastForward(60_000);
    await panel(frame, 'prompt').getByText('The sign-in window was closed').waitFor();
    const codes = (await eventsOf(frame, 'auth-failed')).map(({ detail }) => detail.code);
    assert.deepEqual(codes, ['popup-closed', 'popup-closed']);
    assert.equal(world.count('token'), 0);
  });
});
