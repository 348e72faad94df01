// A journey, because it needs a real window and a real redirect.
// Sign-in by window: actions of the user, and attacks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fillIn,
  isGone,
  openWaiting,
  openWindow,
  panel,
  signInButton,
  signInByWindow,
  signInThere,
  times,
} from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { isReady } from './support/world.ts';

inWorlds({ sites: BOTH_AT_FULL_SIZE }, ({ engine }) => {
  for (const mode of ['query', 'fragment']) {
    test(`given no session and a response in the ${mode}, when Sign in is clicked, then a window opens in the same task, the upload starts without another click, and one code is exchanged`, async () => {
      const page = await openWaiting(world, `response-mode="${mode}"`);
      const answers: string[] = [];
      page.context().on('request', (request) => answers.push(request.url()));
      // Records whether `open` is called before the click event ends. Browsers block windows that open later.
      await page.evaluate(() => {
        const scope = globalThis as unknown as { calls: string[] };
        scope.calls = [];
        const open = globalThis.open;
        globalThis.open = (...input) => {
          scope.calls.push('open');
          return open.apply(globalThis, input);
        };
        addEventListener('click', () => {
          queueMicrotask(() => scope.calls.push('click is over'));
        });
      });
      const window = await openWindow(page);
      const calls = await page.evaluate(() => (globalThis as unknown as { calls: string[] }).calls);
      assert.deepEqual(calls, ['open', 'click is over']);
      await fillIn(window, world);
      await untilEvent(page, 'upload-completed');
      assert.equal(window.isClosed(), true, 'the window closed itself');
      assert.equal(world.count('token'), 1, 'both routes deliver, one code is redeemed');
      const failed = await eventsOf(page, 'auth-failed');
      assert.deepEqual(failed, []);
      assert.deepEqual(world.pages.violations, []);
      assert.equal(
        answers.some((address) => address.includes('/secure-uploader-callback.html?')),
        mode === 'query',
      );
    });
  }

  test('given redirect mode and a response in the fragment, when the user signs in and returns, then the URL contains nothing of it', async () => {
    const page = await world.open('auth="redirect" silent="off" response-mode="fragment"');
    await signInThere(page, world);
    assert.equal(page.url(), `${world.pages.origin}/index.html`);
    assert.equal(world.count('token'), 1);
  });

  test('given the window is closed for real, then within two seconds "Open again" and Cancel are shown, Cancel reports popup-closed once, and Sign in works again', async () => {
    await world.context.clock.install();
    const page = await openWaiting(world);
    const window = await openWindow(page);
    await window.close();
    // Checks the limit of two seconds with a simulated clock, because a busy machine is slow.
    await page.clock.runFor(2_000);
    await panel(page, 'popup-lost').waitFor();
    await page.locator('[data-action="cancel-sign-in"]').click();
    await panel(page, 'prompt').waitFor();
    assert.deepEqual(
      (await eventsOf(page, 'auth-failed')).map(({ detail }) => detail.code),
      ['popup-closed'],
    );
    await signInByWindow(page, world);
    await untilEvent(page, 'upload-completed');
  });

  test('"Open again" opens a new window while the old one is lost', async () => {
    const page = await openWaiting(world, times({ closedGraceMs: 50 }));
    await (await openWindow(page)).close();
    await panel(page, 'popup-lost').waitFor();
    await signInByWindow(page, world);
    await untilEvent(page, 'upload-completed');
  });

  test('an unused window times out', async () => {
    const page = await openWaiting(world, times({ popupMs: 700 }));
    const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
    await untilEvent(page, 'auth-failed');
    const [failed] = await eventsOf(page, 'auth-failed');
    assert.equal(failed?.detail.code, 'popup-timeout');
    await isGone(window);
  });

  test('given perfectly shaped messages of another origin, another window or a wrong state, then nothing changes, and the real response still counts', async () => {
    const page = await openWaiting(world);
    const window = await openWindow(page);
    const state = new URL(window.url()).searchParams.get('state') ?? '';
    const params = `code=made-up&state=${state}`;
    // Sends a forged response from the page itself, which has the right origin and the wrong source.
    await page.evaluate((params) => {
      postMessage({ type: 'secure-uploader:answer', version: 1, params }, location.origin);
    }, params);
    // Sends a forged response from the window while the window shows the service: the right source and the wrong origin.
    await window.evaluate((params) => {
      opener.postMessage({ type: 'secure-uploader:answer', version: 1, params }, '*');
    }, params);
    // Sends forged responses on the channel: with the state of another request, with two codes, and in the wrong format.
    await page.evaluate((state) => {
      const channel = new BroadcastChannel(`secure-uploader:${state}`);
      const say = (params: unknown, version = 1): void =>
        channel.postMessage({ type: 'secure-uploader:answer', version, params });
      say('code=made-up&state=another');
      say(`code=made-up&code=again&state=${state}`);
      say(`code=made-up&state=${state}&state=${state}`);
      say(`code=made-up&state=${state}`, 2);
      say({ code: 'made-up', state });
      say(`state=${state}`);
      channel.close();
    }, state);
    await fillIn(window, world);
    await untilEvent(page, 'upload-completed');
    assert.equal(world.count('token'), 1);
  });

  test('given the right state with a made-up code on the channel, then it ends in code-rejected without a token', async () => {
    const page = await openWaiting(world);
    const window = await openWindow(page);
    const state = new URL(window.url()).searchParams.get('state') ?? '';
    await page.evaluate((state) => {
      const params = `code=made-up&state=${state}`;
      new BroadcastChannel(`secure-uploader:${state}`).postMessage({
        type: 'secure-uploader:answer',
        version: 1,
        params,
      });
    }, state);
    const failed = await untilEvent(page, 'auth-failed');
    assert.equal(failed[0]?.detail.code, 'code-rejected');
    assert.equal(world.count('token'), 1);
    assert.equal(world.count('session'), 0);
  });

  test('given a callback page opened by hand, then it says that it can be closed, its URL is clean, and no token request is made', async () => {
    const page = await world.context.newPage();
    await page.clock.install();
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    for (const query of ['', '?code=a&state=b', '?code=a&code=b&state=c']) {
      await page.goto(`${world.pages.origin}/secure-uploader-callback.html${query}`);
      await page.clock.runFor(1_500);
      await page.getByText('You can close this window').waitFor();
      assert.equal(page.url(), `${world.pages.origin}/secure-uploader-callback.html`);
    }
    // Ignores errors about the favicon: Firefox requests the favicon automatically, and the content policy forbids it.
    assert.deepEqual(
      errors.filter(({ message }) => !message.includes('favicon')),
      [],
    );
    assert.equal(world.count('token'), 0);
  });

  test('given redirect mode and an empty queue, when the user signs in and returns, then URL, history and storage contain nothing of it', async () => {
    const page = await world.open('auth="redirect" silent="off"');
    await signInThere(page, world);
    assert.equal(page.url(), `${world.pages.origin}/index.html`);
    assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), []);
    assert.equal(world.count('token'), 1);
    await page.reload();
    await isReady(page);
    assert.equal(world.count('token'), 1, 'a reload redeems nothing');
    // Skipped in Firefox: `goBack` would time out, because Firefox does not report that the page was restored.
    if (engine === 'chromium') await page.goBack();
    assert.doesNotMatch(page.url(), /[?&#](code|state)=/);
  });

  test('given a router that replaces unknown fragments at its start, when the user signs in by redirect, then the sign-in succeeds, and the page is where it was', async () => {
    const router = `addEventListener('DOMContentLoaded', () => {
      if (location.hash && !location.hash.startsWith('#/')) location.replace('#/404');
    })`;
    const page = await world.open('auth="redirect" silent="off"', { script: router });
    await page.evaluate(() => {
      location.hash = '#/upload';
    });
    await signInThere(page, world);
    assert.equal(page.url(), `${world.pages.origin}/index.html#/upload`);
    assert.equal(world.count('token'), 1);
  });

  test('given a link with a made-up response, then nothing is sent or reported', async () => {
    const page = await world.open();
    await page.goto(`${world.pages.origin}/secure-uploader-callback.html?code=a&state=b`);
    await page.goto(`${world.pages.origin}/index.html?code=a&state=b#secure-uploader-answer?code=a&state=b`);
    await isReady(page);
    assert.deepEqual(await eventsOf(page, 'auth-failed'), []);
    assert.equal(world.count('token'), 0);
  });
});
