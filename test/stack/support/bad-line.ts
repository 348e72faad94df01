// A proxy in front of the store that breaks connections, says 503 and loses answers. It passes on everything else unchanged, so
// that signatures stay valid.
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `reset` breaks the connection instead of the request, and `lost` instead of the response. */
export type Fault = 'busy' | 'reset' | 'lost';

export interface BadLine {
  readonly origin: string;
  /** Method and path with query of each request that the store has seen. */
  readonly passed: string[];
  fault: (method: string, url: string) => Fault | undefined;
  close(): Promise<void>;
}

export async function startBadLine(target: string): Promise<BadLine> {
  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { method = '', url = '', headers, socket } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    const fault = line.fault(method, url);
    if (fault === 'reset') return socket.destroy();
    if (fault === 'busy') return response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    line.passed.push(`${method} ${url}`);
    const outgoing = send(new URL(url, target), { method, headers, agent: false });
    outgoing.on('error', () => socket.destroy());
    outgoing.on('response', (answer) => {
      // Also if the store ends in the middle of its answer.
      if (fault === 'lost') return answer.resume().on('close', () => socket.destroy());
      answer.on('error', () => socket.destroy());
      return answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    return outgoing.end(body);
  }
  const server = createServer((request, response) => {
    void pass(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const line: BadLine = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ passed: [], fault: () => undefined },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return line;
}
