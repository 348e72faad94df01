// Prints a line for each file of in-page tests and each engine, and writes the sums where `COUNT_FILE` says (scripts/test.mjs).
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const testsOf = (suite) => (suite ? [...suite.tests, ...suite.suites.flatMap(testsOf)] : []);

function countOf(session) {
  const tests = testsOf(session.testResults);
  const skipped = tests.filter((test) => test.skipped).length;
  const passed = tests.filter((test) => test.passed && !test.skipped).length;
  const failed = tests.length - skipped - passed;
  return { passed, skipped, failed: failed || (session.passed && tests.length ? 0 : 1) };
}

/** A Web Test Runner reporter. A file that broke, or that has no test, counts as one failure. */
export function countReporter(file = process.env.COUNT_FILE) {
  let rootDir;
  return {
    start({ config }) {
      rootDir = config.rootDir;
    },
    onTestRunFinished({ sessions }) {
      const sum = { passed: 0, failed: 0, skipped: 0 };
      for (const session of sessions) {
        const count = countOf(session);
        for (const key of Object.keys(sum)) sum[key] += count[key];
        const state = count.failed
          ? `${count.passed} passed, ${count.failed} failed`
          : `${count.passed} passed`;
        const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
        console.log(`${relative(rootDir, session.testFile)} in ${session.browser.name}: ${state}${skipped}`);
      }
      console.log(`\nIn pages: ${sum.passed} passed, ${sum.failed} failed`);
      if (file) writeFileSync(file, JSON.stringify(sum));
    },
  };
}
