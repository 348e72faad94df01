// Measures the longest task on a page's thread in processor time, so that other work on the machine does not count.
import type { Page } from 'playwright';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time of the thread, microseconds. */
  readonly tdur?: number;
  /** Wall-clock time, microseconds. */
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

/** The limit for a task on a page's thread, on any machine: milliseconds of processor time. */
export const LONG_TASK_MS = 50;

/**
 * The longest task of a page while `work` runs, in milliseconds of processor time. Some systems count that in ticks, so one
 * measurement can be wrong by 20 ms: repeat it, and use the smallest result.
 */
export async function longestTaskOf(page: Page, work: () => Promise<void>): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('there is no browser to ask');
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await work();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  const threads = new Map<string, number[]>();
  for (const { name, pid, tid, args } of traceEvents)
    if (name === 'thread_name' && args?.name === 'CrRendererMain') threads.set(`${pid} ${tid}`, []);
  for (const { name, pid, tid, tdur = 0, dur = 0 } of traceEvents)
    if (name === 'RunTask') threads.get(`${pid} ${tid}`)?.push(Math.min(tdur, dur) / 1000);
  const sum = (tasks: readonly number[]): number => tasks.reduce((all, ms) => all + ms, 0);
  // Idle pages have separate threads.
  const [tasks = []] = [...threads.values()].sort((a, b) => sum(b) - sum(a));
  if (tasks.length === 0) throw new Error('the trace has no task of a page');
  return Math.max(...tasks);
}
