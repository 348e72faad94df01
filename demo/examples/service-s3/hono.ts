// The service on Hono: `npm start`.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { handleUpload } from './uploads.ts';

const { PAGE_ORIGIN: origin = '', PORT = '8080' } = process.env;
const allowHeaders = ['authorization', 'content-type', 'x-service-uploadsession'];
const exposeHeaders = ['Retry-After', 'Date', 'WWW-Authenticate'];
const app = new Hono();
app.use(cors({ origin, allowMethods: ['POST', 'DELETE'], allowHeaders, exposeHeaders, maxAge: 7200 }));
app.use(bodyLimit({ maxSize: 4 * 2 ** 20 }));
app.all('/files/*', (c) => handleUpload(c.req.raw));
const server = { fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' };
serve(server, ({ port }) => console.log(`http://127.0.0.1:${port}`));
