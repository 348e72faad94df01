// Drives a real Chromium for the journeys: starts it with a persistent profile, kills it without warning, and drops files on a page
// as the desktop does.
import { readdirSync, readFileSync } from 'node:fs';
import { type BrowserContext, chromium, type Frame, type Locator, type Page } from 'playwright';
import { chromiumArgs, findChromium } from '../../../scripts/browser.mjs';

/** How long a journey waits for an expected event: longer than any machine needs, however busy. */
export const TIMEOUT_MS = 120_000;

/** A browser with the profile of `folder`. */
export async function startBrowser(folder: string): Promise<BrowserContext> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium found');
  const context = await chromium.launchPersistentContext(folder, {
    executablePath,
    args: chromiumArgs,
    viewport: { width: 900, height: 700 },
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  return context;
}

/** Ends every process of the browser with this profile, at once, as a power failure would. */
export async function killBrowser(folder: string, context: BrowserContext): Promise<void> {
  const isGone = new Promise((resolve) => context.on('close', resolve));
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (commandLine(pid).includes(`--user-data-dir=${folder}`)) process.kill(Number(pid), 'SIGKILL');
  }
  await isGone;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Drops files and folders, by path, on the middle of the widget, or of a part of it. */
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

/** One event as the page recorded it. */
export interface SeenEvent {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: an event's detail is whatever its name says; tests look into it.
  readonly detail: any;
}

/** The events so far, of one name or all. */
export const eventsOf = async (page: Page | Frame, name?: string): Promise<SeenEvent[]> => {
  const events = await page.evaluate(() => (globalThis as unknown as { events: SeenEvent[] }).events);
  return name ? events.filter((event) => event.name === name) : events;
};

/**
 * Resolves when this many events of that name have arrived. Rejects when no event of any name has arrived for three minutes: the
 * total time depends on the machine.
 */
export async function until(page: Page, name: string, count = 1): Promise<SeenEvent[]> {
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
