// Ends slow requests, and ends the process on SIGTERM and SIGINT: finishes the running requests and commits first.
import type { EventEmitter } from 'node:events';

/** Node waits five minutes for a request. The longest is a commit of 1.4 MB. */
export const PATIENCE = { requestTimeout: 30_000, connectionsCheckingInterval: 5000 };
/** After this time, the process ends anyway. Another process continues its commits when their leases end. */
const LONGEST_MS = 30_000;
type Server = EventEmitter & { close(done: () => void): unknown };

export function endWith(server: Server, close: (requests: Promise<unknown>) => Promise<void>): void {
  const end = async () => {
    setTimeout(() => process.exit(1), LONGEST_MS).unref();
    // A proxy that keeps its connection would send further requests.
    server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
    await close(new Promise<void>((resolve) => server.close(resolve)));
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
}
