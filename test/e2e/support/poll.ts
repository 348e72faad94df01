// Waiting for what no event announces.
import { TIMEOUT_MS } from './browser.ts';

/** Calls `read` until it returns a value that is not falsy. Rejects after two minutes, with `describe()`. */
export async function poll<T>(
  read: () => T | Promise<T>,
  describe: () => string = () => String(read),
): Promise<Exclude<T, false | null | undefined>> {
  for (const endsAtMs = performance.now() + TIMEOUT_MS; ; ) {
    const value = await read();
    if (value) return value as Exclude<T, false | null | undefined>;
    if (performance.now() > endsAtMs) throw new Error(`not within ${TIMEOUT_MS} ms: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
