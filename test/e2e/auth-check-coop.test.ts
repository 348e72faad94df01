// Pages that sever windows: how a response arrives for the headers of page and callback page, and that sign-in works either way.
// Kept as a table, so that a change in a browser is noticed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, fillIn, inState, isGone, press, until } from './support/auth-steps.ts';
import { CALLBACK_PATH, inWorlds, world } from './support/auth-world.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

const POLICY = 'cross-origin-opener-policy';
/** The page's header, the callback page's header, and whether the response arrives by message too, beside the channel. */
const ROWS: [page: string, callback: string, isMessaged: boolean][] = [
  ['unsafe-none', 'unsafe-none', true],
  ['same-origin', 'unsafe-none', false],
  ['same-origin', 'same-origin', false],
  ['same-origin-allow-popups', 'unsafe-none', true],
  ['same-origin-allow-popups', 'same-origin-allow-popups', false],
  ['unsafe-none', 'same-origin', false],
];

/** Counts the responses that arrive by message. */
const HEAR = `globalThis.messages = 0;
  addEventListener('message', ({ data }) => { if (data?.type === 'secure-uploader:answer') messages += 1; });`;

// Page and callback page always share one origin, so the site of the service does not matter.
inWorlds({ sites: ['cross-site'] }, () => {
  for (const [pagePolicy, callbackPolicy, isMessaged] of ROWS) {
    test(`given a page with COOP ${pagePolicy} and a callback page with ${callbackPolicy}, then the window signs in with one code, the response ${isMessaged ? 'arrives both ways' : 'arrives by the channel'}, and it never counts as closed`, async () => {
      world.headers['/'] = { [POLICY]: pagePolicy };
      world.headers[CALLBACK_PATH] = { [POLICY]: callbackPolicy };
      const page = await world.open({ auth: 'popup', silent: 'off' }, { script: HEAR });
      const waiting = call(page, world);
      await until(page, 'auth-required');
      const window = await press(page);
      await fillIn(window, world);
      assert.equal(await waiting, 'done');
      await isGone(window);
      assert.equal(world.count('token'), 1);
      const names = await page.evaluate(() => tools.events.map(({ name }) => name));
      assert.equal(names.includes('auth-failed'), false);
      const messages = await page.evaluate(() => (globalThis as unknown as { messages: number }).messages);
      assert.equal(messages, isMessaged ? 1 : 0);
    });
  }

  test('a cross-origin isolated page uses no hidden frame, which could not load there, and signs in by window', async () => {
    world.headers['/'] = { [POLICY]: 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
    const page = await world.open({ auth: 'popup' });
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    const waiting = call(page, world);
    await inState(page, 'prompt');
    assert.equal(world.count('authorize'), 0);
    await fillIn(await press(page), world);
    assert.equal(await waiting, 'done');
  });
});
