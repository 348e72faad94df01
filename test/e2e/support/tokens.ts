// A page whose `getToken` returns a new token for each call, so that a repeated token means that no new one was requested.
import type { Page } from 'playwright';

interface Counting {
  tokenCalls: number;
  createToken(): Promise<string>;
}

/** Sets `getToken` of the page's widget to `createToken`, which must resolve with another token for each call. */
export async function setTokenSource(page: Page, createToken: () => Promise<string>): Promise<void> {
  await page.exposeFunction('createToken', createToken);
  await page.evaluate(() => {
    const scope = globalThis as unknown as Counting;
    scope.tokenCalls = 0;
    Object.assign(document.querySelector('secure-uploader') as HTMLElement, {
      getToken: () => {
        scope.tokenCalls += 1;
        return scope.createToken();
      },
    });
  });
}

/** How often the widget has called `getToken`. */
export const tokenCallsOf = (page: Page): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as Counting).tokenCalls);
