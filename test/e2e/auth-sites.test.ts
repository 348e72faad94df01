// A journey, because it needs the cookies of two sites.
// Sign-in with page and service on the same site and on different sites: which cookies a form, a window and a hidden frame share.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  call,
  fillIn,
  isGone,
  logIn,
  operationsOf,
  pick,
  press,
  RECORD,
  wireOf,
} from './support/auth-steps.ts';
import { BOTH, inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

inWorlds({ sites: BOTH }, ({ site }) => {
  test('given an expired token, when eight calls need one, then it is renewed once without a visible change', async () => {
    const page = await logIn(world, 'alice@example.com');
    await untilEvent(page, 'signed-in');
    world.service.faults.clearLog();
    world.service.clock.shift(16 * 60_000);
    assert.equal(await call(page, world, {}, 8), 'done');
    assert.equal(world.count('token'), 1);
    assert.equal(world.count('authorize'), 1);
    const states = await page.evaluate(() => tools.session?.snapshot);
    assert.deepEqual(states, { state: 'signed-in', mode: 'local', required: false });
  });

  test('a window signs in all waiting calls, with one code', async () => {
    const page = await world.openBare({ auth: 'popup' });
    const waiting = call(page, world, {}, 3);
    await untilEvent(page, 'auth-required');
    await fillIn(await press(page), world);
    assert.equal(await waiting, 'done');
    assert.equal(world.count('token'), 1);
    assert.deepEqual(world.bare.violations, []);
  });

  test('given an identity page that severs the window, when the login completes, then the channel signs in, and the window never counted as closed', async () => {
    const page = await world.openBare({ auth: 'popup', idpId: 'corp' });
    const waiting = call(page, world);
    await untilEvent(page, 'auth-required');
    const window = await press(page);
    await fillIn(window, world);
    assert.equal(await waiting, 'done');
    assert.equal(world.count('token'), 1);
    // The window closes automatically, although the page no longer has a reference to the window.
    await isGone(window);
    const failed = await eventsOf(page, 'auth-failed');
    assert.deepEqual(failed, []);
  });

  test('given the form and a TOTP user, when all is entered, then login, challenge(answer), authorize(prompt=none) and token are called in that order, and the upload runs', async () => {
    const page = await world.open('auth="local"', { script: RECORD });
    await pick(page, world);
    // Waits for the form and empties the log, because a hidden frame has already made a request that must not count.
    await page.getByLabel('Email address').waitFor();
    world.service.faults.clearLog();
    const asked: URL[] = [];
    page.on(
      'request',
      (request) => request.url().includes('/authorize?') && asked.push(new URL(request.url())),
    );
    await fillIn(page, world, 'tom@example.com');
    await page.getByLabel('Code', { exact: true }).fill(await world.service.people.totp('tom'));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await untilEvent(page, 'upload-completed');
    const operations = ['login', 'challenge', 'authorize', 'token', 'session', 'chunks', 'put', 'commit'];
    assert.deepEqual(operationsOf(world), operations);
    assert.deepEqual(
      asked.map(({ searchParams }) => searchParams.get('prompt')),
      ['none'],
    );
    const { sent } = await wireOf(page);
    assert.deepEqual(
      sent.flatMap(({ action }) => action ?? []),
      ['answer'],
    );
    assert.equal(await page.locator('iframe').count(), 0);
    assert.deepEqual(world.pages.violations, []);
  });

  test('a lost token is followed by a silent one only if the browser shows the session to the frame', async () => {
    const page = await world.openBare({ auth: 'popup' });
    const waiting = call(page, world);
    await untilEvent(page, 'auth-required');
    await fillIn(await press(page), world);
    await waiting;
    world.service.faults.clearLog();
    world.service.faults.add({ operation: 'session', status: 401, body: {} });
    const again = call(page, world);
    if (site === 'same-site') {
      assert.equal(await again, 'done');
      assert.deepEqual(operationsOf(world), ['session', 'authorize', 'token', 'session']);
    } else {
      const [out] = await untilEvent(page, 'signed-out');
      assert.equal(out?.detail.reason, 'expired');
      assert.equal(world.count('authorize'), 1, 'one frame is tried, because the session might be visible');
      const window = page.waitForEvent('popup');
      await page.getByText('Sign in here').click();
      await window;
      assert.equal(await again, 'done', 'the window finds its session and closes by itself');
      assert.deepEqual(operationsOf(world), ['session', 'authorize', 'authorize', 'token', 'session']);
    }
  });

  test('given eight calls whose token was refused at once, then one renewal serves all', async () => {
    const { token } = await world.service.createToken('alice');
    const page = await world.openBare();
    await page.evaluate(
      ([baseUrl, token]) => {
        let count = 0;
        const getToken = (): string => (count++ ? token : 'refused-token');
        Object.assign(globalThis, { countTokens: () => count });
        tools.open({ baseUrl, getToken });
      },
      [world.service.baseUrl, token] as const,
    );
    assert.equal(await call(page, world, {}, 8), 'done');
    const count = await page.evaluate(() =>
      (globalThis as unknown as { countTokens(): number }).countTokens(),
    );
    assert.equal(count, 2);
  });
});
