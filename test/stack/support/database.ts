// Starts PostgreSQL on a free port with a new, empty cluster. Runs as root, because the server has to run as the user `postgres`.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { freePort } from './ports.ts';

const exec = promisify(execFile);
const VERSIONS = '/usr/lib/postgresql';
/** The server needs no password. Tests search logs for this one. */
export const DATABASE_PASSWORD = 'database-password-0001';

export interface RunningDatabase {
  readonly url: string;
  /** Runs SQL with psql. Resolves with the values, one row in a line. */
  query(sql: string): Promise<string>;
  /** Kills the server, as a crash would. What was committed stays. */
  interrupt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Returns the path of a program of the newest PostgreSQL that is installed. */
function program(name: string): string {
  const [version] = readdirSync(VERSIONS).sort((one, other) => Number(other) - Number(one));
  return join(VERSIONS, `${version}`, 'bin', name);
}

/** A process that has ended, but that no process has waited for, has an empty command line. */
const isRunning = async (pid: string): Promise<boolean> =>
  (await readFile(`/proc/${pid}/cmdline`).catch(() => '')).length > 0;

export async function startDatabase(): Promise<RunningDatabase> {
  const idOf = async (kind: string) => Number((await exec('id', [kind, 'postgres'])).stdout);
  const user = { uid: await idOf('-u'), gid: await idOf('-g') };
  const folder = temporaryFolder();
  await chown(folder, user.uid, user.gid);
  const port = await freePort();
  const options = { ...user, cwd: folder };
  const cluster = ['-U', 'demo', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await exec(program('initdb'), ['-D', folder, ...cluster], options);
  await writeFile(join(folder, 'pg_hba.conf'), 'host all demo 127.0.0.1/32 trust\n');
  const settings = [
    `port = ${port}`,
    `listen_addresses = '127.0.0.1'`,
    `unix_socket_directories = ''`,
    'fsync = on',
  ];
  await writeFile(join(folder, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  const url = `postgres://demo:${DATABASE_PASSWORD}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const child = spawn(program('postgres'), ['-D', folder], options);
    server = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`PostgreSQL ended: ${said}`)));
      child.stderr.on('data', (text) => {
        said += text;
        if (said.includes('ready to accept connections')) resolve();
      });
    });
  }

  /** Sends a signal to the server. Resolves when all its processes have ended: until then, a new server does not start. */
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!server?.pid || server.exitCode !== null || server.signalCode !== null) return;
    const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
    for (const each of children.split(' ').filter(Boolean)) while (await isRunning(each)) await sleep(20);
  }

  await start();
  return {
    url,
    async query(sql) {
      const args = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-c', sql, url];
      return (await exec(program('psql'), args)).stdout.trim();
    },
    interrupt: () => end('SIGKILL'),
    resume: start,
    async stop() {
      await end('SIGQUIT');
    },
  };
}
