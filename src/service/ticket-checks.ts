// Validates presigned URLs and their headers, and reads the lifetime of the URLs. Tickets are untrusted.

import { UploaderError } from '../core/errors.ts';
import { readTimeMs } from '../core/read-time.ts';
import { isOwnOrigin, isSafeUrl } from './http.ts';

const MAX_URL = 16_384;
const MAX_HEADERS = 32;
const MAX_VALUE = 8_192;

export interface TicketRules {
  readonly baseUrl: string;
  /** Allowed origins. An empty list allows any origin except the page's own. */
  readonly uploadOrigins: readonly string[];
  /** Name of the header with the token; a ticket must not set this header. */
  readonly authHeader: string;
}

/**
 * Returns the URL without its fragment. Throws `bad-response` if the URL is not valid. Throws `bad-config` for what no repeat of
 * the request mends: the URL is not secure, or `upload-origins` does not allow its origin. The page's own origin is allowed only if
 * it is listed: a forged URL could otherwise call the page's own server.
 */
export function checkUploadUrl(value: string, { baseUrl, uploadOrigins }: TicketRules): string {
  let url: URL;
  try {
    url = new URL(value.length > MAX_URL ? '' : value);
  } catch {
    throw new UploaderError('bad-response', 'An upload URL is not absolute');
  }
  if (!isSafeUrl(baseUrl, url))
    throw new UploaderError('bad-config', `The upload URL ${url.protocol}//${url.host}/… must use https`);
  if (url.username || url.password)
    throw new UploaderError('bad-response', 'An upload URL has a user name or password');
  const isListed = uploadOrigins.includes(url.origin);
  if (!isListed && (uploadOrigins.length > 0 || isOwnOrigin(url)))
    throw new UploaderError('bad-config', `upload-origins does not name ${url.origin}`);
  url.hash = '';
  return url.href;
}

/** Returns `PUT` (the default) or `POST`. Throws `bad-response` for other methods. */
export function checkMethod(value: unknown): 'PUT' | 'POST' {
  // `String(value)` would throw for JSON such as `{"toString": 1}`.
  const method = typeof value === 'string' ? value.toUpperCase() : (value ?? 'PUT');
  if (method === 'PUT' || method === 'POST') return method;
  throw new UploaderError('bad-response', 'An upload URL has a method other than PUT or POST');
}

/** Headers that browsers set. Tickets may list these headers, because they are part of the signature. */
const BROWSER_HEADERS = /^(?:host|content-length)$/i;
/** Headers of the uploader, and headers that replace the method. Browsers keep pages from setting theirs, such as `cookie`. */
const FORBIDDEN_HEADERS =
  /^(?:authorization|proxy-.*|sec-.*|x-(?:http-)?method(?:-override)?|x-service-uploadsession)$/;

/** Returns the headers of a ticket, with names in lower case. Throws `bad-response` if a header must not be sent. */
export function checkHeaders(value: unknown, { authHeader }: TicketRules): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new UploaderError('bad-response', 'An upload URL has headers that are not an object');
  }
  const entries = Object.entries(value).filter(([name]) => !BROWSER_HEADERS.test(name));
  if (entries.length > MAX_HEADERS)
    throw new UploaderError('bad-response', 'An upload URL has too many headers');
  return Object.fromEntries(
    entries.map(([name, text]) => [name.toLowerCase(), checkHeader(name, text, authHeader)]),
  );
}

function checkHeader(name: string, value: unknown, authHeader: string): string {
  const lowerName = name.toLowerCase();
  const isToken = /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(lowerName);
  if (!isToken || FORBIDDEN_HEADERS.test(lowerName) || lowerName === authHeader.toLowerCase()) {
    throw new UploaderError('bad-response', `An upload URL has the forbidden header "${name.slice(0, 64)}"`);
  }
  // Rejects line breaks in particular, which would start another header.
  if (typeof value !== 'string' || value.length > MAX_VALUE || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new UploaderError(
      'bad-response',
      `An upload URL has the header "${lowerName}" with an invalid value`,
    );
  }
  return value;
}

/**
 * Returns the remaining lifetime of a presigned URL in milliseconds, from `X-Amz-Date` and `X-Amz-Expires`, or from `Expires`
 * (epoch seconds). Returns `undefined` if the lifetime is unknown. Also returns `undefined` if a new URL seems to have expired: a
 * clock is then wrong, and only the PUT shows if the URL works.
 */
export function lifetimeOf(url: string, nowMs: number): number | undefined {
  const query = new Map([...new URL(url).searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  const amzExpires = Number(query.get('x-amz-expires') || Number.NaN);
  const signedAtMs = parseAmzDate(query.get('x-amz-date'));
  if (amzExpires > 0 && signedAtMs !== undefined) {
    return ifPositive(Math.min(signedAtMs + amzExpires * 1000 - nowMs, amzExpires * 1000));
  }
  const expiresSeconds = query.get('expires');
  return expiresSeconds && /^\d{9,11}$/.test(expiresSeconds)
    ? ifPositive(Number(expiresSeconds) * 1000 - nowMs)
    : undefined;
}

/** Returns the milliseconds until a time. Returns `undefined` if the time is not valid or has passed. */
export const lifetimeUntil = (value: unknown, nowMs: number): number | undefined =>
  ifPositive((readTimeMs(value) ?? 0) - nowMs);

const ifPositive = (ms: number): number | undefined => (Number.isFinite(ms) && ms > 0 ? ms : undefined);

function parseAmzDate(value: string | undefined): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(value ?? '');
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) || undefined;
}
