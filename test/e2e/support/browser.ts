// Starts and kills a real Chromium with a persistent profile, drops files on pages, and reads the events of a page.
import { readdirSync, readFileSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Frame,
  type Locator,
  type Page,
} from 'playwright';
import { chromiumArgs, findChromium } from '../../../scripts/browser.mjs';
import { TIMEOUT_MS } from '../../support/until.ts';

/** Starts a browser with the profile in `folder`. */
export async function startBrowser(folder: string): Promise<BrowserContext> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium found');
  const context = await chromium.launchPersistentContext(folder, {
    executablePath,
    args: chromiumArgs,
    viewport: { width: 900, height: 700 },
  });
  return prepare(context);
}

/** Opens another profile in a running browser. */
export const newContext = async (
  browser: Browser,
  options?: BrowserContextOptions,
): Promise<BrowserContext> => prepare(await browser.newContext(options));

async function prepare(context: BrowserContext): Promise<BrowserContext> {
  context.setDefaultTimeout(TIMEOUT_MS);
  // The compiler adds calls of `__name` to functions that a test passes to a page.
  await context.addInitScript('globalThis.__name = (fn) => fn;');
  return context;
}

/** Kills all processes of the browser with the profile in `folder`, like a power failure. */
export async function killBrowser(folder: string, context: BrowserContext): Promise<void> {
  const isGone = new Promise((resolve) => context.on('close', resolve));
  signalBrowser(folder, 'SIGKILL');
  await isGone;
}

/**
 * Sends a signal to all processes of the browser with the profile in `folder`. `SIGSTOP` stops it until `SIGCONT`, like a sleep.
 */
export function signalBrowser(folder: string, signal: NodeJS.Signals): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (commandLine(pid).includes(`--user-data-dir=${folder}`)) process.kill(Number(pid), signal);
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Drops the files and folders at `paths` on the `target` element. */
export async function drop(
  page: Page,
  paths: readonly string[],
  target: Locator = page.locator('secure-uploader'),
): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error('there is nothing to drop on');
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  const at = { x: box.x + box.width / 2, y: box.y + Math.min(box.height, 120) / 2, data };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at });
  await session.detach();
}

/** Event of the widget, as recorded by the page. */
export interface SeenEvent {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: an event's detail is whatever its name says; tests look into it.
  readonly detail: any;
  /** Time since the page started to load, in milliseconds. */
  readonly atMs: number;
}

/** Returns the events so far, or only those with this name. */
export const eventsOf = async (page: Page | Frame, name?: string): Promise<SeenEvent[]> => {
  const events = await page.evaluate(() => (globalThis as unknown as { events: SeenEvent[] }).events);
  return name ? events.filter((event) => event.name === name) : events;
};

/**
 * Resolves when `count` events named `name` have arrived. Rejects if no event of any name arrives for three minutes. The total time
 * is not limited, because it depends on the machine.
 */
export async function untilEvent(page: Page | Frame, name: string, count = 1): Promise<SeenEvent[]> {
  for (let seenCount = -1, isReached = false; !isReached; ) {
    const found = await page.waitForFunction(
      ([name, count, seenCount]) => {
        const { events } = globalThis as unknown as { events: SeenEvent[] };
        const isReached = events.filter((event) => event.name === name).length >= count;
        return (isReached || events.length > seenCount) && { isReached, seenCount: events.length };
      },
      [name, count, seenCount] as const,
      { timeout: 180_000, polling: 100 },
    );
    const seen = await found.jsonValue();
    if (seen) ({ isReached, seenCount } = seen);
  }
  return eventsOf(page, name);
}
