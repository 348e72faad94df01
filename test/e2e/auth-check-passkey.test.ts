// A journey, because it needs a virtual authenticator of the browser.
// Sign-in with passkeys of a virtual authenticator: on the service's page, on a page of the same host, and on a page of another
// domain.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { call, callUntilPrompt, fillIn, press, showForm } from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { untilEvent } from './support/browser.ts';

/** Adds a virtual authenticator to the page's browser, with a passkey of the user petra. */
async function addAuthenticator(page: Page): Promise<void> {
  const { credentialId, privateKey, rpId } = await world.service.people.addPasskey('petra');
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
}

/** Script that counts the page's requests to the authenticator. */
const COUNT = `globalThis.asked = 0;
  const get = navigator.credentials.get.bind(navigator.credentials);
  navigator.credentials.get = (options) => { asked += 1; return get(options); };`;
const askedOf = (page: Page): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as { asked: number }).asked);

/** Signs in as petra with the form. Asserts that the authenticator is not used before a click. */
async function signInByPasskey(page: Page): Promise<void> {
  await fillIn(page, world, 'petra@example.com');
  const button = page.getByRole('button', { name: 'Use passkey' });
  await button.waitFor();
  assert.equal(await askedOf(page), 0);
  await button.click();
}

/** Opens a page on the host of the service, and adds a virtual authenticator. */
async function openNear(script = ''): Promise<Page> {
  const page = await world.openBare({ auth: 'local' }, { host: 'localhost', script: script + COUNT });
  await addAuthenticator(page);
  return page;
}

// The service is on localhost, because passkeys do not work with an IP address. Pages on 127.0.0.1 are therefore on another site,
// and pages on localhost are on the same site.
inWorlds({ sites: ['cross-site'], only: 'chromium' }, () => {
  test('given a passkey user and an authenticator on the service page of another site, when the button is pressed, then sign-in completes, and nothing was requested without a click', async () => {
    const page = await world.openBare({ auth: 'popup' });
    await world.context.addInitScript(COUNT);
    const waiting = call(page, world);
    await untilEvent(page, 'auth-required');
    const window = await press(page);
    await addAuthenticator(window);
    await signInByPasskey(window);
    assert.equal(await waiting, 'done');
  });

  for (const [name, script] of [
    ['JSON forms', ''],
    [
      'no JSON forms',
      'delete PublicKeyCredential.parseRequestOptionsFromJSON; delete PublicKeyCredential.prototype.toJSON;',
    ],
  ]) {
    test(`given a passkey user and the form on the service’s own site, in a browser with ${name}, when the button is pressed, then sign-in completes, and nothing was requested without a click`, async () => {
      const page = await openNear(script);
      const waiting = call(page, world);
      await untilEvent(page, 'auth-required');
      await showForm(page, world);
      await signInByPasskey(page);
      assert.equal(await waiting, 'done');
      assert.equal(await askedOf(page), 1);
    });
  }

  test('given a credential that throws in toJSON, then the assertion is still sent correctly', async () => {
    const page = await openNear(
      'PublicKeyCredential.prototype.toJSON = () => { throw new TypeError("no"); };',
    );
    const waiting = call(page, world);
    await untilEvent(page, 'auth-required');
    await showForm(page, world);
    await signInByPasskey(page);
    assert.equal(await waiting, 'done');
  });
});

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  test('given a passkey of another domain, then the window is offered instead', async () => {
    const page = await world.openBare({ auth: 'local' });
    await callUntilPrompt(page, world);
    await showForm(page, world);
    await fillIn(page, world, 'petra@example.com');
    await page.getByRole('button', { name: 'Use passkey' }).click();
    assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, 'passkey-unavailable');
    await page.getByRole('button', { name: 'Open sign-in window' }).waitFor();
  });
});
