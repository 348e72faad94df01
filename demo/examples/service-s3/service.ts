// The service: sessions, background work, health, log and end. hono.ts, express.ts and next.ts connect `handle` to a server.
import { createFiles } from './files.ts';
import { postgresSessions } from './postgres.ts';
import { memorySessions } from './sessions.ts';
import { settings } from './settings.ts';
import { call, StoreError } from './store.ts';
import { createUploads, operationOf, reply, replyTo } from './uploads.ts';

/** Writes one line of JSON. Has no tokens, URLs, names and session headers, and only the kind of an error. */
const log = (line: object) => console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));
const kindOf = (error: unknown) => {
  const { name, code } = error as { name?: string; code?: string };
  return { error: name, code, ...(error instanceof StoreError && { message: error.message }) };
};

async function start() {
  const { sessions, pool } = settings.databaseUrl
    ? await postgresSessions(settings.databaseUrl)
    : { sessions: memorySessions(), pool: undefined };
  const files = createFiles(sessions, (error) => void log({ level: 'error', ...kindOf(error) }));
  return { sessions, pool, files, uploads: createUploads(sessions, files, pool) };
}
let service: ReturnType<typeof start> | undefined;
/** Connects to the database, on the first call. */
export const started = () => {
  service ??= start();
  service.catch(() => {
    service = undefined;
  });
  return service;
};

async function ready() {
  const { sessions } = await started();
  await Promise.all([sessions.check(), call('GET', '?max-keys=0', { signal: AbortSignal.timeout(5000) })]);
  return reply(200, {});
}

/** Handles one request. The server has to limit the size of the body, and to add the headers for CORS. */
export async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/healthz') return reply(200, {});
  if (pathname === '/readyz') return ready().catch(replyTo);
  const begun = performance.now();
  let problem = {};
  const response = await started()
    .then(({ uploads }) => uploads(request))
    .catch((error: unknown) => {
      const answer = replyTo(error);
      if (answer.status >= 500 && !(error instanceof Response))
        problem = { level: 'error', ...kindOf(error) };
      return answer;
    });
  const ms = Math.round(performance.now() - begun);
  log({ level: 'info', operation: operationOf(request) ?? 'none', status: response.status, ms, ...problem });
  return response;
}

/**
 * Waits for the running commits, and disconnects. Close the server first. A commit that takes longer is continued by another
 * process.
 */
export async function close() {
  if (!service) return;
  const { files, pool } = await service;
  await files.close();
  await pool?.end();
}
