// The registration of the file keeper in a page.
import type { BrowserContext, Page } from 'playwright';
import { until } from '../../support/until.ts';

/** Resolves when the keeper with the script `url` is active. */
export const hasKeeper = (page: Page, url: string): Promise<true> =>
  until(() =>
    page.evaluate(
      async (url) => (await navigator.serviceWorker.getRegistration(url))?.active?.state === 'activated',
      url,
    ),
  );

/** Resolves when the page's origin has no registered keeper at `url`. */
export const isUnregistered = (page: Page, url: string): Promise<true> =>
  until(() =>
    page.evaluate(async (url) => {
      const found = await navigator.serviceWorker.getRegistration(url);
      return found?.scope !== new URL(url, location.href).href;
    }, url),
  );

/** Sets `keeper` in each page after the widget has got the registration of its worker. */
export const watchKeeper = (browser: BrowserContext): Promise<unknown> =>
  browser.addInitScript(`{
    const { register } = ServiceWorkerContainer.prototype;
    ServiceWorkerContainer.prototype.register = async function (...args) {
      const registration = await register.apply(this, args);
      setTimeout(() => Object.assign(globalThis, { keeper: registration }));
      return registration;
    };
  }`);

/** Waits until the widget can hand over files. */
export const untilActive = (page: Page): Promise<unknown> =>
  page.waitForFunction(
    () => (globalThis as { keeper?: ServiceWorkerRegistration }).keeper?.active?.state === 'activated',
    null,
    { polling: 50 },
  );
