// Two processes, PostgreSQL and the gateway of the store are killed at random moments while files are uploaded. The seed of each
// run is printed; `SEED=` repeats one, `RUNS=` sets the number of runs.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { SETTINGS } from '../support/service-s3.ts';
import { type Client, type Sent, upload } from './support/client.ts';
import { type RunningDatabase, startDatabase } from './support/database.ts';
import {
  exampleFolder,
  type Folder,
  type RunningProcess,
  runScript,
  startProcess,
} from './support/processes.ts';
import { type RunningStore, startStore } from './support/store.ts';

const MIB = 2 ** 20;
const { RUNS = '20', SEED } = process.env;

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('The example for S3, killed at random moments', () => {
  let store: RunningStore;
  let database: RunningDatabase;
  let folder: Folder;
  let settings: Record<string, string>;
  const processes: RunningProcess[] = [];

  before(async () => {
    [store, database] = await Promise.all([startStore(), startDatabase()]);
    folder = exampleFolder();
    settings = { ...SETTINGS, ...store.settings, DATABASE_URL: database.url };
    await runScript(folder, 'bucket.ts', settings);
    processes.push(await startProcess(folder, settings), await startProcess(folder, settings));
  });
  after(async () => {
    for (const each of processes) await each.kill('SIGTERM');
    await Promise.all([store.stop(), database.stop()]);
    rmSync(folder.path, { recursive: true, force: true });
  });

  /** Kills parts at random moments until `isOver`. Resolves with what was killed, when all run again. */
  async function killUntil(isOver: () => boolean, random: () => number): Promise<string[]> {
    const killed: string[] = [];
    while (!isOver()) {
      await new Promise((resolve) => setTimeout(resolve, 100 + random() * 1200));
      const part = Math.floor(random() * 4);
      killed.push(['process 1', 'process 2', 'database', 'store'][part] ?? '');
      if (part < 2) {
        await processes[part]?.kill('SIGKILL');
        // The database may be away at the same time.
        processes[part] = await startProcess(folder, settings);
      } else if (part === 2) {
        await database.interrupt();
        await new Promise((resolve) => setTimeout(resolve, random() * 1000));
        await database.resume();
      } else {
        await store.kill();
        await new Promise((resolve) => setTimeout(resolve, random() * 1000));
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
      const random = createRandom(seed);
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
      const reported = (): Map<string, string> =>
        new Map(
          folder
            .reports()
            .filter((file) => file.user === user)
            .map((file) => [file.id, JSON.stringify(file)]),
        );
      while (reported().size < done.length) await new Promise((resolve) => setTimeout(resolve, 100));
      for (const report of folder.reports().filter((file) => file.user === user)) {
        assert.equal(JSON.stringify(report), reported().get(report.id), 'a repetition differs');
        const file = done.find(({ fileId }) => fileId === report.id);
        assert.deepEqual([report.name, report.sizeBytes], [file?.name, file?.sizeBytes]);
      }
    });
  }
});
