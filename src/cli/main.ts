// The command `secure-uploader`.

import { conform } from './conform.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { reportText } from './report.ts';

function read(): Options | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`secure-uploader: ${(error as Error).message}\n`);
    process.exit(2);
  }
}

const options = read();
if (options === undefined) process.stdout.write(`${HELP}\n`);
else {
  const report = await conform(options);
  process.stdout.write(options.isJson ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  process.exitCode = report.failed === 0 ? 0 : 1;
}
