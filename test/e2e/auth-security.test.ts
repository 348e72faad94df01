// A journey, because it needs real windows, redirects and the console.
// Rules of sign-in in SECURITY.md that no other test covers: S2, S3, S6, S7, S9 to S12 and S15.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import {
  call,
  callUntilPrompt,
  inState,
  logIn,
  panel,
  pick,
  press,
  showForm,
  signIn,
  signInByWindow,
  times,
} from './support/auth-steps.ts';
import { inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

/** Returns a list that collects the URLs of all requests of the browser from now on. */
function addressesOf(page: Page): string[] {
  const addresses: string[] = [];
  page.context().on('request', (request) => addresses.push(request.url()));
  return addresses;
}

const wayBack = (window: Page): string | null => new URL(window.url()).searchParams.get('redirect_uri');

inWorlds({ sites: ['same-site'] }, () => {
  test('S2: while a window is open, no data of its request is in any storage of the page, nor in the copy that the window got', async () => {
    const page = await world.openBare({ auth: 'popup' });
    await callUntilPrompt(page, world);
    const window = await press(page);
    await window.getByLabel('Email address').waitFor();
    const read = (): unknown[] => [
      Object.entries(sessionStorage),
      // The period tells sign-outs apart, and is there without a request, too.
      Object.keys(localStorage).filter((name) => name !== 'secure-uploader:period'),
      document.cookie,
    ];
    assert.deepEqual(await page.evaluate(read), [[], [], '']);
    // Opens a page of the same origin in the window, where the window can read the storage that it got from its opener.
    await window.goto(`${world.bare.origin}/outer`);
    assert.deepEqual((await window.evaluate(read))[0], []);
  });

  test('S3: a page without the browser’s cryptography starts no sign-in, and reports why', async () => {
    const script = "Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined });";
    const page = await world.openBare({ auth: 'popup' }, { script });
    call(page, world).catch(() => undefined);
    await inState(page, 'prompt');
    await page.getByText('Sign in here').click();
    await page.waitForFunction(() => tools.session?.snapshot.error?.code === 'insecure-context', null, {
      polling: 50,
    });
    assert.equal(world.count('authorize') + world.count('token'), 0);
  });

  test("S6: the callback URL is the same in every request, whatever the page's current URL", async () => {
    const page = await world.openBare({ auth: 'popup', silent: 'off' });
    await callUntilPrompt(page, world);
    const first = await press(page);
    await first.getByLabel('Email address').waitFor();
    const address = wayBack(first);
    assert.equal(address, `${world.bare.origin}/secure-uploader-callback.html`);
    await page.evaluate(() =>
      history.pushState(null, '', '/somewhere/else?redirect_uri=https://evil.example#x'),
    );
    await page.evaluate(() => tools.session?.cancel());
    await inState(page, 'prompt');
    const second = await press(page);
    await second.getByLabel('Email address').waitFor();
    assert.equal(wayBack(second), address);
  });

  test('S7: a stored return URL on another origin is ignored', async () => {
    const page = await world.openBare();
    const addresses = addressesOf(page);
    await page.evaluate(() => {
      const stored = { verifier: 'v', owner: '', returnTo: 'http://evil.example/', createdAtMs: Date.now() };
      sessionStorage.setItem('secure-uploader:redirect:some-state', JSON.stringify(stored));
    });
    await page.clock.install();
    await page.goto(`${world.bare.origin}/secure-uploader-callback.html?code=a&state=some-state`);
    await page.clock.runFor(1_500);
    await page.getByText('You can close this window').waitFor();
    assert.deepEqual(
      addresses.filter((address) => address.includes('evil')),
      [],
    );
  });

  test('S7: a URL in a login response is not followed', async () => {
    const away = 'http://evil.example/';
    const body = { status: 'redirect', next_step: 'redirect', url: away, redirect_url: away, location: away };
    const headers = { location: away };
    world.service.faults.add({ operation: 'login', status: 200, body, headers });
    const page = await logIn(world, 'alice@example.com');
    const addresses = addressesOf(page);
    assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, 'step-unsupported');
    const [window] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Open sign-in window' }).click(),
    ]);
    await window.getByLabel('Email address').waitFor();
    assert.ok(window.url().startsWith(`${world.service.baseUrl}/authorize?`), 'built by the widget itself');
    assert.deepEqual(
      addresses.filter((address) => address.includes('evil')),
      [],
    );
  });

  test('S9: the callback page sends nothing to a page of another origin', async () => {
    const page = await world.openBare(undefined, { host: 'localhost' });
    const callback = `${world.bare.origin}/secure-uploader-callback.html?code=a&state=b`;
    await page.evaluate(() => {
      const received: unknown[] = [];
      Object.assign(globalThis, { received });
      addEventListener('message', ({ data }) => received.push(data));
    });
    await world.context.clock.install();
    const [window] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate((address) => void open(address, '', 'popup'), callback),
    ]);
    await window.waitForLoadState();
    await window.clock.runFor(1_500);
    await window.getByText('You can close this window').waitFor();
    assert.deepEqual(
      await page.evaluate(() => (globalThis as unknown as { received: unknown[] }).received),
      [],
    );
  });

  test('S10: nothing in a URL fills the form, on the page or on the service’s own', async () => {
    const query = 'email=eve@example.com&username=eve&login_hint=eve@example.com&password=known&idp_id=local';
    const values = (page: Page): Promise<string[]> =>
      page
        .locator('secure-uploader-login input')
        .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value));
    const page = await world.openBare();
    await page.goto(`${world.bare.origin}/?${query}#${query}`);
    await page.waitForFunction(() => 'tools' in globalThis, null, { polling: 50 });
    const settings = { baseUrl: world.service.baseUrl, auth: 'local' } as const;
    await page.evaluate((input) => void tools.open(input), settings);
    await callUntilPrompt(page, world);
    await showForm(page, world);
    await page.getByLabel('Email address').waitFor();
    assert.deepEqual(await values(page), ['', '']);
    const other = await world.openBare({ auth: 'popup' });
    await callUntilPrompt(other, world);
    const window = await press(other);
    await window.getByLabel('Email address').waitFor();
    await window.goto(`${window.url()}&${query.replace('&idp_id=local', '')}`);
    await window.getByLabel('Email address').waitFor();
    assert.deepEqual(await values(window), ['', '']);
  });

  test('S11: a policy that blocks frames results in a silent-timeout, and the window still signs in', async () => {
    world.pages.changePolicy('/index.html', (policy) =>
      policy.replace(/frame-src [^;]+/, "frame-src 'none'"),
    );
    const page = await world.open(times({ silentMs: 500 }));
    await pick(page, world);
    await panel(page, 'prompt').waitFor();
    const codes = (await eventsOf(page, 'auth-failed')).map(({ detail }) => detail.code);
    assert.deepEqual(codes, ['silent-timeout']);
    await signInByWindow(page, world);
    await untilEvent(page, 'upload-completed');
    world.pages.changePolicy('/index.html', (policy) => policy);
  });

  test('S12: signing in by window and by form, and an upload, write nothing to the console', async () => {
    const lines: string[] = [];
    world.context.on('console', (message) => lines.push(message.text()));
    // What a page must set; otherwise the console says so.
    const { baseUrl: issuer, storageUrl } = world.service;
    const page = await world.open(
      `silent="off" owner="alice" upload-origins="${storageUrl}" issuer="${issuer}"`,
    );
    await pick(page, world);
    await signInByWindow(page, world);
    await untilEvent(page, 'upload-completed');
    await world.context.clearCookies();
    await untilEvent(await logIn(world, 'alice@example.com'), 'signed-in');
    // Ignores a warning of Chromium about hidden frames with the origin of the page.
    assert.deepEqual(
      lines.filter((line) => !line.startsWith('An iframe which has both allow-scripts')),
      [],
    );
  });

  test('S15: a page that is unloaded permanently deletes its token; one that may be restored keeps it', async () => {
    const page = await world.openBare({ auth: 'popup', silent: 'off' });
    await signIn(page, world);
    const leave = (persisted: boolean): Promise<void> =>
      page.evaluate((persisted) => {
        dispatchEvent(new PageTransitionEvent('pagehide', { persisted }));
      }, persisted);
    world.service.faults.clearLog();
    await leave(true);
    assert.equal(await call(page, world), 'done');
    assert.equal(world.entries('session').length, 1);
    await leave(false);
    call(page, world).catch(() => undefined);
    await inState(page, 'prompt');
    assert.equal(world.entries('session').length, 1, 'no call goes out with it');
  });
});
