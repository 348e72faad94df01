// Runs the checks of `secure-uploader conform` in this process.
import { conform, type Report } from '../../src/cli/conform.ts';
import { readOptions } from '../../src/cli/options.ts';

/** Runs the checks with these options, such as `{ 'base-url': '…' }`. */
export function runConform(options: Readonly<Record<string, string>>): Promise<Report> {
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const read = readOptions(['conform', ...args]);
  if (!read) throw new Error('no options');
  return conform(read);
}

/** Returns the failed checks, with what they expected and received. */
export const failuresOf = ({ results }: Report): string[] =>
  results
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ id, expected, received }) => `${id}: expected ${expected}, received ${received}`);
