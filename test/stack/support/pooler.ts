// Starts PgBouncer in transaction mode in front of a database, otherwise with its default settings. Runs as the user `postgres`.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { freePort } from './ports.ts';

const exec = promisify(execFile);

export interface RunningPooler {
  /** Replaces the URL of the database. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The pooler has `size` connections to the database. `more` are lines of its settings. */
export async function startPooler(
  databaseUrl: string,
  size: number,
  ownPort?: number,
  more = '',
): Promise<RunningPooler> {
  const idOf = async (kind: string) => Number((await exec('id', [kind, 'postgres'])).stdout);
  const user = { uid: await idOf('-u'), gid: await idOf('-g') };
  const folder = temporaryFolder();
  await chown(folder, user.uid, user.gid);
  const port = ownPort ?? (await freePort());
  const { hostname, port: databasePort, username, pathname } = new URL(databaseUrl);
  const settings = `[databases]
* = user=${username} host=${hostname} port=${databasePort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${size}
${more}
`;
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, settings);
  const child = spawn('/usr/sbin/pgbouncer', [file], { ...user, cwd: folder });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  await until(
    () => said.includes('process up') || child.exitCode !== null,
    () => said,
  );
  if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
