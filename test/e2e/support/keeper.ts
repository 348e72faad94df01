// The registration of the file keeper in a page.
import type { Page } from 'playwright';
import { untilInPage } from './browser.ts';

/** Resolves when the keeper with the script `url` is active. */
export const hasKeeper = (page: Page, url: string): Promise<void> =>
  untilInPage(
    page,
    async (url) => (await navigator.serviceWorker.getRegistration(url))?.active?.state === 'activated',
    url,
  );

/** Resolves when the page's origin has no registered keeper at `url`. */
export const isUnregistered = (page: Page, url: string): Promise<void> =>
  untilInPage(
    page,
    async (url) => {
      const found = await navigator.serviceWorker.getRegistration(url);
      return found?.scope !== new URL(url, location.href).href;
    },
    url,
  );
