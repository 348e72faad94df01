// What is in front of the servers of a world: a gateway or a portal that responds in their place, a proxy that takes whole bodies,
// a service that has lost its sessions. It passes all other requests to the endpoints of the other uploaders, and to the reference
// service.
import { createServer, request as sendRequest } from 'node:http';
import { Readable } from 'node:stream';
import { Gone, Lane } from '../bench/sink/line.mjs';
import { carry } from './line.mjs';

// A server that refuses a request does not read its body, but gives the browser time to read the response.
const CLOSE_AFTER_MS = 500;
const SLICE_BYTES = 16 * 1024;
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Location, Retry-After, Upload-Offset, Upload-Length, Tus-Resumable',
};
const preflight = (request) => ({
  status: 204,
  headers: {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': '7200',
  },
});

/** Reads the body of a request, and calls `onBytes` with each piece. Rejects with `Gone` if it does not arrive completely. */
const receive = (source, onBytes) =>
  new Promise((resolve, reject) => {
    source.on('data', (bytes) => onBytes?.(bytes));
    source.once('end', resolve);
    for (const name of ['error', 'close']) source.once(name, () => reject(new Gone()));
  });

async function read(source) {
  const pieces = [];
  await receive(source, (bytes) => pieces.push(bytes));
  return Buffer.concat(pieces);
}

/**
 * `peers` has the endpoints of the other uploaders, `ports` those of the reference service, `proxy` the rate and the limit of a
 * proxy, if there is one. `fault`, if it is set, returns a response for a request: `{ status, headers, body, isUnreadable }`,
 * without CORS headers if `isUnreadable`.
 */
export class Gate {
  fault;
  #ports;
  #peers;
  #proxy;
  #lane;
  #servers = [];
  #sessions = new Set();
  #lostSessions = new Set();

  constructor({ ports, peers, proxy }) {
    this.#ports = ports;
    this.#peers = peers;
    this.#proxy = proxy;
    this.#lane = proxy && new Lane(proxy.bytesPerSecond);
  }

  /** Listens for the requests of `name` (`service` or `storage`) on a free port, and resolves with it. */
  async listen(name) {
    const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
      this.#handle(name, request, response).catch((error) => {
        if (!(error instanceof Gone)) console.error(`gate: ${request.method} ${request.url}:`, error);
        request.socket.destroy();
      });
    });
    this.#servers.push(server);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server.address().port;
  }

  /** Forgets all sessions and unfinished uploads. */
  loseSessions() {
    for (const session of this.#sessions) this.#lostSessions.add(session);
    this.#peers.loseUploads();
  }

  close() {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  async #handle(name, request, response) {
    const { pathname: path, searchParams: query } = new URL(request.url, 'http://world');
    const refusal = this.fault?.(name, request) ?? this.#refusalOfLost(request, query);
    if (refusal) return respond(request, response, refusal);
    const limit = this.#proxy && setTimeout(() => request.socket.destroy(), this.#proxy.cutAfterMs).unref();
    response.once('close', () => clearTimeout(limit));
    const source = this.#proxy ? Readable.from(await this.#readAll(request), { objectMode: false }) : request;
    if (!this.#peers.has(name, path)) return this.#forward(name, request, source, response);
    if (request.method === 'OPTIONS') return respond(request, response, preflight(request));
    const { method, headers } = request;
    const json = async () => JSON.parse(String(await read(source)));
    const call = { method, path, query, headers, json };
    call.receive = (onBytes) => receive(source, onBytes);
    call.read = () => read(source);
    return respond(request, response, await this.#peers.handle(name, call));
  }

  /** Reads the body, then waits until the line behind the proxy has carried it. */
  async #readAll(request) {
    const body = await read(request);
    for (let at = 0; at < body.length; at += SLICE_BYTES)
      await carry(this.#lane, Math.min(SLICE_BYTES, body.length - at));
    return [body];
  }

  #refusalOfLost(request, query) {
    if (request.method === 'OPTIONS') return undefined;
    const sessions = [request.headers['x-service-uploadsession'], query.get('session')].filter(Boolean);
    for (const session of sessions) this.#sessions.add(session);
    if (!sessions.some((session) => this.#lostSessions.has(session))) return undefined;
    return { status: query.has('session') ? 403 : 410, body: { debuginfo: 'this session is lost' } };
  }

  #forward(name, request, source, response) {
    const { method, url: path, headers } = request;
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#ports[name], method, path, headers };
      const passed = sendRequest(options, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
        response.once('close', resolve);
      });
      passed.once('error', () => reject(new Gone()));
      request.once('close', () => request.complete || passed.destroy());
      source.pipe(passed);
    });
  }
}

function respond(request, response, { status = 200, headers, body = '', isUnreadable = false }) {
  if (response.destroyed) return;
  const isText = typeof body === 'string';
  response.writeHead(status, {
    ...(!isUnreadable && CORS),
    'content-type': isText ? 'text/html' : 'application/json',
    ...headers,
  });
  response.end(isText ? body : JSON.stringify(body));
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.socket.destroy(), CLOSE_AFTER_MS).unref();
}
