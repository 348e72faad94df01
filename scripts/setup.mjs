// Prepares a fresh checkout: installs dependencies, with --browser also Chromium, and with --engines also Firefox and WebKit. npm
// runs this script before `start` and `test`, so it may import only modules that need no installation.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSet, provideChromium, provideEngines, runRepeatedly } from './browser.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = join(root, 'node_modules');
const stampFile = join(packages, '.setup-stamp');
const has = (name) => process.argv.includes(name);

function fail(sentence) {
  console.error(`setup: ${sentence}`);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node 20.19 or later is needed, this is ${process.version}.`);
}

function installDependencies() {
  // A symbolic link leads to the packages of another checkout, which npm ci would delete.
  if (lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(process.version)
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  console.log('setup: installing dependencies (npm ci)');
  const npmScript = process.env.npm_execpath;
  const [command, args] = npmScript?.endsWith('js') ? [process.execPath, [npmScript]] : ['npm', []];
  const env = { ...process.env, PUPPETEER_SKIP_DOWNLOAD: '1', PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' };
  const shell = process.platform === 'win32' && command === 'npm';
  const isInstalled = runRepeatedly(command, [...args, 'ci', '--no-audit', '--no-fund'], {
    cwd: root,
    env,
    shell,
  });
  if (!isInstalled) fail('npm ci failed; see above.');
  writeFileSync(stampFile, wanted);
}

checkNode();
if (!isSet('SKIP_INSTALL')) installDependencies();
try {
  const engines = has('--engines');
  const problem =
    (has('--browser') || engines ? provideChromium(root) : undefined) ??
    (engines ? provideEngines() : undefined);
  if (problem) fail(problem);
} catch (error) {
  fail(error.message);
}
