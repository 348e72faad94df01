// The tests that run in a page: Chromium by default, `BROWSERS=chromium,firefox,webkit` names others. The reference service runs
// beside them (test/support/service-plugin.mjs); one file alone: npx wtr --files 'test/core/**/*.test.ts'
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { esbuildPlugin } from '@web/dev-server-esbuild';
import { defaultReporter } from '@web/test-runner';
import { chromeLauncher } from '@web/test-runner-chrome';
import { a11ySnapshotPlugin } from '@web/test-runner-commands/plugins';
import { findChromium, findFirefox, puppeteerArgs } from './scripts/browser.mjs';
import { countReporter } from './test/support/count-reporter.mjs';
import { servicePlugin } from './test/support/service-plugin.mjs';
import { webkitLauncher } from './test/support/webkit-launcher.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));

// These bounds end what hangs; no machine is so busy that it needs them.
const startMs = 180_000;

// The callback page lies beside every page, its script beside it, as the package ships them. And a source may name its worker
// only as built (`./hash.worker.js`), since a compiler does not rewrite URLs.
function asBuilt(context, next) {
  context.url = context.url
    .replace(/^\/secure-uploader-callback\.html/, '/src/auth/secure-uploader-callback.html')
    .replace(/^\/(src\/auth\/)?secure-uploader-callback\.js/, '/src/auth/callback.ts');
  const isSource = /^\/(src|demo|test)\/.*\.js$/.test(context.path);
  const source = root + context.path.slice(1).replace(/\.js$/, '.ts');
  if (isSource && existsSync(source)) context.url = context.url.replace(/\.js(?=$|\?)/, '.ts');
  return next();
}

const launchers = {
  // A profile of its own for each page: test files that run side by side must not share IndexedDB, locks or channels.
  chromium: () =>
    Object.assign(
      chromeLauncher({
        concurrency: 2,
        launchOptions: { executablePath: findChromium(), args: [...puppeteerArgs], timeout: startMs },
        createPage: async ({ browser }) => (await browser.createBrowserContext()).newPage(),
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
          const page = await browser.newPage();
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
  files: 'test/{core,service,auth,store,pipeline,engine,ui}/**/*.test.ts',
  nodeResolve: true,
  middleware: [asBuilt],
  plugins: [
    a11ySnapshotPlugin(),
    servicePlugin(),
    esbuildPlugin({ ts: true, tsconfig: `${root}tsconfig.json` }),
  ],
  browsers: engines.map((name) => launchers[name]()),
  concurrentBrowsers: 1,
  browserStartTimeout: startMs,
  testsStartTimeout: startMs,
  testsFinishTimeout: 600_000,
  testFramework: {
    config: {
      timeout: 60_000,
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
