// Starts the service on the first ports that are free.
import { createServer } from 'node:net';
import type { ServiceOptions } from './options.ts';
import { type Service, startService } from './server.ts';

const DEFAULT_PORT = 8787;
const TRIES = 100;

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

/** Resolves with the first free port from `port` on. Checks both loopback addresses: browsers may try either for `localhost`. */
export async function freePort(port: number): Promise<number> {
  for (let next = port; next < port + 500; next += 1) {
    if ((await isFree(next, '127.0.0.1')) && (await isFree(next, '::1'))) return next;
  }
  throw new Error(`No free port from ${port} on.`);
}

/**
 * Starts the service on free ports from 8787 on. A port in `options` is never replaced. Rejects if such a port is in use.
 */
export async function startOnFreePorts(options: ServiceOptions): Promise<Service> {
  const isFixed = options.servicePort !== undefined || options.storagePort !== undefined;
  for (let attempt = 1, from = DEFAULT_PORT; ; attempt += 1) {
    const servicePort = options.servicePort ?? (await freePort(from));
    const storagePort = options.storagePort ?? (await freePort(Math.max(servicePort, DEFAULT_PORT) + 1));
    try {
      return await startService({ ...options, servicePort, storagePort });
    } catch (error) {
      // Another process can take a port between the check and the start.
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!isTaken || isFixed || attempt === TRIES) throw error;
      from = servicePort + 1;
    }
  }
}
