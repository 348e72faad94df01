// `npm run test:stack`: runs test/stack against a real S3-compatible store (Ceph RGW), which it installs on Debian as root.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { filesUnder } from './files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common'];

/** Installs Ceph if it is missing. Returns why that is not possible; `undefined` if Ceph is installed. */
function installCeph() {
  const isInstalled = () =>
    ['radosgw', 'ceph-mon', 'ceph-osd'].every((name) => existsSync(`/usr/bin/${name}`));
  if (process.getuid?.() !== 0) return 'the store has to be started as root';
  if (isInstalled()) return undefined;
  if (!existsSync('/usr/bin/apt-get'))
    return 'Ceph is installed with apt-get, which this system does not have';
  console.log(`test:stack: installing ${PACKAGES.join(', ')}`);
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit' });
  const args = ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  return isInstalled() ? undefined : 'apt-get could not install Ceph';
}

const problem = installCeph();
if (problem) {
  console.error(`test:stack: not run, because ${problem}.`);
  process.exit(1);
}
const files = filesUnder(root, ['test/stack'], /\.test\.ts$/);
const args = ['--import', 'tsx', '--test', '--test-concurrency=1', ...files];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
