// The results of the test files of a suite. The reporters write them to `COUNT_FILE` while the suite runs.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const NOTHING = { passed: 0, failed: 0, skipped: 0 };

/**
 * Collects results, each `{file, engine, seconds, passed, failed, skipped, failures: [{title, error}]}`. `engine` is undefined
 * outside pages, and `seconds` until the file has ended. Writes them to `path` after each change.
 */
export function createResults(path = process.env.COUNT_FILE) {
  const results = new Map();
  const change = ({ file, engine }, update) => {
    const key = JSON.stringify([file, engine]);
    if (!results.has(key)) results.set(key, { file, engine, ...NOTHING, failures: [] });
    update(results.get(key));
    if (!path) return;
    // The process may be killed at any time, so the file is replaced as a whole.
    writeFileSync(`${path}.new`, JSON.stringify([...results.values()]));
    renameSync(`${path}.new`, path);
  };
  return {
    add(more) {
      change(more, (result) => {
        for (const name of Object.keys(NOTHING)) result[name] += more[name] ?? 0;
        result.failures.push(...(more.failures ?? []));
      });
    },
    /** Ends a file. `titles` are those of the passed tests, if the reporter knows them. */
    end(more) {
      change(more, (result) => Object.assign(result, more));
    },
  };
}

/** Returns the results in a file; none if no test has ended. */
export const readResults = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []);
