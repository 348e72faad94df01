// 200 simulated clients upload small files for a minute, through nginx and two processes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type Client, upload } from './support/client.ts';
import { type RunningProxy, startNginx } from './support/nginx.ts';
import { type Stack, startStack } from './support/stack.ts';

const CLIENTS = 200;
const MINUTE_MS = 60_000;

describe('The example for S3, with 200 clients', () => {
  let stack: Stack;
  let proxy: RunningProxy;
  before(async () => {
    // A process that kept something of each upload would end.
    stack = await startStack({ NODE_OPTIONS: '--max-old-space-size=64' });
    proxy = await startNginx(stack.processes);
  });
  after(async () => {
    await proxy.stop();
    await stack.stop();
  });

  const residentMiB = ({ pid }: { readonly pid: number }): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

  /** Lets all clients upload for a minute. Resolves with the number of files and of each status, and the memory of each second. */
  async function load(userOf: (index: number) => string) {
    const statuses = new Map<string, number>();
    const memory: number[] = [];
    const endsAt = Date.now() + MINUTE_MS;
    let files = 0;
    const timer = setInterval(() => memory.push(Math.max(...stack.processes.map(residentMiB))), 1000);
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
    // 202: the process assembles other files.
    for (const status of Object.keys(statuses)) assert.match(status, /^20[012]$/);
    assert.ok(late < early * 1.25);
    await stack.reports(files);
  });

  test('answers all with one user with 429 above the default limits, and with nothing else', async (t) => {
    const { files, statuses } = await load(() => 'user-one');
    t.diagnostic(`${files} files, ${JSON.stringify(statuses)}`);
    assert.ok(statuses['429']);
    for (const status of Object.keys(statuses)) assert.match(status, /^(20[012]|429)$/);
  });
});
