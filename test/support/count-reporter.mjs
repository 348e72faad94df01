// Prints a line for each file of in-page tests and each browser engine. Writes the totals, the names of the passed tests by engine,
// and the failed tests with their errors, to `COUNT_FILE` for scripts/test.mjs and scripts/journeys.mjs.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Returns the tests of a suite and of its nested suites, each with its full title. */
function testsOf(suite, titles = []) {
  if (!suite) return [];
  const own = [...titles, ...(suite.name ? [suite.name] : [])];
  const tests = suite.tests.map((test) => ({ ...test, title: [...own, test.name].join(' > ') }));
  return [...tests, ...suite.suites.flatMap((each) => testsOf(each, own))];
}

function countOf(session) {
  const tests = testsOf(session.testResults);
  const skipped = tests.filter((test) => test.skipped).length;
  const passed = tests.filter((test) => test.passed && !test.skipped).length;
  const failed = tests.length - skipped - passed;
  return { passed, skipped, failed: failed || (session.passed && tests.length ? 0 : 1) };
}

/** Returns the failed tests of a session. If no test failed, returns the errors that prevented the tests from running. */
function failuresOf(session, file) {
  const engine = session.browser.name;
  const failed = testsOf(session.testResults).filter((test) => test.skipped || !test.passed);
  const failures = failed.map(({ title, error, skipped }) => ({
    ...{ file, engine, title },
    error: skipped ? 'was skipped' : (error?.message ?? 'no error'),
  }));
  const errors = session.errors.map(({ message }) => ({ file, engine, title: 'the file', error: message }));
  if (failures.length || errors.length || countOf(session).failed === 0) return [...failures, ...errors];
  return [{ file, engine, title: 'the file', error: 'ended without a test' }];
}

/** Creates a Web Test Runner reporter. A file that breaks or has no test counts as one failure. */
export function countReporter(file = process.env.COUNT_FILE) {
  let rootDir;
  return {
    start({ config }) {
      rootDir = config.rootDir;
    },
    onTestRunFinished({ sessions }) {
      const sum = { passed: 0, failed: 0, skipped: 0 };
      const failures = [];
      const passedIn = {};
      for (const session of sessions) {
        const count = countOf(session);
        for (const key of Object.keys(sum)) sum[key] += count[key];
        const path = relative(rootDir, session.testFile);
        failures.push(...failuresOf(session, path));
        passedIn[session.browser.name] ??= [];
        for (const { name, passed } of testsOf(session.testResults))
          if (passed) passedIn[session.browser.name].push(name);
        const state = count.failed
          ? `${count.passed} passed, ${count.failed} failed`
          : `${count.passed} passed`;
        const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
        console.log(`${path} in ${session.browser.name}: ${state}${skipped}`);
      }
      console.log(`\nIn pages: ${sum.passed} passed, ${sum.failed} failed`);
      if (file) writeFileSync(file, JSON.stringify({ ...sum, failures, passedIn }));
    },
  };
}
