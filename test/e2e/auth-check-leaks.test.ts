// A journey, because it needs the console, the URLs and the history of real windows.
// No secret appears in the page, in storage, in events, on the console or in URLs. The only exceptions are the documented URLs with
// a code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { until } from '../support/until.ts';
import { assertUnseen, shownBy, type Traces, traceOf, WATCH } from './support/auth-leaks.ts';
import { call, fillIn, pick, showForm, signInByWindow, signInThere, wireOf } from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { untilEvent } from './support/browser.ts';
import { createGate } from './support/gate.ts';

/** Returns the values of all secret fields that the page sent or received, by name, and the credentials of the user. */
async function secretsOf(page: Page, email: string, ...more: string[]): Promise<Record<string, string[]>> {
  const { sent, got } = await wireOf(page);
  const named = (name: string): string[] => [...sent, ...got].flatMap((body) => body[name] || []);
  const names = ['token', 'code', 'code_verifier', ...more];
  return {
    ...Object.fromEntries(names.map((name) => [name, named(name)])),
    password: [world.service.seed.password],
    email: [email],
  };
}

/** Asserts that no secret is on the page, on the console or in a URL, except for the authorization code in one callback URL. */
async function assertNoLeak(page: Page, traces: Traces, secrets: Record<string, string[]>): Promise<void> {
  assertUnseen([...Object.values(await shownBy(page)), ...traces.lines], secrets);
  const { origin } = new URL(page.url());
  const isCallback = (address: string): boolean =>
    address.startsWith(`${origin}/secure-uploader-callback.html?`);
  const { code = [], ...others } = secrets;
  assertUnseen(traces.addresses, others);
  assertUnseen(
    traces.addresses.filter((address) => !isCallback(address)),
    { code },
  );
  const withCode = traces.addresses.filter((address) => code.some((value) => address.includes(value)));
  assert.equal(withCode.length, 1, 'one callback address has the code that was redeemed');
}

inWorlds({ sites: BOTH_AT_FULL_SIZE }, ({ engine }) => {
  test('given a whole session by the form, then no secret is in page, storage, events, console or URLs, and the code in the callback URL only', async () => {
    const traces = traceOf(world.context);
    const page = await world.openBare({ auth: 'local' }, { script: WATCH });
    const waiting = call(page, world);
    await untilEvent(page, 'auth-required');
    await showForm(page, world);
    await fillIn(page, world, 'mia@example.com');
    await page.getByRole('button', { name: 'Recovery code' }).click();
    const [code] = await world.service.people.recoveryCodes('mia');
    await page.getByLabel('Code', { exact: true }).fill(code ?? '');
    await page.getByRole('button', { name: 'Confirm' }).click();
    assert.equal(await waiting, 'done');
    await assertNoLeak(page, traces, await secretsOf(page, 'mia@example.com', 'challenge_token'));
  });

  test('given a sign-in by window and an upload, then token, verifier, password, email and presigned URLs are in no attribute, event, console line or storage, in the middle of the upload and after it, and the code in the callback URL only', async () => {
    const traces = traceOf(world.context);
    const page = await world.open('auth="popup" chunk-size="32768" concurrency="2"', { script: WATCH });
    const over = createGate();
    world.service.faults.add({ operation: 'put', skip: 1, times: 3, waitFor: over.opened });
    await pick(page, world, 4 * 32_768);
    await signInByWindow(page, world);
    // Waits for the middle of the upload, when the saved record has the receipt of a chunk and some presigned URLs are still
    // unused.
    const isStored = /\[\d+,"[0-9a-f]{64}","[^"]+"\]/;
    await until(async () => isStored.test((await shownBy(page)).disk));
    const presigned = traces.addresses.filter((address) => address.startsWith(world.service.storageUrl));
    const secrets = await secretsOf(page, 'alice@example.com');
    const shown = { ...secrets, presigned, signature: presigned.map((address) => new URL(address).search) };
    assertUnseen([...Object.values(await shownBy(page)), ...traces.lines], shown);
    over.open();
    await untilEvent(page, 'upload-completed');
    assertUnseen(Object.values(await shownBy(page)), shown);
    await assertNoLeak(page, traces, secrets);
  });

  test('given a sign-in that leaves the page, then the code is in the callback URL, and in nothing else, nor in the history', async () => {
    const traces = traceOf(world.context);
    const page = await world.open('auth="redirect" silent="off"', { script: WATCH });
    const visited: string[] = [];
    page.on('framenavigated', (frame) => frame === page.mainFrame() && visited.push(frame.url()));
    await signInThere(page, world);
    await pick(page, world);
    await untilEvent(page, 'upload-completed');
    const secrets = await secretsOf(page, 'alice@example.com');
    const [code = ''] = secrets.code ?? [];
    assert.deepEqual(
      visited
        .filter((address) => address.includes(code))
        .map((address) => address.replace(/[?&](code|state|iss)=.*/, '')),
      [`${world.pages.origin}/secure-uploader-callback.html`],
    );
    await assertNoLeak(page, traces, secrets);
    const history = await historyOf(page, engine);
    assert.equal(history.at(-1), `${world.pages.origin}/index.html`);
    assertUnseen(history, secrets);
  });
});

/** Returns the URLs in the history of the tab. */
async function historyOf(page: Page, engine: string): Promise<string[]> {
  // The Navigation API lists only adjacent entries of the page's origin. In Chromium, the DevTools protocol lists all entries.
  if (engine !== 'chromium') return page.evaluate(() => navigation.entries().map(({ url }) => url ?? ''));
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  return entries.map(({ url }) => url);
}
