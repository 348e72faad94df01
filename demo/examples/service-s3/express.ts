// The service on Express: `npm run start:express`.
import type { AddressInfo } from 'node:net';
import express from 'express';
import { handleUpload } from './uploads.ts';

const { PAGE_ORIGIN = '', PORT = '8080' } = process.env;
const app = express();

app.use((request, response, next) => {
  response.vary('Origin');
  if (request.get('origin') === PAGE_ORIGIN) {
    response.set('Access-Control-Allow-Origin', PAGE_ORIGIN);
    response.set('Access-Control-Expose-Headers', 'Retry-After, Date, WWW-Authenticate');
  }
  if (request.method !== 'OPTIONS') return next();
  response.set('Access-Control-Allow-Methods', 'POST, DELETE');
  response.set('Access-Control-Allow-Headers', 'authorization, content-type, x-service-uploadsession');
  response.set('Access-Control-Max-Age', '7200');
  response.sendStatus(204);
});

// As text, because the core parses the JSON.
app.use(express.text({ type: 'application/json', limit: '4mb' }));

app.all('/files/*path', async (request, response) => {
  const { method, originalUrl, body } = request;
  const headers = new Headers();
  for (const name of ['authorization', 'x-service-uploadsession']) headers.set(name, request.get(name) ?? '');
  const url = new URL(originalUrl, 'http://service.invalid');
  const init = { method, headers, ...(method === 'POST' && { body: String(body) }) };
  const answer = await handleUpload(new Request(url, init));
  response
    .status(answer.status)
    .set(Object.fromEntries(answer.headers))
    .send(await answer.text());
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${port}`);
});
