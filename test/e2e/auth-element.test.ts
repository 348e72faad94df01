// Signing in by the element itself, as a page gets it from the build: its own form, and leaving the page and coming back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright';
import { buildLoginPage } from '../../scripts/login-page.mjs';
import { fillIn } from './support/auth-world.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
before(async () => {
  world = await createWorld({ loginScript: await buildLoginPage() });
});
after(() => world.close());

const addFile = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    await document.querySelector('secure-uploader')?.addFiles([new File(['some bytes'], 'a.txt')]);
  });
const done = async (page: Page): Promise<void> => {
  await page.waitForFunction(
    () => document.querySelector('secure-uploader')?.snapshot.files.at(-1)?.phase === 'done',
  );
};

test('a file brings the form, the form signs in, the file goes on, and the form is gone', async () => {
  const page = await world.open('auth="local"');
  await addFile(page);
  await page.getByLabel('E-mail address').fill('alice@example.com');
  await page.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await done(page);
  assert.equal(await page.locator('secure-uploader-login').count(), 0);
  assert.deepEqual(world.pages.violations, []);
  await page.evaluate(() => document.querySelector('secure-uploader')?.signOut());
  await page.context().clearCookies();
});

test('the page is not left where it says no to auth-redirect; else it comes back signed in', async () => {
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
  await page.getByText('Signing in leaves this page.').waitFor();
  assert.equal(page.url(), address);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await fillIn(page, 'alice@example.com', world.service.seed.password);
  await page.waitForFunction(
    () => document.querySelector('secure-uploader')?.snapshot?.auth.state === 'signed-in',
  );
  assert.equal(page.url(), address);
  await addFile(page);
  await done(page);
});

test("the service's own page has the same form, under a policy of its own, and nobody may frame it", async () => {
  await world.browser.clearCookies();
  const page = await world.open('auth="popup"');
  await addFile(page);
  const [window, answer] = await Promise.all([
    page.waitForEvent('popup'),
    world.browser.waitForEvent(
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
  await form.getByLabel('E-mail address').fill('tom@example.com');
  await form.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
  await form.getByRole('button', { name: 'Sign in', exact: true }).click();
  await form.getByLabel('Code', { exact: true }).fill(await world.service.people.totp('tom'));
  await form.getByRole('button', { name: 'Confirm' }).click();
  await page.waitForFunction(
    () => document.querySelector('secure-uploader')?.snapshot?.auth.state === 'signed-in',
  );
  assert.deepEqual(errors, []);
});
