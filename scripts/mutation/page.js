// Runs in the page of a test file before the tests. `JOB` is replaced by `{active, titles, limits, spareMs}`. Keeps only the tests
// in `titles`, and ends each test at its limit. Records the duration of each test and the mutants that it reached in
// `__mutationRecord`.
{
  const { active, titles, limits, spareMs } = JOB;
  const wanted = titles && new Set(titles);
  const record = { milliseconds: {}, reached: {}, failed: undefined };
  globalThis.__mutationRecord = record;
  // Code that runs before the first test is attributed to all tests.
  let current = '';
  let startedAt = 0;
  const reach = (id, count = 1) => {
    record.reached[current] ??= {};
    const counts = record.reached[current];
    counts[id] = (counts[id] ?? 0) + count;
  };
  if (active === 0) {
    globalThis.__mutantReached = reach;
    new BroadcastChannel('secure-uploader-mutants').onmessage = ({ data }) => {
      for (const [id, count] of data) reach(id, count);
    };
  }
  const prune = (suite) => {
    suite.tests = suite.tests.filter((test) => wanted.has(test.fullTitle()));
    suite.suites.forEach(prune);
    suite.suites = suite.suites.filter((inner) => inner.tests.length + inner.suites.length > 0);
  };
  const rootHooks = {
    beforeAll() {
      if (wanted) prune(this.test.parent);
    },
    beforeEach() {
      current = this.currentTest.fullTitle();
      startedAt = performance.now();
      const limit = limits?.[current];
      if (limit === undefined) return;
      const { timeout } = this.currentTest;
      timeout.call(this.currentTest, limit + spareMs);
    },
    afterEach() {
      const test = this.currentTest;
      record.milliseconds[test.fullTitle()] = performance.now() - startedAt;
      if (test.state === 'failed')
        record.failed ??= { title: test.fullTitle(), message: String(test.err?.message ?? test.err) };
    },
  };
  const config = globalThis.__WTR_CONFIG__;
  config.testFrameworkConfig = { ...config.testFrameworkConfig, bail: active !== 0, rootHooks };
}
