// Writes screenshots of all states of the widget to .data/screenshots, which Git ignores.
// Usage: `node test/e2e/screenshots.mjs [name]`
import { startPictures } from './support/pictures.mjs';

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
  'needs-file',
  'names',
  'manual',
  'finished',
  'undo',
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
  ...['empty', 'uploading', 'errors', 'phases', 'needs-file', 'undo', 'sign-in-prompt'].map((state) => ({
    name: `${state}-dark`,
    query: { state },
    media: { colorScheme: 'dark' },
  })),
  ...['uploading', 'names', 'errors', 'undo', 'sign-in-prompt'].map((state) => ({
    name: `${state}-rtl`,
    query: { state, dir: 'rtl' },
  })),
  ...['empty', 'uploading', 'errors', 'names', 'needs-file', 'undo', 'sign-in-popup', 'manual'].map(
    (state) => ({
      name: `${state}-narrow`,
      query: { state, width: 280 },
    }),
  ),
  ...['uploading', 'errors', 'undo', 'sign-in-prompt'].map((state) => ({
    name: `${state}-zoom`,
    query: { state, zoom: 2 },
  })),
  ...['uploading', 'errors', 'undo'].map((state) => ({
    name: `${state}-forced`,
    query: { state },
    media: { forcedColors: 'active' },
  })),
  { name: 'phases-reduced', query: { state: 'phases' }, media: { reducedMotion: 'reduce' } },
].filter(({ name }) => name.includes(wanted));

const { origin, browser, shoot, close } = await startPictures();
for (const { name, query, media = {} } of shots) {
  const page = await browser.newPage({
    viewport: { width: Number(query.width ?? 808) + 48, height: 400 },
    deviceScaleFactor: 1.5,
    ...media,
  });
  page.on('console', (message) => message.type() === 'error' && console.error(name, message.text()));
  page.on('pageerror', (error) => console.error(name, error.message));
  await page.goto(`${origin}/test/ui/fixtures/gallery.html?${new URLSearchParams(query)}`);
  await page.waitForSelector('widget-fixture');
  // Stops all animations at the same moment, so that screenshots can be compared.
  await page.evaluate(() => {
    for (const animation of document.querySelector('widget-fixture').shadowRoot.getAnimations()) {
      animation.pause();
      animation.currentTime = 800;
    }
  });
  await shoot(page, name);
  await page.close();
}
await close();
