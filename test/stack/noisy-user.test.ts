// Two hundred users upload small files for a minute, without and with a hostile one. The service and the database share one core,
// the load has the other. The store is one of the tests, so that its time does not count.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type FakeStore, startFakeStore } from '../support/fake-store.ts';
import { copyExample, PAGE, type RunningExample, startExample } from '../support/service-s3.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Client, upload } from './support/client.ts';
import { type RunningDatabase, startDatabase } from './support/database.ts';

const USERS = 200;
const MINUTE_MS = 60_000;
/** A user begins a file this long after the last one. */
const PAUSE_MS = 15_000;

/** Returns the ids of a process and its children. */
function family(pid: number): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [`${pid}`, ...children.filter(Boolean)];
}
/** Lets a process and its children run on one core only. */
function pin(pid: number, core: number): void {
  for (const each of family(pid)) execFileSync('taskset', ['-acp', `${core}`, each]);
}
/** Milliseconds of the core that a process and its children have used, also those that have ended. */
function usedMs(pid: number): number {
  const ticksOf = (id: string): number =>
    readFileSync(`/proc/${id}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .slice(11, id === `${pid}` ? 15 : 13)
      .reduce((sum, ticks) => sum + Number(ticks), 0);
  return 10 * family(pid).reduce((sum, id) => sum + ticksOf(id), 0);
}

describe('The example for S3, with a hostile user', () => {
  let store: FakeStore;
  let database: RunningDatabase;
  let example: RunningExample;
  let server = 0;
  before(async () => {
    [store, database] = await Promise.all([startFakeStore(PAGE), startDatabase()]);
    const folder = copyExample(readFileSync(new URL('support/many-users.ts', import.meta.url), 'utf8'));
    const REPORTS = join(temporaryFolder(), 'reports');
    const settings = { S3_ENDPOINT: store.origin, DATABASE_URL: database.url, REPORTS, FAILING_REPORTS: '0' };
    example = await startExample('hono', settings, { folder });
    const file = join(await database.query('show data_directory'), 'postmaster.pid');
    server = Number.parseInt(readFileSync(file, 'utf8'), 10);
    for (const pid of [server, example.pid]) pin(pid, 0);
    pin(process.pid, 1);
  });
  after(async () => {
    await example.stop();
    await Promise.all([store.close(), database.stop()]);
  });

  interface Measured {
    readonly files: number;
    /** The 99th percentile of their times. */
    readonly slowestMs: number;
    readonly statuses: Record<string, number>;
    /** Of the core, for each file. */
    readonly serviceMs: number;
    readonly databaseMs: number;
  }
  async function measure(forMs = MINUTE_MS): Promise<Measured> {
    const before = [usedMs(example.pid), usedMs(server)];
    const statuses: Record<string, number> = {};
    const times: number[] = [];
    const endsAt = Date.now() + forMs;
    const work = Array.from({ length: USERS }, async (_, index) => {
      const onStatus = (status: number): unknown => (statuses[status] = (statuses[status] ?? 0) + 1);
      const client: Client = { user: `user-${index}`, baseUrl: () => example.baseUrl, onStatus };
      await sleep(Math.random() * PAUSE_MS);
      while (Date.now() < endsAt) {
        const begunMs = performance.now();
        await upload(client, 'a.bin', [2000 + index]);
        times.push(performance.now() - begunMs);
        await sleep(PAUSE_MS);
      }
    });
    await Promise.all(work);
    times.sort((one, other) => one - other);
    const [serviceMs = 0, databaseMs = 0] = [example.pid, server].map(
      (pid, index) => (usedMs(pid) - (before[index] ?? 0)) / times.length,
    );
    const slowestMs = times[Math.floor(times.length * 0.99)] ?? 0;
    return { files: times.length, slowestMs, statuses, serviceMs, databaseMs };
  }

  /** Starts the hostile user, on the core of the load. Resolves with the numbers of its answers when it is ended. */
  function attack(): () => Promise<Record<string, number>> {
    const script = fileURLToPath(new URL('support/hostile-user.ts', import.meta.url));
    // He has machines of his own, and must not take the core of the others' clients and of the store.
    const args = [
      '-n',
      '19',
      'taskset',
      '-c',
      '1',
      process.execPath,
      '--import',
      'tsx',
      script,
      example.baseUrl,
    ];
    const child = spawn('nice', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (text) => (said += text));
    return async () => {
      const closed = once(child, 'close');
      child.kill();
      await closed;
      return JSON.parse(said);
    };
  }

  test('the others are at most twice as slow, and none of them is refused', async (t) => {
    // The first requests are slow in any case.
    await measure(PAUSE_MS);
    const alone = await measure();
    const end = attack();
    const together = await measure();
    const hostile = await end();
    t.diagnostic(
      `without: ${JSON.stringify(alone)}; with: ${JSON.stringify(together)}; hostile: ${JSON.stringify(hostile)}`,
    );
    for (const { statuses } of [alone, together])
      for (const status of Object.keys(statuses)) assert.match(status, /^20[012]$/);
    // Each kind got through, and its excess was refused. A commit is answered with 202 if its scan takes long.
    const through = [['open 201'], ['commit 200', 'commit 202'], ['parse 400'], ['drip 408']];
    const refused = ['open', 'commit', 'parse', 'drip'].map((kind) => [`${kind} 429`]);
    for (const answers of [...through, ...refused])
      assert.ok(
        answers.some((answer) => hostile[answer]),
        answers.join(' or '),
      );
    assert.ok(together.slowestMs <= 2 * alone.slowestMs, 'the 99th percentile');
    assert.ok(2 * together.files >= alone.files, 'the rate');
  });
});
