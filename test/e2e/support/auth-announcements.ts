// Checks sign-in for users of assistive technology: announcements, accessible names, and violations of accessibility rules.
import type { Page } from 'playwright';
import { assertAccessible } from './accessible.ts';
import { observing } from './observe.ts';

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

/** Waits until the sign-in form shows `heading`, and asserts that it has no violation. Returns the form's accessible content. */
export async function announcedForm(page: Page, heading: string): Promise<string> {
  const form = page.locator('secure-uploader-login');
  await form.getByRole('heading', { name: heading, level: 2, exact: true }).waitFor();
  // Only the service's page has a `main` element. The service's page is checked completely. On other pages, only the form is
  // checked.
  const isOfService = (await page.locator('main').count()) > 0;
  await assertAccessible(page, isOfService ? undefined : 'secure-uploader-login', heading);
  return form.ariaSnapshot();
}
