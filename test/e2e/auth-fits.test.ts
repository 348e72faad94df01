// A journey, because it needs the pages of the service in windows of several widths.
// The pages of the sign-in window: the first field has the focus, and no page is wider than a narrow window with large text.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright';
import { type Service, startService } from '../../demo/server/server.ts';
import { fillIn } from './support/auth-steps.ts';
import { authorizeUrl, inWorlds, world } from './support/auth-world.ts';

const WIDTHS_PX = [280, 320, 360];
const TEXT_SIZES = ['100%', '200%'];

/** Opens the sign-in page of `service`, as the sign-in window does. */
async function openSignIn(service: Service, idp = 'local'): Promise<Page> {
  const page = await world.context.newPage();
  await page.goto(authorizeUrl(service, idp));
  return page;
}

/** Asserts that nothing on the page reaches beyond the window, at each width and text size. */
async function assertFits(page: Page, what: string): Promise<void> {
  for (const width of WIDTHS_PX) {
    await page.setViewportSize({ width, height: 600 });
    for (const size of TEXT_SIZES) {
      const wide = await page.evaluate((size) => {
        document.documentElement.style.fontSize = size;
        const isWide = (box: Element | Range): boolean => box.getBoundingClientRect().right > innerWidth + 1;
        const hasWideText = ({ childNodes }: Element): boolean =>
          [...childNodes].some((node) => {
            const range = document.createRange();
            range.selectNodeContents(node);
            return node instanceof Text && isWide(range);
          });
        return [...document.querySelectorAll('main, main *')]
          .filter((element) => element.checkVisibility() && (isWide(element) || hasWideText(element)))
          .map((element) => `${element.localName} ${element.textContent?.trim().slice(0, 30)}`);
      }, size);
      assert.deepEqual(wide, [], `${what}, ${width} px, text of ${size}`);
    }
  }
  const fonts = await page.evaluate(() => {
    document.documentElement.style.fontSize = '';
    return [...document.querySelectorAll('input:not([type=hidden])')]
      .filter((input) => input.checkVisibility())
      .map((input) => Number.parseFloat(getComputedStyle(input).fontSize));
  });
  assert.ok(
    fonts.every((px) => px >= 16),
    `${what}: inputs with text of ${fonts} px, on which Safari on iOS zooms in`,
  );
}

/** Resolves when the field with this label has the focus. Browsers apply `autofocus` when they first render. */
const untilFocused = (page: Page, label: string): Promise<unknown> =>
  page.waitForFunction(
    (label) => (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.innerText === label,
    label,
  );

inWorlds({ sites: ['same-site'] }, () => {
  /** A service whose pages have no scripts. */
  let plain: Service;
  before(async () => {
    const { folder, pages } = world;
    const dataDir = join(folder, 'plain');
    plain = await startService({ dataDir, appOrigins: [pages.origin], test: true, fsync: false });
  });
  after(() => plain.close());

  test('the sign-in window with the form has its focus in the first field, and fits', async () => {
    const page = await openSignIn(world.service);
    await page.getByLabel('Email address').first().waitFor();
    await untilFocused(page, 'Email address');
    await assertFits(page, 'form');
    await fillIn(page, world, 'mia@example.com');
    await page.getByRole('button', { name: 'Recovery code' }).waitFor();
    await assertFits(page, 'choice');
    await page.getByRole('button', { name: 'Recovery code' }).click();
    await page.getByLabel('Code', { exact: true }).waitFor();
    await assertFits(page, 'code');
  });

  test('the sign-in window without scripts has its focus in the first field, and fits', async () => {
    const page = await openSignIn(plain);
    await untilFocused(page, 'Email address');
    await assertFits(page, 'plain form');
    await page.goto(`${plain.baseUrl}/authorize?client_id=other`);
    await assertFits(page, 'error');
  });

  test('the sign-in window without scripts has its focus in the password after a wrong one, and fits', async () => {
    const page = await openSignIn(plain);
    await fillIn(page, world, 'mia@example.com', 'wrong');
    await page.getByRole('alert').waitFor();
    await untilFocused(page, 'Password');
    await assertFits(page, 'wrong password');
  });

  test('the second step without scripts has its focus in the code, and fits', async () => {
    const page = await openSignIn(plain);
    await fillIn(page, world, 'mia@example.com', plain.seed.password);
    await page.getByRole('button', { name: 'Recovery code' }).click();
    await page.getByLabel('Recovery code').waitFor();
    await untilFocused(page, 'Recovery code');
    await assertFits(page, 'plain code');
  });

  test('the page of another identity provider has its focus in the first field, and fits', async () => {
    const page = await openSignIn(world.service, 'corp');
    await page.getByLabel('Email address').waitFor();
    await untilFocused(page, 'Email address');
    await assertFits(page, 'other provider');
  });
});
