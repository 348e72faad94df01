// Runs WebKitGTK for Web Test Runner: starts a display and Debian's WebKitWebDriver, and sends WebDriver commands with `fetch`.
// Independent of the tests; webkit-page.mjs adds keys, mouse and sizes.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { findWebKit } from '../../scripts/browser.mjs';
import { webkitPage } from './webkit-page.mjs';

// Time limit for a response of the browser.
const answerMs = 50_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/**
 * Returns a browser launcher for `browsers` in the configuration of Web Test Runner. One browser shows the pages of all test
 * files, one after the other. If this browser hangs or crashes, a new one replaces it.
 */
export function webkitLauncher() {
  const children = [];
  let driverUrl;
  let miniBrowser;
  /** WebDriver session of the browser, and the window that shows test pages. */
  let session;
  let shownId;

  async function request(method, path, body) {
    const init = {
      method,
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(answerMs),
    };
    const response = await fetch(driverUrl + path, body ? { ...init, body: JSON.stringify(body) } : init);
    const { value } = await response.json();
    if (!response.ok) throw new Error(`WebKitWebDriver ${path}: ${value?.error} ${value?.message}`);
    return value;
  }

  const command = (method, path, body) => request(method, `/session/${session.id}${path}`, body);

  function start(program, args, options) {
    const child = spawn(program, args, options);
    children.push(child);
    return child;
  }

  async function startDisplay(program) {
    const args = ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'];
    const child = start(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error('Xvfb did not start')));
      child.stdio[3].once('data', (data) => resolve(`:${String(data).trim()}`));
    });
  }

  async function startDriver(program, display) {
    const env = {
      ...process.env,
      DISPLAY: display,
      LIBGL_ALWAYS_SOFTWARE: '1',
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    };
    // Another process may take the free port first. Then the driver ends, and the next port is tried.
    for (let tries = 0; tries < 3; tries += 1) {
      const port = await freePort();
      const child = start(program, [`--port=${port}`], { stdio: 'ignore', env });
      let hasEnded = false;
      for (const event of ['error', 'exit']) child.once(event, () => (hasEnded = true));
      driverUrl = `http://127.0.0.1:${port}`;
      for (const endMs = Date.now() + answerMs; !hasEnded && Date.now() < endMs; ) {
        const answered = await request('GET', '/status').catch(() => undefined);
        if (answered && !hasEnded) return;
        await pause(100);
      }
    }
    throw new Error('WebKitWebDriver did not start');
  }

  async function openBrowser() {
    const options = { 'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] } };
    const { sessionId } = await request('POST', '/session', { capabilities: { alwaysMatch: options } });
    session = { id: sessionId };
    session.window = await command('GET', '/window');
  }

  async function closeBrowser() {
    if (session) await command('DELETE', '').catch(() => undefined);
    session = undefined;
  }

  async function show(url) {
    if (!session) await openBrowser();
    await command('POST', '/url', { url });
  }

  /** Closes the page of a test file, and all windows that the file has opened. */
  async function leave() {
    const handles = await command('GET', '/window/handles');
    for (const handle of handles.filter((each) => each !== session.window)) {
      await command('POST', '/window', { handle });
      await command('DELETE', '/window');
    }
    await command('POST', '/window', { handle: session.window });
    await command('POST', '/url', { url: 'about:blank' });
  }

  const killAll = () => {
    for (const child of children.splice(0).reverse()) child.kill();
  };

  return {
    name: 'WebKit',
    type: 'puppeteer', // a type that the runner's commands support
    concurrency: 1,
    async initialize() {
      const found = findWebKit();
      if (!found) {
        throw new Error(
          'WebKitGTK is not installed (webkit2gtk-driver, xvfb): node scripts/setup.mjs --engines',
        );
      }
      miniBrowser = found.browser;
      process.once('exit', killAll);
      await startDriver(found.driver, await startDisplay(found.display));
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
      killAll();
    },
  };
}
