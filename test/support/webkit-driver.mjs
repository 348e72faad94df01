// Drives WebKitGTK: starts a display and Debian's WebKitWebDriver, and sends WebDriver commands with `fetch`.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { findWebKit } from '../../scripts/browser.mjs';

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
 * Starts a display and the driver. `openSession()` starts a browser with an empty profile, and resolves with its `command(method,
 * path, body)`. `end()` ends all processes.
 */
export async function startWebKit() {
  const children = [];
  const end = () => {
    process.off('exit', end);
    for (const child of children.splice(0).reverse()) child.kill();
  };
  let driverUrl;

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

  const found = findWebKit();
  if (!found) {
    throw new Error('WebKitGTK is not installed (webkit2gtk-driver, xvfb): node scripts/setup.mjs --engines');
  }
  process.once('exit', end);
  await startDriver(found.driver, await startDisplay(found.display));
  return {
    async openSession() {
      const options = { 'webkitgtk:browserOptions': { binary: found.browser, args: ['--automation'] } };
      const { sessionId } = await request('POST', '/session', { capabilities: { alwaysMatch: options } });
      return (method, path, body) => request(method, `/session/${sessionId}${path}`, body);
    },
    end,
  };
}
