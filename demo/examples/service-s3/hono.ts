// The service on Hono: `npm start`.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { log } from './log.ts';
import { close, handle, started } from './service.ts';
import { settings } from './settings.ts';
import { endWith, PATIENCE } from './shutdown.ts';

const allowHeaders = ['authorization', 'content-type', 'x-service-uploadsession'];
const exposeHeaders = ['Retry-After', 'Date', 'WWW-Authenticate'];
const allowed = {
  origin: settings.pageOrigin,
  allowMethods: ['POST', 'DELETE'],
  allowHeaders,
  exposeHeaders,
};
const app = new Hono();
app.use(cors({ ...allowed, maxAge: 7200 }));
app.all('*', (c) => handle(c.req.raw));
// Hono would print the error.
app.onError((_error, c) => c.json({ debuginfo: 'the request is not valid' }, 400));
// The database may come later.
started().catch(() => undefined);
const options = { fetch: app.fetch, port: settings.port, hostname: '127.0.0.1', serverOptions: PATIENCE };
const server = serve(options, ({ port }) => log({ level: 'info', url: `http://127.0.0.1:${port}` }));
endWith(server, close);
