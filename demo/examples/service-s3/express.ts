// The service on Express: `npm run start:express`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import express, { type ErrorRequestHandler } from 'express';
import { log } from './log.ts';
import { close, handle, started } from './service.ts';
import { settings } from './settings.ts';
import { endWith, PATIENCE } from './shutdown.ts';

const app = express();

app.use((request, response, next) => {
  response.vary('Origin');
  if (request.get('origin') === settings.pageOrigin) {
    response.set('Access-Control-Allow-Origin', settings.pageOrigin);
    response.set('Access-Control-Expose-Headers', 'Retry-After, Date, WWW-Authenticate');
  }
  if (request.method !== 'OPTIONS') return next();
  response.set('Access-Control-Allow-Methods', 'POST, DELETE');
  response.set('Access-Control-Allow-Headers', 'authorization, content-type, x-service-uploadsession');
  response.set('Access-Control-Max-Age', '7200');
  response.sendStatus(204);
});

app.all('/{*path}', async (request, response) => {
  const { method, originalUrl } = request;
  const headers = new Headers();
  for (const name of ['authorization', 'content-length', 'x-service-uploadsession'])
    headers.set(name, request.get(name) ?? '');
  const url = new URL(originalUrl, 'http://service.invalid');
  // The core reads the body, so that it can refuse the headers before that.
  const body = method === 'POST' ? (Readable.toWeb(request) as ReadableStream) : null;
  const init: RequestInit & { duplex: 'half' } = { method, headers, body, duplex: 'half' };
  const answer = await handle(new Request(url, init));
  response
    .status(answer.status)
    .set(Object.fromEntries(answer.headers))
    .send(await answer.text());
});

// Express would print the error, and respond with it. Express recognizes this function by its four parameters.
const refuse: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(error.status ?? 400).json({ debuginfo: 'the request is not valid' });
};
app.use(refuse);
// The database may come later.
started().catch(() => undefined);
const server = createServer(PATIENCE, app).listen(settings.port, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  log({ level: 'info', url: `http://127.0.0.1:${port}` });
});
endWith(server, close);
