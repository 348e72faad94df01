// Two processes, PostgreSQL and the gateway of the store are killed at random moments while files are uploaded. The seed of each
// run is printed. `SEED=` repeats its sizes and the order of its kills, not their moments; `RUNS=` sets the number of runs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../server/malformed.ts';
import { type Client, type Sent, upload } from './support/client.ts';
import { type Stack, startStack } from './support/stack.ts';

const MIB = 2 ** 20;
const { RUNS = '20', SEED } = process.env;

describe('The example for S3, killed at random moments', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  /** Kills parts at random moments until `isOver`. Resolves with what was killed, when all run again. */
  async function killUntil(isOver: () => boolean, random: () => number): Promise<string[]> {
    const killed: string[] = [];
    const { processes, database, store, start } = stack;
    while (!isOver()) {
      await sleep(100 + random() * 1200);
      const part = Math.floor(random() * 4);
      killed.push(['process 1', 'process 2', 'database', 'store'][part] ?? '');
      if (part < 2) {
        await processes[part]?.stop('SIGKILL');
        processes[part] = await start();
      } else if (part === 2) {
        await database.interrupt();
        await sleep(random() * 1000);
        await database.resume();
      } else {
        await store.kill();
        await sleep(random() * 1000);
        await store.resume();
      }
    }
    return killed;
  }

  const runs = SEED ? 1 : Number(RUNS);
  for (let run = 1; run <= runs; run += 1) {
    const seed = SEED ? Number(SEED) : Math.floor(Math.random() * 2 ** 31);
    test(`all files are complete, reported, and nothing else is listed, run ${run}, SEED=${seed}`, {
      timeout: 120_000,
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
      const keyOf = ({ fileId }: Sent): string => `files/u-${user}/${fileId}`;
      assert.deepEqual(
        [...(await store.list(`files/u-${user}/`))].sort(),
        done.map((file) => [keyOf(file), file.sizeBytes]).sort(),
      );
      for (const file of done) assert.equal(await store.hashOf(keyOf(file)), file.sha256, file.name);
      // A report that failed is repeated when its lease ends.
      const expected = new Map(
        done.map((file) => {
          const { fileId: id, name, sizeBytes } = file;
          return [id, { id, user, folder: 'folder-a', name, sizeBytes, key: keyOf(file) }];
        }),
      );
      for (const report of await stack.reports(done.length, user))
        assert.deepEqual(report, expected.get(report.id));
    });
  }
});
