// A `node --test` reporter for test.mjs. Prints nothing. Writes the results of the files to `COUNT_FILE` after every test, so that
// they are known even if the run is interrupted.
import { relative } from 'node:path';
import { createResults } from './results.mjs';

/** Reason that Node gives for tests that `--test-name-pattern` skips. */
const LEFT_OUT_BY_NAME = 'test name does not match pattern';

const causeOf = (error) => error?.cause?.message ?? error?.cause ?? error?.message ?? error;

/** Counts tests, not groups. A file that fails to load, or has no tests, counts as one failed test. */
export default async function* countTests(source) {
  const results = createResults();
  const running = new Map();
  for await (const { type, data } of source) {
    // An event of a file has the file's path as its name.
    const isFile =
      data?.nesting === 0 && /\.[cm]?[jt]s$/.test(data.name) && (!data.file || data.file.endsWith(data.name));
    const file = data?.file && relative(process.cwd(), data.file);
    const key = JSON.stringify([file, data?.nesting, data?.name]);
    const fail = (title, error) =>
      results.add({ file, failed: 1, failures: [{ title, error: String(error) }] });
    if (type === 'test:dequeue') {
      running.set(key, { file, title: data.name, isFile });
      if (isFile) results.add({ file });
    }
    if (type === 'test:complete') {
      running.delete(key);
      if (isFile) results.end({ file, seconds: data.details.duration_ms / 1000 });
    }
    // Node warns about a focused test (`only`). Without `--test-only`, Node runs all tests. With `--test-only`, Node would skip all
    // other tests.
    if (type === 'test:diagnostic' && data.message.includes('--test-only'))
      fail('the file', 'has a test with the option "only"');
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const error = causeOf(data.details?.error);
    if (data.details?.type === 'suite') {
      // Failed tests are reported separately. A failed hook is reported only here.
      if (type === 'test:fail' && data.details.error?.failureType === 'hookFailed') fail(data.name, error);
      continue;
    }
    if (data.skip === LEFT_OUT_BY_NAME) continue;
    if (data.skip !== undefined || data.todo !== undefined) {
      results.add({ file, skipped: 1, failures: [{ title: data.name, error: 'was skipped' }] });
    } else if (type === 'test:fail' && isFile) {
      // Node reports a file as a test only if it has reported no test in the file, or if the file was ended.
      const inside = [...running.values()].filter((each) => each.file === file && !each.isFile);
      const until = inside.length ? ` (in: ${inside.map((each) => each.title).join(' > ')})` : '';
      fail('the file', `${error}${until}`);
    } else if (type === 'test:fail') fail(data.name, error);
    else if (isFile) fail('the file', 'ended without a test');
    else results.add({ file, passed: 1 });
  }
  yield '';
}
