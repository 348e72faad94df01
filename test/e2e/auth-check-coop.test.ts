// A journey, because it needs a real window and real COOP headers.
// Sign-in works with every Cross-Origin-Opener-Policy (COOP). This header can separate a page from its sign-in window.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, fillIn, inState, isGone, press } from './support/auth-steps.ts';
import { inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';
import { CALLBACK_PATH } from './support/world.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

const POLICY = 'cross-origin-opener-policy';
/** Header of the page, header of the callback page, and whether `postMessage` delivers the response too. */
const ROWS: [page: string, callback: string, isMessaged: boolean][] = [
  ['unsafe-none', 'unsafe-none', true],
  ['same-origin', 'unsafe-none', false],
  ['same-origin', 'same-origin', false],
  ['same-origin-allow-popups', 'unsafe-none', true],
  ['same-origin-allow-popups', 'same-origin-allow-popups', false],
  ['unsafe-none', 'same-origin', false],
];

/** Script that counts the responses that `postMessage` delivers. */
const HEAR = `globalThis.messages = 0;
  addEventListener('message', ({ data }) => { if (data?.type === 'secure-uploader:answer') messages += 1; });`;

// The site of the service does not matter, because the page and the callback page always have the same origin.
inWorlds({ sites: ['cross-site'] }, () => {
  for (const [pagePolicy, callbackPolicy, isMessaged] of ROWS) {
    test(`given a page with COOP ${pagePolicy} and a callback page with ${callbackPolicy}, then the window signs in with one code, the response ${isMessaged ? 'arrives both ways' : 'arrives by the channel'}, and it never counts as closed`, async () => {
      world.bare.headers['/'] = { [POLICY]: pagePolicy };
      world.bare.headers[CALLBACK_PATH] = { [POLICY]: callbackPolicy };
      const page = await world.openBare({ auth: 'popup', silent: 'off' }, { script: HEAR });
      const waiting = call(page, world);
      await untilEvent(page, 'auth-required');
      const window = await press(page);
      await fillIn(window, world);
      assert.equal(await waiting, 'done');
      await isGone(window);
      assert.equal(world.count('token'), 1);
      const names = (await eventsOf(page)).map(({ name }) => name);
      assert.equal(names.includes('auth-failed'), false);
      const messages = await page.evaluate(() => (globalThis as unknown as { messages: number }).messages);
      assert.equal(messages, isMessaged ? 1 : 0);
    });
  }

  test('a cross-origin isolated page uses no hidden frame, which could not load there, and signs in by window', async () => {
    world.bare.headers['/'] = { [POLICY]: 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
    const page = await world.openBare({ auth: 'popup' });
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    const waiting = call(page, world);
    await inState(page, 'prompt');
    assert.equal(world.count('authorize'), 0);
    await fillIn(await press(page), world);
    assert.equal(await waiting, 'done');
  });
});
