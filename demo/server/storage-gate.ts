// Test mode: the storage origin with the request log, faults and throttling.
import type { IncomingMessage } from 'node:http';
import type { Fault, Faults, LogEntry } from './faults.ts';
import { type Network, pause, untilAborted } from './network.ts';
import type { Parts } from './parts.ts';
import type { Handler } from './ports.ts';
import { dropCors, hold, makeUp, startEntry } from './request-gate.ts';
import { type Answer, answerTo, Broken, bytesOf, complete, send } from './storage-server.ts';

/** `behind` handles the requests that pass the gate. */
export function createStorageGate(
  parts: Parts,
  faults: Faults,
  network: Network,
  behind = answerTo,
): Handler {
  return async (request, response) => {
    const gone = new AbortController();
    const entry = startEntry('storage', parts.clock, request, response, gone);
    faults.record(entry);
    try {
      await network.latency(gone.signal);
      const fault = strike(faults, request, entry);
      await hold(fault, gone.signal);
      if (fault.cut === 'before-body') throw new Broken();
      const bytes = disturb(network.throttle(bytesOf(request), gone.signal), request, fault, gone.signal);
      const answer = await decide(parts, request, bytes, fault, entry, behind);
      entry.status = answer.status;
      Object.assign(answer.headers, fault.headers);
      if (fault.withoutCors) dropCors(answer.headers);
      if (fault.cut === 'after-body') throw new Broken();
      if (fault.cut !== 'mid-answer') return await send(response, answer);
      const body = answer.body || 'half an answer';
      answer.headers['content-length'] = String(Buffer.byteLength(body) + 100);
      response.writeHead(answer.status, answer.headers).write(body);
      // The bytes need time to leave the process before the connection closes.
      await pause(20);
      throw new Broken();
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      request.socket.destroy();
    }
  };
}

function strike(faults: Faults, request: IncomingMessage, entry: LogEntry): Partial<Fault> {
  // Only the log entry of a PUT has the hash of the chunk, the session and the file name.
  const hash = entry.path.split('/')[3];
  const sessionId = new URLSearchParams(request.url?.split('?')[1]).get('session');
  const fileName = sessionId ? faults.fileNames.get(sessionId) : undefined;
  if (request.method === 'PUT') {
    entry.operation = 'put';
    entry.sizeBytes = Number(request.headers['content-length'] ?? 0);
    if (hash) entry.hash = hash;
    if (sessionId) entry.sessionId = sessionId;
    if (fileName !== undefined) entry.fileName = fileName;
  }
  return faults.strike({ operation: entry.operation, hashes: hash ? [hash] : [], fileName });
}

async function decide(
  parts: Parts,
  request: IncomingMessage,
  bytes: AsyncIterable<Uint8Array>,
  fault: Partial<Fault>,
  entry: LogEntry,
  behind: typeof answerTo,
): Promise<Answer> {
  const made = makeUp(fault) ?? (fault.storeNothing ? new Response() : undefined);
  if (!made || request.method === 'OPTIONS') {
    const answer = await behind(parts, request, bytes);
    if (entry.operation === 'put' && answer.status === 200) entry.stored = true;
    return answer;
  }
  for await (const _ of bytes);
  const headers = Object.fromEntries(made.headers);
  return complete(parts, request, { status: made.status, headers, body: await made.text() });
}

/** Yields `bytes`, with a stall or a cut halfway. */
async function* disturb(
  bytes: AsyncIterable<Uint8Array>,
  request: IncomingMessage,
  fault: Partial<Fault>,
  gone: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const isDisturbed = fault.cut === 'mid-body' || fault.stall === true || fault.stallMs !== undefined;
  let left = isDisturbed ? Math.floor(Number(request.headers['content-length'] ?? 0) / 2) : Infinity;
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
}
