// Actions of users and pages in the sign-in journeys: calls, clicks, forms and files, on the pages of auth-world.ts.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Frame, Locator, Page } from 'playwright';
import { untilEvent } from './browser.ts';
import { writeRandom } from './files.ts';
import type { World } from './world.ts';

declare const tools: typeof import('./auth-page.ts').tools;

// Waits use a timer, because a page in the background is not painted and has no animation frames.
const POLLING = { polling: 50 };

/** Makes `count` calls that need a token, all at once. Resolves with `done`, or with the code of the first error. */
export const call = (page: Page | Frame, world: World, more: object = {}, count = 1): Promise<string> =>
  page.evaluate(([input, count]) => tools.call(input, count), [
    { baseUrl: world.service.baseUrl, ...more },
    count,
  ] as const);

/** Starts a call that needs a token. Resolves when the page reports `auth-required`, and does not wait for the call to complete. */
export async function callUntilPrompt(page: Page, world: World): Promise<void> {
  call(page, world).catch(() => undefined);
  await untilEvent(page, 'auth-required');
}

/** Resolves when the sign-in session of the page is in one of these states. */
export const inState = async (page: Page | Frame, ...states: string[]): Promise<void> => {
  await page.waitForFunction(
    (states) => states.includes(tools.session?.snapshot.state ?? ''),
    states,
    POLLING,
  );
};

/** Clicks the button "Sign in here". Resolves with the window that the click opens. */
export async function press(page: Page): Promise<Page> {
  const [window] = await Promise.all([page.waitForEvent('popup'), page.getByText('Sign in here').click()]);
  return window;
}

/** Resolves when `window` is closed. */
export const isGone = async (window: Page): Promise<void> => {
  if (!window.isClosed()) await window.waitForEvent('close');
};

/** Enters email and password in the visible form, and submits the form. */
export async function fillIn(
  page: Page | Frame,
  world: World,
  email = 'alice@example.com',
  password = world.service.seed.password,
): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Makes a call that needs a token, signs in through the window, and asserts that the call completes. */
export async function signIn(page: Page, world: World, email?: string): Promise<void> {
  const waiting = call(page, world);
  await untilEvent(page, 'auth-required');
  await fillIn(await press(page), world, email);
  assert.equal(await waiting, 'done');
}

/** Parsed JSON bodies of requests or responses. */
type Bodies = Record<string, string>[];

/**
 * Script that records requests to `/auth/` and their responses. The tests that search a page for secrets do not see the records.
 */
export const RECORD = `{
  const own = fetch;
  const wire = { sent: [], sentAtMs: [], got: [] };
  globalThis.readWire = () => wire;
  globalThis.fetch = async (...given) => {
    const isOfSignIn = String(given[0]).includes('/auth/');
    if (isOfSignIn) wire.sentAtMs.push(Date.now());
    if (isOfSignIn) wire.sent.push(given[1]?.body ?? '{}');
    const answer = await own(...given);
    if (isOfSignIn) wire.got.push(await answer.clone().text().catch(() => '{}'));
    return answer;
  };
}`;

/** Returns the requests and responses that `RECORD` has recorded. `sentAtMs` has the times by the clock of the page. */
export async function wireOf(page: Page): Promise<{ sent: Bodies; sentAtMs: number[]; got: Bodies }> {
  const { sent, sentAtMs, got } = await page.evaluate(() =>
    (
      globalThis as unknown as { readWire(): { sent: string[]; sentAtMs: number[]; got: string[] } }
    ).readWire(),
  );
  const read = (texts: string[]): Bodies => texts.map((text) => JSON.parse(text) as Record<string, string>);
  return { sent: read(sent), sentAtMs, got: read(got) };
}

/** Adds a widget that shows the sign-in form. For pages with the script auth-page.ts. */
export function showForm(page: Page | Frame, world: World, more: object = {}): Promise<void> {
  const settings = { baseUrl: world.service.baseUrl, auth: 'local', ...more } as const;
  return page.evaluate((input) => tools.showForm(input), settings);
}

/** Opens a page with the sign-in form, and submits email and password. `script` runs before all other scripts of the page. */
export async function logIn(world: World, email: string, script = ''): Promise<Page> {
  const page = await world.openBare({ auth: 'local' }, { script });
  await callUntilPrompt(page, world);
  await showForm(page, world);
  await fillIn(page, world, email);
  return page;
}

/** Returns the operations that the service received since its log was emptied, in order. */
export const operationsOf = (world: World): string[] =>
  world.service.log
    .filter(({ method, operation }) => method !== 'OPTIONS' && operation !== 'other')
    .map(({ operation }) => operation);

/** Sets the lifetimes of the tokens and presigned URLs that the service issues from now on. */
export async function setLifetimes(
  service: { readonly baseUrl: string },
  lifetimes: { readonly tokenLifetimeMs?: number; readonly urlLifetimeMs?: number },
): Promise<void> {
  const answer = await fetch(`${service.baseUrl}/_test/lifetimes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(lifetimes),
  });
  assert.equal(answer.status, 204);
}

/** Waits until `count` timers of 10 ms have run in the page, one after the other, so that automatic steps can happen. */
export const turns = (page: Page, count = 30): Promise<void> =>
  page.evaluate(async (count) => {
    for (let left = count; left > 0; left--) await new Promise((resolve) => setTimeout(resolve, 10));
  }, count);

/** Returns a locator of the widget's sign-in panel that matches only while the panel shows `state`. */
export const panel = (page: Page | Frame, state: string): Locator =>
  page.locator(`[part~="sign-in"][data-state="${state}"]`);

export const signInButton = (page: Page | Frame): Locator => page.locator('[data-action="sign-in"]');

/** Returns an HTML attribute of the widget that overrides the times of sign-in. */
export const times = (auth: object): string => `data-engine-options='${JSON.stringify({ times: { auth } })}'`;

/** Resolves when the widget of the page is signed in. */
export const isSignedIn = (page: Page): Promise<unknown> =>
  page.waitForFunction(
    () => document.querySelector('secure-uploader')?.snapshot?.auth.state === 'signed-in',
    null,
    { polling: 100 },
  );

/** Signs in on the service's page, for a widget with `auth="redirect"`. Resolves when the widget's page is signed in. */
export async function signInThere(page: Page, world: World): Promise<void> {
  await page.evaluate(() => document.querySelector('secure-uploader')?.signIn());
  await page.getByLabel('Email address').waitFor();
  await fillIn(page, world);
  await page.waitForURL(/index\.html(?:#\/upload)?$/);
  await isSignedIn(page);
}

/** Adds a file of `sizeBytes` random bytes to the widget. */
export async function pick(page: Page | Frame, world: World, sizeBytes = 100_000): Promise<void> {
  const path = join(world.folder, 'small.bin');
  writeRandom(path, sizeBytes);
  await page.setInputFiles('secure-uploader >> input[type=file]', path);
}

/** Opens a page with the widget, and adds a file that waits for sign-in. */
export async function openWaiting(world: World, attributes = '', script = ''): Promise<Page> {
  const page = await world.open(attributes, { script });
  await pick(page, world);
  await panel(page, 'prompt').waitFor();
  return page;
}

/** Clicks the widget's sign-in button. Resolves with the opened window when the window shows the sign-in form. */
export async function openWindow(page: Page): Promise<Page> {
  const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
  await window.getByLabel('Email address').waitFor();
  return window;
}

/** Opens the sign-in window of the widget, and submits email and password there. */
export const signInByWindow = async (page: Page, world: World): Promise<void> =>
  fillIn(await openWindow(page), world);
