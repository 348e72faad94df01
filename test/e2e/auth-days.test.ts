// Sign-in on its bad days and in its odd places: passkeys, frames, wrong clocks, many tabs, reloads, stronger proofs.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Frame, Page } from 'playwright';
import { AUTH_TIMES } from '../../src/auth/times.ts';
import { type AuthWorld, createAuthWorld, fillIn, until } from './support/auth-world.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

let near: AuthWorld;
let far: AuthWorld;
before(async () => {
  near = await createAuthWorld('same-site');
  far = await createAuthWorld('cross-site');
});
after(async () => {
  await near.close();
  await far.close();
});
beforeEach(async () => {
  await near.reset();
  await far.reset();
});

const call = (page: Page | Frame, world: AuthWorld, more: object = {}, count = 1): Promise<string> =>
  page.evaluate(([input, count]) => tools.call(input, count), [
    { baseUrl: world.service.baseUrl, ...more },
    count,
  ] as const);
const press = async (page: Page): Promise<Page> => {
  const [window] = await Promise.all([page.waitForEvent('popup'), page.getByText('Sign in here').click()]);
  return window;
};
async function signIn(page: Page, world: AuthWorld, email = 'alice@example.com'): Promise<void> {
  const waiting = call(page, world);
  await until(page, 'auth-required');
  const window = await press(page);
  await fillIn(window, email, world.service.seed.password);
  assert.equal(await waiting, 'done');
}
const showForm = (page: Page | Frame, world: AuthWorld, more: object = {}): Promise<void> =>
  page.evaluate((input) => tools.showForm(input), { baseUrl: world.service.baseUrl, auth: 'local', ...more });

/** A page on the service's own host, with an authenticator that has a passkey of petra's. */
async function openWithPasskey(script = ''): Promise<Page> {
  const page = await far.open({ auth: 'local' }, { host: 'localhost', script });
  const { credentialId, privateKey, rpId } = await far.service.people.addPasskey('petra');
  const base64 = (text: string): string => Buffer.from(text, 'base64url').toString('base64');
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await session.send('WebAuthn.addCredential', {
    authenticatorId,
    credential: {
      credentialId: base64(credentialId),
      privateKey: base64(privateKey),
      rpId,
      isResidentCredential: false,
      signCount: 0,
    },
  });
  return page;
}

async function enterPassword(page: Page | Frame, world: AuthWorld, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

for (const [name, script] of [
  [
    'check 8: given a passkey user and an authenticator, when the button is pressed, then sign-in completes, and nothing was asked without a press',
    '',
  ],
  [
    'check 29: given a credential that throws in toJSON, then the assertion is still sent right',
    'PublicKeyCredential.prototype.toJSON = () => { throw new TypeError("no"); };',
  ],
  [
    'a passkey signs in in a browser without the JSON forms',
    'delete PublicKeyCredential.parseRequestOptionsFromJSON; delete PublicKeyCredential.prototype.toJSON;',
  ],
] as const) {
  test(name, async () => {
    const count = `globalThis.asked = 0; const get = navigator.credentials.get.bind(navigator.credentials);
      navigator.credentials.get = (options) => { asked += 1; return get(options); };`;
    const page = await openWithPasskey(script + count);
    const waiting = call(page, far);
    await until(page, 'auth-required');
    await showForm(page, far);
    await enterPassword(page, far, 'petra@example.com');
    const button = page.getByRole('button', { name: 'Use passkey' });
    await button.waitFor();
    const asked = (): Promise<number> =>
      page.evaluate(() => (globalThis as unknown as { asked: number }).asked);
    assert.equal(await asked(), 0);
    await button.click();
    assert.equal(await waiting, 'done');
    assert.equal(await asked(), 1);
  });
}

test('check 29: given a passkey of another domain, then the window is offered instead', async () => {
  const page = await far.open({ auth: 'local' });
  await showForm(page, far);
  await enterPassword(page, far, 'petra@example.com');
  await page.getByRole('button', { name: 'Use passkey' }).click();
  assert.equal((await until(page, 'auth-failed')).code, 'passkey-unavailable');
  await page.getByRole('button', { name: 'Sign in in a window' }).waitFor();
});

/** The page inside a page of another site. */
async function openFramed(world: AuthWorld): Promise<[Page, Frame]> {
  const page = await world.context.newPage();
  await page.addInitScript('globalThis.__name = (fn) => fn;');
  await page.goto(world.outer);
  await page.frameLocator('iframe').getByText('Sign in here').waitFor();
  const frame = page.frames()[1] as Frame;
  await frame.waitForFunction(() => 'tools' in globalThis);
  return [page, frame];
}

test('checks 14, 39: given a page inside a page of another site, then the window works, and the form is not shown and says why', async () => {
  const [page, frame] = await openFramed(near);
  const open = (auth: string): Promise<void> =>
    frame.evaluate((input) => void tools.open(input), {
      ...{ baseUrl: near.service.baseUrl, auth },
    });
  await open('popup');
  const waiting = call(frame, near);
  await frame.waitForFunction(() => tools.session?.snapshot.state === 'prompt');
  const [window] = await Promise.all([page.waitForEvent('popup'), frame.getByText('Sign in here').click()]);
  await fillIn(window, 'alice@example.com', near.service.seed.password);
  assert.equal(await waiting, 'done');
  await showForm(frame, near);
  await frame.getByText('passwords are not asked for inside another page').waitFor();
  assert.equal(await frame.locator('secure-uploader-login input').count(), 0);
  await frame.locator('secure-uploader-login').evaluate((form) => form.remove());
  await showForm(frame, near, { allowFramedLogin: true });
  await frame.getByLabel('E-mail address').waitFor();
});

test('check 14: given a page inside a page of another site and a window that severs itself, then it is waited for with Cancel, and ends by its deadline', async () => {
  await near.context.clock.install();
  const [page, frame] = await openFramed(near);
  await frame.evaluate((input) => void tools.open(input), {
    baseUrl: near.service.baseUrl,
    auth: 'popup',
    idpId: 'corp',
    silent: 'off',
    authOptions: { times: { closedGraceMs: 100 } },
  });
  for (const end of ['deadline', 'Cancel']) {
    await Promise.all([page.waitForEvent('popup'), frame.getByText('Sign in here').click()]);
    await frame.waitForFunction(() => tools.session?.snapshot.state === 'popup-lost');
    if (end === 'Cancel') await frame.evaluate(() => tools.session?.cancel());
    else await page.clock.fastForward(AUTH_TIMES.popupMs);
    await frame.waitForFunction(() => tools.session?.snapshot.state === 'prompt');
    assert.equal(await frame.evaluate(() => tools.session?.snapshot.error?.code), 'popup-closed');
  }
});

for (const hours of [2, -2]) {
  test(`check 32: given a clock that is ${hours} hours off, then calls go on and one exchange is made`, async () => {
    const script = `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000};`;
    const page = await near.open({ auth: 'popup' }, { script });
    await signIn(page, near);
    for (let count = 0; count < 5; count++) assert.equal(await call(page, near), 'done');
    assert.equal(near.count('token'), 1);
  });
}

test('check 30: given a token that ran out, when eight calls need one, then it is renewed once and nobody sees it', async () => {
  const page = await near.open({ auth: 'popup' });
  await signIn(page, near);
  near.service.faults.clearLog();
  near.service.clock.shift(16 * 60_000);
  assert.equal(await call(page, near, {}, 8), 'done');
  assert.equal(near.count('token'), 1);
  assert.equal(near.count('authorize'), 1);
  const states = await page.evaluate(() => tools.session?.snapshot);
  assert.deepEqual(states, { state: 'signed-in', mode: 'popup', required: false });
});

test('check 34: given five tabs that need a token at once, then no two exchanges overlap', async () => {
  await signIn(await near.open({ auth: 'popup' }), near);
  const pages = await Promise.all(Array.from({ length: 5 }, () => near.open({ auth: 'popup' })));
  near.service.faults.clearLog();
  near.service.faults.add({ operation: 'token', delayMs: 100, times: 5 });
  const all = await Promise.all(pages.map((page) => call(page, near)));
  assert.deepEqual(all, ['done', 'done', 'done', 'done', 'done']);
  const exchanges = near.service.log
    .filter(({ operation, method }) => operation === 'token' && method === 'POST')
    .map(({ at, answeredAt = Number.POSITIVE_INFINITY }) => [at, answeredAt] as const)
    .sort(([one], [other]) => one - other);
  assert.equal(exchanges.length, 5);
  for (const [index, [at]] of exchanges.entries()) {
    assert.ok(at >= (exchanges[index - 1]?.[1] ?? 0), 'two exchanges overlap');
  }
});

test('check 16: given a return page that is reloaded, or two elements in one task, then the code is seen once', async () => {
  const settings = { baseUrl: near.service.baseUrl, auth: 'redirect', silent: 'off' };
  const page = await near.open(settings);
  await page.getByText('Sign in here').click();
  await fillIn(page, 'alice@example.com', near.service.seed.password);
  await page.waitForURL(/#secure-uploader-answer/);
  await page.waitForFunction(() => 'tools' in globalThis);
  await page.evaluate((input) => {
    tools.open(input);
    tools.open(input);
  }, settings);
  await until(page, 'signed-in');
  assert.equal(new URL(page.url()).hash, '');
  assert.equal(near.count('token'), 1);
  await page.reload();
  await page.waitForFunction(() => 'tools' in globalThis);
  await page.evaluate((input) => void tools.open(input), settings);
  assert.equal(await page.evaluate(() => tools.session?.snapshot.state), 'signed-out');
  assert.equal(near.count('token'), 1);
});

test('a call that needs a stronger proof leads to a window that asks for it', async () => {
  const page = await near.open({ auth: 'popup' });
  await signIn(page, near);
  near.service.faults.add({
    operation: 'session',
    status: 401,
    body: {},
    headers: {
      'www-authenticate':
        'Bearer error="insufficient_user_authentication", acr_values="urn:mfa", max_age="60"',
    },
  });
  const waiting = call(page, near);
  await page.waitForFunction(() => tools.session?.snapshot.state === 'prompt');
  const [request] = await Promise.all([
    page.context().waitForEvent('request', (request) => request.url().includes('/authorize?')),
    press(page),
  ]);
  const asked = new URL(request.url()).searchParams;
  assert.deepEqual([asked.get('acr_values'), asked.get('max_age')], ['urn:mfa', '60']);
  assert.equal(await waiting, 'done');
});

test('signing out calls the service where a path is set, and only the person gets back in', async () => {
  const page = await near.open({ auth: 'popup', logoutPath: '/auth/logout' });
  await signIn(page, near);
  await page.evaluate(() => tools.session?.signOut());
  assert.equal(near.count('logout'), 1);
  near.service.faults.clearLog();
  call(page, near, {}).catch(() => undefined);
  await page.waitForFunction(() => tools.session?.snapshot.state === 'prompt');
  assert.equal(near.count('authorize') + near.count('token'), 0);
  const window = await press(page);
  await window.getByLabel(/e-?mail/i).waitFor();
});

test('check 40: given keyboard only and the accessibility tree, then every step of the form is reached, named, and heard', async () => {
  const page = await near.open({ auth: 'local' });
  const waiting = call(page, near);
  await until(page, 'auth-required');
  await showForm(page, near);
  const form = page.locator('secure-uploader-login');
  const heard = (): Promise<string> => form.ariaSnapshot();
  await page.getByLabel('E-mail address').focus();
  assert.match(await heard(), /region "Sign in"[\s\S]*textbox "E-mail address"[\s\S]*textbox "Password"/);
  await page.keyboard.type('mia@example.com');
  await page.keyboard.press('Tab');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await form.getByText('E-mail or password is not right. Try again.').waitFor();
  assert.match(await heard(), /status: E-mail or password is not right/);
  const focused = (): Promise<string | undefined> =>
    page.evaluate(() => (document.activeElement as HTMLInputElement | null)?.name);
  assert.equal(await focused(), 'password', 'the focus is where it is typed anew');
  await page.keyboard.type(near.service.seed.password);
  await page.keyboard.press('Enter');
  await form.getByRole('heading', { name: 'How do you want' }).waitFor();
  assert.match(
    await heard(),
    /button "Code by e-mail"[\s\S]*button "Code by text message"[\s\S]*button "Recovery code"/,
  );
  for (let count = 0; count < 3; count++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await form.getByRole('heading', { name: 'Recovery code' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.type((await near.service.people.recoveryCodes('mia'))[0] ?? '');
  await page.keyboard.press('Enter');
  assert.equal(await waiting, 'done');
});
