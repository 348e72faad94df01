// Starts what screenshots need: a server for the unbuilt sources, a browser, and the target folder.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { chromiumArgs, findChromium } from '../../../scripts/browser.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const out = `${root}.data/screenshots/`;

/** Returns `{origin, browser, shoot(page, name), close()}`. */
export async function startPictures() {
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0, hmr: false },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  await server.listen();
  const browser = await chromium.launch({ executablePath: findChromium(), args: chromiumArgs });
  await mkdir(out, { recursive: true });
  return {
    origin: `http://127.0.0.1:${server.httpServer.address().port}`,
    browser,
    shoot: (page, name) => page.screenshot({ path: `${out}${name}.png`, fullPage: true }),
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
