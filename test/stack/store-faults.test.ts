// The example for S3 with PostgreSQL and Ceph RGW on a bad line: a gateway that stands still, broken connections, bursts of 503,
// lost answers and a killed process while one file is assembled.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyExample, createBucket, SETTINGS, startExample } from '../support/service-s3.ts';
import { startBadLine } from './support/bad-line.ts';
import { upload } from './support/client.ts';
import { startDatabase } from './support/database.ts';
import { replace } from './support/stack.ts';
import { startStore } from './support/store.ts';

const MIB = 2 ** 20;
const PART_COUNT = 64;

test(`${PART_COUNT} parts are copied once each, and their file is never made again`, {
  timeout: 300_000,
}, async (t) => {
  const [store, database] = await Promise.all([startStore(), startDatabase()]);
  const line = await startBadLine(store.settings.S3_ENDPOINT ?? '');
  const folder = copyExample(readFileSync(new URL('support/many-users.ts', import.meta.url), 'utf8'));
  // So that the work of the killed process is soon continued.
  replace(join(folder, 'sessions.ts'), 'LEASE_MS = 30_000', 'LEASE_MS = 3000');
  const REPORTS = join(folder, 'reports');
  writeFileSync(REPORTS, '');
  const more = { DATABASE_URL: database.url, REPORTS, S3_ENDPOINT: line.origin, FAILING_REPORTS: '0' };
  const settings = { ...SETTINGS, ...store.settings, ...more };
  await createBucket(settings, folder);
  const start = () => startExample('hono', settings, { folder });
  let running = await start();
  t.after(async () => {
    await running.stop();
    await line.close();
    await Promise.all([store.stop(), database.stop()]);
  });

  const seen = { busy: 0, reset: 0, lost: 0 };
  let copies = 0;
  let interruption: Promise<unknown> = Promise.resolve();
  const at = new Map([
    [
      20,
      async () => {
        await store.pause();
        await sleep(2000);
        await store.unpause();
      },
    ],
    [
      70,
      async () => {
        await running.stop('SIGKILL');
        running = await start();
      },
    ],
  ]);
  const faultOf = (method: string, url: string) => {
    if (method === 'POST' && url.includes('uploadId=')) return 'lost';
    if (!url.includes('partNumber=')) return undefined;
    copies += 1;
    const work = at.get(copies);
    if (work) interruption = interruption.then(work);
    if (copies > 30 && copies <= 54) return 'busy';
    if (copies % 7 === 0) return 'reset';
    return copies % 11 === 0 ? 'lost' : undefined;
  };
  line.fault = (method, url) => {
    const fault = faultOf(method, url);
    if (fault) seen[fault] += 1;
    return fault;
  };

  const sizes = Array.from({ length: PART_COUNT }, (_, index) => (index === PART_COUNT - 1 ? 17 : 5 * MIB));
  const client = { user: 'user-one', baseUrl: () => running.baseUrl };
  const sent = await upload(client, 'large.bin', sizes);
  await interruption;
  const key = await store.keyOfFile('user-one', sent?.fileId);
  assert.equal(await store.hashOf(key), sent?.sha256);
  const passed = (pattern: RegExp): string[] => line.passed.filter((each) => pattern.test(each));
  const parts = passed(/^PUT .*partNumber=/);
  const numbers = new Set(parts.map((url) => /partNumber=(\d+)/.exec(url)?.[1]));
  t.diagnostic(`${copies} copies: ${parts.length} reached the store; faults ${JSON.stringify(seen)}`);
  assert.equal(numbers.size, PART_COUNT);
  // Those whose answers were lost on the line, or with the process, which copies eight at once.
  assert.ok(parts.length <= PART_COUNT + seen.lost + 8, `${parts.length} copies`);
  assert.equal(passed(/^POST .*\?uploads$/).length, 1);
  assert.equal(passed(/^POST .*uploadId=/).length, 1);
  assert.deepEqual(passed(/^DELETE .*\/files\//), []);
});
