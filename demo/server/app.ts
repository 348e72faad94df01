// Combines all routes with CORS and error responses.
import { Hono, type MiddlewareHandler } from 'hono';
import { authRoutes } from './auth.ts';
import { authorizeRoutes } from './authorize.ts';
import { batchRoutes } from './batch.ts';
import { demoRoutes } from './demo-page.ts';
import { downloadRoutes } from './downloads.ts';
import type { Env, Parts } from './parts.ts';
import { answerTo, isDiskFull, Refusal } from './refusal.ts';
import type { TestMode } from './test-mode.ts';
import { createUploads, uploadRoutes } from './uploads.ts';

const EXPOSED = 'Retry-After, Date, WWW-Authenticate, x-service-uploadsession';

/** Creates the service as one Hono app. */
export function createApp(parts: Parts, test?: TestMode): Hono<Env> {
  const app = new Hono<Env>();
  app.use('*', watchConnection);
  if (test) app.use('*', test.outside);
  app.use('*', cors(parts));
  if (test) app.use('*', test.inside);
  app.options('*', (c) => {
    const maxAge = String(parts.settings.accessControlMaxAgeS);
    return c.body(null, 204, {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'content-type, authorization, x-service-uploadsession',
      'access-control-max-age': maxAge,
    });
  });
  app.get('/.well-known/jwks.json', async (c) => c.json(await parts.seal.jwks()));
  app.get('/', (c) => c.redirect(parts.settings.demo ? '/_demo' : '/.well-known/jwks.json', 302));
  app.route('/', authorizeRoutes(parts));
  app.route('/', authRoutes(parts));
  const uploads = createUploads(parts);
  app.route('/', uploadRoutes(parts, uploads));
  if (parts.settings.batches) app.route('/', batchRoutes(parts, test ? test.inBatch(uploads) : uploads));
  app.route('/', downloadRoutes(parts));
  if (parts.settings.demo) app.route('/', demoRoutes(parts));
  if (test) app.route('/', test.routes);

  app.notFound((c) => c.json({ error: 'not_found', error_description: 'no such operation' }, 404));
  app.onError((error, c) => {
    const isRefusal = error instanceof Refusal;
    if (!isRefusal && !c.get('gone').aborted) console.error(`${c.req.method} ${c.req.path}:`, error);
    if (isFiles(c.req.path)) {
      const { status, body, headers } = answerTo(error);
      return c.json(body, status, headers);
    }
    if (isRefusal) {
      const said = { error: error.code, error_description: error.message };
      return c.json({ ...said, ...error.more }, error.status, error.headers);
    }
    const isFull = isDiskFull(error);
    const text = isFull ? 'no space left' : 'internal error';
    return c.json({ error: 'server_error', error_description: text }, isFull ? 503 : 500);
  });
  return app;
}

function isFiles(path: string): boolean {
  return path === '/files' || path.startsWith('/files/');
}

const watchConnection: MiddlewareHandler<Env> = (c, next) => {
  const gone = new AbortController();
  c.env.outgoing.once('close', () => gone.abort());
  c.set('gone', gone.signal);
  return next();
};

// Adds CORS headers for the configured origins, and headers against caching and content sniffing.
function cors({ settings, clock }: Parts): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    const origin = c.req.header('origin');
    // The `Date` header that Node adds has the real time, which differs from that of a shifted clock.
    if (clock.offsetMs !== 0) c.res.headers.set('date', new Date(clock.now()).toUTCString());
    c.res.headers.append('vary', 'Origin');
    c.res.headers.set('x-content-type-options', 'nosniff');
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
    // Other origins must not read `/_demo`, which shows the secrets of demo users.
    if (origin === undefined || !settings.appOrigins.includes(origin) || c.req.path.startsWith('/_demo'))
      return;
    c.res.headers.set('access-control-allow-origin', origin);
    if (!c.res.headers.has('access-control-expose-headers'))
      c.res.headers.set('access-control-expose-headers', EXPOSED);
    if (c.req.path.startsWith('/auth/')) c.res.headers.set('access-control-allow-credentials', 'true');
  };
}
