// Functions that the two servers share. The servers listen on loopback, accept only requests for their own host name, and keep
// running if a handler fails.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Handles one request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

// The requests of each server that a handler has not finished.
const runningOf = new WeakMap<Server, ReadonlySet<Promise<void>>>();
// The requests of each server that arrived before it had a handler.
const earlyOf = new WeakMap<Server, Parameters<Handler>[]>();

/** Passes the server's requests to `handler`. `publicUrl` is the public origin of this server. */
export function attach(server: Server, handler: Handler, publicUrl: string): void {
  const { port } = server.address() as AddressInfo;
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`, new URL(publicUrl).host]);
  const running = new Set<Promise<void>>();
  runningOf.set(server, running);
  const early = earlyOf.get(server) ?? [];
  server.removeAllListeners('request').on('request', (request, response) => {
    // Prevents DNS rebinding: if a foreign host name resolves to this machine, browsers treat this server as part of that site.
    if (!hosts.has(request.headers.host?.toLowerCase() ?? '')) {
      response.writeHead(421, { 'content-type': 'text/plain', connection: 'close' });
      response.end('This host is not served here.');
      return;
    }
    // An unhandled rejection would end the process.
    const handling = handler(request, response).catch((error: unknown) => {
      console.error('request:', error);
      request.socket.destroy();
    });
    running.add(handling);
    void handling.then(() => running.delete(handling));
  });
  earlyOf.delete(server);
  for (const [request, response] of early)
    if (!request.socket.destroyed) server.emit('request', request, response);
  // Browsers close idle connections before this time. With a shorter time, the server could close a connection just as a browser
  // reuses it.
  server.keepAliveTimeout = 65_000;
}

/**
 * Listens on a loopback port, and resolves with its number. `port` 0 chooses a free port. Requests wait until `attach` is called:
 * a client would wait for ever for the response to a request without a handler.
 */
export function listen(server: Server, port: number): Promise<number> {
  const early: Parameters<Handler>[] = [];
  earlyOf.set(server, early);
  server.on('request', (...request) => early.push(request));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Stops listening and closes open connections. Resolves when all handlers have ended, so that none writes to the data folder. */
export async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  await Promise.all(runningOf.get(server) ?? []);
}
