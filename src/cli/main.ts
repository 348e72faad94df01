// The command `secure-uploader`.

import { conform } from './conform.ts';
import { HELP, readOptions } from './options.ts';
import { reportText } from './report.ts';

try {
  const options = readOptions(process.argv.slice(2));
  if (options) {
    const report = await conform(options);
    process.stdout.write(options.isJson ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
    process.exitCode = Math.min(1, report.failed);
  } else process.stdout.write(`${HELP}\n`);
} catch (error) {
  process.stderr.write(`secure-uploader: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
