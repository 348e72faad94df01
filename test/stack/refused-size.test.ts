// nginx in front of the storage accepts bodies of 1 MiB, its default. Its 413 has no CORS headers, so that pages can't read it, and
// comes before nginx has read the body.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { engines } from '../e2e/support/auth-browsers.ts';
import { writeRandom } from '../e2e/support/files.ts';
import { setTokenSource } from '../e2e/support/tokens.ts';
import { assertStored, bytesOf, filesOf, pick, puts } from '../e2e/support/transfer.ts';
import { createWorld } from '../e2e/support/world.ts';
import { until } from '../support/until.ts';
import { startStorageProxy } from './support/nginx.ts';
import { freePort } from './support/ports.ts';

const MIB = 2 ** 20;
const LISTS = {
  'beside a small one': { 'large.bin': 12_000_000, 'small.bin': 300_000 },
  alone: { 'large.bin': 12_000_000 },
};

for (const engine of engines)
  for (const protocol of ['HTTP/2.0', 'HTTP/1.1'] as const)
    for (const [how, sizes] of Object.entries(LISTS))
      test(`${engine}, ${protocol}: a file of 12 MB ${how} is sent in chunks that the proxy accepts`, async (t) => {
        const port = await freePort();
        const world = await createWorld(
          { publicUrls: { storage: `https://127.0.0.1:${port}` } },
          { engine, site: 'same-site' },
        );
        const proxy = await startStorageProxy(port, world.service.storagePort, protocol);
        t.after(() => proxy.stop());
        const context = await world.newContext({ ignoreHTTPSErrors: true });
        t.after(() => context.close());
        const page = await context.newPage();
        await page.goto(world.pages.add('/index.html', world.elementWith()));
        await setTokenSource(page, async () => (await world.service.createToken('alice', 3_600_000)).token);
        const pathOf = (name: string): string => join(world.folder, name);
        const hashes = Object.entries(sizes).map(([name, sizeBytes]) => writeRandom(pathOf(name), sizeBytes));
        const names = Object.keys(sizes);
        await pick(page, ...names.map(pathOf));

        const ends = await until(async () => {
          const files = await filesOf(page);
          const isOver = files.every(({ phase }) => ['done', 'failed'].includes(phase));
          return files.length > 0 && isOver && files.map(({ error, phase }) => error?.code ?? phase);
        });
        t.diagnostic(
          proxy
            .puts()
            .map(({ sizeBytes, status }) => `${status} for ${sizeBytes}`)
            .join(', '),
        );
        assert.deepEqual(
          ends,
          names.map(() => 'done'),
        );
        const stored = await world.service.listFiles('folder-a');
        for (const [index, name] of names.entries())
          await assertStored(world, stored.find((file) => file.name === name)?.id ?? '', hashes[index] ?? '');
        assert.equal(
          bytesOf(puts(world)),
          Object.values(sizes).reduce((sum, sizeBytes) => sum + sizeBytes, 0),
        );
        assert.equal(Math.max(...puts(world).map(({ sizeBytes = 0 }) => sizeBytes)), MIB);
        const refused = proxy.puts().filter(({ status }) => status === 413);
        assert.ok(refused.length > 0 && refused.every(({ sizeBytes }) => sizeBytes > MIB));
        assert.deepEqual([...new Set(proxy.puts().map((put) => put.protocol))], [protocol]);
      });
