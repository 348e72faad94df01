// Sends single requests as a page would. Uses node:http, because `fetch` follows redirects, and doesn't send preflights or a wrong
// length.

import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../service/http.ts';
import { isFields } from '../service/wire.ts';
import type { Address } from './target.ts';

export interface Exchange {
  /** 0 without a response. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed JSON; `undefined` if the body is not JSON. */
  readonly json: unknown;
  /** Why there is no response. */
  readonly error: string;
  /** Target of a redirect, which is not followed. */
  readonly location: string;
  readonly durationMs: number;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
  /** Address of the host, if it was checked: a second lookup could result in another one. */
  readonly target?: Address | undefined;
  readonly signal: AbortSignal;
}

/** Limit for the whole response: a service could otherwise send a byte from time to time. */
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 8 * 2 ** 20;

export function exchange({
  method,
  url,
  headers = {},
  body,
  target,
  signal,
}: OutgoingRequest): Promise<Exchange> {
  const startedMs = performance.now();
  const exchangeWith = (part: Partial<Exchange>): Exchange => ({
    status: 0,
    headers: {},
    text: '',
    json: undefined,
    error: '',
    location: '',
    ...part,
    durationMs: performance.now() - startedMs,
  });
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const length = { 'content-length': String(body === undefined ? 0 : Buffer.byteLength(body)) };
    const hasBody = method === 'PUT' || method === 'POST';
    const options = {
      method,
      headers: { ...(hasBody && length), ...headers },
      // A service may close a connection that was kept just when it is used again, which would look like a missing response.
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      ...(target && { lookup: lookupOf(target) }),
    };
    const request = send(url, options, (response) => {
      const parts: Buffer[] = [];
      let sizeBytes = 0;
      response.on('data', (part: Buffer) => {
        sizeBytes += part.length;
        if (sizeBytes > MAX_BYTES) request.destroy(new Error('the response is too large'));
        parts.push(part);
      });
      response.on('error', ({ message }) => resolve(exchangeWith({ error: message })));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        const { statusCode: status = 0, headers } = response;
        const location = status >= 300 && status < 400 ? (headers.location ?? 'nowhere') : '';
        resolve(exchangeWith({ status, headers, text, json: parse(text), location }));
      });
    });
    request.on('error', ({ message }) => resolve(exchangeWith({ error: `no response: ${message}` })));
    request.end(body);
  });
}

const lookupOf =
  ({ address, family }: Address): LookupFunction =>
  (_host, { all: isAllRequested }, callback) =>
    isAllRequested ? callback(null, [{ address, family }]) : callback(null, address, family);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const listOf = (value: string | string[] | undefined): string[] =>
  String(value ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean);

/** Returns true if a page of this origin may read the response. */
export const isReadable = ({ headers }: Exchange, origin: string): boolean =>
  ['*', origin].includes(String(headers['access-control-allow-origin'] ?? ''));

/** Returns true if a page may read this response header. */
export function isExposed({ headers }: Exchange, name: string): boolean {
  const exposedNames = listOf(headers['access-control-expose-headers']);
  return exposedNames.includes('*') || exposedNames.includes(name.toLowerCase());
}

/** Returns a response as the uploader reads it. In a page of another origin, it can read only the headers that are exposed. */
export const answerFor = (origin: string | undefined, response: Exchange): Answer => ({
  status: response.status,
  address: '',
  body: response.json,
  isEmpty: response.text.trim() === '',
  header: (name) => {
    const isShown = origin === undefined || isExposed(response, name);
    return isShown ? (response.headers[name.toLowerCase()]?.toString() ?? null) : null;
  },
});

/** Returns true if the response to a preflight allows the method. */
export function allowsMethod({ headers }: Exchange, method: string): boolean {
  const methods = listOf(headers['access-control-allow-methods']);
  return method === 'POST' || methods.includes('*') || methods.includes(method.toLowerCase());
}

/** Returns the request headers that the response to a preflight doesn't allow. `*` doesn't include `authorization`. */
export function deniedHeaders({ headers }: Exchange, names: readonly string[]): string[] {
  const allowedNames = listOf(headers['access-control-allow-headers']);
  return names.filter(
    (name) => !allowedNames.includes(name) && (name === 'authorization' || !allowedNames.includes('*')),
  );
}

/** Names of fields that may have another value in each response. */
export const OF_THE_REQUEST = /request|trace|correlation|time|date|_at$/i;

/** Returns the names of the fields in which two responses differ. */
export function differences(first: Exchange, second: Exchange): readonly string[] {
  const [firstFields, secondFields] = [first.json, second.json].map((json) =>
    isFields(json) ? json : { response: json },
  );
  const names = Object.keys({ ...firstFields, ...secondFields });
  return names.filter((name) => !isDeepStrictEqual(firstFields?.[name], secondFields?.[name]));
}
