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

const hasEnded = ({ status }) => status === 'FINISHED';

/**
 * Creates a Web Test Runner reporter. A file that breaks or has no test counts as one failure. Prints and counts files while the
 * run continues, so that the results are known even if it is interrupted.
 */
export function countReporter(file = process.env.COUNT_FILE) {
  let rootDir;
  const printed = new Set();
  const pathOf = ({ testFile }) => relative(rootDir, testFile);

  function print(session) {
    const count = countOf(session);
    const state = count.failed ? `${count.passed} passed, ${count.failed} failed` : `${count.passed} passed`;
    const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
    console.log(`${pathOf(session)} in ${session.browser.name}: ${state}${skipped}`);
    printed.add(session.id);
  }

  function count(sessions, unfinished = []) {
    const sum = { passed: 0, failed: 0, skipped: 0 };
    const failures = [];
    const passedIn = {};
    for (const session of sessions) {
      const counted = countOf(session);
      for (const key of Object.keys(sum)) sum[key] += counted[key];
      failures.push(...failuresOf(session, pathOf(session)));
      passedIn[session.browser.name] ??= [];
      for (const { name, passed } of testsOf(session.testResults))
        if (passed) passedIn[session.browser.name].push(name);
      if (!printed.has(session.id)) print(session);
    }
    if (file) writeFileSync(file, JSON.stringify({ ...sum, failures, passedIn, unfinished }));
    return sum;
  }

  return {
    start({ config }) {
      rootDir = config.rootDir;
    },
    // Called when a file ends, at most every 10 s.
    getTestProgress({ sessions }) {
      const running = sessions.filter((session) => session.status !== 'SCHEDULED' && !hasEnded(session));
      const nameOf = (session) => `${pathOf(session)} in ${session.browser.name}`;
      count(sessions.filter(hasEnded), running.map(nameOf));
      return [];
    },
    onTestRunFinished({ sessions }) {
      const { passed, failed } = count(sessions);
      console.log(`\nIn pages: ${passed} passed, ${failed} failed`);
    },
  };
}
