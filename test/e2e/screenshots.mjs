// Pictures of every state of the widget into .data/screenshots (not kept), for looking at: `node test/e2e/screenshots.mjs [name]`.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = `${root}.data/screenshots/`;
const wanted = process.argv[2] ?? '';

const states = [
  'empty',
  'rules',
  'dragging',
  'reading',
  'uploading',
  'one',
  'errors',
  'phases',
  'names',
  'manual',
  'finished',
  'ten-thousand',
  'sign-in-prompt',
  'sign-in-blocked',
  'sign-in-popup',
  'sign-in-lost',
  'sign-in-exchange',
  'sign-in-cooling',
];
const shots = [
  ...states.map((state) => ({ name: state, query: { state } })),
  ...['empty', 'uploading', 'errors', 'phases', 'sign-in-prompt'].map((state) => ({
    name: `${state}-dark`,
    query: { state },
    media: { colorScheme: 'dark' },
  })),
  ...['uploading', 'names', 'errors', 'sign-in-prompt'].map((state) => ({
    name: `${state}-rtl`,
    query: { state, dir: 'rtl' },
  })),
  ...['empty', 'uploading', 'errors', 'names', 'sign-in-popup', 'manual'].map((state) => ({
    name: `${state}-narrow`,
    query: { state, width: 280 },
  })),
  ...['uploading', 'errors', 'sign-in-prompt'].map((state) => ({
    name: `${state}-zoom`,
    query: { state, zoom: 2 },
  })),
  ...['uploading', 'errors'].map((state) => ({
    name: `${state}-forced`,
    query: { state },
    media: { forcedColors: 'active' },
  })),
  { name: 'phases-reduced', query: { state: 'phases' }, media: { reducedMotion: 'reduce' } },
].filter(({ name }) => name.includes(wanted));

const server = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  server: { host: '127.0.0.1', port: 0, hmr: false },
  optimizeDeps: { noDiscovery: true, include: [] },
});
await server.listen();
const { port } = server.httpServer.address();
const browser = await chromium.launch({ executablePath: findChromium(), args: chromiumArgs });
await mkdir(out, { recursive: true });
for (const { name, query, media = {} } of shots) {
  const page = await browser.newPage({
    viewport: { width: Number(query.width ?? 808) + 48, height: 400 },
    deviceScaleFactor: 1.5,
    ...media,
  });
  page.on('console', (message) => message.type() === 'error' && console.error(name, message.text()));
  page.on('pageerror', (error) => console.error(name, error.message));
  await page.goto(`http://127.0.0.1:${port}/test/ui/fixtures/gallery.html?${new URLSearchParams(query)}`);
  await page.waitForSelector('widget-fixture');
  // All in the same moment of their animation, so that two pictures can be compared.
  await page.evaluate(() => {
    for (const animation of document.querySelector('widget-fixture').shadowRoot.getAnimations()) {
      animation.pause();
      animation.currentTime = 800;
    }
  });
  await page.screenshot({ path: `${out}${name}.png`, fullPage: true });
  await page.close();
}
await browser.close();
await server.close();
