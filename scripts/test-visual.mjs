// `npm run test:visual`: takes pictures of the states of the widget, and compares some of them with those in test/visual/stored/.
// Pictures are written to .data/screenshots, differences to .data/screenshots/differences.
// Arguments after `--`:
// - words: takes only pictures whose names contain one of them.
// - `--update`: stores the pictures instead of comparing them.
// The pictures depend on fonts and on the version of Chromium, so compare pictures of the same machine.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { startPictures } from '../test/e2e/support/pictures.mjs';
import { SHOTS } from '../test/visual/shots.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const stored = join(root, 'test/visual/stored');
const differences = join(root, '.data/screenshots/differences');
const args = process.argv.slice(2);
const words = args.filter((arg) => !arg.startsWith('-'));
const isUpdate = args.includes('--update');
/** Share of pixels that may differ. */
const TOLERANCE = 0.001;

const wanted = SHOTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

async function take({ origin, browser, shoot }, { name, query, media = {} }) {
  const page = await browser.newPage({
    viewport: { width: Number(query.width ?? 808) + 48, height: 400 },
    ...media,
  });
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${origin}/test/ui/fixtures/gallery.html?${new URLSearchParams(query)}`);
  await page.waitForSelector('widget-fixture[data-is-shown]', { state: 'attached' });
  // Stops all animations at the same moment.
  await page.evaluate(() => {
    for (const animation of document.querySelector('widget-fixture').shadowRoot.getAnimations()) {
      animation.pause();
      animation.currentTime = 800;
    }
  });
  const picture = await shoot(page, name);
  await page.close();
  return { picture, errors };
}

/** Returns why the picture differs from the stored one; `undefined` if it does not. */
async function compare(name, picture) {
  const file = join(stored, `${name}.png`);
  const before = await readFile(file).then(PNG.sync.read, () => undefined);
  if (!before) return `has no stored picture (npm run test:visual -- --update ${name})`;
  const after = PNG.sync.read(picture);
  const { width, height } = before;
  if (after.width !== width || after.height !== height)
    return `has ${after.width} x ${after.height} pixels instead of ${width} x ${height}`;
  const shown = new PNG({ width, height });
  const count = pixelmatch(before.data, after.data, shown.data, width, height, { threshold: 0.1 });
  if (count <= TOLERANCE * width * height) return undefined;
  await writeFile(join(differences, `${name}.png`), PNG.sync.write(shown));
  return `differs in ${count} pixels (.data/screenshots/differences/${name}.png)`;
}

const sum = { passed: 0, failed: 0 };
const pictures = await startPictures();
await rm(differences, { recursive: true, force: true });
await mkdir(differences, { recursive: true });
await mkdir(stored, { recursive: true });
for (const shot of wanted) {
  const { picture, errors } = await take(pictures, shot);
  if (isUpdate && shot.isStored) await writeFile(join(stored, `${shot.name}.png`), picture);
  const problem = errors[0] ?? (shot.isStored ? await compare(shot.name, picture) : undefined);
  if (problem) console.log(`FAIL ${shot.name} ${problem}`);
  sum[problem ? 'failed' : 'passed'] += 1;
}
await pictures.close();
console.log(`\n${sum.passed} passed, ${sum.failed} failed`);
process.exitCode = sum.failed > 0 || wanted.length === 0 ? 1 : 0;
