// Ends slow requests, and ends the process on SIGTERM and SIGINT: finishes the running requests and commits first.
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Node waits five minutes for a request. The longest is a commit of 1.4 MB. */
export const PATIENCE = { requestTimeout: 30_000, connectionsCheckingInterval: 5000 };
/** After this time, the process ends anyway. Another process continues its commits when their leases end. */
const LONGEST_MS = 30_000;
/** For a request that was answered before its body ended: time in which the client reads the response. */
const REST_MS = 500;
type Server = EventEmitter & { close(done: () => void): unknown };

/** Ends the connections of bodies that are not read. */
export function endUnread(server: EventEmitter): void {
  const watch = (request: IncomingMessage, response: ServerResponse) => {
    const end = () => void (request.complete || request.socket.destroy());
    response.once('finish', () => request.complete || setTimeout(end, REST_MS).unref());
  };
  server.prependListener('request', watch);
}

export function endWith(server: Server, close: (requests: Promise<unknown>) => Promise<void>): void {
  const end = async () => {
    setTimeout(() => process.exit(1), LONGEST_MS).unref();
    // A proxy that keeps its connection would send further requests.
    server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
    await close(new Promise<void>((resolve) => server.close(resolve)));
    process.exit(0);
  };
  endUnread(server);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
}
