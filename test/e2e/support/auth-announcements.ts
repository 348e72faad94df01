// Checks sign-in for users of assistive technology: announcements, accessible names, and violations of axe rules.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright';
import { observing } from './observe.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

/** Script that records every announcement of live regions in `said`. */
export const RECORD_ANNOUNCEMENTS = `globalThis.said = []; ${observing(`(records) => {
  const regionOf = ({ target }) => (target.closest ? target : target.parentElement)?.closest('[role="status"], [role="alert"], [aria-live]');
  for (const region of new Set(records.map(regionOf))) {
    const text = region?.textContent.trim();
    if (text) said.push(text);
  }
}`)}`;

/** Returns the announcements so far on a page with `RECORD_ANNOUNCEMENTS`. */
export const announcementsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { said: string[] }).said);

/** Asserts that axe finds no violation in the element with the selector `at`, or in the whole page by default. */
export async function assertAccessible(page: Page, at: string | undefined, name: string): Promise<void> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async (at) => {
    const { axe } = globalThis as unknown as {
      axe: { run(at: unknown): Promise<{ violations: { id: string }[] }> };
    };
    return (await axe.run(at ?? document)).violations.map(({ id }) => id);
  }, at);
  assert.deepEqual(found, [], name);
}

/** Waits until the sign-in form shows `heading`, and asserts that axe finds no violation. Returns the form's accessible content. */
export async function announcedForm(page: Page, heading: string): Promise<string> {
  const form = page.locator('secure-uploader-login');
  await form.getByRole('heading', { name: heading, level: 2, exact: true }).waitFor();
  // Only the service's page has a `main` element. The service's page is checked completely. On other pages, only the form is
  // checked.
  const isOfService = (await page.locator('main').count()) > 0;
  await assertAccessible(page, isOfService ? undefined : 'secure-uploader-login', heading);
  return form.ariaSnapshot();
}
