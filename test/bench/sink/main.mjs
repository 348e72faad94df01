// The sink: a separate process with two origins, service and storage. Implements the protocols of all clients and stores no bytes.
// Started by sink.mjs with a profile's connection; responds to `reset`, `begin` and `counts` over IPC. CORS allows every origin.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { Gone, Line } from './line.mjs';
import { PutProtocol, S3Protocol, SigningProtocol, TusProtocol } from './peer-protocols.mjs';
import { UploaderProtocol } from './uploader-protocol.mjs';

const { line: shape, remember, tls } = JSON.parse(process.argv[2]);
const origins = {};
let counts;
let line;
let protocols;

function reset({ keepMemory = false } = {}) {
  counts = {
    bytes: 0,
    requests: 0,
    preflights: 0,
    cuts: 0,
    refusals: 0,
    lanes: { before: { ms: 0, sum: 0 }, after: { ms: 0, sum: 0 } },
    firstByteAt: undefined,
    operations: {},
    perOrigin: { service: { requests: 0, bytes: 0 }, storage: { requests: 0, bytes: 0 } },
  };
  line = new Line(shape, counts);
  if (keepMemory) return;
  const parts = { storageUrl: origins.storage, remember };
  protocols = [
    new UploaderProtocol(parts),
    new PutProtocol(),
    new S3Protocol(),
    new TusProtocol(parts),
    new SigningProtocol(parts),
  ];
}

const cors = {
  'access-control-allow-origin': '*',
  'timing-allow-origin': '*',
  'access-control-expose-headers':
    'ETag, Location, Retry-After, Upload-Offset, Upload-Length, Tus-Resumable, x-service-uploadsession',
};
const preflight = (request) => ({
  ...cors,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
  'access-control-max-age': '7200',
});

// Returns the parts of a request that the protocols use. Counts the bytes of the body when a protocol reads it.
function readCall(name, request, path, query) {
  const mine = counts;
  const receive = (onBytes) =>
    line.receive(request, (piece) => {
      mine.bytes += piece.length;
      mine.perOrigin[name].bytes += piece.length;
      if (name === 'storage') mine.firstByteAt ??= Date.now();
      onBytes?.(piece);
    });
  const json = async () => {
    const pieces = [];
    await receive((piece) => pieces.push(piece));
    return JSON.parse(Buffer.concat(pieces).toString());
  };
  return { method: request.method, path, query, headers: request.headers, receive, json };
}

// Matches URLs of single chunks, parts and uploads, which are counted as one operation.
const anyOf = /^(\/(?:chunks|put|s3|tus)\/).*$/;

async function answer(name, request) {
  const operation = `${request.method} ${request.url.replace(anyOf, '$1')}`;
  counts.operations[operation] = (counts.operations[operation] ?? 0) + 1;
  counts.perOrigin[name].requests += 1;
  if (request.method === 'OPTIONS') {
    counts.preflights += 1;
    await line.latency();
    return { status: 204, headers: preflight(request) };
  }
  counts.requests += 1;
  const { pathname, searchParams } = new URL(request.url, 'http://sink');
  const call = readCall(name, request, pathname, searchParams);
  if (line.refuses(request)) {
    await call.receive();
    await line.latency();
    return { status: 429, headers: { ...cors, 'retry-after': '1' } };
  }
  for (const protocol of protocols) {
    const said = await protocol[name]?.(call);
    if (!said) continue;
    await line.latency();
    return { ...said, headers: { ...cors, ...said.headers } };
  }
  return { status: 404, headers: cors, body: { debuginfo: `nothing at ${pathname}` } };
}

async function onRequest(name, request, response) {
  try {
    const { status, headers, body } = await answer(name, request);
    const isText = typeof body === 'string';
    response.writeHead(status, {
      ...(body && !isText && { 'content-type': 'application/json' }),
      ...headers,
    });
    response.end(isText || body === undefined ? body : JSON.stringify(body));
  } catch (error) {
    if (!(error instanceof Gone)) console.error(`sink: ${request.method} ${request.url}:`, error);
    response.destroy?.();
  }
}

async function listen(name) {
  const take = (request, response) => void onRequest(name, request, response);
  const server = tls
    ? createSecureServer(
        // With the default window of 64 KiB, the latency would limit the rate.
        {
          key: readFileSync(tls.key),
          cert: readFileSync(tls.cert),
          settings: { initialWindowSize: 16 * 2 ** 20 },
        },
        take,
      ).on('session', (session) => session.setLocalWindowSize(64 * 2 ** 20))
    : createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, take);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origins[name] = `${tls ? 'https' : 'http'}://127.0.0.1:${server.address().port}`;
}

const calls = { reset, counts: () => counts, begin: (part) => line.begin(part) };
process.on('message', ({ id, call, options }) => process.send({ id, answer: calls[call](options) ?? null }));
process.on('disconnect', () => process.exit());
// Ignores Ctrl-C, which also signals this process. The bench ends this process by disconnecting.
process.on('SIGINT', () => undefined);

await listen('service');
await listen('storage');
reset();
process.send({ ready: origins });
