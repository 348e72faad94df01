// 200 simulated clients upload small files for a minute, through nginx and two processes.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { SETTINGS } from '../support/service-s3.ts';
import { type Client, upload } from './support/client.ts';
import { type RunningDatabase, startDatabase } from './support/database.ts';
import { type RunningProxy, startNginx } from './support/nginx.ts';
import { freePort } from './support/ports.ts';
import {
  exampleFolder,
  type Folder,
  type RunningProcess,
  runScript,
  startProcess,
} from './support/processes.ts';
import { type RunningStore, startStore } from './support/store.ts';

const CLIENTS = 200;
const MINUTE_MS = 60_000;

describe('The example for S3, with 200 clients', () => {
  let store: RunningStore;
  let database: RunningDatabase;
  let folder: Folder;
  let proxy: RunningProxy;
  let processes: RunningProcess[] = [];

  before(async () => {
    [store, database] = await Promise.all([startStore(), startDatabase()]);
    folder = exampleFolder();
    // A process that kept something of each upload would end.
    const NODE_OPTIONS = '--max-old-space-size=64';
    const settings = { ...SETTINGS, ...store.settings, DATABASE_URL: database.url, NODE_OPTIONS };
    await runScript(folder, 'bucket.ts', settings);
    processes = await Promise.all([startProcess(folder, settings), startProcess(folder, settings)]);
    proxy = await startNginx(
      await freePort(),
      processes.map(({ baseUrl }) => baseUrl),
    );
  });
  after(async () => {
    await proxy.stop();
    for (const each of processes) await each.kill('SIGTERM');
    await Promise.all([store.stop(), database.stop()]);
    rmSync(folder.path, { recursive: true, force: true });
  });

  const residentMiB = ({ pid }: RunningProcess): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

  /** Lets all clients upload for a minute. Resolves with the number of files and of each status, and the memory of each second. */
  async function load(userOf: (index: number) => string) {
    const statuses = new Map<string, number>();
    const memory: number[] = [];
    const endsAt = Date.now() + MINUTE_MS;
    let files = 0;
    const timer = setInterval(() => memory.push(Math.max(...processes.map(residentMiB))), 1000);
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, index) => {
        const onStatus = (status: number): unknown =>
          statuses.set(`${status}`, (statuses.get(`${status}`) ?? 0) + 1);
        const client: Client = { user: userOf(index), baseUrl: () => proxy.baseUrl, onStatus };
        while (Date.now() < endsAt) {
          await upload(client, `${index}.bin`, [20_000 + index]);
          files += 1;
        }
      }),
    );
    clearInterval(timer);
    return { files, memory, statuses: Object.fromEntries(statuses) };
  }
  const mean = (numbers: readonly number[]): number =>
    numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

  test('answers each with its own user without an error, and needs no more memory at the end', async (t) => {
    const { files, memory, statuses } = await load((index) => `user-${index}`);
    const early = mean(memory.slice(15, 30));
    const late = mean(memory.slice(-15));
    t.diagnostic(
      `${files} files, ${JSON.stringify(statuses)}, ${early.toFixed(0)} MiB, then ${late.toFixed(0)} MiB`,
    );
    assert.deepEqual(Object.keys(statuses).sort(), ['200', '201']);
    assert.ok(late < early * 1.25);
    while (new Set(folder.reports().map(({ id }) => id)).size < files)
      await new Promise((resolve) => setTimeout(resolve, 100));
  });

  test('answers all with one user with 429 above the default limits, and with nothing else', async (t) => {
    const { files, statuses } = await load(() => 'user-one');
    t.diagnostic(`${files} files, ${JSON.stringify(statuses)}`);
    assert.deepEqual(Object.keys(statuses).sort(), ['200', '201', '429']);
  });
});
