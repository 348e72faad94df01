// Sign-in for users of assistive technology: announcements, accessible names, and axe violations.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright';
import { observing } from './observe.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

/** A script that records every announcement of live regions. */
export const RECORD_ANNOUNCEMENTS = `globalThis.said = []; ${observing(`(records) => {
  const regionOf = ({ target }) => (target.closest ? target : target.parentElement)?.closest('[role="status"], [role="alert"], [aria-live]');
  for (const region of new Set(records.map(regionOf))) {
    const text = region?.textContent.trim();
    if (text) said.push(text);
  }
}`)}`;

/** The announcements so far on a page with `SAID`. */
export const announcementsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { said: string[] }).said);

/** axe finds no violation in that element, or in the whole page. */
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

/** The accessible content of the form, once it shows that heading; without axe violations. */
export async function announcedForm(page: Page, heading: string): Promise<string> {
  const form = page.locator('secure-uploader-login');
  await form.getByRole('heading', { name: heading, level: 2, exact: true }).waitFor();
  // A page around the form is not checked; the service's page is checked as a whole.
  const isOfService = (await page.locator('main').count()) > 0;
  await assertAccessible(page, isOfService ? undefined : 'secure-uploader-login', heading);
  return form.ariaSnapshot();
}
