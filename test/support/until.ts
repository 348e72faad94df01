// Waiting for what no event announces, in tests that run in Node.

/** Time limit for an expected event. Long enough for a busy machine. */
export const TIMEOUT_MS = 120_000;

/** Calls `read` until it returns a value that is not falsy. Rejects at the time limit, with `describe()`. */
export async function until<T>(
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
