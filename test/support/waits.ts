// What a test waits for, so that the report of a test that hangs says it: the error of its timeout, and the report of a file that
// does not end (test/support/unended-tests.mjs).

/** Functions that describe what the test waits for now, oldest first. */
export const waits = new Set<() => string>();

/** Returns what the test waits for as the end of a sentence; empty if nothing is known. */
const described = (): string =>
  waits.size > 0 ? `, waits for ${[...waits].map((says) => says()).join('; ')}` : '';

Object.assign(globalThis, { waitsOfTest: described });

afterEach(function nameWaits() {
  const { timedOut, err } = this.currentTest as Mocha.Test & {
    readonly timedOut?: boolean;
    readonly err?: Error;
  };
  if (timedOut && err) err.message += described();
  waits.clear();
});
