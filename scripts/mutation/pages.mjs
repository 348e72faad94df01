// Runs test files with the project's Web Test Runner configuration and one active mutant. Each page runs one file at a time.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { SESSION_STATUS, TestRunner } from '@web/test-runner';
import * as commands from '@web/test-runner-commands/plugins';
import { asBuilt, KEEPER_PATH } from '../../test/support/page-scripts.mjs';

const script = (name, job) =>
  readFileSync(new URL(name, import.meta.url), 'utf8').replace(/\bJOB\b(?!`)/g, () =>
    JSON.stringify(job).replaceAll('<', '\\u003c'),
  );

/** Path of the module that every bundle imports first. The module defines which mutant is active. */
const jobPath = '/__mutation_job.js';

/** Errors of the browser itself (`brokenPage`). After such an error, a file runs again, up to `attempts` times in total. */
const brokenPage = /Protocol error|Target closed|browser disconnected|unable to create and start/;
const attempts = 3;

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const commandPlugins = () =>
  Object.entries(commands)
    .filter(([name]) => name.endsWith('Plugin') && name !== 'snapshotPlugin')
    .map(([, create]) => create());

/** Closes the windows and deletes the stored data of a test file that passed. */
async function clean(page, origin) {
  const pages = await page.browserContext().pages();
  await Promise.all(pages.filter((other) => other !== page).map((other) => other.close()));
  const session = await page.createCDPSession();
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
}

/** Reads the record of a page before the page is closed. A page is reused only if its run passed and its data was deleted. */
function watchPages(launcher, jobs, origin) {
  launcher.stopSession = async (id) => {
    const job = jobs.get(id);
    const used = launcher.activePages.get(id);
    const page = used.puppeteerPage;
    let isClean = false;
    try {
      if (!job.isHung) {
        job.record = await page.evaluate(() => {
          sessionStorage.clear();
          return globalThis.__mutationRecord;
        });
        await page.goto('about:blank');
        await clean(page, origin);
        isClean = !job.record.failed;
      }
    } catch {
      // A page that was closed or has navigated away has no record.
    }
    launcher.activePages.delete(id);
    if (isClean) launcher.inactivePages.push(used);
    else
      await page
        .browserContext()
        .close()
        .catch(() => undefined);
    return {};
  };
}

/**
 * Starts `count` pages for `testFiles` (paths below `root`). `scripts` are the bundles by path, `keeper` is the script of the file
 * keeper. Returns `{run, stop}`.
 */
export async function openPages({ root, config, testFiles, scripts, keeper, count }) {
  const jobs = new Map(); // Jobs by session.
  const numbered = new Map(); // Jobs by the number in the cookie.
  let lastNumber = 0;
  const [launcher] = config.browsers;
  const port = await freePort();
  watchPages(launcher, jobs, `http://localhost:${port}`);

  const inject = {
    name: 'mutation-page',
    transform(context) {
      const job = jobs.get(context.URL.searchParams.get('wtr-session-id'));
      if (!job || !context.response.is('html')) return undefined;
      context.set('Set-Cookie', `mutation=${job.number}; Path=/; HttpOnly`);
      const { active, titles, limits, spareMs } = job;
      const tag = `<script type="module">${script('page.js', { active, titles, limits, spareMs })}</script>`;
      return { body: context.body.replace('<body>', () => `<body>${tag}`) };
    },
  };
  const serve = (context, next) => {
    const job = numbered.get(context.cookies.get('mutation'));
    // Each run of a test file has its own reference service.
    if (context.path === '/test-config' && job)
      context.headers.referer = `${context.origin}/?wtr-session-id=mutation-${job.number}`;
    if (context.path === jobPath) {
      context.set('Cache-Control', 'no-store');
      context.type = 'text/javascript';
      context.body = script('prelude.js', { active: job?.active ?? -1, limit: job?.limit ?? 0 });
      return undefined;
    }
    if (context.path === KEEPER_PATH && keeper) {
      context.type = 'text/javascript';
      context.body = `${script('prelude.js', { active: job?.active ?? -1, limit: job?.limit ?? 0 })}\n${keeper}`;
      return undefined;
    }
    const bundled = scripts.get(context.path.slice(1));
    if (bundled === undefined) return next();
    // The script is the same for all mutants, so a reused page does not have to compile it again.
    context.set('Cache-Control', 'max-age=86400, immutable');
    context.type = 'text/javascript';
    context.body = `import '${jobPath}';\n${bundled}`;
    return undefined;
  };

  const paths = testFiles.map((file) => join(root, file));
  const groups = Array.from({ length: count }, (_, page) => ({ name: `page ${page + 1}`, files: paths }));
  const quiet = {
    debug() {},
    log() {},
    warn() {},
    error() {},
    group() {},
    groupEnd() {},
    logSyntaxError() {},
  };
  const runner = new TestRunner(
    {
      ...{ rootDir: root, protocol: 'http:', hostname: 'localhost', port, logger: quiet },
      ...{ watch: true, browserLogs: false, coverageConfig: {}, concurrentBrowsers: 1, concurrency: count },
      middleware: [asBuilt(root), serve],
      plugins: [...commandPlugins(), inject, ...config.plugins],
      browsers: [Object.assign(launcher, { concurrency: count })],
      reporters: [],
      browserStartTimeout: config.browserStartTimeout,
      testsStartTimeout: config.testsStartTimeout,
      testsFinishTimeout: config.testsFinishTimeout,
      testFramework: {
        path: join(config.rootDir, 'node_modules/@web/test-runner-mocha/dist/autorun.js'),
        ...config.testFramework,
      },
    },
    groups,
  );
  const sessions = new Map();
  for (const session of [...runner.sessions.all()]) {
    runner.sessions.update({ ...session, status: SESSION_STATUS.FINISHED });
    sessions.set(`${session.group.name} ${session.testFile}`, session.id);
  }
  // Prevents the automatic start of sessions, because all sessions are scheduled below.
  runner.runTests = async () => undefined;
  await runner.start();
  let testRun = 0;

  const free = groups.map(({ name }) => name);
  const waiting = [];
  const take = () =>
    free.length ? Promise.resolve(free.shift()) : new Promise((resolve) => waiting.push(resolve));
  const give = (page) => (waiting.length ? waiting.shift()(page) : free.push(page));

  /** Runs a file in `page`. Resolves with `{passed, failure, record, isHung}`. */
  function runIn(page, file, job) {
    const id = sessions.get(`${page} ${join(root, file)}`);
    Object.assign(job, { number: String(++lastNumber) });
    jobs.set(id, job);
    numbered.set(job.number, job);
    return new Promise((resolve) => {
      const deadline = setTimeout(() => {
        job.isHung = true;
        runner.scheduler.setSessionFailed(runner.sessions.get(id), { message: 'ran out of time' });
      }, job.deadlineMs);
      const onUpdate = (session) => {
        if (session.id !== id || session.status !== SESSION_STATUS.FINISHED) return;
        clearTimeout(deadline);
        runner.sessions.off('session-status-updated', onUpdate);
        numbered.delete(job.number);
        const failure = job.record?.failed?.message ?? session.errors[0]?.message;
        const passed = session.passed && session.errors.length === 0;
        resolve({
          passed,
          failure,
          title: job.record?.failed?.title,
          record: job.record,
          isHung: job.isHung,
        });
      };
      runner.sessions.on('session-status-updated', onUpdate);
      const fresh = { ...runner.sessions.get(id), errors: [], testResults: undefined, passed: undefined };
      runner.scheduler.schedule(++testRun, [fresh]);
    });
  }

  return {
    /** Waits for a free page, and runs `file` in this page. `job` is `{active, limit, titles, limits, spareMs, deadlineMs}`. */
    async run(file, job) {
      const page = await take();
      try {
        for (let attempt = 1; ; attempt += 1) {
          const result = await runIn(page, file, { ...job });
          // After an error of the browser, the result of the tests is unknown.
          const isLost = result.passed ? !result.record : brokenPage.test(result.failure ?? '');
          const isBroken = isLost && !result.title && !result.isHung;
          if (!isBroken || attempt === attempts) return result;
        }
      } finally {
        give(page);
      }
    },
    async stop() {
      await runner.stop();
      await launcher.stop();
    },
  };
}
