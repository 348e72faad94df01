// Challenges that are too old, unknown, or contradict themselves, in the form and against the service.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright';
import { call, detailsOf, enterPassword, frames, inState, showForm } from './support/auth-steps.ts';
import { type AuthWorld, createAuthWorld, until } from './support/auth-world.ts';

let world: AuthWorld;
before(async () => {
  world = await createAuthWorld('same-site');
});
after(() => world.close());
beforeEach(() => world.reset());

/** A page with the form, where somebody has sent e-mail and password. `script` runs before all others. */
async function logIn(email: string, script = ''): Promise<Page> {
  const settings = { auth: 'local' };
  const page = await world.open(settings, { script });
  call(page, world).catch(() => undefined);
  await until(page, 'auth-required');
  await showForm(page, world, settings);
  await enterPassword(page, world, email);
  return page;
}

/** As `logIn`, with this answer of the service to it. */
function answerWith(body: object): Promise<Page> {
  world.service.faults.add({ operation: 'login', status: 200, body });
  return logIn('alice@example.com');
}

test('check 7: given a push user, when the approval arrives after three polls, then the widget signs in, and no poll was sent while the tab was hidden', async () => {
  const hide = `globalThis.hide = (state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => state === 'hidden' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  };`;
  const setHidden = (page: Page, state: string): Promise<void> =>
    page.evaluate((state) => (globalThis as unknown as { hide(state: string): void }).hide(state), state);
  await world.context.clock.install();
  const page = await logIn('paul@example.com', hide);
  await page.getByText(/Choose \d+ on/).waitFor();
  const polls = (): number => world.count('challenge');
  /** As long as the service tells to wait before the next poll, at both ends. */
  const passPause = async (): Promise<void> => {
    world.service.clock.shift(4_000);
    await page.clock.fastForward(4_000);
  };
  for (let count = 0; count < 3; count++) {
    const polled = page.waitForResponse((response) => response.url().endsWith('/auth/challenge'));
    await passPause();
    await polled;
    await frames(page, 3);
  }
  await setHidden(page, 'hidden');
  const atRest = polls();
  assert.ok(atRest >= 4, 'one start, three polls');
  for (let count = 0; count < 3; count++) {
    await passPause();
    await frames(page, 5);
  }
  assert.equal(polls(), atRest);
  assert.equal(await world.service.people.answerPush('paul', 'approved'), true);
  await setHidden(page, 'visible');
  await until(page, 'signed-in');
  assert.equal(polls(), atRest + 1, 'it looked when it was shown again');
});

test('check 24: given the challenge token has expired, when a code is sent, then challenge-expired and a fresh start with the e-mail kept and the password empty', async () => {
  const page = await logIn('tom@example.com');
  const field = page.getByLabel('Code', { exact: true });
  await field.waitFor();
  world.service.clock.shift(6 * 60_000);
  await field.fill('123456');
  await page.getByRole('button', { name: 'Confirm' }).click();
  assert.equal((await until(page, 'auth-failed')).code, 'challenge-expired');
  await page.getByLabel('Password', { exact: true }).waitFor();
  assert.equal(await page.getByLabel('E-mail address').inputValue(), 'tom@example.com');
  assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
  assert.equal(world.count('token'), 0);
});

test('check 25: given an unknown next_step and no methods, then step-unsupported and the window is offered, and it is never treated as signed in', async () => {
  const page = await answerWith({ status: 'ok-ish', next_step: 'dance' });
  assert.equal((await until(page, 'auth-failed')).code, 'step-unsupported');
  await page.getByRole('button', { name: 'Sign in in a window' }).waitFor();
  await inState(page, 'prompt');
  assert.equal(world.count('token') + world.count('session'), 0);
});

test('check 26: given the methods retina and totp, then only totp is offered; given retina alone, then method-unsupported and the window', async () => {
  const challenge = { status: 'challenge', challenge_token: 'made-up' };
  const page = await answerWith({ ...challenge, available_methods: ['retina', 'totp'] });
  await page.getByLabel('Code', { exact: true }).waitFor();
  assert.deepEqual(await detailsOf(page, 'auth-challenged'), [{ methods: ['totp'] }]);
  assert.equal(await page.getByText('retina').count(), 0);
  const other = await answerWith({ ...challenge, available_methods: ['retina'] });
  assert.equal((await until(other, 'auth-failed')).code, 'method-unsupported');
  await other.getByRole('button', { name: 'Sign in in a window' }).waitFor();
});

test('check 27: given the status SUCCESS together with a challenge_token, then the challenge is shown', async () => {
  const page = await answerWith({
    status: 'SUCCESS',
    challenge_token: 'made-up',
    available_methods: ['totp'],
  });
  const authorized = world.count('authorize');
  await page.getByLabel('Code', { exact: true }).waitFor();
  await inState(page, 'answer');
  assert.equal(world.count('authorize'), authorized);
  assert.equal(world.count('token'), 0);
});

test('check 28: given a locked account, then account-locked and no automatic further request', async () => {
  const page = await logIn('lou@example.com');
  assert.equal((await until(page, 'auth-failed')).code, 'account-locked');
  await inState(page, 'prompt');
  const sent = world.service.log.length;
  await frames(page);
  assert.equal(world.service.log.length, sent);
  assert.equal(world.count('login'), 1);
});

test('check 18: given 429 with Retry-After while the form is shown, then it counts down and goes back to where it was', async () => {
  world.service.faults.add({ operation: 'login', status: 429, body: {}, headers: { 'retry-after': '40' } });
  await world.context.clock.install();
  const page = await logIn('alice@example.com');
  const leftS = async (): Promise<number> =>
    Number(
      /\d+/.exec((await page.getByText(/It goes on by itself in about \d+ s\./).textContent()) ?? '')?.[0],
    );
  const first = await leftS();
  await page.clock.fastForward(10_000);
  await page.getByText(`It goes on by itself in about ${first} s.`).waitFor({ state: 'detached' });
  const then = await leftS();
  assert.ok(first <= 40 && then <= first - 10, `${first} s, then ${then} s`);
  await page.clock.fastForward(40_000);
  await page.getByLabel('Password', { exact: true }).waitFor();
  assert.equal(await page.getByLabel('E-mail address').inputValue(), 'alice@example.com');
  assert.equal(world.count('login'), 1, 'credentials are not sent again by themselves');
});
