// The servers of one journey: the reference service and its storage, and the endpoints of the other uploaders, behind a gate and a
// bad line.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { startService } from '../../demo/server/server.ts';
import { Gate } from './gate.mjs';
import { Line } from './line.mjs';
import { Peers } from './peers.mjs';

export const FOLDER = 'folder-a';
export const USER = 'alice';

/** Starts the servers for a page at `pageOrigin`, with their data in `folder`. */
export async function createWorld({ pageOrigin, folder, tokenLifetimeMs, urlLifetimeMs, proxy, ...shape }) {
  const line = new Line(shape);
  const ports = {};
  const urlOf = async (name) => `http://127.0.0.1:${await line.listen(() => ports[name])}`;
  const urls = { service: await urlOf('service'), storage: await urlOf('storage') };
  const service = await startService({
    dataDir: join(folder, 'data'),
    appOrigins: [pageOrigin],
    publicUrls: urls,
    test: true,
    fsync: false,
    urlLifetimeMs,
  });
  const createToken = () => service.createToken(USER, tokenLifetimeMs);
  const peers = new Peers({ createToken, storageUrl: urls.storage, urlLifetimeMs });
  const servicePorts = { service: service.servicePort, storage: service.storagePort };
  const gate = new Gate({ ports: servicePorts, peers, proxy });
  for (const name of Object.keys(servicePorts)) ports[name] = await gate.listen(name);
  return {
    ...urls,
    line,
    gate,
    bytesPerSecond: shape.bytesPerSecond,
    /** Resolves with true if a complete file or object with this SHA-256 is stored. */
    async isStored(sha256) {
      if (peers.hashes.has(sha256)) return true;
      for (const { id } of await service.listFiles(FOLDER)) {
        const hash = createHash('sha256');
        for await (const bytes of service.readFile(id)) hash.update(bytes);
        if (hash.digest('hex') === sha256) return true;
      }
      return false;
    },
    async close() {
      line.close();
      gate.close();
      await service.close();
    },
  };
}
