// How long a page is held up, in the time that its own thread works: what else the machine does meanwhile does not count.
import type { Page } from 'playwright';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds that the thread itself worked. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task of the page while `work` goes on, and all its tasks together. */
export async function longestTaskOf(
  page: Page,
  work: () => Promise<void>,
): Promise<{ readonly longestMs: number; readonly sumMs: number }> {
  const browser = page.context().browser();
  if (!browser) throw new Error('there is no browser to ask');
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await work();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  const threads = new Map<string, number[]>();
  for (const { name, pid, tid, args } of traceEvents)
    if (name === 'thread_name' && args?.name === 'CrRendererMain') threads.set(`${pid} ${tid}`, []);
  for (const { name, pid, tid, tdur = 0 } of traceEvents)
    if (name === 'RunTask') threads.get(`${pid} ${tid}`)?.push(tdur / 1000);
  const sum = (tasks: readonly number[]): number => tasks.reduce((all, ms) => all + ms, 0);
  // Pages that lie idle have threads of their own.
  const [tasks = []] = [...threads.values()].sort((a, b) => sum(b) - sum(a));
  return { longestMs: Math.max(...tasks), sumMs: sum(tasks) };
}
