// Gives a page a `getToken` that returns a new token for each call, and counts the calls.
import type { Page } from 'playwright';

interface Counting {
  tokenCalls: number;
  createToken(): Promise<string>;
}

/** Makes `getToken` of the page's widget call `createToken`, which must resolve with a different token each time. */
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

/** Returns how often the widget has called `getToken`. */
export const tokenCallsOf = (page: Page): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as Counting).tokenCalls);
