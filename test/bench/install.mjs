// Installs the dependencies of a tool that has its own `package.json` (the bench, the checks of the site), and those of the project
// if they are missing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Installs the dependencies in `folder`, a folder of test/, and those of the project. Exits the process with a message if that
 * fails.
 */
export function install(folder) {
  const root = join(folder, '../..');
  if (!existsSync(join(root, 'node_modules/playwright'))) {
    const { status } = spawnSync(process.execPath, [join(root, 'scripts/setup.mjs'), '--browser'], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
  }
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .update(process.version)
    .digest('hex');
  const stamp = join(folder, 'node_modules/.stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log(`${basename(folder)}: installing its packages (npm ci)`);
  const npmScript = process.env.npm_execpath;
  const [command, args] = npmScript?.endsWith('js') ? [process.execPath, [npmScript]] : ['npm', []];
  const { status } = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (status !== 0) {
    console.error(`${basename(folder)}: npm ci failed; see above.`);
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
