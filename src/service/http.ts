// Sends all requests to the service. Only this module adds the token. Limits the URL, the duration and the response size of each
// request.

import { resolveUrl } from '../core/addresses.ts';
import { UploaderError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { Settings } from '../core/settings-table.ts';
import { nextTask, runAfter } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { watchSilence } from './silence.ts';

export interface ServiceRequest {
  readonly method: 'POST' | 'DELETE';
  /** Path below the base URL, or absolute URL below the base URL. */
  readonly path: string;
  readonly token: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Value that is sent as JSON. */
  readonly body?: unknown;
  /** Largest accepted response, in bytes. Defaults to 1 MiB. */
  readonly maxBytes?: number;
  /** The timeout is as many times longer. Defaults to 1. */
  readonly patience?: number;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** URL of the request, without the query. */
  readonly address: string;
  /** Parsed JSON; `undefined` if the body is empty or not JSON. */
  readonly body: unknown;
  /** True if the body is empty or only white space. */
  readonly isEmpty: boolean;
  /** Returns the value of a header; `null` if the header is missing or not exposed to pages. `name` is not case-sensitive. */
  header(name: string): string | null;
}

export interface HttpOptions {
  /**
   * Timeout from the first byte sent to the last byte read, in milliseconds. Extended for a large request body. Defaults to 30 s.
   */
  readonly timeoutMs?: number | undefined;
  /** Returns a signal that aborts when the network changes. The connections of running requests are then dead. */
  readonly connectionChange?: () => AbortSignal;
}

/**
 * Sends a request and reads the whole response. Rejects with the signal's reason, or with `UploaderError`: `bad-config` (the URL is
 * not below the base URL, or the page's Content Security Policy blocks the URL; nothing was sent), `network`, `offline`, `timeout`,
 * `bad-response` (too large, or a redirect).
 */
export type Send = (request: ServiceRequest) => Promise<Answer>;

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 2 ** 20;
/** Lowest expected rate for a request body while uploads are running, in bytes per millisecond. Used to extend the timeout. */
const SLOWEST_BODY = 32;

/** Creates the function that sends the upload operations. Other requests get no token from this module. */
export function createSend(
  settings: Pick<Settings, 'baseUrl' | 'authHeader' | 'authScheme'>,
  { timeoutMs = TIMEOUT_MS, connectionChange }: HttpOptions = {},
): Send {
  return async ({ method, path, token, headers, body, maxBytes, patience = 1, signal }) => {
    const url = resolveUrl(settings.baseUrl, path);
    // Checked even without a token, because the session header is also secret.
    if (!isBelow(settings.baseUrl, url))
      throw new UploaderError('bad-config', `${path} must be below base-url`);
    const allHeaders = new Headers(headers);
    if (token !== undefined) {
      const { authHeader, authScheme } = settings;
      setHeader(allHeaders, authHeader, authScheme ? `${authScheme} ${token}` : token);
    }
    return exchange(
      url,
      { method, headers: allHeaders, credentials: 'same-origin' },
      { body, timeoutMs: timeoutMs * patience, maxBytes, signal, connectionChange: connectionChange?.() },
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

/** Works like `Send`, but adds no token. The caller has checked the URL. */
export async function exchange(
  url: URL,
  init: { readonly method: string; readonly headers: Headers; readonly credentials: RequestCredentials },
  { body, timeoutMs, maxBytes = MAX_BYTES, signal, connectionChange }: ExchangeOptions,
): Promise<Answer> {
  signal.throwIfAborted();
  const timeoutController = new AbortController();
  const endController = new AbortController();
  const text = body === undefined ? '' : JSON.stringify(body);
  runAfter(timeoutMs + text.length / SLOWEST_BODY, endController.signal, () => timeoutController.abort());
  if (body !== undefined) init.headers.set('Content-Type', 'application/json');
  init.headers.set('Accept', 'application/json');
  const findPolicyError = watchPolicy(url, endController.signal);
  const silence = watchSilence(url, 'base-url', init.headers);
  try {
    const response = await fetch(url, {
      ...init,
      ...(body === undefined ? {} : { body: text }),
      // `cache` is not set, because this option would prevent Chromium from caching preflights.
      // With `error`, a redirect would look like a broken connection.
      redirect: 'manual',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.any([signal, timeoutController.signal, connectionChange ?? signal]),
    });
    silence.onAnswer();
    if (response.type === 'opaqueredirect')
      throw new UploaderError('bad-response', `${url.origin + url.pathname} redirects`);
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
    if (timeoutController.signal.aborted) {
      silence.onNoAnswer();
      throw new UploaderError('timeout', `No response within ${timeoutMs} ms`);
    }
    const policyError = await findPolicyError();
    signal.throwIfAborted();
    if (policyError) warnOnceHere(policyError.message);
    const fetchError = networkError(error);
    if (!policyError && !connectionChange?.aborted && fetchError.code === 'network') silence.onNoAnswer();
    throw policyError ?? fetchError;
  } finally {
    endController.abort();
  }
}

/**
 * Returns a function that resolves with an error if the page's Content Security Policy blocks `url`, or blocks a redirect of it.
 * Call `watchPolicy` before the request starts. `signal` has to abort when the request is over.
 */
export function watchPolicy(url: URL, signal: AbortSignal): () => Promise<UploaderError | undefined> {
  let isBlocked = false;
  const onViolation = (event: SecurityPolicyViolationEvent): void => {
    const { blockedURI, disposition, effectiveDirective } = event;
    isBlocked ||=
      disposition === 'enforce' && effectiveDirective === 'connect-src' && blockedURI === url.href;
  };
  document.addEventListener('securitypolicyviolation', onViolation, { signal });
  return async () => {
    // The event may follow the failure of the request.
    await nextTask();
    return isBlocked
      ? new UploaderError(
          'bad-config',
          `connect-src of the page's Content Security Policy needs ${url.origin}`,
        )
      : undefined;
  };
}

/**
 * Returns the error for a request without a readable response. A page cannot distinguish network errors, CORS errors, and redirects
 * without CORS headers.
 */
export function networkError(cause?: unknown): UploaderError {
  return navigator.onLine === false
    ? new UploaderError('offline', 'The browser is offline', { cause })
    : new UploaderError('network', 'Network error, blocked by CORS, or redirected', { cause });
}

function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    // No `cause`, because the message of `cause` contains the token.
    throw new UploaderError('bad-config', `The token is not valid in the header "${name}"`);
  }
}

/** Reads a response. Rejects with `bad-response` if it is larger than `maxBytes`. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
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
      // The rest of the response is not needed.
      reader.cancel().catch(() => undefined);
      throw new UploaderError('bad-response', `The response is larger than ${maxBytes} bytes`, {
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

/** Returns true if `url` is the base URL or below the base URL, however the server decodes `%2e`, `%2f` and `\`. */
export function isBelow(baseUrl: string, url: URL): boolean {
  const base = new URL(baseUrl);
  if (url.origin !== base.origin || url.origin === 'null' || url.username || url.password) return false;
  const basePath = base.pathname.replace(/\/+$/, '');
  if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) return false;
  const pathBelow = decodeFully(url.pathname.slice(basePath.length));
  return pathBelow !== undefined && !/(?:^|[/\\])\.{1,2}(?:[/\\;]|$)|\\/.test(pathBelow);
}

// Decodes a path that may be encoded repeatedly. Returns `undefined` if the path is malformed, or encoded more than four times.
function decodeFully(path: string): string | undefined {
  let decodedPath = path;
  for (let round = 0; round < 5; round += 1) {
    try {
      const nextPath = decodeURIComponent(decodedPath);
      if (nextPath === decodedPath) return decodedPath;
      decodedPath = nextPath;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/**
 * Returns true if `url` has the origin of the page. Requests to this origin may contain the user's cookies. In a frame with
 * `srcdoc`, only `origin` is the origin of its requests; `location.origin` is `null`.
 */
export const isOwnOrigin = ({ origin }: URL): boolean => origin === globalThis.origin;

/** Returns true for https. Returns true for http if both `url` and the base URL are on loopback. */
export function isSafeUrl(baseUrl: string, url: URL): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
}

const MAX_WAIT_MS = 5 * 60_000;

/**
 * Converts `Retry-After` to milliseconds, at most `longestMs`. An HTTP date is compared with the response header `Date`. If that
 * header is not readable, the date is compared with the local clock.
 */
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

export function readDateMs(date: string | null): number | undefined {
  const ms = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) ? undefined : ms;
}
