// A journey, because it needs the built package, a real window and a real redirect.
// Sign-in with the built widget: in its form, by redirect to the service's page, and on the service's page alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { fillIn, isSignedIn } from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';

const addFile = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    await document.querySelector('secure-uploader')?.addFiles([new File(['some bytes'], 'a.txt')]);
  });
const done = async (page: Page): Promise<void> => {
  await page.waitForFunction(
    () => document.querySelector('secure-uploader')?.snapshot.files.at(-1)?.phase === 'done',
    null,
    { polling: 100 },
  );
};

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  test('a file opens the form, the form signs in, the file continues, and the form is removed', async () => {
    const page = await world.open('auth="local"');
    await addFile(page);
    await fillIn(page, world);
    await done(page);
    assert.equal(await page.locator('secure-uploader-login').count(), 0);
    assert.deepEqual(world.pages.violations, []);
  });

  test('the page is not left if it prevents auth-redirect; else it returns signed in', async () => {
    const page = await world.open('auth="redirect"');
    const address = page.url();
    const counts = await page.evaluate(async () => {
      const element = document.querySelector('secure-uploader');
      const counts: number[] = [];
      const onRedirect = (event: Event): void => {
        counts.push((event as CustomEvent<{ openCount: number }>).detail.openCount);
        event.preventDefault();
      };
      element?.addEventListener('auth-redirect', onRedirect, { once: true });
      await element?.signIn();
      return counts;
    });
    assert.deepEqual(counts, [0]);
    await addFile(page);
    await page.getByText("You'll leave this page to sign in.").waitFor();
    assert.equal(page.url(), address);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await fillIn(page, world);
    await isSignedIn(page);
    assert.equal(page.url(), address);
    await addFile(page);
    await done(page);
  });

  test("the service's own page has the same form, with a separate policy, and cannot be framed", async () => {
    const page = await world.open('auth="popup"');
    await addFile(page);
    const [window, answer] = await Promise.all([
      page.waitForEvent('popup'),
      world.context.waitForEvent(
        'response',
        (response) => response.url().includes('/authorize?') && response.ok(),
      ),
      page.getByRole('button', { name: 'Sign in', exact: true }).click(),
    ]);
    const errors: string[] = [];
    window.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    const policy = (await answer.allHeaders())['content-security-policy'] ?? '';
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    const form = window.locator('secure-uploader-login');
    await form.getByLabel('Email address').fill('tom@example.com');
    await form.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await form.getByLabel('Code', { exact: true }).fill(await world.service.people.totp('tom'));
    await form.getByRole('button', { name: 'Confirm' }).click();
    await isSignedIn(page);
    assert.deepEqual(errors, []);
  });
});
