// A `node --test` reporter for test.mjs. Prints nothing. Writes counts and failures to `COUNT_FILE` after every test, so that the
// results are known even if the run is interrupted.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Reason that Node gives for tests that `--test-name-pattern` skips. */
const LEFT_OUT_BY_NAME = 'test name does not match pattern';

const causeOf = (error) => error?.cause?.message ?? error?.cause ?? error?.message ?? error;

/**
 * Counts tests, not suites. A file that fails to load, or has no tests, counts as one failed test. Writes
 * `{passed, failed, skipped, failures: [{file, title, error}]}`.
 */
export default async function* countTests(source) {
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const running = new Map();
  const write = () => {
    if (process.env.COUNT_FILE) writeFileSync(process.env.COUNT_FILE, JSON.stringify(counts));
  };
  for await (const { type, data } of source) {
    const file = data?.file && relative(process.cwd(), data.file);
    const key = JSON.stringify([file, data?.nesting, data?.name]);
    if (type === 'test:dequeue') running.set(key, { file, title: data.name });
    if (type === 'test:complete') running.delete(key);
    // Node warns about a focused test (`only`). Without `--test-only`, Node runs all tests. With `--test-only`, Node would skip all
    // other tests.
    if (type === 'test:diagnostic' && data.message.includes('--test-only')) {
      counts.failed += 1;
      counts.failures.push({ file, title: 'the file', error: 'has a test with the option "only"' });
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // Node reports a file as a test only if it has reported no test in the file.
    const isFile =
      data.nesting === 0 && /\.[cm]?[jt]s$/.test(data.name) && (!data.file || data.file.endsWith(data.name));
    const title = isFile ? 'the file' : data.name;
    const fail = (error) => counts.failures.push({ file, title, error: String(error) });
    if (data.details?.type === 'suite') {
      // Failed tests are reported separately. A failed hook is reported only here.
      if (type === 'test:fail' && data.details.error?.failureType === 'hookFailed')
        fail(causeOf(data.details.error));
      continue;
    }
    if (data.skip === LEFT_OUT_BY_NAME) continue;
    if (data.skip !== undefined || data.todo !== undefined) {
      counts.skipped += 1;
      fail('was skipped');
    } else if (type === 'test:fail') {
      counts.failed += 1;
      const inside = [...running.values()].filter((each) => isFile && each.file === file);
      const until = inside.length ? ` (in: ${inside.map((each) => each.title).join(' > ')})` : '';
      fail(`${causeOf(data.details?.error)}${until}`);
    } else if (isFile) {
      counts.failed += 1;
      fail('ended without a test');
    } else counts.passed += 1;
    write();
  }
  write();
  yield '';
}
