// Test mode: middleware that writes the request log and applies faults and latency.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import type { Clock } from './clock.ts';
import type { BatchKind, Fault, Faults, LogEntry, Operation } from './faults.ts';
import { type Network, pause, untilAborted } from './network.ts';
import type { Env, Parts } from './parts.ts';
import { Refusal, readText } from './refusal.ts';

const operations: Record<string, Operation> = {
  'POST /auth/token': 'token',
  'POST /auth/login': 'login',
  'POST /auth/challenge': 'challenge',
  'POST /auth/logout': 'logout',
  'GET /authorize': 'authorize',
  'POST /files/uploadsession': 'session',
  'POST /files/uploadsession/chunks': 'chunks',
  'POST /files/uploadsession/commit': 'commit',
  'POST /files/uploadsession/batch': 'batch',
  'DELETE /files/uploadsession': 'cancel',
  'GET /files': 'list',
};

function operationOf(method: string, path: string): Operation {
  if (method === 'OPTIONS') return 'preflight';
  if (method === 'GET' && /^\/files\/[^/]+$/.test(path)) return 'download';
  return operations[`${method} ${path}`] ?? 'other';
}

/** Creates the log entry of a request that has just arrived. `gone` aborts when the connection closes. */
export function startEntry(
  server: LogEntry['server'],
  { now }: Clock,
  request: IncomingMessage,
  response: ServerResponse,
  gone: AbortController,
): LogEntry {
  const { method = '', url = '', headers } = request;
  const path = url.split('?')[0] ?? '';
  const entry: LogEntry = {
    at: now(),
    server,
    operation: operationOf(method, path),
    method,
    path,
    origin: headers.origin,
    referer: headers.referer,
    headers: Object.keys(headers),
    hasBearer: /^bearer /i.test(headers.authorization ?? ''),
    hasCookie: headers.cookie !== undefined,
    answered: false,
  };
  response.once('finish', () => {
    entry.answered = true;
    entry.answeredAt = now();
  });
  response.once('close', () => {
    if (!entry.answered) entry.broken = true;
    gone.abort();
  });
  return entry;
}

/** Deletes the CORS headers. */
export function dropCors(headers: Record<string, string>): void {
  for (const name of Object.keys(headers)) if (name.startsWith('access-control-')) delete headers[name];
}

/** Waits for the delay of a fault, or until the connection closes. */
export async function hold({ delayMs = 0, waitFor }: Partial<Fault>, gone: AbortSignal): Promise<void> {
  await pause(delayMs, gone);
  if (waitFor !== undefined) await Promise.race([waitFor, untilAborted(gone)]);
}

interface Gate {
  outside: MiddlewareHandler<Env>;
  inside: MiddlewareHandler<Env>;
  /** The fault of the request, or of the file of a batch, that is being handled. */
  current: AsyncLocalStorage<Partial<Fault>>;
}

/** Creates the middleware around and within that for CORS. Requests to `/_test` are neither logged nor changed. */
export function createGate(parts: Parts, faults: Faults, network: Network): Gate {
  const current = new AsyncLocalStorage<Partial<Fault>>();
  const { add } = parts.tables.files;
  parts.tables.files.add = (...row) => {
    if (!current.getStore()?.pending) return add(...row);
    throw new Refusal(202, 'pending', 'a fault', { more: { state: 'processing' } });
  };
  const withoutCors = new WeakSet<object>();
  const outside: MiddlewareHandler<Env> = async (c, next) => {
    await next();
    if (!withoutCors.has(c.env.outgoing)) return;
    for (const name of [...c.res.headers.keys()]) {
      if (name.startsWith('access-control-')) c.res.headers.delete(name);
    }
  };
  const inside: MiddlewareHandler<Env> = async (c, next) => {
    if (c.req.path.startsWith('/_test/')) return next();
    const { incoming, outgoing } = c.env;
    const gone = new AbortController();
    const entry = startEntry(
      'service',
      parts.clock,
      incoming as IncomingMessage,
      outgoing as ServerResponse,
      gone,
    );
    faults.record(entry, c.req.header('authorization'));
    await network.latency(gone.signal);
    await lookInto(c, parts, entry);
    const { operation, hashes = [], fileName, kind, fileNames } = entry;
    const fault = faults.strike({ operation, hashes, fileName, kind, fileNames });
    if (fault.withoutCors) withoutCors.add(outgoing);
    await hold(fault, gone.signal);
    const destroy = (): void => {
      incoming.socket.destroy();
      c.res = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
    };
    if (gone.signal.aborted || fault.cut === 'before-body') return destroy();
    const made = makeUp(fault);
    if (made) c.res = made;
    else {
      await current.run(fault, next);
      await changeAnswer(c, parts, fault, entry);
    }
    if (entry.sessionId !== undefined && entry.fileName !== undefined) {
      faults.fileNames.set(entry.sessionId, entry.fileName);
    }
    for (const [name, value] of Object.entries(fault.headers ?? {})) c.res.headers.set(name, value);
    entry.status = c.res.status;
    if (fault.cut === 'after-body') return destroy();
    if (entry.operation === 'download' && c.res.body) {
      const slow = network.throttle(c.res.body, gone.signal);
      if (slow !== c.res.body) c.res = new Response(streamOf(slow), c.res);
    }
    if (fault.cut === 'mid-body' || fault.cut === 'mid-answer' || fault.stall || fault.stallMs) {
      c.res = await interrupt(c.res, fault, gone.signal, () => void incoming.socket.destroy());
    }
  };
  return { outside, inside, current };
}

interface Said extends Record<string, unknown> {
  session_id?: string;
  chunks?: Record<string, { upload_url: string | null; expires_at?: string }>;
  answers?: { body: Said }[];
}

/** Logs what the response to `session`, `chunks` or `batch` says, and changes the response if the fault does. */
async function changeAnswer(
  c: Context<Env>,
  parts: Parts,
  fault: Partial<Fault>,
  entry: LogEntry,
): Promise<void> {
  if (!c.res.ok || !['session', 'chunks', 'batch'].includes(entry.operation)) return;
  const body = (await c.res.clone().json()) as Said;
  if (body.session_id !== undefined) entry.sessionId = body.session_id;
  const presigned = (body.answers?.map((answer) => answer.body) ?? [body]).flatMap(({ chunks }) =>
    chunks ? [chunks] : [],
  );
  if (presigned.length > 0) {
    const entries = presigned.flatMap((chunks) => Object.entries(chunks));
    entry.presigned = entries.flatMap(([hash, { upload_url: url }]) => (url === null ? [] : [hash]));
  }
  c.res = new Response(JSON.stringify(changeBody(parts, fault, body, entry.hashes)), c.res);
}

/** Returns the body of a response with the changes of a fault. `hashes` are those of the request. */
export function changeBody(
  { seal, clock, settings }: Parts,
  fault: Partial<Fault>,
  body: Said,
  [first]: readonly string[] = [],
): Said {
  const chunks = body.chunks ?? {};
  const tickets = Object.values(chunks).filter(({ upload_url: url }) => url !== null);
  for (const ticket of tickets) {
    if (!fault.expireTickets && !fault.wrongTicket) break;
    const { origin, pathname, search } = new URL(ticket.upload_url ?? '');
    const grant = seal.readUrl(pathname + search);
    if (!grant) throw new Error('a presigned URL of this service');
    if (fault.expireTickets) grant.expiresAt = clock.now() - 1000;
    if (fault.expireTickets) delete ticket.expires_at;
    if (fault.wrongTicket) grant.hash = '0'.repeat(64);
    ticket.upload_url =
      origin + seal.signUrl(grant, !settings.urlTellsExpiry || fault.expireTickets === true);
  }
  if (fault.omitEntry && first !== undefined) delete chunks[first];
  return { ...body, ...fault.answerFields };
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

/** Returns the texts of a list, and none of anything else. */
export const stringsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];

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
    const kind = (['open', 'commit'] as const).find((name) => Array.isArray(body[name]));
    if (kind) await lookIntoBatch(body[kind] as unknown[], kind, seal, entry);
    else if (Array.isArray(body.hashes)) entry.hashes = stringsOf(body.hashes);
    if (typeof body.file_name === 'string') entry.fileName = body.file_name;
    if (typeof body.file_size === 'number') entry.sizeBytes = body.file_size;
  } catch {
    entry.fields = [];
  }
}

async function lookIntoBatch(
  files: readonly unknown[],
  kind: BatchKind,
  seal: Parts['seal'],
  entry: LogEntry,
): Promise<void> {
  const nameOf = async ({ file_name: name, session }: Record<string, unknown>): Promise<unknown> =>
    typeof session === 'string' ? (await seal.openPassport(session))?.fileName : name;
  entry.kind = kind;
  entry.files = files.length;
  entry.fileNames = stringsOf(await Promise.all(files.map(async (file) => nameOf(Object(file)))));
  entry.hashes = files.flatMap((file) => stringsOf(Object(file).hashes));
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
  const headers = new Headers(answer.headers);
  headers.set('content-length', String(sizeBytes));
  return new Response(streamOf(halves()), { status: answer.status, headers });
}

function streamOf(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const steps = bytes[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await steps.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => steps.return?.().then(() => undefined),
  });
}
