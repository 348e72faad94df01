// What a person and a page do in the sign-in journeys: calls, clicks, forms. It knows the page of auth-page.ts and no test.
import assert from 'node:assert/strict';
import type { Frame, Page } from 'playwright';
import { type AuthWorld, fillIn, until } from './auth-world.ts';

declare const tools: typeof import('./auth-page.ts').tools;

/** Makes so many privileged calls at once; resolves with `done`, or with the code of the error. */
export const call = (page: Page | Frame, world: AuthWorld, more: object = {}, count = 1): Promise<string> =>
  page.evaluate(([input, count]) => tools.call(input, count), [
    { baseUrl: world.service.baseUrl, ...more },
    count,
  ] as const);

/** Clicks the page's own button; resolves with the window that opened. */
export async function press(page: Page): Promise<Page> {
  const [window] = await Promise.all([page.waitForEvent('popup'), page.getByText('Sign in here').click()]);
  return window;
}

/** Signs a page in by its window, with a call that waits for it. */
export async function signIn(page: Page, world: AuthWorld, email = 'alice@example.com'): Promise<void> {
  const waiting = call(page, world);
  await until(page, 'auth-required');
  const window = await press(page);
  await fillIn(window, email, world.service.seed.password);
  assert.equal(await waiting, 'done');
}

/** Shows the form in the page. */
export const showForm = (page: Page | Frame, world: AuthWorld, more: object = {}): Promise<void> =>
  page.evaluate((input) => tools.showForm(input), { baseUrl: world.service.baseUrl, auth: 'local', ...more });

/** Enters e-mail and password in the form, and sends them. */
export async function enterPassword(page: Page | Frame, world: AuthWorld, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Resolves when the session of the page is in that state. */
export const inState = async (page: Page | Frame, state: string): Promise<void> => {
  await page.waitForFunction((state) => tools.session?.snapshot.state === state, state, { polling: 20 });
};

/** The details of all events of that name so far. */
export const detailsOf = (page: Page, name: string): Promise<Record<string, unknown>[]> =>
  page.evaluate(
    (name) =>
      tools.events
        .filter((event) => event.name === name)
        .map(({ detail }) => detail as Record<string, unknown>),
    name,
  );

/** The operations of the service that were asked since the log was emptied, in order. */
export const operationsOf = (world: AuthWorld): string[] =>
  world.service.log
    .filter(({ method, operation }) => method !== 'OPTIONS' && operation !== 'other')
    .map(({ operation }) => operation);

/** Sets how long what the service hands out from now on is good. */
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

/** Lets the page draw so many times: long enough for what would follow by itself to show. */
export const frames = (page: Page, count = 30): Promise<void> =>
  page.evaluate(async (count) => {
    for (let left = count; left > 0; left--) await new Promise(requestAnimationFrame);
  }, count);
