// The storage origin: accepts a `PUT` of a chunk to a presigned URL, which names the user and the session. Uses Node's HTTP server
// directly, for speed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Fault, LogEntry } from './faults.ts';
import { pause, untilAborted } from './network.ts';
import type { Parts } from './parts.ts';
import { isDiskFull } from './refusal.ts';
import { hold, makeUp, startEntry } from './request-gate.ts';
import type { Grant } from './seal.ts';

/** Handles a request. Rejects only if no response can be sent. */
export type StorageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Thrown if the connection was closed, so that no response can be sent. */
class Broken extends Error {}

export function createStorageHandler(parts: Parts): StorageHandler {
  const { clock, faults, network } = parts;
  return async (request, response) => {
    const url = readTarget(request.url);
    const gone = new AbortController();
    const names = Object.keys(request.headers);
    const header = (name: string): string | undefined => request.headers[name]?.toString();
    const entry = startEntry(
      'storage',
      clock.now(),
      request.method ?? '',
      url?.pathname ?? '',
      header,
      names,
    );
    if (request.method === 'PUT') {
      entry.operation = 'put';
      entry.sizeBytes = Number(header('content-length') ?? 0);
    }
    faults.record(entry);
    response.once('finish', () => {
      entry.answered = true;
      entry.answeredAt = clock.now();
    });
    response.once('close', () => {
      if (!entry.answered) entry.broken = true;
      gone.abort();
    });
    try {
      await network.latency(gone.signal);
      if (!url) {
        entry.status = 400;
        return await write(parts, request, response, refuse(400, 'the address cannot be read'), {});
      }
      const fault = strike(parts, url, entry);
      await hold(fault, gone.signal);
      if (fault.cut === 'before-body') throw new Broken();
      const answer = await decide(parts, request, entry, fault, gone.signal);
      entry.status = answer.status;
      if (fault.cut === 'after-body') throw new Broken();
      await write(parts, request, response, answer, fault);
    } catch (error) {
      if (!(error instanceof Broken) && !gone.signal.aborted) console.error('storage:', error);
      if (error instanceof Broken || response.headersSent) request.socket.destroy();
      else if (!gone.signal.aborted) {
        const answer = isDiskFull(error) ? refuse(503, 'no space left') : refuse(500, 'internal error');
        entry.status = answer.status;
        await write(parts, request, response, answer, {});
      }
    }
  };
}

/** Parses the request target. Returns undefined for an invalid target, such as `//` or `http://[`. */
function readTarget(target = '/'): URL | undefined {
  try {
    return new URL(target, 'http://storage.invalid');
  } catch {
    return undefined;
  }
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

function refuse(status: number, debuginfo: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ debuginfo }) };
}

async function decide(
  parts: Parts,
  request: IncomingMessage,
  entry: LogEntry,
  fault: Partial<Fault>,
  gone: AbortSignal,
): Promise<Answer> {
  if (request.method === 'OPTIONS') {
    const headers = {
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': String(parts.settings.accessControlMaxAgeS),
    };
    return { status: 204, headers, body: '' };
  }
  const made = makeUp(fault);
  if (made) {
    await readThrough(parts, request, fault, gone);
    return { status: made.status, headers: Object.fromEntries(made.headers), body: await made.text() };
  }
  if (fault.storeNothing) {
    await readThrough(parts, request, fault, gone);
    return { status: 200, headers: {}, body: '' };
  }
  if (request.method !== 'PUT') return refuse(405, 'storage takes PUT');
  const grant = parts.seal.readUrl(request.url ?? '');
  const refused = checkGrant(grant, request, parts.clock.now());
  if (refused || !grant) return refused ?? refuse(403, 'not a URL that was signed here');
  const answer = await store(parts, grant, request, incoming(parts, request, fault, gone));
  if (answer.status === 200) entry.stored = true;
  return answer;
}

/** Stores the chunk, unless its session would exceed a limit. */
async function store(
  { usage, storage }: Parts,
  grant: Grant,
  request: IncomingMessage,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Answer> {
  const { sessionId, userId, hash } = grant;
  const draft = usage.beginChunk(sessionId, userId, Number(request.headers['content-length']));
  if (draft === 'closed') return refuse(403, 'the upload session is over');
  if (draft === 'too-much') return refuse(413, 'the session has stored more than its file can need');
  if (draft === 'busy') {
    return { ...refuse(503, 'too many chunks at once'), headers: { 'retry-after': '1' } };
  }
  try {
    const refused = await storage.putChunk(userId, hash, bytes, draft.store);
    if (!refused) return { status: 200, headers: { etag: `"${hash}"` }, body: '' };
    if (refused === 'not-accepted') return refuse(403, 'the upload session is over');
    return refuse(400, 'the bytes have another hash');
  } finally {
    draft.end();
  }
}

function checkGrant(grant: Grant | undefined, request: IncomingMessage, now: number): Answer | undefined {
  if (!grant) return refuse(403, 'not a URL that was signed here');
  if (grant.expiresAt <= now) return refuse(403, 'the URL has expired');
  // Node accepts no more bytes than this header states, so the service can reserve them.
  const sizeBytes = request.headers['content-length'];
  if (sizeBytes === undefined) return refuse(411, 'the header Content-Length is missing');
  if (Number(sizeBytes) > grant.maxBytes)
    return refuse(413, `the chunk has more than ${grant.maxBytes} bytes`);
  return undefined;
}

/** Yields the request body with the faults applied. Throws `Broken` if the body is incomplete. */
async function* incoming(
  { network }: Parts,
  request: IncomingMessage,
  fault: Partial<Fault>,
  gone: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const isDisturbed = fault.cut === 'mid-body' || fault.stall === true || fault.stallMs !== undefined;
  let left = isDisturbed ? Math.floor(Number(request.headers['content-length'] ?? 0) / 2) : Infinity;
  // If the loop ends early, the connection must stay open to send the refusal.
  const bytes = network.throttle(request.iterator({ destroyOnReturn: false }), gone);
  try {
    for await (const piece of bytes) {
      left -= piece.byteLength;
      if (left < 0) {
        left = Infinity;
        if (fault.stall) await untilAborted(gone);
        await pause(fault.stallMs ?? 0, gone);
        if (fault.stall || fault.cut === 'mid-body') throw new Broken();
      }
      yield piece;
    }
  } catch (error) {
    throw error instanceof Broken ? error : new Broken('the connection broke', { cause: error });
  }
}

async function readThrough(
  parts: Parts,
  request: IncomingMessage,
  fault: Partial<Fault>,
  gone: AbortSignal,
): Promise<void> {
  for await (const _ of incoming(parts, request, fault, gone));
}

function strike({ faults }: Parts, url: URL, entry: LogEntry): Partial<Fault> {
  const hash = url.pathname.split('/')[3];
  const sessionId = url.searchParams.get('session');
  const fileName = sessionId ? faults.fileNames.get(sessionId) : undefined;
  // Only the log entry of a PUT has the hash of the chunk, the session and the file name.
  if (entry.operation === 'put') {
    if (hash) entry.hash = hash;
    if (sessionId) entry.sessionId = sessionId;
    if (fileName !== undefined) entry.fileName = fileName;
  }
  return faults.strike({ operation: entry.operation, hashes: hash ? [hash] : [], fileName });
}

async function write(
  { settings }: Parts,
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  fault: Partial<Fault>,
): Promise<void> {
  const { origin } = request.headers;
  const headers: Record<string, string> = {
    ...answer.headers,
    'content-length': String(Buffer.byteLength(answer.body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...fault.headers,
  };
  if (answer.status === 204 || answer.status === 304) delete headers['content-length'];
  if (fault.withoutCors) {
    for (const name of Object.keys(headers)) if (name.startsWith('access-control-')) delete headers[name];
  } else {
    headers.vary = 'Origin';
    if (origin !== undefined && settings.appOrigins.includes(origin)) {
      headers['access-control-allow-origin'] = origin;
    }
  }
  if (fault.cut === 'mid-answer') headers['content-length'] = String(Buffer.byteLength(answer.body) + 100);
  response.writeHead(answer.status, headers);
  if (fault.cut === 'mid-answer') {
    response.write(answer.body || 'half an answer');
    // The bytes need time to leave the process before the connection closes.
    await pause(20);
    throw new Broken();
  }
  response.end(answer.body);
  // Rejects if the connection is closed, also if that was before this call.
  await finished(response).catch(() => undefined);
}
