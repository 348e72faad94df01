// Proxies in front of the reference service and its storage, which change requests and responses: a service with one fault.
import { createServer, type IncomingHttpHeaders, type Server, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request and its response, which a mutation may change. */
export interface Passing {
  readonly method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  response: { status: number; headers: IncomingHttpHeaders; body: Buffer };
}

/** `before` may change the request, and return false to not forward it; `after` may change the response. */
export interface Mutation {
  readonly before?: (passing: Passing) => boolean | undefined;
  readonly after?: (passing: Passing) => void;
}

export interface FaultyServer {
  readonly origin: string;
  target: string;
  mutation: Mutation;
  close(): Promise<void>;
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/** Sends a request to the target, with the host that the client asked for. */
function forward(target: string, { method, path, headers, body }: Passing): Promise<Passing['response']> {
  return new Promise((resolve, reject) => {
    const sized = method === 'PUT' || method === 'POST' ? { 'content-length': String(body.length) } : {};
    const { 'transfer-encoding': _, ...own } = headers;
    const outgoing = send(target + path, { method, headers: { ...own, ...sized } }, (incoming) => {
      readAll(incoming).then(
        (bytes) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes }),
        reject,
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export async function startFaultyServer(): Promise<FaultyServer> {
  const server: Server = createServer(async (request, response) => {
    const passing: Passing = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: { ...request.headers },
      body: await readAll(request),
      response: { status: 204, headers: {}, body: Buffer.alloc(0) },
    };
    try {
      const { before, after } = proxy.mutation;
      if (before?.(passing) !== false) passing.response = await forward(proxy.target, passing);
      after?.(passing);
      const { 'transfer-encoding': _, ...headers } = passing.response.headers;
      const hasLength = passing.response.status !== 204;
      const length = hasLength ? { 'content-length': String(passing.response.body.length) } : {};
      response.writeHead(passing.response.status, { ...headers, ...length }).end(passing.response.body);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultyServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: '',
    mutation: {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}
