// The tests that run in a page: Chromium by default, `BROWSERS=chromium,firefox,webkit` names others. The reference service runs
// beside them (test/support/service-plugin.mjs); one file alone: npx wtr --files 'test/core/**/*.test.ts'
import { fileURLToPath } from 'node:url';
import { esbuildPlugin } from '@web/dev-server-esbuild';
import { defaultReporter } from '@web/test-runner';
import { chromeLauncher } from '@web/test-runner-chrome';
import { a11ySnapshotPlugin } from '@web/test-runner-commands/plugins';
import { findChromium, findFirefox, puppeteerArgs } from './scripts/browser.mjs';
import { countReporter } from './test/support/count-reporter.mjs';
import { asBuilt, bundled, PAGE_TESTS } from './test/support/page-scripts.mjs';
import { servicePlugin } from './test/support/service-plugin.mjs';
import { namesUnended } from './test/support/unended-tests.mjs';
import { webkitLauncher } from './test/support/webkit-launcher.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));

// These limits end what hangs. `scripts/test.mjs` sets the limit of a file.
const startMs = 180_000;
const fileMs = Number(process.env.FILE_LIMIT_MS || 180_000);

/** Lets a page load for as long as its tests may take to start. By default, loading fails after 30 s. */
function withStartTimeout(page) {
  page.setDefaultNavigationTimeout(startMs);
  return page;
}

const launchers = {
  // A profile of its own for each page: test files that run side by side must not share IndexedDB, locks or channels.
  chromium: () =>
    Object.assign(
      chromeLauncher({
        concurrency: process.env.TEST_ALONE ? 1 : 2,
        launchOptions: { executablePath: findChromium(), args: [...puppeteerArgs], timeout: startMs },
        createPage: async ({ browser }) =>
          withStartTimeout(await (await browser.createBrowserContext()).newPage()),
      }),
      { name: 'Chromium' },
    ),
  // A page that lies behind another one is neither painted nor focused.
  firefox: () =>
    Object.assign(
      chromeLauncher({
        concurrency: 1,
        launchOptions: { browser: 'firefox', executablePath: findFirefox(), timeout: startMs },
        createPage: async ({ browser }) => {
          const page = withStartTimeout(await browser.newPage());
          await page.bringToFront();
          return page;
        },
      }),
      { name: 'Firefox' },
    ),
  webkit: () => webkitLauncher(),
};

const engines = (process.env.BROWSERS ?? 'chromium').split(',');

export default {
  rootDir: root,
  files: `test/{${PAGE_TESTS.join(',')}}/**/*.test.ts`,
  nodeResolve: true,
  middleware: [asBuilt(root), bundled(root)],
  plugins: [
    a11ySnapshotPlugin(),
    servicePlugin(),
    esbuildPlugin({ ts: true, tsconfig: `${root}tsconfig.json` }),
  ],
  browsers: engines.map((name) => namesUnended(launchers[name]())),
  concurrentBrowsers: 1,
  browserStartTimeout: startMs,
  testsStartTimeout: startMs,
  testsFinishTimeout: fileMs,
  testFramework: {
    config: {
      // Shorter than the limit of the file, so that the other tests run, too.
      timeout: fileMs * 0.4,
      forbidOnly: true,
      forbidPending: true,
      ...(process.env.TEST_NAME ? { grep: process.env.TEST_NAME } : {}),
    },
  },
  // Lit's hint that it runs in dev mode, which in tests is meant.
  filterBrowserLogs: ({ args }) => !String(args[0]).startsWith('Lit is in dev mode'),
  reporters: [
    defaultReporter({ reportTestResults: true, reportTestProgress: Boolean(process.stdout.isTTY) }),
    countReporter(),
  ],
};
