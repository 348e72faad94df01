// Counts the in-page tests and writes the sums where `COUNT_FILE` says, for scripts/test.mjs. Prints nothing.
import { writeFileSync } from 'node:fs';

const testsOf = (suite) => (suite ? [...suite.tests, ...suite.suites.flatMap(testsOf)] : []);

/** A Web Test Runner reporter. A file that broke without a result counts as one failure. */
export function countReporter(file = process.env.COUNT_FILE) {
  return {
    onTestRunFinished({ sessions, testRun }) {
      if (!file || testRun < 0) return;
      const counts = { passed: 0, failed: 0, skipped: 0 };
      for (const session of sessions) {
        const tests = testsOf(session.testResults);
        const failed = tests.filter((test) => !test.passed && !test.skipped).length;
        counts.passed += tests.filter((test) => test.passed && !test.skipped).length;
        counts.skipped += tests.filter((test) => test.skipped).length;
        counts.failed += failed || (session.passed ? 0 : 1);
      }
      writeFileSync(file, JSON.stringify(counts));
    },
  };
}
