// Serves the files of a folder over HTTP.

import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
};

export interface Site {
  readonly origin: string;
  /** The requested paths. */
  readonly asked: readonly string[];
  stop(): void;
}

/** Serves `folder` on a separate origin, for pages of any origin. `pages` has further files by path. */
export async function serve(folder: string, pages: Readonly<Record<string, string>> = {}): Promise<Site> {
  const asked: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    asked.push(path);
    const file = path.endsWith('/') ? `${path}index.html` : path;
    const body = pages[path] ?? (await readFile(join(folder, file)).catch(() => undefined));
    const type = types[extname(file)] ?? 'application/octet-stream';
    response.writeHead(body === undefined ? 404 : 200, {
      'content-type': type,
      'access-control-allow-origin': '*',
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { origin, asked, stop };
}
