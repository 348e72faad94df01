// Prints a line for each file of in-page tests and each browser engine when it has ended, and writes the results to `COUNT_FILE`.
import { relative } from 'node:path';
import { createResults } from '../../scripts/results.mjs';

/** Returns the tests of a suite and of its nested suites, each with its full title. */
function testsOf(suite, titles = []) {
  if (!suite) return [];
  const own = [...titles, ...(suite.name ? [suite.name] : [])];
  const tests = suite.tests.map((test) => ({ ...test, title: [...own, test.name].join(' > ') }));
  return [...tests, ...suite.suites.flatMap((each) => testsOf(each, own))];
}

/** Returns the result of a file. A file that breaks or has no test counts as one failed test. */
function resultOf({ testResults, errors, passed: isPassed }) {
  const tests = testsOf(testResults);
  const skipped = tests.filter((test) => test.skipped).length;
  const passed = tests.filter((test) => test.passed && !test.skipped).length;
  const failures = tests
    .filter((test) => test.skipped || !test.passed)
    .map(({ title, error, skipped: isSkipped }) => ({
      title,
      error: isSkipped ? 'was skipped' : (error?.message ?? 'no error'),
    }));
  failures.push(...errors.map(({ message }) => ({ title: 'the file', error: message })));
  const failed = tests.length - skipped - passed || (isPassed && tests.length ? 0 : 1);
  if (failed && failures.length === 0) failures.push({ title: 'the file', error: 'ended without a test' });
  return { passed, failed, skipped, failures };
}

/** Creates a Web Test Runner reporter. */
export function countReporter(path) {
  const results = createResults(path);
  const startedMs = new Map();
  const sum = { passed: 0, failed: 0 };
  return {
    start({ config, sessions }) {
      sessions.on('session-status-updated', (session) => {
        const file = relative(config.rootDir, session.testFile);
        const key = { file, engine: session.browser.name };
        if (!startedMs.has(session.id)) {
          startedMs.set(session.id, performance.now());
          results.add(key);
        }
        if (session.status !== 'FINISHED') return;
        const { passed, failed, skipped, failures } = resultOf(session);
        const seconds = (performance.now() - startedMs.get(session.id)) / 1000;
        const titles = testsOf(session.testResults).flatMap((test) => (test.passed ? [test.name] : []));
        results.add({ ...key, passed, failed, skipped, failures });
        results.end({ ...key, seconds, titles });
        sum.passed += passed;
        sum.failed += failed + skipped;
        const shown = failed + skipped ? `${passed} passed, ${failed + skipped} failed` : `${passed} passed`;
        console.log(`${file} in ${key.engine}: ${shown} (${seconds.toFixed(1)} s)`);
      });
    },
    onTestRunFinished() {
      console.log(`\nIn pages: ${sum.passed} passed, ${sum.failed} failed`);
    },
  };
}
