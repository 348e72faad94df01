// A journey, because it needs the cookies of two sites: a hidden frame finds the session that the form has created.
// Challenges that have expired, are unknown or are contradictory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { inState, logIn, RECORD, turns, wireOf } from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';

/** Opens a page and submits email and password. The service responds with `body`. */
function answerWith(body: object): Promise<Page> {
  world.service.faults.add({ operation: 'login', status: 200, body });
  return logIn(world, 'alice@example.com');
}

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  test('given a user with an authenticator app, codes by mail and message and recovery codes, then all are offered in a fixed order, switching keeps the challenge, every request has the newest challenge token, and each method can finish it', async () => {
    const { people } = world.service;
    const codes = {
      'Code from your authenticator app': async () => people.totp('olga'),
      'Code by email': async () => people.message('olga', 'email'),
      'Code by text message': async () => people.message('olga', 'sms'),
      'Recovery code': async () => (await people.recoveryCodes('olga'))[0],
    };
    const names = Object.keys(codes);
    for (const [name, readCode] of Object.entries(codes)) {
      const page = await logIn(world, 'olga@example.com', RECORD);
      await page.getByRole('heading', { name: 'How do you want' }).waitFor();
      const offered = await page.getByRole('listitem').allTextContents();
      assert.deepEqual(
        offered.map((text) => text.trim()),
        names,
      );
      for (const other of [...names.filter((other) => other !== name), name]) {
        await page.getByRole('listitem').getByRole('button', { name: other }).click();
        await page.getByLabel('Code', { exact: true }).waitFor();
        if (other !== name) await page.getByRole('button', { name: 'Try another way' }).click();
      }
      await page.getByLabel('Code', { exact: true }).fill((await readCode()) ?? '');
      await page.getByRole('button', { name: 'Confirm' }).click();
      await untilEvent(page, 'signed-in');
      const { sent, got } = await wireOf(page);
      const tokens = got.flatMap(({ challenge_token }) => challenge_token ?? []);
      const used = sent.flatMap(({ challenge_token }) => challenge_token ?? []);
      assert.ok(used.length >= 3);
      assert.deepEqual(used, tokens.slice(0, used.length), 'each the newest of its time');
      await world.reset();
    }
  });

  test('given a wrong code, then the field keeps focus and is empty, attempts left are shown, and a code pasted with spaces and a dash is accepted', async () => {
    const page = await logIn(world, 'tom@example.com', RECORD);
    const field = page.getByLabel('Code', { exact: true });
    const code = await world.service.people.totp('tom');
    const wrong = code === '000000' ? '111111' : '000000';
    await field.fill(wrong);
    await field.press('Enter');
    await page.getByText(/attempts? left/).waitFor();
    const focused = await page.evaluate(() => {
      const { name, value } = document.activeElement as HTMLInputElement;
      return [name, value];
    });
    assert.deepEqual(focused, ['code', '']);
    await field.fill(` ${code.slice(0, 3)}-${code.slice(3)} `);
    await field.press('Enter');
    await untilEvent(page, 'signed-in');
    const { sent } = await wireOf(page);
    assert.deepEqual(
      sent.flatMap((body) => (body.action === 'answer' ? [body.code] : [])),
      [wrong, code],
    );
  });

  test('given a push user, when the approval arrives after three polls, then the widget signs in, and no poll was sent while the tab was hidden', async () => {
    const hide = `globalThis.hide = (state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => state === 'hidden' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  };`;
    const setHidden = (page: Page, state: string): Promise<void> =>
      page.evaluate((state) => (globalThis as unknown as { hide(state: string): void }).hide(state), state);
    await world.context.clock.install();
    const page = await logIn(world, 'paul@example.com', hide);
    await page.getByText(/Select \d+ on/).waitFor();
    const polls = (): number => world.count('challenge');
    /** Advances the clocks of the service and of the page to the next poll. */
    const passPause = async (): Promise<void> => {
      world.service.clock.shift(4_000);
      await page.clock.fastForward(4_000);
    };
    for (let count = 0; count < 3; count++) {
      const polled = page.waitForResponse((response) => response.url().endsWith('/auth/challenge'));
      await passPause();
      await polled;
      await turns(page, 3);
    }
    await setHidden(page, 'hidden');
    const atRest = polls();
    assert.ok(atRest >= 4, 'one start, three polls');
    for (let count = 0; count < 3; count++) {
      await passPause();
      await turns(page, 5);
    }
    assert.equal(polls(), atRest);
    assert.equal(await world.service.people.answerPush('paul', 'approved'), true);
    await setHidden(page, 'visible');
    await untilEvent(page, 'signed-in');
    assert.equal(polls(), atRest + 1, 'it looked when it was shown again');
  });

  test('given the challenge token has expired, when a code is sent, then challenge-expired and a fresh start with the email kept and the password empty', async () => {
    const page = await logIn(world, 'tom@example.com');
    const field = page.getByLabel('Code', { exact: true });
    await field.waitFor();
    world.service.clock.shift(6 * 60_000);
    await field.fill('123456');
    await page.getByRole('button', { name: 'Confirm' }).click();
    assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, 'challenge-expired');
    await page.getByLabel('Password', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('Email address').inputValue(), 'tom@example.com');
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
    assert.equal(world.count('token'), 0);
  });

  test('given an unknown next_step and no methods, then step-unsupported and the window is offered, and it is never treated as signed in', async () => {
    const page = await answerWith({ status: 'ok-ish', next_step: 'dance' });
    assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, 'step-unsupported');
    await page.getByRole('button', { name: 'Open sign-in window' }).waitFor();
    await inState(page, 'prompt');
    assert.equal(world.count('token') + world.count('session'), 0);
  });

  test('given the methods retina and totp, then only totp is offered; given retina alone, then method-unsupported and the window', async () => {
    const challenge = { status: 'challenge', challenge_token: 'made-up' };
    const page = await answerWith({ ...challenge, available_methods: ['retina', 'totp'] });
    await page.getByLabel('Code', { exact: true }).waitFor();
    assert.deepEqual(
      (await eventsOf(page, 'auth-challenged')).map(({ detail }) => detail),
      [{ methods: ['totp'] }],
    );
    assert.equal(await page.getByText('retina').count(), 0);
    const other = await answerWith({ ...challenge, available_methods: ['retina'] });
    assert.equal((await untilEvent(other, 'auth-failed'))[0]?.detail.code, 'method-unsupported');
    await other.getByRole('button', { name: 'Open sign-in window' }).waitFor();
  });

  test('given the status SUCCESS together with a challenge_token, then the challenge is shown', async () => {
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

  test('given a locked account, then account-locked and no automatic further request, however long it stays locked', async () => {
    await world.context.clock.install();
    const page = await logIn(world, 'lou@example.com');
    assert.equal((await untilEvent(page, 'auth-failed'))[0]?.detail.code, 'account-locked');
    await inState(page, 'prompt');
    const sent = world.service.log.length;
    await page.clock.runFor(20 * 60_000);
    await turns(page, 5);
    assert.equal(world.service.log.length, sent);
    assert.equal(world.count('login'), 1);
  });

  test('a code is sent again when the button is pressed after its delay, and the new one signs in', async () => {
    await world.context.clock.install();
    const page = await logIn(world, 'mia@example.com', RECORD);
    await page.getByRole('button', { name: 'Code by email' }).click();
    const again = page.getByRole('button', { name: /^Send again/ });
    await again.and(page.locator(':disabled')).waitFor();
    const read = (): Promise<string | undefined> => world.service.people.message('mia', 'email');
    const first = await read();
    // Advances both clocks by the delay that the service requires before it sends another code.
    world.service.clock.shift(30_000);
    await page.clock.runFor(30_000);
    await again.and(page.locator(':enabled')).click();
    // The delay starts again.
    await again.and(page.locator(':disabled')).waitFor();
    const code = (await read()) ?? '';
    await page.getByLabel('Code', { exact: true }).fill(code);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await untilEvent(page, 'signed-in');
    const { sent } = await wireOf(page);
    assert.deepEqual(
      sent.flatMap(({ action }) => action ?? []),
      ['start', 'start', 'answer'],
    );
    assert.notEqual(code, first);
  });

  test('given 429 with Retry-After while the form is shown, then it counts down and returns to its step', async () => {
    world.service.faults.add({ operation: 'login', status: 429, body: {}, headers: { 'retry-after': '40' } });
    await world.context.clock.install();
    const page = await logIn(world, 'alice@example.com');
    const timer = page.getByRole('timer');
    const leftS = async (): Promise<number> => Number.parseInt((await timer.textContent()) ?? '', 10);
    const first = await leftS();
    await page.clock.fastForward(10_000);
    await page.getByText(`${first} s`, { exact: true }).waitFor({ state: 'detached' });
    const then = await leftS();
    assert.ok(first <= 40 && then <= first - 10, `${first} s, then ${then} s`);
    await page.clock.fastForward(40_000);
    await page.getByLabel('Password', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('Email address').inputValue(), 'alice@example.com');
    assert.equal(world.count('login'), 1, 'credentials are not sent again by themselves');
  });
});
