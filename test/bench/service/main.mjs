// Runs the reference service with a new folder until the bench disconnects. Uses test mode only for the token and the log.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../../../demo/server/server.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'secure-uploader-bench-service-'));
const service = await startService({ dataDir, appOrigins: [process.argv[2]], test: true });

async function count() {
  const files = await service.listFiles('folder-a');
  const preflights = service.log.filter(({ operation }) => operation === 'preflight').length;
  return {
    bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    requests: service.log.length - preflights,
    preflights,
  };
}

process.on('message', async () => process.send(await count()));
process.on('SIGINT', () => undefined);
process.on('disconnect', async () => {
  await service.close();
  rmSync(dataDir, { recursive: true, force: true });
  process.exit();
});
const { token } = await service.createToken('alice', 60 * 60_000);
process.send({ ready: { service: service.baseUrl, storage: service.storageUrl, token, folder: 'folder-a' } });
