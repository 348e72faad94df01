// Starts Ceph RGW on free ports with a new, empty store.
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const script = fileURLToPath(new URL('../../../scripts/ceph-rgw.sh', import.meta.url));

export interface RunningStore {
  /** The settings `S3_ENDPOINT`, `S3_REGION`, `S3_ACCESS_KEY_ID` and `S3_SECRET_ACCESS_KEY`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Stops the gateway; the objects stay. */
  interrupt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function startStore(): Promise<RunningStore> {
  const folder = await mkdtemp(join(tmpdir(), 'ceph-'));
  // The OSD uses the 16 ports after that of the monitor, below the range of free ports.
  const monPort = 12_000 + Math.floor(Math.random() * 1000) * 17;
  const ports = [String(await freePort()), String(monPort)];
  const start = (): Promise<{ stdout: string }> => exec(script, ['start', folder, ...ports]);
  const { stdout } = await start();
  const lines = stdout.trim().split('\n');
  return {
    settings: Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2))),
    interrupt: async () => void (await exec(script, ['outage', folder])),
    resume: async () => void (await start()),
    stop: async () => void (await exec(script, ['stop', folder])),
  };
}
