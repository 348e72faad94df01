// A fresh browser for each run, and what it costs: memory of the page's process and of all of them, processor time. Memory comes
// from /proc, so elsewhere than on Linux it is left out.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';

const SAMPLE_EVERY_MS = 100;
const MB = 1e6;

/** Starts a Chromium. Answers `{version, openPage(origin, files), watch(page), close()}`. */
export async function startBrowser() {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium, Chrome or Edge was found: set CHROME_PATH');
  const browser = await chromium.launch({
    executablePath,
    args: [...chromiumArgs, '--ignore-certificate-errors'],
  });
  const session = await browser.newBrowserCDPSession();
  const context = await browser.newContext();
  const processes = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo;
  return {
    version: browser.version(),
    async openPage(origin, files) {
      const page = await context.newPage();
      await page.goto(origin);
      await page.waitForFunction('window.bench');
      await page.setInputFiles('input', files);
      return page;
    },
    watch: (page) => watch(page, processes),
    close: () => browser.close(),
  };
}

// The page's process is the renderer that gets busy when the page is: the browser may keep a spare one.
async function findPageProcess(page, processes) {
  const cpuOf = async () =>
    new Map((await processes()).map(({ id, type, cpuTime }) => [id, { type, cpuTime }]));
  const before = await cpuOf();
  await page.evaluate(() => {
    const end = performance.now() + 60;
    while (performance.now() < end);
  });
  const grown = [...(await cpuOf())]
    .filter(([, { type }]) => type === 'renderer')
    .map(([id, { cpuTime }]) => ({ id, grownBy: cpuTime - (before.get(id)?.cpuTime ?? 0) }))
    .sort((a, b) => b.grownBy - a.grownBy);
  return grown[0].id;
}

function residentMB(pid) {
  try {
    const kib = /^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return kib ? (Number(kib[1]) * 1024) / MB : undefined;
  } catch {
    return undefined;
  }
}

// Begins to watch; `stop()` answers what was used since: megabytes above idle at the peak, seconds of processor time.
// `cancel()` only ends the watching.
async function watch(page, processes) {
  const pageProcess = await findPageProcess(page, processes);
  const before = await processes();
  const ids = before.map(({ id }) => id);
  const read = () => ({
    page: residentMB(pageProcess),
    all: ids.map(residentMB).reduce((sum, one) => sum + (one ?? 0), 0),
  });
  const idle = read();
  const peak = { ...idle };
  const timer = setInterval(() => {
    const now = read();
    peak.page = Math.max(peak.page, now.page ?? 0);
    peak.all = Math.max(peak.all, now.all);
  }, SAMPLE_EVERY_MS);
  return {
    cancel: () => clearInterval(timer),
    async stop() {
      clearInterval(timer);
      const used = (await processes()).map(({ id, type, cpuTime }) => {
        const earlier = before.find((one) => one.id === id)?.cpuTime ?? 0;
        return { type: id === pageProcess ? 'page' : type, seconds: cpuTime - earlier };
      });
      const cpuSeconds = {};
      for (const { type, seconds } of used) cpuSeconds[type] = (cpuSeconds[type] ?? 0) + seconds;
      const memory =
        idle.page === undefined
          ? {}
          : { pageIdleMB: idle.page, pagePeakMB: peak.page - idle.page, browserPeakMB: peak.all - idle.all };
      return { ...memory, cpuSeconds, cpuTotalSeconds: used.reduce((sum, { seconds }) => sum + seconds, 0) };
    },
  };
}
