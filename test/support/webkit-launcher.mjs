// Runs WebKitGTK for Web Test Runner. Independent of the tests; webkit-page.mjs adds keys, mouse and sizes.
import { startWebKit } from './webkit-driver.mjs';
import { webkitPage } from './webkit-page.mjs';

/**
 * Returns a browser launcher for `browsers` in the configuration of Web Test Runner. One browser shows the pages of all test
 * files, one after the other. If this browser hangs or crashes, a new one replaces it.
 */
export function webkitLauncher() {
  let webkit;
  /** Sends a command to the browser; undefined if there is no browser. */
  let send;
  /** The window that shows test pages, and the id of the test file in it. */
  let shownWindow;
  let shownId;

  const command = (method, path, body) => send(method, path, body);

  async function closeBrowser() {
    await send?.('DELETE', '').catch(() => undefined);
    send = undefined;
  }

  async function show(url) {
    if (!send) {
      send = await webkit.openSession();
      shownWindow = await command('GET', '/window');
    }
    await command('POST', '/url', { url });
  }

  /** Closes the page of a test file, and all windows that the file has opened. */
  async function leave() {
    const handles = await command('GET', '/window/handles');
    for (const handle of handles.filter((each) => each !== shownWindow)) {
      await command('POST', '/window', { handle });
      await command('DELETE', '/window');
    }
    await command('POST', '/window', { handle: shownWindow });
    await command('POST', '/url', { url: 'about:blank' });
  }

  return {
    name: 'WebKit',
    type: 'puppeteer', // a type that the runner's commands support
    concurrency: 1,
    async initialize() {
      webkit = await startWebKit();
    },
    async startSession(id, url) {
      shownId = id;
      try {
        await show(url);
      } catch {
        await closeBrowser();
        await show(url);
      }
    },
    isActive: (id) => id === shownId,
    getBrowserUrl: () => command('GET', '/url'),
    getPage: () => webkitPage(command),
    async stopSession() {
      shownId = undefined;
      await leave().catch(closeBrowser);
      return {};
    },
    async stop() {
      await closeBrowser();
      webkit?.end();
    },
  };
}
