// `npm run test:stack`: runs test/stack with PostgreSQL, PgBouncer, nginx and a real S3-compatible store (Ceph RGW), which it
// installs on Debian as root. `npm run test:stack -- crashes` runs only the files with this name.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { filesUnder } from './files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The packages, and a file of each. */
const PACKAGES = {
  radosgw: '/usr/bin/radosgw',
  'ceph-mon': '/usr/bin/ceph-mon',
  'ceph-osd': '/usr/bin/ceph-osd',
  'ceph-common': '/usr/bin/ceph',
  postgresql: '/usr/lib/postgresql',
  pgbouncer: '/usr/sbin/pgbouncer',
  'nginx-light': '/usr/sbin/nginx',
};

/** Installs what is missing. Returns why that is not possible; `undefined` if everything is installed. */
function install() {
  const missing = () => Object.keys(PACKAGES).filter((name) => !existsSync(PACKAGES[name]));
  if (process.getuid?.() !== 0) return 'the store has to be started as root';
  if (missing().length === 0) return undefined;
  if (!existsSync('/usr/bin/apt-get'))
    return `${missing().join(', ')} are installed with apt-get, which this system does not have`;
  console.log(`test:stack: installing ${missing().join(', ')}`);
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit' });
  const args = ['install', '-y', '-qq', '--no-install-recommends', ...missing()];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  return missing().length === 0 ? undefined : `apt-get could not install ${missing().join(', ')}`;
}

const problem = install();
if (problem) {
  console.error(`test:stack: not run, because ${problem}.`);
  process.exit(1);
}
const [name = ''] = process.argv.slice(2);
const files = filesUnder(root, ['test/stack'], /\.test\.ts$/).filter((file) => file.includes(name));
const args = ['--import', 'tsx', '--test', '--test-concurrency=1', ...files];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
