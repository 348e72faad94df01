// `npm run test:site`: Lighthouse, on each page of the built site and on three of its documents. Fails if accessibility or best
// practices have less than 100 points. Lighthouse has 130 packages, so it is installed for this command only, in test/site.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { freePort } from '../demo/server/free-ports.ts';
import { install } from '../test/bench/install.mjs';
import { chromiumArgs, findChromium } from './browser.mjs';
import { buildSite } from './build-site.mjs';
import { startDemo } from './demo.mjs';
import { PAGES, pageOf } from './site.mjs';

const folder = fileURLToPath(new URL('../test/site', import.meta.url));
install(folder);
const { default: lighthouse } = await import(join(folder, 'node_modules/lighthouse/core/index.js'));

const scratch = mkdtempSync(join(tmpdir(), 'secure-uploader-lighthouse-'));
const built = join(scratch, 'site');
await buildSite(built);
const demo = await startDemo({ dataDir: join(scratch, 'data'), hostname: 'localhost', built });
const port = await freePort(9222);
const browser = await chromium.launch({
  executablePath: findChromium(),
  args: [...chromiumArgs, `--remote-debugging-port=${port}`],
});
let failed = 0;
const pages = [...PAGES, ...['README.md', 'docs/reference.md', 'docs/theming.md'].map(pageOf)];
try {
  for (const page of pages)
    for (const formFactor of ['mobile', 'desktop']) {
      const flags = { port, logLevel: 'error', onlyCategories: ['accessibility', 'best-practices'] };
      const screen =
        formFactor === 'desktop' ? { mobile: false, width: 1280, height: 900 } : { mobile: true };
      const config = { extends: 'lighthouse:default', settings: { formFactor, screenEmulation: screen } };
      const { lhr } = await lighthouse(demo.url + page, flags, config);
      const scores = Object.values(lhr.categories).map(({ score }) => Math.round(score * 100));
      const lost = Object.values(lhr.audits).filter(
        ({ score, scoreDisplayMode }) => scoreDisplayMode === 'binary' && score === 0,
      );
      const isPassed = scores.every((score) => score === 100);
      if (!isPassed) failed += 1;
      console.log(
        `${isPassed ? 'ok  ' : 'FAIL'} ${page} ${formFactor}: accessibility ${scores[0]}, best practices ${scores[1]}`,
        ...lost.map(({ id }) => id),
      );
    }
} finally {
  await browser.close();
  await demo.stop();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}
console.log(`${pages.length * 2 - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
