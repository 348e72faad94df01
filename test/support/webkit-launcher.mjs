// Drives WebKitGTK for Web Test Runner: starts a display and Debian's WebKitWebDriver, speaks plain WebDriver over fetch.
// Knows nothing of the tests; webkit-page.mjs gives it keys, mouse and sizes.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { findWebKit } from '../../scripts/browser.mjs';
import { webkitPage } from './webkit-page.mjs';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** A browser launcher for `browsers` of the Web Test Runner configuration. One session at a time: the driver allows no more. */
export function webkitLauncher() {
  const children = [];
  const sessions = new Map();
  let driverUrl;

  async function request(method, path, body) {
    const init = { method, headers: { 'content-type': 'application/json' } };
    const response = await fetch(driverUrl + path, body ? { ...init, body: JSON.stringify(body) } : init);
    const { value } = await response.json();
    if (!response.ok) throw new Error(`WebKitWebDriver ${path}: ${value?.error} ${value?.message}`);
    return value;
  }

  function start(command, args, options) {
    const child = spawn(command, args, options);
    children.push(child);
    return child;
  }

  async function startDisplay(command) {
    const args = ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'];
    const child = start(command, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error('Xvfb did not start')));
      child.stdio[3].once('data', (data) => resolve(`:${String(data).trim()}`));
    });
  }

  async function startDriver(command, display) {
    const port = await freePort();
    const env = {
      ...process.env,
      DISPLAY: display,
      LIBGL_ALWAYS_SOFTWARE: '1',
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    };
    start(command, [`--port=${port}`], { stdio: 'ignore', env });
    driverUrl = `http://127.0.0.1:${port}`;
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const answered = await request('GET', '/status').catch(() => undefined);
      if (answered) return;
      await pause(100);
    }
    throw new Error('WebKitWebDriver did not start');
  }

  let miniBrowser;
  const killAll = () => {
    for (const child of children.splice(0).reverse()) child.kill();
  };

  return {
    name: 'WebKit',
    type: 'puppeteer', // whose page the runner's commands know how to drive
    concurrency: 1,
    async initialize() {
      const found = findWebKit();
      if (!found)
        throw new Error(
          'WebKitGTK is not installed (webkit2gtk-driver, xvfb): node scripts/setup.mjs --engines',
        );
      miniBrowser = found.browser;
      process.once('exit', killAll);
      await startDriver(found.driver, await startDisplay(found.display));
    },
    async startSession(id, url) {
      const options = { 'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] } };
      const { sessionId } = await request('POST', '/session', { capabilities: { alwaysMatch: options } });
      sessions.set(id, sessionId);
      await request('POST', `/session/${sessionId}/url`, { url });
    },
    isActive: (id) => sessions.has(id),
    getBrowserUrl: (id) => request('GET', `/session/${sessions.get(id)}/url`),
    getPage: (id) =>
      webkitPage((method, path, body) => request(method, `/session/${sessions.get(id)}${path}`, body)),
    async stopSession(id) {
      const sessionId = sessions.get(id);
      sessions.delete(id);
      await request('DELETE', `/session/${sessionId}`);
      return {};
    },
    async stop() {
      for (const sessionId of sessions.values())
        await request('DELETE', `/session/${sessionId}`).catch(() => undefined);
      killAll();
    },
  };
}
