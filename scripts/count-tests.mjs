// A reporter of `node --test` that prints nothing and writes the sums where `COUNT_FILE` says, for test.mjs.
import { writeFileSync } from 'node:fs';

/** Counts tests, not suites; a file that broke, or that ended without a single test, counts as one failed test. */
export default async function* countTests(source) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of source) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details?.type === 'suite') continue;
    // Node reports the file itself only where nothing inside it was reported.
    const isFile =
      data.nesting === 0 && /\.[cm]?[jt]s$/.test(data.name) && (!data.file || data.file.endsWith(data.name));
    if (data.skip !== undefined || data.todo !== undefined) counts.skipped += 1;
    else if (type === 'test:fail' || isFile) counts.failed += 1;
    else counts.passed += 1;
  }
  if (process.env.COUNT_FILE) writeFileSync(process.env.COUNT_FILE, JSON.stringify(counts));
  yield '';
}
