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

/** Returns the median of an odd number of results. */
export const medianOf = (results: readonly number[]): number =>
  [...results].sort((a, b) => a - b)[(results.length - 1) / 2] ?? Number.NaN;

/** Limit for one task on a page's thread, in milliseconds of processor time. */
export const LONG_TASK_MS = 50;

/**
 * Returns the duration of the longest task of `page` while `work` runs, in milliseconds of processor time. Some systems count
 * processor time in ticks, so a result can be wrong by 20 ms. Callers must measure several times and use `medianOf`.
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
  // The trace may also contain threads of idle pages. The thread with the most work belongs to `page`.
  const [tasks = []] = [...threads.values()].sort((a, b) => sum(b) - sum(a));
  if (tasks.length === 0) throw new Error('the trace has no task of a page');
  return Math.max(...tasks);
}
