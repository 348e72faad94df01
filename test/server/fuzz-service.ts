// Runs the service in a separate process, which fuzz.test.ts tries to crash. Sends the memory usage to the parent on
// request.
import { startService } from '../../demo/server/server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { page } from './support.ts';

const dataDir = temporaryFolder();
const many = { requests: 10_000_000, windowMs: 60_000 };
const service = await startService({
  dataDir,
  appOrigins: [page],
  fsync: false,
  demo: true,
  batches: true,
  rateLimit: many,
});

/** Returns the bytes in use after a full garbage collection. */
function usedBytes(): number {
  for (let pass = 0; pass < 3; pass += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

process.on('message', () => process.send?.(usedBytes()));
process.on('SIGINT', () => undefined);
process.on('disconnect', async () => {
  await service.close();
  process.exit();
});
const { baseUrl, storageUrl, seed } = service;
process.send?.({ baseUrl, storageUrl, password: seed.password });
