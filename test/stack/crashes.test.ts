// Two processes, PostgreSQL, PgBouncer and the gateway of the store are killed at random moments while files are uploaded, or stand
// still for longer than a lease (3 s here), or the line to the store breaks connections, loses answers and says 503. The seed of
// each run is printed. `SEED=` repeats its sizes and the order of its kills, not their moments; `RUNS=` sets the number of runs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../server/malformed.ts';
import { type BadLine, type Fault, startBadLine } from './support/bad-line.ts';
import { type Client, type Sent, upload } from './support/client.ts';
import { type RunningPooler, startPooler } from './support/pooler.ts';
import { type Stack, startStack } from './support/stack.ts';

const MIB = 2 ** 20;
const { RUNS = '20', SEED } = process.env;

describe('The example for S3, killed at random moments', () => {
  let stack: Stack;
  let line: BadLine;
  let pooler: RunningPooler;
  /** Fewer connections than each of the two processes may have. After a failed one, PgBouncer would wait for 15 seconds. */
  const pool = (url: string, port?: number): Promise<RunningPooler> =>
    startPooler(url, 8, port, 'server_login_retry = 1');
  before(async () => {
    stack = await startStack(async ({ store, database }) => {
      line = await startBadLine(store.settings.S3_ENDPOINT ?? '');
      pooler = await pool(database.url);
      return { SLOW_REFUSALS: '0.2', S3_ENDPOINT: line.origin, DATABASE_URL: pooler.url };
    });
  });
  after(async () => {
    await stack.stop();
    await Promise.all([line.close(), pooler.stop()]);
  });

  const PARTS = 'process 1,process 2,database,store,pause,pooler,burst of 503,broken line'.split(',');
  /** Half of the requests on a broken line get through. */
  const BROKEN: (Fault | undefined)[] = ['reset', 'lost', undefined, undefined];

  /** Kills parts at random moments until `isOver`. Resolves with what was killed, when all run again. */
  async function killUntil(isOver: () => boolean, random: () => number): Promise<string[]> {
    const killed: string[] = [];
    const { processes, database, store, start } = stack;
    while (!isOver()) {
      await sleep(100 + random() * 1200);
      const part = Math.floor(random() * PARTS.length);
      const isLong = random() < 0.2;
      const outageMs = random() * (isLong ? 5000 : 1000);
      killed.push(`${PARTS[part]}${isLong ? ' (long)' : ''}`);
      if (part < 2) {
        await processes[part]?.stop('SIGKILL');
        processes[part] = await start();
      } else if (part === 2) {
        await database.interrupt();
        await sleep(outageMs);
        await database.resume();
      } else if (part === 3) {
        await store.kill();
        await sleep(outageMs);
        await store.resume();
      } else if (part === 5) {
        await pooler.stop();
        await sleep(outageMs);
        pooler = await pool(database.url, Number(new URL(pooler.url).port));
      } else if (part > 5) {
        line.fault = () => (part === 6 ? 'busy' : BROKEN[Math.floor(Math.random() * BROKEN.length)]);
        await sleep(outageMs);
        line.fault = () => undefined;
      } else {
        const { pid = 0 } = processes[isLong ? 1 : 0] ?? {};
        process.kill(pid, 'SIGSTOP');
        await sleep(3000 + outageMs);
        process.kill(pid, 'SIGCONT');
      }
    }
    return killed;
  }

  const runs = SEED ? 1 : Number(RUNS);
  for (let run = 1; run <= runs; run += 1) {
    const seed = SEED ? Number(SEED) : Math.floor(Math.random() * 2 ** 31);
    test(`all files are complete, reported, and nothing else is listed, run ${run}, SEED=${seed}`, {
      timeout: 180_000,
    }, async (t) => {
      const random = randomFrom(seed);
      const { store, processes } = stack;
      const user = `user-${run}_${seed}`;
      const client: Client = {
        user,
        baseUrl: () => processes[Math.random() < 0.5 ? 0 : 1]?.baseUrl ?? '',
      };
      const size = (): number => 5 * MIB + Math.floor(random() * MIB);
      let isOver = false;
      const files = Promise.all([
        ...Array.from({ length: 4 }, (_, index) =>
          upload(client, `small-${index}.bin`, [Math.floor(random() * MIB) + 1]),
        ),
        ...Array.from({ length: 4 }, (_, index) =>
          upload(client, `large-${index}.bin`, [size(), size(), size(), Math.floor(random() * MIB) + 1]),
        ),
        upload(client, 'canceled.bin', [size()], true),
        upload(client, 'program.exe', [size(), size()]).catch(({ message }: Error) => {
          assert.equal(message, 'commit: 422 {"debuginfo":"Programs are not accepted."}');
          return undefined;
        }),
      ]).finally(() => {
        isOver = true;
      });
      files.catch(() => undefined);
      const killed = await killUntil(() => isOver, random);
      t.diagnostic(`SEED=${seed}: killed ${killed.join(', ')}`);
      const sent = await files;
      const done = sent.filter((file): file is Sent => file !== undefined);
      assert.equal(done.length, 8);
      // A report that failed is repeated when its lease ends.
      const reports = await stack.reports(done.length, user);
      const keys = new Map(reports.map(({ id, key }) => [id, key]));
      for (const { fileId: id, name, sizeBytes, sha256 } of done) {
        const key = keys.get(id) ?? '';
        assert.equal(await store.hashOf(key), sha256, name);
        const expected = { id, user, folder: 'folder-a', name, sizeBytes, key };
        for (const report of reports.filter((each) => each.id === id)) assert.deepEqual(report, expected);
      }
      assert.equal(new Set(reports.map(({ id }) => id)).size, done.length);
      await stack.clear(user);
      assert.deepEqual([...(await store.list(`files/u-${user}/`)).keys()].sort(), [...keys.values()].sort());
      assert.deepEqual([...(await store.list(`chunks/u-${user}/`))], []);
      assert.doesNotMatch(await (await store.ask('?uploads')).text(), new RegExp(`files/u-${user}/`));
    });
  }
});
