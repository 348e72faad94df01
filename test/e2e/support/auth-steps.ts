// Actions of users and pages in the sign-in journeys: calls, clicks, forms, files. Uses the pages of auth-world.ts; independent of
// tests.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Frame, Locator, Page } from 'playwright';
import type { AuthWorld } from './auth-world.ts';
import { writeRandom } from './files.ts';

declare const tools: typeof import('./auth-page.ts').tools;

// A page may be in the background, where it is not painted: every wait here uses a timer.
const POLLING = { polling: 50 };

/** Makes this many privileged calls at once; resolves with `done`, or with the code of the error. */
export const call = (page: Page | Frame, world: AuthWorld, more: object = {}, count = 1): Promise<string> =>
  page.evaluate(([input, count]) => tools.call(input, count), [
    { baseUrl: world.service.baseUrl, ...more },
    count,
  ] as const);

/** As `call`, for a call that may stay pending. Resolves when the user is required. */
export async function callUntilPrompt(page: Page, world: AuthWorld): Promise<void> {
  call(page, world).catch(() => undefined);
  await until(page, 'auth-required');
}

/** Resolves with the detail of the first event of that name, on a page with nothing but sign-in. */
export async function until(page: Page, name: string): Promise<Record<string, unknown>> {
  const handle = await page.waitForFunction(
    (name) => tools.events.find((event) => event.name === name)?.detail,
    name,
    POLLING,
  );
  return (await handle.jsonValue()) as Record<string, unknown>;
}

/** Resolves when the session of the page is in that state. */
export const inState = async (page: Page | Frame, ...states: string[]): Promise<void> => {
  await page.waitForFunction(
    (states) => states.includes(tools.session?.snapshot.state ?? ''),
    states,
    POLLING,
  );
};

/** Clicks the page's own button; resolves with the window that opened. */
export async function press(page: Page): Promise<Page> {
  const [window] = await Promise.all([page.waitForEvent('popup'), page.getByText('Sign in here').click()]);
  return window;
}

/** Resolves when the window has closed. */
export const isGone = async (window: Page): Promise<void> => {
  if (!window.isClosed()) await window.waitForEvent('close');
};

/** Enters an email and the password in the visible form, and sends it. */
export async function fillIn(
  page: Page | Frame,
  world: AuthWorld,
  email = 'alice@example.com',
  password = world.service.seed.password,
): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Signs a page in by its window, with a call that waits for it. */
export async function signIn(page: Page, world: AuthWorld, email?: string): Promise<void> {
  const waiting = call(page, world);
  await until(page, 'auth-required');
  await fillIn(await press(page), world, email);
  assert.equal(await waiting, 'done');
}

/** Bodies, as read. */
type Bodies = Record<string, string>[];

/** A script that records requests to `/auth/` and their responses, where no scan of the page looks. */
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

/** Requests and responses of a page with `RECORD`, with the time by its own clock. */
export async function wireOf(page: Page): Promise<{ sent: Bodies; sentAtMs: number[]; got: Bodies }> {
  const { sent, sentAtMs, got } = await page.evaluate(() =>
    (
      globalThis as unknown as { readWire(): { sent: string[]; sentAtMs: number[]; got: string[] } }
    ).readWire(),
  );
  const read = (texts: string[]): Bodies => texts.map((text) => JSON.parse(text) as Record<string, string>);
  return { sent: read(sent), sentAtMs, got: read(got) };
}

/** Shows the form in the page. */
export function showForm(page: Page | Frame, world: AuthWorld, more: object = {}): Promise<void> {
  const settings = { baseUrl: world.service.baseUrl, auth: 'local', ...more } as const;
  return page.evaluate((input) => tools.showForm(input), settings);
}

/** A page with the form, after email and password were sent. `script` runs before all others. */
export async function logIn(world: AuthWorld, email: string, script = ''): Promise<Page> {
  const page = await world.open({ auth: 'local' }, { script });
  await callUntilPrompt(page, world);
  await showForm(page, world);
  await fillIn(page, world, email);
  return page;
}

/** The details of all events of that name so far. */
export const detailsOf = (page: Page, name: string): Promise<Record<string, unknown>[]> =>
  page.evaluate(
    (name) =>
      tools.events
        .filter((event) => event.name === name)
        .map(({ detail }) => detail as Record<string, unknown>),
    name,
  );

/** The operations that the service received since the log was emptied, in order. */
export const operationsOf = (world: AuthWorld): string[] =>
  world.service.log
    .filter(({ method, operation }) => method !== 'OPTIONS' && operation !== 'other')
    .map(({ operation }) => operation);

/** Sets the lifetimes of what the service issues from now on. */
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

/** Yields to the page this many times: enough for automatic steps to happen. */
export const turns = (page: Page, count = 30): Promise<void> =>
  page.evaluate(async (count) => {
    for (let left = count; left > 0; left--) await new Promise((resolve) => setTimeout(resolve, 10));
  }, count);

/** The widget's panel in that state of sign-in. */
export const panel = (page: Page | Frame, state: string): Locator =>
  page.locator(`[part~="sign-in"][data-state="${state}"]`);

export const signInButton = (page: Page | Frame): Locator => page.locator('[data-action="sign-in"]');

/** An attribute that shortens the times of sign-in. */
export const times = (auth: object): string => `data-engine-options='${JSON.stringify({ times: { auth } })}'`;

/** Resolves when the widget of the page is signed in. */
export const isSignedIn = (page: Page): Promise<unknown> =>
  page.waitForFunction(
    () => document.querySelector('secure-uploader')?.snapshot?.auth.state === 'signed-in',
    null,
    { polling: 100 },
  );

/** Signs in on the service's page, with `auth="redirect"`, and returns. */
export async function signInThere(page: Page, world: AuthWorld): Promise<void> {
  await page.evaluate(() => document.querySelector('secure-uploader')?.signIn());
  await page.getByLabel('Email address').waitFor();
  await fillIn(page, world);
  await page.waitForURL(/index\.html$/);
  await isSignedIn(page);
}

/** Adds a file of that size to the widget. */
export async function pick(page: Page | Frame, world: AuthWorld, sizeBytes = 100_000): Promise<void> {
  const path = join(world.folder, 'small.bin');
  writeRandom(path, sizeBytes);
  await page.setInputFiles('secure-uploader >> input[type=file]', path);
}

/** A page with the widget and a file that waits for sign-in. */
export async function openWaiting(world: AuthWorld, attributes = '', script = ''): Promise<Page> {
  const page = await world.openWidget(attributes, script);
  await pick(page, world);
  await panel(page, 'prompt').waitFor();
  return page;
}

/** Clicks the widget's button; resolves with the window, when it shows its form. */
export async function openWindow(page: Page): Promise<Page> {
  const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
  await window.getByLabel('Email address').waitFor();
  return window;
}

/** Signs in by the window of the widget. */
export const signInByWindow = async (page: Page, world: AuthWorld): Promise<void> =>
  fillIn(await openWindow(page), world);
