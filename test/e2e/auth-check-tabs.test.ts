// A journey, because it needs several tabs, and reloads.
// One sign-in in several tabs and after a reload, a call that requires a second factor, and signing out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  call,
  callUntilPrompt,
  fillIn,
  inState,
  logIn,
  press,
  showForm,
  signIn,
  signInThere,
} from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { untilEvent } from './support/browser.ts';
import { isReady } from './support/world.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  test('given five tabs that need a token at once, and whose tokens expire in the same minute, then no two exchanges overlap, and each tab renews once', async () => {
    // Signs in with the form. Hidden frames of all tabs have the cookie of that session, also across sites.
    await untilEvent(await logIn(world, 'alice@example.com'), 'signed-in');
    const pages = await Promise.all(Array.from({ length: 5 }, () => world.openBare({ auth: 'local' })));
    for (const round of ['first', 'renewal']) {
      world.service.faults.clearLog();
      world.service.faults.add({ operation: 'token', delayMs: 100, times: 5 });
      const all = await Promise.all(pages.map((page) => call(page, world)));
      assert.deepEqual(all, ['done', 'done', 'done', 'done', 'done'], round);
      const exchanges = world
        .entries('token')
        .map(({ at, answeredAt = Number.POSITIVE_INFINITY }) => [at, answeredAt] as const)
        .sort(([one], [other]) => one - other);
      assert.equal(exchanges.length, 5, round);
      for (const [index, [at]] of exchanges.entries()) {
        assert.ok(at >= (exchanges[index - 1]?.[1] ?? 0), `two exchanges overlap: ${round}`);
      }
      world.service.clock.shift(16 * 60_000);
    }
  });

  test('given sign-out in one tab, then the others drop their tokens', async () => {
    const [one, other] = [await world.openBare({ auth: 'popup' }), await world.openBare({ auth: 'popup' })];
    await signIn(one, world);
    const waiting = call(other, world);
    await inState(other, 'prompt', 'signed-in');
    // Across sites, a window is needed. The window has the cookie of the session, and closes automatically.
    if ((await other.evaluate(() => tools.session?.snapshot.state)) === 'prompt') await press(other);
    assert.equal(await waiting, 'done');
    await one.evaluate(() => tools.session?.signOut());
    assert.deepEqual((await untilEvent(other, 'signed-out'))[0]?.detail, { reason: 'other-tab' });
    assert.equal(await other.evaluate(() => tools.session?.snapshot.state), 'signed-out');
  });

  test('given a return page with two elements, which are mounted in one task, and that is reloaded, then the code is used once', async () => {
    const element = world.elementWith('auth="redirect" silent="off"');
    const page = await world.context.newPage();
    const address = world.pages.add('/index.html', element + element);
    await page.goto(address);
    await isReady(page);
    await signInThere(page, world);
    const states = (): Promise<unknown[]> =>
      page.evaluate(() =>
        [...document.querySelectorAll('secure-uploader')].map(({ snapshot }) => snapshot.auth.state),
      );
    assert.deepEqual(await states(), ['signed-in', 'signed-in']);
    assert.equal(page.url(), address);
    assert.equal(world.count('token'), 1);
    await page.reload();
    await isReady(page);
    assert.deepEqual(await states(), ['signed-out', 'signed-out']);
    assert.equal(world.count('token'), 1);
  });

  test('a call that requires a second factor opens a window for it', async () => {
    const page = await world.openBare({ auth: 'popup' });
    await signIn(page, world);
    world.service.faults.add({
      operation: 'session',
      status: 401,
      body: {},
      headers: {
        'www-authenticate':
          'Bearer error="insufficient_user_authentication", acr_values="urn:mfa", max_age="60"',
      },
    });
    const waiting = call(page, world);
    await inState(page, 'prompt');
    const [request] = await Promise.all([
      page.context().waitForEvent('request', (request) => request.url().includes('/authorize?')),
      press(page),
    ]);
    const asked = new URL(request.url()).searchParams;
    assert.deepEqual([asked.get('acr_values'), asked.get('max_age')], ['urn:mfa', '60']);
    assert.equal(await waiting, 'done');
  });

  test('signing out ends the session of the service too if a path is set, and only the user can sign in again', async () => {
    // Signs in with the form, because the page cannot delete the cookie of a window across sites.
    const settings = { auth: 'local', logoutPath: '/auth/logout' };
    const page = await world.openBare(settings);
    await callUntilPrompt(page, world);
    await showForm(page, world, settings);
    await fillIn(page, world);
    await untilEvent(page, 'signed-in');
    await page.evaluate(() => tools.session?.signOut());
    assert.equal(world.count('logout'), 1);
    world.service.faults.clearLog();
    call(page, world).catch(() => undefined);
    await inState(page, 'prompt');
    assert.equal(world.count('authorize') + world.count('token'), 0);
    const reloaded = await world.openBare({ auth: 'local' });
    call(reloaded, world).catch(() => undefined);
    await inState(reloaded, 'prompt');
    assert.equal(world.count('authorize') + world.count('token'), 0, 'no page asks without a click');
    await reloaded.evaluate(() => localStorage.clear());
    const other = await world.openBare({ auth: 'local' });
    call(other, world).catch(() => undefined);
    await inState(other, 'prompt');
    assert.equal(world.count('authorize'), 1, 'the service has no signed-in user any more');
    assert.equal(world.count('token'), 0);
  });
});
