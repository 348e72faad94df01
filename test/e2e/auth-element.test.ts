// Signing in by the element itself, as a page gets it from the build: its own form, and leaving the page and coming back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright';
import { fillIn } from './support/auth-world.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
before(async () => {
  world = await createWorld();
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
