// A journey, because it needs real keys, a real window, and the page of the service.
// Sign-in with the keyboard only, in the form of the page and on the service's page. Each step has an accessible name, is announced
// once, and has no violation that axe or Equal Access finds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { builtBundle } from '../support/built.ts';
import { assertAccessible } from './support/accessible.ts';
import { announcedForm, announcementsOf, RECORD_ANNOUNCEMENTS } from './support/auth-announcements.ts';
import { call, callUntilPrompt, fillIn, panel, pick, press, showForm } from './support/auth-steps.ts';
import { inWorlds, world } from './support/auth-world.ts';
import { eventsOf, untilEvent } from './support/browser.ts';

declare const gallery: typeof import('./support/auth-gallery.ts').gallery;

/** Returns the accessible name of the focused element. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    let element = document.activeElement as HTMLInputElement | null;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement as HTMLInputElement;
    const label = element?.labels?.[0]?.textContent ?? element?.textContent ?? '';
    return label.replace(/\s+/g, ' ').trim();
  });

/** Presses Tab until the element with the accessible name `name` has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 20; count++) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  assert.equal(await focused(page), name, 'Tab leads to it');
}

/** Moves the focus to the element with the accessible name `name`. Types `text` there, or presses Enter if there is no text. */
async function enter(page: Page, name: string, text = ''): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.type(text);
  if (!text) await page.keyboard.press('Enter');
}

/** Enters email and password in the visible form with the keyboard. */
async function logIn(page: Page, email: string, password = world.service.seed.password): Promise<void> {
  await enter(page, 'Email address', email);
  await enter(page, 'Password', password);
  await page.keyboard.press('Enter');
}

/** Removes the focus, so that Tab starts at the top of the page again. */
const fromTheTop = (page: Page): Promise<void> =>
  page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());

async function openForm(): Promise<Page> {
  const page = await world.openBare({ auth: 'local' }, { script: RECORD_ANNOUNCEMENTS });
  await callUntilPrompt(page, world);
  await showForm(page, world);
  return page;
}

inWorlds({ sites: ['same-site'], only: 'chromium' }, () => {
  test('given keyboard only and the accessibility tree, then password, choice, codes and their errors are reached, named, and announced', async () => {
    const page = await openForm();
    const mail = async (): Promise<string> => (await world.service.people.message('mia', 'email')) ?? '';
    assert.match(
      await announcedForm(page, 'Sign in'),
      /region "Sign in"[\s\S]*textbox "Email address"[\s\S]*textbox "Password"[\s\S]*button "Show password"[\s\S]*button "Sign in"/,
    );
    await enter(page, 'Email address', 'mia@example.com');
    await enter(page, 'Password', 'wrong');
    await enter(page, 'Show password');
    assert.match(await announcedForm(page, 'Sign in'), /button "Hide password"/);
    await enter(page, 'Sign in');
    const form = page.locator('secure-uploader-login');
    await form.getByText('Incorrect email or password. Try again.').waitFor();
    assert.match(await announcedForm(page, 'Sign in'), /status: Incorrect email or password/);
    assert.equal(await focused(page), 'Password', 'the focus is where it is typed again');
    await page.keyboard.type(world.service.seed.password);
    await page.keyboard.press('Enter');

    const choice = "How do you want to verify it's you?";
    assert.match(
      await announcedForm(page, choice),
      /list:[\s\S]*button "Code by email[\s\S]*button "Code by text message[\s\S]*button "Recovery code[\s\S]*button "Start over"/,
    );
    assert.equal(await focused(page), choice, 'the focus is at the head of the new step');
    const named = await form.getByRole('button').allTextContents();
    const buttonOf = (start: string): string =>
      named.map((name) => name.replace(/\s+/g, ' ').trim()).find((name) => name.startsWith(start)) ?? start;
    await enter(page, buttonOf('Code by email'));
    assert.match(
      await announcedForm(page, 'Code by email'),
      /Sent to [\s\S]*textbox "Email address"[\s\S]*textbox "Code"[\s\S]*button "Send again in \d+ s" \[disabled\][\s\S]*button "Try another way"/,
    );
    await enter(page, 'Code', (await mail()) === '000000' ? '111111' : '000000');
    await page.keyboard.press('Enter');
    await form.getByText(/attempts? left/).waitFor();
    assert.match(await announcedForm(page, 'Code by email'), /status: .*attempts? left/);
    assert.equal(await focused(page), 'Code');
    await enter(page, 'Try another way');
    await announcedForm(page, choice);
    await enter(page, buttonOf('Code by text message'));
    assert.match(await announcedForm(page, 'Code by text message'), /Sent to [\s\S]*textbox "Code"/);
    await enter(page, 'Try another way');
    await announcedForm(page, choice);
    await enter(page, buttonOf('Recovery code'));
    await announcedForm(page, 'Recovery code');
    await enter(page, 'Start over');
    await announcedForm(page, 'Sign in');
    await fromTheTop(page);
    await logIn(page, 'mia@example.com');
    await announcedForm(page, choice);
    await enter(page, buttonOf('Recovery code'));
    await announcedForm(page, 'Recovery code');
    await enter(page, 'Code', (await world.service.people.recoveryCodes('mia'))[0] ?? '');
    await page.keyboard.press('Enter');
    await untilEvent(page, 'signed-in');
    assert.deepEqual(await announcementsOf(page), [
      'Incorrect email or password. Try again.',
      'Verification failed. Try again. 4 attempts left.',
    ]);
  });

  test('given keyboard only, then waiting for a phone is announced with its number, and can be left and entered again', async () => {
    await world.context.clock.install();
    const page = await openForm();
    /** Advances the clocks of the service and of the page to the next poll. */
    const passPause = async (): Promise<void> => {
      world.service.clock.shift(4_000);
      await page.clock.runFor(4_000);
    };
    await logIn(page, 'paul@example.com');
    assert.match(
      await announcedForm(page, 'Approve on your phone'),
      /Select \d+ on your phone\.[\s\S]*button "Start over"/,
    );
    assert.equal(await focused(page), 'Approve on your phone');
    await enter(page, 'Start over');
    await announcedForm(page, 'Sign in');
    await logIn(page, 'paul@example.com');
    await announcedForm(page, 'Approve on your phone');
    await world.service.people.answerPush('paul', 'denied');
    await passPause();
    await page.getByRole('status').getByText('The sign-in request was denied.').waitFor();
    assert.match(
      await announcedForm(page, "How do you want to verify it's you?"),
      /status: The sign-in request was denied/,
    );
    await enter(page, 'Approve on your phone');
    await announcedForm(page, 'Approve on your phone');
    await world.service.people.answerPush('paul', 'approved');
    await passPause();
    await untilEvent(page, 'signed-in');
    assert.deepEqual(await announcementsOf(page), ['The sign-in request was denied. Try again.']);
  });

  test('given keyboard only, then an unsupported step is announced, and its window is reached', async () => {
    await world.context.clock.install();
    const page = await openForm();
    await logIn(page, 'lou@example.com');
    await page.getByRole('status').getByText('locked').waitFor();
    assert.match(await announcedForm(page, 'Sign in'), /status: .*locked/);
    world.service.faults.add({ operation: 'login', status: 429, body: {}, headers: { 'retry-after': '60' } });
    await enter(page, 'Password', world.service.seed.password);
    await page.keyboard.press('Enter');
    // The clock runs on, so the wait has to be longer than the accessibility check.
    assert.match(
      await announcedForm(page, 'One moment…'),
      /status: The server is busy\.[\s\S]*timer: \d+ s[\s\S]*button "Cancel"/,
    );
    await page.clock.runFor(60_000);
    await announcedForm(page, 'Sign in');
    await fromTheTop(page);
    await page.getByLabel('Email address').fill('');
    await logIn(page, 'uma@example.com');
    const window = 'Open sign-in window';
    await page.getByRole('button', { name: window }).waitFor();
    assert.match(await announcedForm(page, 'Sign in'), /status: .+[\s\S]*button "Open sign-in window"/);
    await tabTo(page, window);
    const [opened] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('Enter')]);
    await opened.getByLabel('Email address').waitFor();
    assert.deepEqual(await announcementsOf(page), [
      'This account is locked. Try again later, or contact the site owner.',
      'The server is busy. Try again in a moment.',
      "This form doesn't support your verification method. Try another way to sign in.",
    ]);
  });

  test('given keyboard only, then the service’s own page signs in by password and code, without axe violations', async () => {
    const page = await world.openBare({ auth: 'popup' });
    const waiting = call(page, world);
    await untilEvent(page, 'auth-required');
    const window = await press(page);
    await announcedForm(window, 'Sign in');
    assert.match(await window.locator('main').ariaSnapshot(), /heading "Reference service" \[level=1\]/);
    await logIn(window, 'tom@example.com', 'wrong');
    await window.getByText('Incorrect email or password. Try again.').waitFor();
    await announcedForm(window, 'Sign in');
    await enter(window, 'Password', world.service.seed.password);
    await window.keyboard.press('Enter');
    assert.match(await announcedForm(window, 'Code from your authenticator app'), /textbox "Code"/);
    await enter(window, 'Code', await world.service.people.totp('tom'));
    await window.keyboard.press('Enter');
    assert.equal(await waiting, 'done');
  });

  test('given keyboard only and the accessibility tree, then the way to a window and back is reached, named, and announced once', async () => {
    const page = await world.open('auth="popup" silent="off"', { script: RECORD_ANNOUNCEMENTS });
    await pick(page, world);
    const group = page.getByRole('group', { name: /sign in/i });
    await group.waitFor();
    assert.match(await group.ariaSnapshot(), /group "[^"]+"[\s\S]*button "Sign in"/);
    await tabTo(page, 'Sign in');
    const [window] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('Enter')]);
    await window.getByLabel('Email address').waitFor();
    await page.getByRole('button', { name: 'Open again' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).first().waitFor();
    await logIn(window, 'alice@example.com');
    await untilEvent(page, 'upload-completed');
    assert.deepEqual(await eventsOf(page, 'auth-failed'), []);
    const said = await announcementsOf(page);
    const asked = said.filter((text) => /sign in/i.test(text));
    assert.equal(asked.length, 1, JSON.stringify(said));
  });

  test('given a window that the browser blocked, then that is announced once, and the button to continue without one is reached and named', async () => {
    const page = await world.open('silent="off"', {
      script: `${RECORD_ANNOUNCEMENTS} globalThis.open = () => null;`,
    });
    await page.evaluate(() => document.querySelector('secure-uploader')?.signIn());
    const text = 'Your browser blocked the sign-in window.';
    await panel(page, 'prompt').getByText(text).waitFor();
    await assertAccessible(page, 'secure-uploader', text);
    const group = page.getByRole('group', { name: 'Sign in' });
    assert.match(await group.ariaSnapshot(), /button "Continue in this tab"[\s\S]*button "/);
    const said = await announcementsOf(page);
    assert.equal(said.filter((one) => one.includes(text)).length, 1, JSON.stringify(said));
    await enter(page, 'Continue in this tab');
    await fillIn(page, world);
    await page.waitForURL(/index\.html$/);
  });

  test('given any state of the form, then there are no axe violations, Tab reaches every control in turn, and errors are announced once', async () => {
    const page = await world.context.newPage();
    await page.addInitScript(RECORD_ANNOUNCEMENTS);
    await page.goto('about:blank');
    await page.addScriptTag({ content: builtBundle('test/e2e/support/auth-gallery.ts'), type: 'module' });
    const form = page.locator('secure-uploader-login');
    await form.getByRole('heading').waitFor();
    const states = await page.evaluate(() => gallery.states);
    assert.ok(states.length > 20);
    for (const state of states) {
      const before = (await announcementsOf(page)).length;
      await page.evaluate((state) => {
        gallery.show('password');
        gallery.show(state);
      }, state);
      // Renders the same state a second time, which must not cause another announcement.
      await page.evaluate((state) => gallery.show(state), state);
      await assertAccessible(page, 'secure-uploader-login', state);
      assert.match(await form.ariaSnapshot(), /^- region "(.+)":\n\s+- heading "\1" \[level=2\]/, state);
      const controls = form.locator('button:enabled, input, select');
      await form.getByRole('heading').focus();
      const reached: number[] = [];
      for (let left = await controls.count(); left > 0; left--) {
        await page.keyboard.press('Tab');
        reached.push(await controls.evaluateAll((all) => all.indexOf(document.activeElement as HTMLElement)));
      }
      assert.deepEqual(reached, [...reached.keys()], state);
      const status = await form.getByRole('status').textContent();
      const said = (await announcementsOf(page)).slice(before);
      assert.deepEqual(said, status ? [status] : [], state);
    }
  });
});
