// Sends the bytes of a chunk to its presigned URL, without bearer, cookies or session header. Uses XHR, because `fetch` does not
// report upload progress; but `fetch` on the page's own origin, where XHR always sends cookies.

import type { Profile } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { Put, TicketUpload } from '../core/types.ts';
import { sleep } from '../core/wait.ts';
import { isOwnOrigin, isSafeUrl, networkError, readRetryAfterMs, readText, watchPolicy } from './http.ts';
import { FAULTS, putMeaningOf } from './profile.ts';
import { createReadability } from './readability.ts';

export interface PutOptions {
  readonly baseUrl: string;
  /** The PUT fails after this time without progress, milliseconds. Default 30 s. A call may override it. */
  readonly stallMs?: number;
  /** What statuses mean, if the page overrides the default (U7a). */
  readonly statuses?: Profile['putStatuses'];
}

const STALL_MS = 30_000;
const MAX_ANSWER_BYTES = 65_536;
// Factor for `stallMs` until the first byte is sent. Browsers send only six requests to a host at once; the others wait, but have
// not stalled.
const PATIENCE_BEFORE_FIRST_BYTE = 4;
// Factor for `stallMs` after the last byte. There are no progress events while the system sends its buffer and the storage
// processes the bytes.
const PATIENCE_FOR_ANSWER = 2;
/** Limit of `stallMs` multiplied by a factor, in milliseconds. The timeout is never shorter than `stallMs`. */
const MOST_PATIENCE_MS = 120_000;
/** Limit of the patience with a storage that has answered before without earlier progress, in milliseconds. */
const LONGEST_SILENCE_MS = 600_000;

/**
 * Creates the function that sends a chunk. It rejects with the signal's reason, or with one of these `UploaderError`s, after which
 * a new ticket may help: `upload-refused` (4xx, or a redirect), `ticket-expired` (403 or 410 after the URL expired),
 * `hash-mismatch` (reported by the storage), `rate-limited` (429, 503), `service-failed` (408, other 5xx), `service-full` (507),
 * `bad-response` (501, 505, 508, 510, 511), `upload-stalled`, `network` (perhaps an expired URL) and `offline`. After
 * `storage-unreadable` and `bad-config`, only a change of the settings of the storage or the page helps.
 */
export function createPut({ baseUrl, stallMs: usualStallMs = STALL_MS, statuses = {} }: PutOptions): Put {
  /** True once the storage is known to use HTTP/2 or later. */
  let isShared = false;
  /**
   * Longest time until a successful PUT showed its first progress, in milliseconds. Behind a service worker, which hides progress,
   * it is the time until the response.
   */
  let longestSilenceMs = 0;
  const begin = createReadability();
  return (upload, body, { signal, onProgress, onMultiplexed, isUnsure, stallMs = usualStallMs }) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      const url = new URL(upload.url);
      if (!isSafeUrl(baseUrl, url)) throw new UploaderError('bad-response', 'an upload URL is not https');
      const isOwn = isOwnOrigin(url);
      const xhr = new XMLHttpRequest();
      const attempt = begin(upload.url, body.size);
      let sentBytes = 0;
      const settled = new AbortController();
      const times = (count: number): number => Math.max(stallMs, Math.min(stallMs * count, MOST_PATIENCE_MS));
      let patienceMs = Math.max(
        times(PATIENCE_BEFORE_FIRST_BYTE),
        Math.min(PATIENCE_BEFORE_FIRST_BYTE * longestSilenceMs, LONGEST_SILENCE_MS),
      );
      let lastSignMs = performance.now();
      let silenceMs: number | undefined;
      const hasSign = (nextPatienceMs: number): void => {
        patienceMs = nextPatienceMs;
        const beforeMs = lastSignMs;
        lastSignMs = performance.now();
        silenceMs ??= lastSignMs - beforeMs;
      };

      const settle = (error?: unknown): void => {
        if (settled.signal.aborted) return;
        settled.abort();
        if (error === undefined) resolve();
        else reject(error);
        xhr.abort();
      };
      signal.addEventListener('abort', () => settle(signal.reason), { signal: settled.signal });

      xhr.upload.onprogress = ({ loaded }) => {
        hasSign(stallMs);
        sentBytes = Math.min(loaded, body.size);
        if (!settled.signal.aborted) onProgress?.(sentBytes);
      };
      xhr.upload.onload = () => hasSign(times(PATIENCE_FOR_ANSWER));
      xhr.onprogress = ({ loaded }) => {
        // Only the status is needed. A large body must not fill the page's memory.
        if (loaded > MAX_ANSWER_BYTES) onLoad();
        else hasSign(stallMs);
      };
      const onAnswer = (answer: PutAnswer): void => {
        attempt.onReadable();
        hasSign(stallMs);
        const error = errorOf(answer, upload, statuses);
        if (!error) longestSilenceMs = Math.max(longestSilenceMs, silenceMs ?? 0);
        settle(error);
        isShared ||= isMultiplexed(url);
        if (isShared) onMultiplexed?.();
      };
      const onLoad = (): void =>
        onAnswer({
          status: xhr.status,
          url: xhr.responseURL,
          text: xhr.responseText,
          header: (name) => headerOf(xhr, name),
        });
      const findPolicyError = watchPolicy(url, settled.signal);
      const onError = async (): Promise<void> => {
        const byPolicy = await findPolicyError();
        // CORS does not hide responses of the page's own origin.
        if (isOwn) settle(byPolicy ?? networkError());
        else settle(isUnsure ? networkError() : await attempt.explain(sentBytes, settled.signal, byPolicy));
      };
      // `slice` removes the Blob's type, which the browser would send as a Content-Type that is not signed.
      const bytes = body.type === '' ? body : body.slice(0, body.size);
      if (isOwn) fetchWithoutCookies(upload, bytes, settled.signal).then(onAnswer, onError);
      else {
        xhr.onload = onLoad;
        xhr.onerror = onError;
        xhr.onabort = () => settle(networkError());
        xhr.open(upload.method, upload.url);
        for (const [name, value] of Object.entries(upload.headers)) xhr.setRequestHeader(name, value);
        xhr.send(bytes);
      }
      watch().catch(() => undefined);

      async function watch(): Promise<void> {
        for (;;) {
          const leftMs = lastSignMs + patienceMs - performance.now();
          if (leftMs <= 0) break;
          await sleep(leftMs, settled.signal);
        }
        settle(
          new UploaderError(
            'upload-stalled',
            `No byte of a PUT of ${body.size} bytes was sent for ${Math.round(patienceMs)} ms`,
          ),
        );
      }
    });
}

/** True if the request used HTTP/2 or later. Known only if the storage sends `Timing-Allow-Origin`. */
const isMultiplexed = ({ href }: URL): boolean =>
  performance
    .getEntriesByName(href, 'resource')
    .some((entry) => /^h[23]/.test((entry as PerformanceResourceTiming).nextHopProtocol));

/** A response of the storage. */
interface PutAnswer {
  readonly status: number;
  /** URL of the response, after redirects. */
  readonly url: string;
  readonly text: string;
  header(name: string): string | null;
}

/** Sends the bytes to the page's own origin. */
async function fetchWithoutCookies(
  { url, method, headers }: TicketUpload,
  body: Blob,
  signal: AbortSignal,
): Promise<PutAnswer> {
  const response = await fetch(url, {
    method,
    headers,
    body,
    credentials: 'omit',
    redirect: 'manual',
    referrerPolicy: 'no-referrer',
    signal,
  });
  return {
    status: response.status,
    url: response.type === 'basic' ? response.url : '',
    text: await readText(response, MAX_ANSWER_BYTES).catch(() => ''),
    header: (name) => response.headers.get(name),
  };
}

function errorOf(
  answer: PutAnswer,
  upload: TicketUpload,
  statuses: NonNullable<Profile['putStatuses']>,
): UploaderError | undefined {
  const { status } = answer;
  const meaning = putMeaningOf(status, statuses);
  if (answer.url !== new URL(upload.url).href) {
    return new UploaderError('upload-refused', 'The storage redirected the upload', { status });
  }
  if (meaning === 'stored') return undefined;
  const says = `The storage responded with ${status}`;
  const fault = FAULTS[meaning];
  if (fault) {
    const retryAfterMs =
      meaning === 'slow-down'
        ? readRetryAfterMs(answer.header('retry-after'), answer.header('date'))
        : undefined;
    return new UploaderError(fault, says, { status, retryAfterMs });
  }
  if ((status === 400 || status === 422) && namesHashMismatch(answer.text)) {
    return new UploaderError('hash-mismatch', says, { status });
  }
  const isExpired = upload.expiresAtMs !== undefined && upload.expiresAtMs <= performance.now();
  const code = isExpired && (status === 403 || status === 410) ? 'ticket-expired' : 'upload-refused';
  return new UploaderError(code, says, { status });
}

/** Reads a header only if it is exposed: Chromium logs an error for other headers. */
function headerOf(xhr: XMLHttpRequest, name: string): string | null {
  const isReadable = xhr.getAllResponseHeaders().toLowerCase().includes(`${name}:`);
  return isReadable ? xhr.getResponseHeader(name) : null;
}

const namesHashMismatch = (text: string): boolean =>
  /SHA256Mismatch|BadDigest|(?:another|other|wrong) (?:hash|checksum)|(?:hash|checksum|digest)\W{0,3}(?:mismatch|does not match)/i.test(
    text,
  );
