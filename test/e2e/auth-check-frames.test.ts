// A page inside a page of another site: windows still work there, passwords are not asked for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Frame, Page } from 'playwright';
import { AUTH_TIMES } from '../../src/auth/times.ts';
import { call, fillIn, inState, showForm } from './support/auth-steps.ts';
import { BOTH, inWorlds, world } from './support/auth-world.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

/** Opens a page with a frame, in which another such page is put if there is one; resolves with the innermost, where sign-in is ready. */
async function openFrames(outer: string, middle?: string): Promise<[Page, Frame]> {
  const page = await world.context.newPage();
  await page.addInitScript('globalThis.__name = (fn) => fn;');
  await page.goto(outer);
  if (middle) await page.locator('iframe').evaluate((frame, url) => frame.setAttribute('src', url), middle);
  const inside = async (frame: Frame): Promise<Frame> => {
    const handle = await frame.locator('iframe').elementHandle();
    return (await handle?.contentFrame()) as Frame;
  };
  const first = await inside(page.mainFrame());
  const frame = middle ? await inside(first) : first;
  await frame.getByText('Sign in here').waitFor();
  await frame.waitForFunction(() => 'tools' in globalThis, null, { polling: 100 });
  return [page, frame];
}

/** The page inside a page of another site. */
const openFramed = (): Promise<[Page, Frame]> => openFrames(world.outer);

inWorlds({ sites: BOTH }, () => {
  for (const [where, open] of [
    ['a page of another site', openFramed],
    ['one of another site in one of its own', () => openFrames(`${world.origin}/outer`, world.outer)],
  ] as const) {
    test(`check 39: given a page inside ${where}, then the form is not shown and says why`, async () => {
      const [, frame] = await open();
      await showForm(frame, world);
      await frame.getByText('passwords are not asked for inside another page').waitFor();
      assert.equal(await frame.locator('secure-uploader-login input').count(), 0);
      await frame.locator('secure-uploader').evaluate((element) => element.remove());
      await showForm(frame, world, { allowFramedLogin: true });
      await frame.getByLabel('E-mail address').waitFor();
    });
  }

  test('check 39: given a page inside a page of its own, then the form is shown', async () => {
    const [, frame] = await openFrames(`${world.origin}/outer`);
    await showForm(frame, world);
    await frame.getByLabel('E-mail address').waitFor();
  });
});

inWorlds({ sites: BOTH, only: 'chromium' }, () => {
  test('check 14: given a page inside a page of another site, then the window works', async () => {
    const [page, frame] = await openFramed();
    const open = (auth: string): Promise<void> =>
      frame.evaluate((input) => void tools.open(input), {
        ...{ baseUrl: world.service.baseUrl, auth },
      });
    await open('popup');
    const waiting = call(frame, world);
    await inState(frame, 'prompt');
    const [window] = await Promise.all([
      page.context().waitForEvent('page'),
      frame.getByText('Sign in here').click(),
    ]);
    await fillIn(window, world);
    assert.equal(await waiting, 'done');
  });

  test('check 14: given a page inside a page of another site and a window that severs itself, then it is waited for with Cancel, and ends by its deadline', async () => {
    await world.context.clock.install();
    const [page, frame] = await openFramed();
    await frame.evaluate((input) => void tools.open(input), {
      baseUrl: world.service.baseUrl,
      auth: 'popup',
      idpId: 'corp',
      silent: 'off',
      authOptions: { times: { closedGraceMs: 100 } },
    });
    for (const end of ['deadline', 'Cancel']) {
      await Promise.all([page.context().waitForEvent('page'), frame.getByText('Sign in here').click()]);
      await inState(frame, 'popup-lost');
      if (end === 'Cancel') await frame.evaluate(() => tools.session?.cancel());
      else await page.clock.fastForward(AUTH_TIMES.popupMs);
      await inState(frame, 'prompt');
      assert.equal(await frame.evaluate(() => tools.session?.snapshot.error?.code), 'popup-closed');
    }
  });
});
