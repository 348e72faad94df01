// Sends the bytes of a chunk to its presigned URL, without bearer, cookies or session header. Uses XHR, because `fetch` does not
// report upload progress; but `fetch` on the page's own origin, where XHR always sends cookies.

import { UploaderError } from '../core/errors.ts';
import { createHosts, type Host } from '../core/host.ts';
import type { Profile } from '../core/read-profile.ts';
import type { Put, TicketUpload } from '../core/types.ts';
import { LONGEST_TIMER_MS } from '../core/wait.ts';
import { isOwnOrigin, isSafeUrl, networkError, readRetryAfterMs, readText, watchPolicy } from './http.ts';
import { FAULTS, putMeaningOf } from './profile.ts';
import { readabilityOf } from './readability.ts';

export interface PutOptions {
  readonly baseUrl: string;
  /** The PUT fails after this time without progress, milliseconds. Default 30 s. A call may override it. */
  readonly stallMs?: number;
  /** What statuses mean, if the page overrides the default (U7a). */
  readonly statuses?: Profile['putStatuses'];
}

const STALL_MS = 30_000;
const MAX_ANSWER_BYTES = 65_536;
/**
 * When connections may be dead, a PUT continues if it had a sign of life in this time, in milliseconds. It then has to have the
 * next one in `NEXT_SIGN_MS`.
 */
const MOVING_MS = 2000;
const NEXT_SIGN_MS = 5000;

/**
 * Creates the function that sends a chunk. It rejects with the signal's reason, or with one of these `UploaderError`s, after which
 * a new ticket may help: `upload-refused` (4xx, or a redirect), `ticket-expired` (403 or 410 after the URL expired),
 * `hash-mismatch` (reported by the storage), `rate-limited` (429, 503), `service-failed` (408, other 5xx), `service-full` (507),
 * `bad-response` (501, 505, 508, 510, 511), `upload-stalled`, `network` (perhaps an expired URL) and `offline`. After
 * `storage-unreadable` and `bad-config`, only a change of the settings of the storage or the page helps.
 */
export function createPut({ baseUrl, stallMs: usualStallMs = STALL_MS, statuses = {} }: PutOptions): Put {
  const ownHosts = createHosts();
  return (
    upload,
    body,
    { signal, onProgress, isUnsure, connectionChange, stallMs = usualStallMs, host = ownHosts(upload.url) },
  ) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      const url = new URL(upload.url);
      if (!isSafeUrl(baseUrl, url)) throw new UploaderError('bad-response', 'an upload URL is not https');
      const isOwn = isOwnOrigin(url);
      const xhr = new XMLHttpRequest();
      const readability = readabilityOf(host.evidence, url, body.size);
      let sentBytes = 0;
      const endController = new AbortController();
      const patience = host.patienceFor(body.size, stallMs);
      const protocol = watchProtocol(url, host);
      const silence = new Silence(patience.firstByteMs, onSilence);
      let firstByteMs: number | undefined;
      const noteSign = (longestMs: number): void => {
        firstByteMs ??= silence.lengthMs;
        silence.restart(longestMs);
      };

      const settle = (error?: unknown): void => {
        if (endController.signal.aborted) return;
        endController.abort();
        silence.end();
        protocol.end();
        if (error === undefined) resolve();
        else reject(error);
        if (xhr.readyState !== XMLHttpRequest.DONE) xhr.abort();
      };
      signal.addEventListener('abort', () => settle(signal.reason), { signal: endController.signal });

      xhr.upload.onprogress = ({ loaded: loadedBytes }) => {
        noteSign(patience.stallMs);
        sentBytes = Math.min(loadedBytes, body.size);
        if (!endController.signal.aborted) onProgress?.(sentBytes);
      };
      xhr.upload.onload = () => noteSign(patience.answerMs);
      xhr.onprogress = ({ loaded: loadedBytes }) => {
        // Only the status is needed. A large body must not fill the page's memory.
        if (loadedBytes > MAX_ANSWER_BYTES) onLoad();
        else noteSign(patience.stallMs);
      };
      const onAnswer = (answer: PutAnswer): void => {
        readability.onReadable();
        const error = errorOf(answer, upload, url, statuses);
        const answerMs = firstByteMs === undefined ? 0 : silence.lengthMs;
        noteSign(patience.stallMs);
        if (!error) host.onStored(body.size, { firstByteMs: firstByteMs ?? 0, answerMs });
        protocol.check();
        settle(error);
      };
      const onLoad = (): void =>
        onAnswer({
          status: xhr.status,
          url: xhr.responseURL,
          text: xhr.responseText,
          header: (name) => headerOf(xhr, name),
        });
      const findPolicyError = watchPolicy(url, endController.signal);
      const onError = async (): Promise<void> => {
        const policyError = await findPolicyError();
        // CORS does not hide responses of the page's own origin.
        if (isOwn) settle(policyError ?? networkError());
        else
          settle(
            isUnsure
              ? networkError()
              : await readability.explain(sentBytes, endController.signal, policyError),
          );
      };
      // `slice` removes the Blob's type, which the browser would send as a Content-Type that is not signed.
      const bytes = body.type === '' ? body : body.slice(0, body.size);
      if (isOwn) fetchWithoutCookies(upload, bytes, endController.signal).then(onAnswer, onError);
      else {
        xhr.onload = onLoad;
        xhr.onerror = onError;
        xhr.onabort = () => settle(networkError());
        xhr.open(upload.method, upload.url);
        for (const [name, value] of Object.entries(upload.headers)) xhr.setRequestHeader(name, value);
        xhr.send(bytes);
      }
      silence.begin();
      watchChange();

      function onSilence(): void {
        if (silence.isShortened) {
          settle(networkError());
          return;
        }
        host.onStall(body.size, patience);
        const message = `No byte of a PUT of ${body.size} bytes was sent for ${Math.round(silence.lengthMs)} ms`;
        settle(new UploaderError('upload-stalled', message));
      }

      function watchChange(): void {
        connectionChange?.().addEventListener(
          'abort',
          () => {
            if (silence.lengthByClockMs > MOVING_MS) return settle(networkError());
            silence.shorten(NEXT_SIGN_MS);
            watchChange();
          },
          { signal: endController.signal },
        );
      }
    });
}

/** The time since the last sign of life of a PUT. Calls `onEnd` once if it lasts too long. */
class Silence {
  /** True if the time that is left was shortened since the last sign. */
  isShortened = false;
  readonly #onEnd: () => void;
  #longestMs: number;
  #sinceMs = performance.now();
  #sinceClockMs = Date.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer looks at the time again; 0 if there is no timer. */
  #looksAtMs = 0;

  constructor(longestMs: number, onEnd: () => void) {
    this.#longestMs = longestMs;
    this.#onEnd = onEnd;
  }

  get lengthMs(): number {
    return performance.now() - this.#sinceMs;
  }

  /** The same by the system clock, which also counts the time in which the device slept. */
  get lengthByClockMs(): number {
    return Date.now() - this.#sinceClockMs;
  }

  restart(longestMs: number): void {
    this.#longestMs = longestMs;
    this.#sinceMs = performance.now();
    this.#sinceClockMs = Date.now();
    this.isShortened = false;
    // Most signs only move the end, which the timer notices when it looks.
    if (this.#sinceMs + longestMs < this.#looksAtMs) this.#plan();
  }

  /** Shortens the time that is left. */
  shorten(remainingMs: number): void {
    if (remainingMs >= this.#longestMs - this.lengthMs) return;
    this.#longestMs = this.lengthMs + remainingMs;
    this.isShortened = true;
    this.#plan();
  }

  begin(): void {
    this.#plan();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#looksAtMs = 0;
  }

  #plan(): void {
    clearTimeout(this.#timer);
    const remainingMs = this.#longestMs - this.lengthMs;
    this.#looksAtMs = performance.now() + remainingMs;
    this.#timer = setTimeout(() => this.#look(), Math.min(remainingMs, LONGEST_TIMER_MS));
  }

  #look(): void {
    if (this.lengthMs < this.#longestMs) this.#plan();
    else this.#onEnd();
  }
}

/**
 * Notices whether a request uses HTTP/2 or later, which is known only if the storage sends `Timing-Allow-Origin`. The page's own
 * buffer of these entries may be full, so an observer is needed.
 */
function watchProtocol({ href }: URL, host: Host): { check(): void; end(): void } {
  if (host.isMultiplexed || !globalThis.PerformanceObserver)
    return { check: () => undefined, end: () => undefined };
  const read = (entries: PerformanceEntryList): void => {
    host.isMultiplexed ||= entries.some(
      (entry) => entry.name === href && /^h[23]/.test((entry as PerformanceResourceTiming).nextHopProtocol),
    );
  };
  const observer = new PerformanceObserver((list) => read(list.getEntries()));
  observer.observe({ type: 'resource' });
  return { check: () => read(observer.takeRecords()), end: () => observer.disconnect() };
}

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
  url: URL,
  statuses: NonNullable<Profile['putStatuses']>,
): UploaderError | undefined {
  const { status } = answer;
  const meaning = putMeaningOf(status, statuses);
  if (answer.url !== url.href) {
    return new UploaderError('upload-refused', 'The storage redirected the upload', { status });
  }
  if (meaning === 'stored') return undefined;
  const message = `The storage responded with ${status}`;
  const fault = FAULTS[meaning];
  if (fault) {
    const retryAfterMs =
      meaning === 'slow-down'
        ? readRetryAfterMs(answer.header('retry-after'), answer.header('date'))
        : undefined;
    return new UploaderError(fault, message, { status, retryAfterMs });
  }
  if ((status === 400 || status === 422) && namesHashMismatch(answer.text)) {
    return new UploaderError('hash-mismatch', message, { status });
  }
  const isExpired = upload.expiresAtMs !== undefined && upload.expiresAtMs <= performance.now();
  const code = isExpired && (status === 403 || status === 410) ? 'ticket-expired' : 'upload-refused';
  return new UploaderError(code, message, { status });
}

/** Reads a header only if it is exposed: Chromium logs an error for other headers. */
function headerOf(xhr: XMLHttpRequest, name: string): string | null {
  const isReadable = xhr.getAllResponseHeaders().toLowerCase().includes(`${name}:`);
  return isReadable ? xhr.getResponseHeader(name) : null;
}

const namesHashMismatch = (text: string): boolean =>
  /SHA256Mismatch|BadDigest|(?:another|other|wrong) (?:hash|checksum)/i.test(text) ||
  /(?:hash|checksum|digest)\W{0,3}(?:mismatch|does not match)/i.test(text);
