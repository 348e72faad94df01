// Middleware for all requests: in test mode, writes the log and applies faults and latency.
import type { Context, MiddlewareHandler } from 'hono';
import type { Fault, LogEntry, Operation } from './faults.ts';
import { pause, untilAborted } from './network.ts';
import type { Env, Parts } from './parts.ts';
import { readText } from './refusal.ts';

const operations: Record<string, Operation> = {
  'POST /auth/token': 'token',
  'POST /auth/login': 'login',
  'POST /auth/challenge': 'challenge',
  'POST /auth/logout': 'logout',
  'GET /authorize': 'authorize',
  'POST /files/uploadsession': 'session',
  'POST /files/uploadsession/chunks': 'chunks',
  'POST /files/uploadsession/commit': 'commit',
  'DELETE /files/uploadsession': 'cancel',
  'GET /files': 'list',
};

export function operationOf(method: string, path: string): Operation {
  if (method === 'OPTIONS') return 'preflight';
  if (method === 'GET' && /^\/files\/[^/]+$/.test(path)) return 'download';
  return operations[`${method} ${path}`] ?? 'other';
}

/** Creates the log entry of a request that has arrived at `at`. */
export function startEntry(
  server: LogEntry['server'],
  at: number,
  method: string,
  path: string,
  header: (name: string) => string | undefined,
  headerNames: string[],
): LogEntry {
  return {
    at,
    server,
    operation: operationOf(method, path),
    method,
    path,
    origin: header('origin'),
    referer: header('referer'),
    headers: headerNames,
    hasBearer: /^bearer /i.test(header('authorization') ?? ''),
    hasCookie: header('cookie') !== undefined,
    answered: false,
  };
}

/** Waits for the delay of a fault, or until the connection closes. */
export async function hold({ delayMs = 0, waitFor }: Partial<Fault>, gone: AbortSignal): Promise<void> {
  await pause(delayMs, gone);
  if (waitFor !== undefined) await Promise.race([waitFor, untilAborted(gone)]);
}

/** Creates the middleware. Requests to `/_test` are neither logged nor changed. */
export function requestGate(parts: Parts): MiddlewareHandler<Env> {
  const { faults, network, clock } = parts;
  return async (c, next) => {
    const { incoming, outgoing } = c.env;
    const gone = new AbortController();
    const entry = startEntry(
      'service',
      clock.now(),
      c.req.method,
      c.req.path,
      (name) => c.req.header(name),
      Object.keys(incoming.headers),
    );
    c.set('entry', entry);
    c.set('gone', gone.signal);
    c.set('fault', {});
    outgoing.once('finish', () => {
      entry.answered = true;
      entry.answeredAt = clock.now();
    });
    outgoing.once('close', () => {
      if (!entry.answered) entry.broken = true;
      gone.abort();
    });
    if (!faults.enabled || c.req.path.startsWith('/_test/')) return next();

    faults.record(entry, c.req.header('authorization'));
    await network.latency(gone.signal);
    await lookInto(c, parts, entry);
    const about = { operation: entry.operation, hashes: entry.hashes ?? [], fileName: entry.fileName };
    const fault = faults.strike(about);
    c.set('fault', fault);
    await hold(fault, gone.signal);
    const destroy = (): void => {
      incoming.socket.destroy();
      c.res = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
    };
    if (gone.signal.aborted || fault.cut === 'before-body') return destroy();
    const made = makeUp(fault);
    if (made) c.res = made;
    else await next();
    if (entry.sessionId !== undefined && entry.fileName !== undefined) {
      faults.fileNames.set(entry.sessionId, entry.fileName);
    }
    for (const [name, value] of Object.entries(fault.headers ?? {})) c.res.headers.set(name, value);
    entry.status = c.res.status;
    if (fault.cut === 'after-body') return destroy();
    if (fault.cut === 'mid-body' || fault.cut === 'mid-answer' || fault.stall || fault.stallMs) {
      c.res = await interrupt(c.res, fault, gone.signal, () => void incoming.socket.destroy());
    }
  };
}

/** Returns the response that the fault specifies, or undefined. */
export function makeUp(fault: Partial<Fault>): Response | undefined {
  if (fault.redirect !== undefined) {
    return new Response(null, { status: 307, headers: { location: fault.redirect } });
  }
  if (fault.status === undefined && fault.body === undefined) return undefined;
  const isText = typeof fault.body === 'string';
  const status = fault.status ?? 200;
  const body = isText ? (fault.body as string) : JSON.stringify(fault.body ?? { debuginfo: 'a fault' });
  return new Response([204, 205, 304].includes(status) ? null : body, {
    status,
    headers: { 'content-type': fault.contentType ?? (isText ? 'text/html' : 'application/json') },
  });
}

/** Adds data from the passport and the body to the log entry. Faults are matched against this data. */
async function lookInto(c: Context<Env>, { seal }: Parts, entry: LogEntry): Promise<void> {
  const sealed = c.req.header('x-service-uploadsession');
  const passport = sealed ? await seal.openPassport(sealed) : undefined;
  if (passport) {
    entry.sessionId = passport.sessionId;
    entry.fileName = passport.fileName;
  }
  const type = c.req.header('content-type') ?? '';
  if (c.req.method !== 'POST' || !type.startsWith('application/json')) return;
  const text = await readText(c.req.raw, 16 * 1024 * 1024);
  const { method, url, headers } = c.req.raw;
  c.req.raw = new Request(url, { method, headers, body: text });
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    entry.fields = Object.keys(body);
    if (Array.isArray(body.hashes)) entry.hashes = body.hashes.filter((hash) => typeof hash === 'string');
    if (typeof body.file_name === 'string') entry.fileName = body.file_name;
    if (typeof body.file_size === 'number') entry.sizeBytes = body.file_size;
  } catch {
    entry.fields = [];
  }
}

/** Returns the response with a body that is cut or stalled halfway. */
async function interrupt(
  answer: Response,
  fault: Partial<Fault>,
  gone: AbortSignal,
  destroy: () => void,
): Promise<Response> {
  const told = answer.headers.get('content-length');
  const whole = told === null ? new Uint8Array(await answer.arrayBuffer()) : undefined;
  const sizeBytes = whole?.byteLength ?? Number(told);
  const source = (whole ? [whole] : (answer.body ?? [])) as AsyncIterable<Uint8Array>;
  async function* halves(): AsyncGenerator<Uint8Array> {
    let left = Math.floor(sizeBytes / 2);
    for await (const piece of source) {
      const now = piece.subarray(0, left);
      if (now.byteLength > 0) yield now;
      left -= now.byteLength;
      if (now.byteLength === piece.byteLength) continue;
      if (left === 0 && now.byteLength < piece.byteLength) {
        left = Infinity;
        if (fault.cut) {
          // The bytes need time to leave the process before the connection closes.
          await pause(20, gone);
          return destroy();
        }
        await (fault.stall ? untilAborted(gone) : pause(fault.stallMs ?? 0, gone));
        yield piece.subarray(now.byteLength);
      }
    }
  }
  const steps = halves();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await steps.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => steps.return(undefined).then(() => undefined),
  });
  const headers = new Headers(answer.headers);
  headers.set('content-length', String(sizeBytes));
  return new Response(body, { status: answer.status, headers });
}
