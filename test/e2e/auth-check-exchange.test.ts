// A journey, because it needs real windows and the cookies of two sites.
// Exchanging a code when the service fails: lost responses, 429, invalid bodies, odd lifetimes, a different issuer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import type { Fault } from '../../demo/server/faults.ts';
import {
  call,
  callUntilPrompt,
  fillIn,
  inState,
  openWaiting,
  panel,
  press,
  RECORD,
  signIn,
  signInByWindow,
  turns,
  wireOf,
} from './support/auth-steps.ts';
import { BOTH, BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

/**
 * Opens a page in a browser that is already signed in at the service, so that no password is required. Empties the service's log.
 */
async function openKnown(times: object = {}, more: object = {}): Promise<Page> {
  const first = await world.openBare({ auth: 'popup' });
  await signIn(first, world);
  await first.close();
  const page = await world.openBare({ auth: 'popup', authOptions: { times }, ...more }, { script: RECORD });
  world.service.faults.clearLog();
  return page;
}

/**
 * Makes a call on a page of `openKnown`. Across sites, a hidden frame does not have the cookie of the earlier window, so a window
 * is opened again.
 */
async function callKnown(page: Page): Promise<string> {
  const waiting = call(page, world);
  waiting.catch(() => undefined);
  if (world.site === 'cross-site') {
    await inState(page, 'prompt');
    await press(page);
  }
  return waiting;
}

/** Returns the authorization codes that the page has sent. */
const codesOf = async (page: Page): Promise<string[]> =>
  (await wireOf(page)).sent.flatMap(({ code_verifier, code }) => (code_verifier && code ? [code] : []));

inWorlds({ sites: BOTH }, ({ site }) => {
  test('given a token response that is cut off after the server processed it, then the same code is not sent again; a fresh authorize follows', async () => {
    const page = await openKnown();
    world.service.faults.add({ operation: 'token', cut: 'mid-answer' });
    const waiting = callKnown(page);
    if (site === 'cross-site') {
      await untilEvent(page, 'auth-failed');
      await inState(page, 'prompt');
      await press(page);
    }
    assert.equal(await waiting, 'done');
    const codes = await codesOf(page);
    assert.equal(codes.length, 2);
    assert.notEqual(codes[0], codes[1]);
    // Across sites, a hidden frame made the first request and the one after the lost code without success.
    assert.equal(world.count('authorize'), site === 'same-site' ? 2 : 4);
  });

  test('given 429 without a readable header on every attempt, then delays grow with jitter, stop at the maximum, and the user is required', async () => {
    const page = await openKnown({ coolBaseMs: 100, coolMaxMs: 10_000, coolCapMs: 600 });
    world.service.faults.add({ operation: 'token', status: 429, body: {}, times: Number.POSITIVE_INFINITY });
    await page.evaluate(() => {
      const pauses: number[] = [];
      Object.assign(globalThis, { pauses });
      tools.session?.subscribe(() => {
        const { state, error } = tools.session?.snapshot ?? {};
        const { retryAfterMs = 0 } = error ?? {};
        if (state === 'cooling' && pauses.at(-1) !== retryAfterMs) pauses.push(retryAfterMs);
      });
    });
    callKnown(page).catch(() => undefined);
    await untilEvent(page, 'auth-failed');
    await inState(page, 'prompt');
    const at = world.entries('token').map((entry) => entry.at);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    const pauses = await page.evaluate(() => (globalThis as unknown as { pauses: number[] }).pauses);
    // After one automatic retry, only the user can start another request across sites.
    assert.ok(at.length >= (site === 'same-site' ? 3 : 2) && at.length <= 6, `${at.length} requests`);
    assert.ok(pauses.length >= waits.length && waits.length > 0, `${pauses}`);
    // Each delay is twice the previous delay, with 20 % jitter. No request is sent before its delay is over.
    for (const [index, pause] of pauses.entries()) {
      const share = pause / (100 * 2 ** index);
      assert.ok(share >= 0.8 && share <= 1.2 && share !== 1, `pause ${index}: ${pauses}`);
    }
    for (const [index, wait] of waits.entries())
      assert.ok(wait >= (pauses[index] ?? Number.POSITIVE_INFINITY) - 10, `wait ${index}: ${waits}`);
    assert.equal((await page.evaluate(() => tools.session?.snapshot.error))?.code, 'rate-limited');
    const sent = world.count('token');
    await turns(page, 60);
    assert.equal(world.count('token'), sent, 'nothing follows by itself');
  });
});

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  test('given 429 with an exposed Retry-After of 3, then exactly one further request follows, not before 3 s, and the delay is reported', async () => {
    await world.context.clock.install();
    const page = await openKnown();
    world.service.faults.add({ operation: 'token', status: 429, body: {}, headers: { 'retry-after': '3' } });
    const waiting = callKnown(page);
    const seen = await page.waitForFunction(
      () => tools.session?.snapshot.state === 'cooling' && tools.session.snapshot,
      null,
      { polling: 20 },
    );
    const cooling = (await seen.jsonValue()) || undefined;
    assert.deepEqual([cooling?.error?.code, cooling?.error?.retryAfterMs], ['rate-limited', 3000]);
    await page.clock.runFor(3_000);
    assert.equal(await waiting, 'done');
    assert.equal(world.count('token'), 2);
    // The delay is measured by the clock of the page, which the test controls.
    const [first = 0, second = 0] = (await wireOf(page)).sentAtMs;
    assert.ok(second - first >= 3_000, `${second - first} ms`);
    const codes = await codesOf(page);
    assert.equal(codes[0], codes[1], 'the one permitted re-send');
  });

  test('given 429 with Retry-After while the widget exchanges a code, then its panel counts down, and the upload continues automatically', async () => {
    await world.context.clock.install();
    const page = await openWaiting(world, 'auth="popup"');
    world.service.faults.add({ operation: 'token', status: 429, body: {}, headers: { 'retry-after': '30' } });
    await signInByWindow(page, world);
    const reported = panel(page, 'cooling').getByText(/in about \d+ s/);
    const leftS = async (): Promise<number> => Number(/\d+/.exec((await reported.textContent()) ?? '')?.[0]);
    const first = await leftS();
    await page.clock.fastForward(10_000);
    await panel(page, 'cooling').getByText(`in about ${first} s`).waitFor({ state: 'detached' });
    const then = await leftS();
    assert.ok(first <= 30 && then <= first - 10, `${first} s, then ${then} s`);
    await page.clock.fastForward(30_000);
    await untilEvent(page, 'upload-completed');
    assert.equal(world.count('token'), 2);
  });

  for (const [name, fault, code] of [
    ['HTML', { body: '<html>not today</html>', contentType: 'text/html' }, 'token-malformed'],
    ['truncated JSON', { body: '{"token": "abc', contentType: 'application/json' }, 'token-malformed'],
    ['{}', { body: {} }, 'token-malformed'],
    ['an empty token', { body: { token: '', expires_at: '2099-01-01T00:00:00Z' } }, 'token-malformed'],
  ] as const) {
    test(`given the token endpoint responds with 200 and ${name}, then ${code}, and no bearer is ever sent`, async () => {
      const page = await openKnown();
      const errors: Error[] = [];
      page.on('pageerror', (error) => errors.push(error));
      world.service.faults.add({
        operation: 'token',
        status: 200,
        times: Number.POSITIVE_INFINITY,
        ...fault,
      } as Fault);
      callKnown(page).catch(() => undefined);
      assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, code);
      await inState(page, 'prompt');
      assert.deepEqual(errors, []);
      assert.equal(world.service.log.filter(({ hasBearer }) => hasBearer).length, 0);
      assert.ok(world.count('token') <= 2, 'no loop');
    });
  }

  test('given an expiry of the token in any documented form, or none, then the lifetime is the documented one', async () => {
    const { token } = await world.service.createToken('alice');
    // A time zone other than UTC shows whether local time is mistaken for UTC.
    const context = await world.newContext({ timezoneId: 'Asia/Tokyo' });
    const known = await world.openBare({ auth: 'popup' }, { context });
    assert.equal(await known.evaluate(() => new Date().getTimezoneOffset()), -540);
    await signIn(known, world);
    const endMs = Math.ceil(Date.now() / 1000) * 1000 + 3_600_000;
    const iso = new Date(endMs).toISOString();
    const withOffset = `${new Date(endMs + 7_200_000).toISOString().slice(0, 19)}+02:00`;
    for (const [form, expires_at, reported] of [
      ['ISO with offset', withOffset, true],
      ['ISO without a zone', iso.slice(0, 19), true],
      ['seconds', endMs / 1000, true],
      ['milliseconds', endMs, true],
      ['missing', undefined, false],
      ['garbage', 'next tuesday', false],
    ] as const) {
      const page = await world.openBare({ auth: 'popup' }, { context });
      world.service.faults.add({
        operation: 'token',
        status: 200,
        body: { token, ...(expires_at !== undefined && { expires_at }) },
      });
      assert.equal(await callKnown(page), 'done', form);
      const [signedIn] = await eventsOf(page, 'signed-in');
      // Small differences are allowed, because the widget may correct for the clock. A misread expiry would be wrong by hours.
      if (reported)
        assert.ok(Math.abs(Date.parse(String(signedIn?.detail.expiresAt)) - endMs) < 60_000, form);
      else assert.equal(signedIn?.detail.expiresAt, undefined, form);
      await page.close();
    }
    await context.close();
  });

  test('given an issuer other than the configured one, then issuer-mismatch is reported, and no token request is made', async () => {
    const page = await world.openBare({ auth: 'popup', issuer: 'https://another.example' });
    await callUntilPrompt(page, world);
    await fillIn(await press(page), world);
    assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, 'issuer-mismatch');
    await inState(page, 'prompt');
    assert.equal(world.count('token'), 0);
  });

  test('given the sign-in page responds with access_denied, then exactly that is reported, and no token request is made', async () => {
    const page = await world.openBare({ auth: 'popup' });
    await callUntilPrompt(page, world);
    const window = await press(page);
    await window.getByLabel('Email address').waitFor();
    // Opens the callback URL by hand, because the sign-in page of the reference service has no button to deny access.
    const asked = new URL(window.url()).searchParams;
    const answer = new URLSearchParams({ error: 'access_denied', state: asked.get('state') ?? '' });
    await window.goto(`${asked.get('redirect_uri')}?${answer}`).catch(() => undefined);
    assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, 'access-denied');
    await inState(page, 'prompt');
    assert.equal(world.count('token'), 0);
  });
});
