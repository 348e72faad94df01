// The one place where a request to the service is made, and the only one that may add the bearer. It checks where the
// request goes, how long it takes and how much comes back; it does not know what the answers mean.

import type { Settings } from '../core/config.ts';
import { isLoopback } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import { sleep } from '../core/wait.ts';

/** One request below the base URL. */
export interface ServiceRequest {
  readonly method: 'POST' | 'DELETE';
  /** A path below the base URL, or an absolute URL that lies below it. */
  readonly path: string;
  /** The bearer, or `undefined` where the call is made without one. */
  readonly token: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, where there is one. */
  readonly body?: unknown;
  /** The greatest answer that is read, in bytes. Default 1 MiB. */
  readonly maxBytes?: number;
  readonly signal: AbortSignal;
}

/** An answer of any status. */
export interface Answer {
  readonly status: number;
  /** Where it came from, without the query. */
  readonly address: string;
  /** The parsed JSON; `undefined` where the answer was empty or no JSON. */
  readonly body: unknown;
  /** Nothing came, or only white space. */
  readonly isEmpty: boolean;
  /** Case does not matter; `null` where it is not there, or the service does not expose it to pages. */
  header(name: string): string | null;
}

/** What a test makes small. */
export interface HttpOptions {
  /** From the first byte sent to the last one read, milliseconds, beside what a long body takes. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Aborts when the line is another one: a request under way then is on a dead connection. */
  readonly connectionChange?: () => AbortSignal;
}

/**
 * Sends a request and reads its whole answer. Rejects with the signal's reason, or with `UploaderError`: `bad-config`
 * (not below the base URL: nothing is sent), `network`, `offline`, `timeout`, `bad-response` (too big).
 */
export type Send = (request: ServiceRequest) => Promise<Answer>;

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 2 ** 20;
/** A body that is sent at less than this, bytes a millisecond, beside all that the upload slots send, is on no line that works. */
const SLOWEST_BODY = 32;

/** The sender of all calls below `/files`, the only one that is given tokens. */
export function createSend(
  settings: Pick<Settings, 'baseUrl' | 'authHeader' | 'authScheme'>,
  { timeoutMs = TIMEOUT_MS, connectionChange }: HttpOptions = {},
): Send {
  return async ({ method, path, token, headers, body, maxBytes, signal }) => {
    const url = resolveUrl(settings.baseUrl, path);
    // The session header is as worth protecting as the bearer, so this holds with and without one.
    if (!isBelow(settings.baseUrl, url))
      throw new UploaderError('bad-config', `${path} is not below base-url`);
    const allHeaders = new Headers(headers);
    if (token !== undefined) {
      const { authHeader, authScheme } = settings;
      setHeader(allHeaders, authHeader, authScheme ? `${authScheme} ${token}` : token);
    }
    return exchange(
      url,
      { method, headers: allHeaders, credentials: 'same-origin' },
      { body, timeoutMs, maxBytes, signal, connectionChange: connectionChange?.() },
    );
  };
}

interface ExchangeOptions {
  readonly body: unknown;
  readonly timeoutMs: number;
  readonly maxBytes?: number | undefined;
  readonly signal: AbortSignal;
  readonly connectionChange?: AbortSignal | undefined;
}

/** Sends to an address that the caller has checked. Same promise as `Send`, without the check and without the bearer. */
export async function exchange(
  url: URL,
  init: { readonly method: string; readonly headers: Headers; readonly credentials: RequestCredentials },
  { body, timeoutMs, maxBytes = MAX_BYTES, signal, connectionChange }: ExchangeOptions,
): Promise<Answer> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let isLate = false;
  const onLate = (): void => {
    isLate = true;
    stop.abort();
  };
  const answered = new AbortController();
  const text = body === undefined ? '' : JSON.stringify(body);
  sleep(timeoutMs + text.length / SLOWEST_BODY, answered.signal).then(onLate, () => undefined);
  connectionChange?.addEventListener('abort', () => stop.abort(), { signal: answered.signal });
  if (body !== undefined) init.headers.set('Content-Type', 'application/json');
  init.headers.set('Accept', 'application/json');
  try {
    const response = await fetch(url, {
      ...init,
      ...(body === undefined ? {} : { body: text }),
      // No cache mode: none of these methods is cached, and naming one would keep Chromium from remembering preflights.
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: stop.signal,
    });
    const answer = await readText(response, maxBytes);
    return {
      status: response.status,
      address: url.origin + url.pathname,
      body: parseJson(answer),
      isEmpty: answer.trim() === '',
      header: (name) => response.headers.get(name),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UploaderError) throw error;
    if (isLate) throw new UploaderError('timeout', `no answer within ${timeoutMs} ms`);
    throw networkError(error);
  } finally {
    answered.abort();
    signal.removeEventListener('abort', onAbort);
  }
}

/** A request that never got an answer which a page may read: line, CORS, redirect and reset look all the same. */
export function networkError(cause: unknown): UploaderError {
  return navigator.onLine === false
    ? new UploaderError('offline', 'the browser is offline', { cause })
    : new UploaderError('network', 'no answer that a page may read (line, CORS or redirect)', { cause });
}

function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    // Without the cause: its message repeats the value, which is the token.
    throw new UploaderError('bad-config', `the token cannot go into the header "${name}"`);
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let sizeBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    sizeBytes += value.byteLength;
    if (sizeBytes > maxBytes) {
      reader.cancel().catch(() => undefined);
      throw new UploaderError('bad-response', `the answer is larger than ${maxBytes} bytes`, {
        status: response.status,
      });
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address of a path below `baseUrl` (with or without a leading slash), or of an absolute URL. Throws `bad-config`. */
export function resolveUrl(baseUrl: string, path: string): URL {
  try {
    return new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(path) ? path : `${baseUrl}/${path.replace(/^\/+/, '')}`);
  } catch (cause) {
    throw new UploaderError('bad-config', `"${path}" is no path below base-url`, { cause });
  }
}

/** True for the base URL itself and what lies below it, whatever a server may take `%2e`, `%2f` and `\` for. */
export function isBelow(baseUrl: string, url: URL): boolean {
  const base = new URL(baseUrl);
  if (url.origin !== base.origin || url.origin === 'null' || url.username || url.password) return false;
  const basePath = base.pathname.replace(/\/+$/, '');
  if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) return false;
  const rest = decodeFully(url.pathname.slice(basePath.length));
  return rest !== undefined && !/(?:^|[/\\])\.{1,2}(?:[/\\;]|$)|\\/.test(rest);
}

// Twice and thrice encoded dots are looked through too; `undefined` where it cannot be decoded or does not end.
function decodeFully(path: string): string | undefined {
  let decoded = path;
  for (let round = 0; round < 5; round += 1) {
    try {
      const next = decodeURIComponent(decoded);
      if (next === decoded) return decoded;
      decoded = next;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** https anywhere; http only to loopback, and only where the base URL is on loopback too. */
export function isSafeUrl(baseUrl: string, url: URL): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
}

const MAX_WAIT_MS = 5 * 60_000;

/** `Retry-After` (seconds or an HTTP date, told from the answer's own `Date` where it is readable) in ms, `longestMs` at most. */
export function readRetryAfterMs(
  value: string | number | null | undefined,
  date: string | null,
  longestMs = MAX_WAIT_MS,
): number | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  const text = String(value).trim();
  const isNumber = /^\d+(?:\.\d+)?$/.test(text);
  const waitMs = isNumber ? Number(text) * 1000 : Date.parse(text) - (readDateMs(date) ?? Date.now());
  return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), longestMs) : undefined;
}

/** Epoch milliseconds of an HTTP date; `undefined` where there is none. */
export function readDateMs(date: string | null): number | undefined {
  const ms = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) ? undefined : ms;
}
