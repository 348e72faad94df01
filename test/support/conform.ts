// Runs the checks of `secure-uploader conform` in this process.
import { conform, type Report } from '../../src/cli/conform.ts';
import { readOptions } from '../../src/cli/options.ts';

/**
 * Runs the checks with these options, such as `{ 'base-url': '…' }`. Tokens and
 * `limit`, the longest time of the run in seconds, are not options of the command line.
 */
export function runConform({
  token,
  'second-token': secondToken,
  limit,
  ...options
}: Readonly<Record<string, string>>): Promise<Report> {
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const read = readOptions(['conform', ...args]);
  if (!read) throw new Error('no options');
  const limitMs = limit === undefined ? read.limitMs : Number(limit) * 1000;
  return conform({ ...read, token, secondToken, limitMs });
}

/** Returns the failed checks, with what they expected and received. */
export const failuresOf = ({ results }: Report): string[] =>
  results
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ id, expected, received }) => `${id}: expected ${expected}, received ${received}`);
