// A store for demo/examples/service-s3 that keeps the size of each chunk, and says that it has copied what it should copy.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeStore {
  readonly origin: string;
  /** Status of all responses, unless it is `undefined`. */
  fault: number | undefined;
  close(): Promise<void>;
}

/** `page` is the origin that may send chunks. */
export async function startFakeStore(page: string): Promise<FakeStore> {
  const sizes = new Map<string, number>();

  async function put(path: string, request: IncomingMessage): Promise<number> {
    const hash = createHash('sha256');
    let size = 0;
    for await (const part of request) {
      hash.update(part);
      size += part.length;
    }
    if (hash.digest('hex') !== path.split('/').at(-1)) return 400;
    sizes.set(path, size);
    return 200;
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { method, url = '', headers } = request;
    const path = url.replace(/\?.*/, '');
    response.setHeader('access-control-allow-origin', page);
    response.setHeader('access-control-allow-methods', 'PUT');
    response.setHeader('access-control-allow-headers', headers['access-control-request-headers'] ?? '');
    if (method === 'PUT' && path.includes('/chunks/'))
      return response.writeHead(await put(path, request)).end();
    request.resume();
    const size = sizes.get(path);
    if (store.fault !== undefined) return response.writeHead(store.fault).end();
    if (method === 'HEAD')
      return response.writeHead(size === undefined ? 404 : 200, { 'content-length': size ?? 0 }).end();
    return response.end('<UploadId>1</UploadId><ETag>"1"</ETag>');
  }

  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store: FakeStore = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return store;
}
