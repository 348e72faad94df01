// Starts a new browser for each run and measures memory and processor time. Memory is read from /proc, which only Linux has.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';

const SAMPLE_EVERY_MS = 100;
const MB = 1e6;

/** Starts a Chromium. Returns `{version, openPage(origin, files), limitUplink(page, bytesPerSecond), watch(page), close()}`. */
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
    /** Limits the rate of everything that the page sends after this call. Returns a function that removes the limit. */
    async limitUplink(page, bytesPerSecond) {
      const tools = await context.newCDPSession(page);
      const limit = (uploadThroughput) =>
        tools.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 0,
          downloadThroughput: -1,
          uploadThroughput,
        });
      await tools.send('Network.enable');
      await limit(bytesPerSecond);
      return () => limit(-1);
    },
    watch: (page) => watch(page, processes),
    /** Records the tasks of the page. Returns a function that ends this, and returns the longest one in ms of processor time. */
    async traceTasks(page) {
      const tools = await context.newCDPSession(page);
      const events = [];
      tools.on('Tracing.dataCollected', ({ value }) => {
        for (const event of value) if (event.name === 'thread_name' || event.tdur) events.push(event);
      });
      await tools.send('Tracing.start', { traceConfig: { includedCategories: ['toplevel'] } });
      return async () => {
        const ended = new Promise((resolve) => tools.once('Tracing.tracingComplete', resolve));
        await tools.send('Tracing.end');
        await ended;
        return longestTaskMs(events);
      };
    },
    close: () => browser.close(),
  };
}

function residentMB(pid) {
  try {
    const kib = /^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return kib ? (Number(kib[1]) * 1024) / MB : undefined;
  } catch {
    return undefined;
  }
}

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** Keeps the page's renderer process busy for 150 ms. A spare renderer of the browser uses less processor time when it starts. */
function burn() {
  const end = performance.now() + 150;
  while (performance.now() < end);
}

// Returns the id of the page's process: the renderer whose processor time grew most between `before` and `after`.
function findPageProcess(before, after) {
  const grownBy = ({ id, cpuTime }) => cpuTime - (before.find((one) => one.id === id)?.cpuTime ?? 0);
  const renderers = after.filter(({ type }) => type === 'renderer');
  return renderers.sort((a, b) => grownBy(b) - grownBy(a))[0]?.id;
}

/** Returns the longest task of the busiest main thread of a renderer, in milliseconds of processor time. */
function longestTaskMs(events) {
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
  const isMain = ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain';
  const tasks = new Map(events.filter(isMain).map((event) => [threadOf(event), []]));
  for (const event of events)
    if (event.name.endsWith('RunTask')) tasks.get(threadOf(event))?.push(event.tdur / 1000);
  const busiest = [...tasks.values()].sort((a, b) => sum(b) - sum(a))[0] ?? [];
  return busiest.reduce((longest, ms) => Math.max(longest, ms), 0);
}

// Starts measuring. `cancel()` ends the measurement. `stop()` ends it and returns the usage for each type of process; the type
// `page` is the page's own process. `idleMB` is the memory at the start, `peakMB` the peak above `idleMB`, `cpuSeconds` the
// processor time.
async function watch(page, processes) {
  const first = await processes();
  await page.evaluate(burn);
  const before = await processes();
  const ids = before.map(({ id }) => id);
  const read = () => new Map(ids.map((id) => [id, residentMB(id) ?? 0]));
  const total = (memory) => sum([...memory.values()]);
  const idle = read();
  const peak = new Map(idle);
  let peakOfAll = total(idle);
  const timer = setInterval(() => {
    const now = read();
    for (const [id, memory] of now) peak.set(id, Math.max(peak.get(id), memory));
    peakOfAll = Math.max(peakOfAll, total(now));
  }, SAMPLE_EVERY_MS);
  return {
    cancel: () => clearInterval(timer),
    async stop() {
      clearInterval(timer);
      const after = await processes();
      const pageProcess = findPageProcess(first, after);
      const [cpuSeconds, idleMB, peakMB] = [{}, {}, {}];
      const add = (to, kind, value) => {
        to[kind] = (to[kind] ?? 0) + value;
      };
      for (const { id, type, cpuTime } of after) {
        const kind = id === pageProcess ? 'page' : type;
        add(cpuSeconds, kind, cpuTime - (before.find((one) => one.id === id)?.cpuTime ?? 0));
        if (!idle.get(id)) continue;
        add(idleMB, kind, idle.get(id));
        add(peakMB, kind, peak.get(id) - idle.get(id));
      }
      if (idleMB.page) peakMB.all = peakOfAll - total(idle);
      return { idleMB, peakMB, cpuSeconds, cpuTotalSeconds: sum(Object.values(cpuSeconds)) };
    },
  };
}
