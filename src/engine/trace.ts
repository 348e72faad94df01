// Spans of the stages of each upload, and the report for support. Loaded only for pages that set `onSpan` or call `diagnose()`, so
// it imports nothing but types. Spans have no names, URLs, messages of errors, tokens or headers.

import type { Change } from '../core/changes.ts';
import type { ErrorCode } from '../core/error-codes.ts';
import type { Settings } from '../core/settings-table.ts';
import type { AuthSnapshot, AuthState, FileId, Snapshot, Totals } from '../core/types.ts';
import type { RunParts } from '../pipeline/run.ts';

/** Version of this package. */
export const VERSION = '0.1.0';

/** One step of an upload, or a sign-in, after it has ended. */
export interface Span {
  /** `session` opens an upload session; `presign` requests upload URLs; `put` sends a chunk. */
  readonly kind: 'sign-in' | 'session' | 'hash' | 'presign' | 'put' | 'commit';
  /** Id of the file, as in events. Absent for `sign-in`. */
  readonly id?: FileId;
  /** Time of the start, in epoch milliseconds with fractions. */
  readonly startMs: number;
  readonly durationMs: number;
  /** `stopped`: the step was ended, for example by a pause, a cancel or a change of the network. */
  readonly outcome: 'ok' | 'stopped' | ErrorCode;
  /** HTTP status of a failed request, if there was a response. */
  readonly status?: number;
  /** 1, or more if the same step has failed before. */
  readonly attempt: number;
  /** Bytes that were hashed or sent, or of the chunks that a request was about, rounded to two significant digits. */
  readonly sizeBytes?: number;
}

/** An error of a file or of sign-in. */
export interface Problem {
  /** Time of the error, in epoch milliseconds; absent for errors before the report was prepared. */
  readonly atMs?: number;
  /** `retry`: the request was repeated. */
  readonly kind: 'upload' | 'sign-in' | 'rejection' | 'retry';
  readonly id?: FileId;
  readonly code: ErrorCode;
  readonly status?: number;
}

/** Plain data for a support ticket. */
export interface Diagnosis {
  /** Version of this package. */
  readonly version: string;
  /** Time of the report (ISO 8601). */
  readonly at: string;
  /** The settings, without `owner` and `parentId`, without queries of URLs, and with `function` in place of functions. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly browser: Readonly<Record<string, unknown>>;
  /** Storage of the origin: bytes, rounded to two significant digits. Empty if the browser does not say. */
  readonly storage: {
    readonly usedBytes?: number;
    readonly quotaBytes?: number;
    readonly isPersisted?: boolean;
  };
  readonly auth: Pick<AuthSnapshot, 'state' | 'mode' | 'required'> & { readonly code?: ErrorCode };
  readonly totals: Totals;
  /** The last spans, at most 100. */
  readonly spans: readonly Span[];
  /** The last errors, at most 100. */
  readonly errors: readonly Problem[];
}

/** Maximum number of spans, and of errors, that are kept. */
const MOST = 100;
/** States of sign-in in which nothing is asked. */
const RESTING: readonly AuthState[] = ['signed-out', 'prompt', 'signed-in', 'cooling'];

type Facts = Pick<Span, 'kind' | 'id' | 'sizeBytes'>;
/** The parts of a run that become spans. */
export type TracedParts = Partial<Pick<RunParts, 'hashSlice' | 'put' | 'onPut'>> & Pick<RunParts, 'calls'>;

interface Failure {
  readonly code?: ErrorCode | undefined;
  readonly status?: number | undefined;
}

/** `startMs` is an epoch time; `atMs` is by `performance.now()`, which stands still while some devices sleep. */
interface Start {
  readonly startMs: number;
  readonly atMs: number;
}

interface SignIn extends Start {
  readonly attempt: number;
  error?: Failure;
}

const now = (): Start => ({ startMs: Date.now(), atMs: performance.now() });
const rounded = (value: number): number => Number(value.toPrecision(2));
const sumOf = (chunks: readonly { readonly sizeBytes: number }[]): number =>
  chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** Keeps the last spans and errors. */
export class Trace {
  readonly #onSpan: ((span: Span) => void) | undefined;
  #spans: Span[] = [];
  #errors: Problem[] = [];
  #signIn: SignIn | undefined;
  /** The sign-in that has just ended. Its error is reported after its end. */
  #ended: SignIn | undefined;
  #signInAttempt = 1;

  constructor(snapshot: Snapshot, onSpan?: (span: Span) => void) {
    this.#onSpan = onSpan;
    for (const { id, error, lastError } of snapshot.files) {
      const last = error ?? lastError;
      if (last) this.#addError({ kind: error ? 'upload' : 'retry', id, ...problemOf(last) });
    }
    for (const { code } of snapshot.rejections) this.#addError({ kind: 'rejection', code });
    if (snapshot.auth.error) this.#addError({ kind: 'sign-in', ...problemOf(snapshot.auth.error) });
    if (!RESTING.includes(snapshot.auth.state)) this.#signIn = { ...now(), attempt: 1 };
  }

  readonly onChange = ({ name, detail }: Change): void => {
    const atMs = Date.now();
    if (name === 'upload-failed')
      this.#addError({ atMs, kind: 'upload', id: detail.id, ...problemOf(detail) });
    else if (name === 'file-rejected') this.#addError({ atMs, kind: 'rejection', code: detail.code });
    else if (name === 'auth-changed') this.#onAuth(detail.state, detail.previous);
    else if (name === 'auth-failed') {
      this.#addError({ atMs, kind: 'sign-in', ...problemOf(detail) });
      const signIn = this.#signIn ?? this.#ended;
      if (signIn) signIn.error = detail;
    }
  };

  /** Forgets the spans and errors of the user before. */
  readonly forget = (): void => {
    // Steps that are being stopped add their span to the old list.
    this.#spans = [];
    this.#errors = [];
    this.#signIn = this.#ended = undefined;
    this.#signInAttempt = 1;
  };

  /** Returns `parts` of a run with functions that make a span of each call. */
  wrap<Parts extends TracedParts>(id: FileId, parts: Parts): Parts {
    const { calls, hashSlice, onPut, put } = parts;
    const { commit } = calls;
    /** Failed attempts in a row of each step. */
    const failures = new Map<string, number>();
    const span = <T>(
      kind: Span['kind'],
      sizeBytes: number | undefined,
      signal: AbortSignal,
      step: string,
      call: () => Promise<T>,
    ): Promise<T> =>
      this.#measure(
        { kind, id, ...(sizeBytes !== undefined && { sizeBytes }) },
        failures,
        step,
        signal,
        call,
      );
    let step = '';
    const own: TracedParts = {
      calls: {
        ...calls,
        openSession: (file, signal) =>
          span('session', undefined, signal, 'session', () => calls.openSession(file, signal)),
        presign: (session, chunks, signal) =>
          span('presign', sumOf(chunks), signal, `presign ${chunks[0]?.hash}`, () =>
            calls.presign(session, chunks, signal),
          ),
        ...(commit && {
          commit: (session, proof, signal, options) =>
            span('commit', undefined, signal, 'commit', () => commit(session, proof, signal, options)),
        }),
      },
      ...(hashSlice && {
        hashSlice: (slice, options) =>
          span('hash', slice.size, options.signal, 'hash', () => hashSlice(slice, options)),
      }),
      // Called directly before `put`.
      ...(onPut && {
        onPut: (chunk) => {
          step = `put ${chunk.start} ${chunk.sizeBytes}`;
          onPut(chunk);
        },
      }),
      ...(put && {
        put: (upload, body, options) =>
          span('put', body.size, options.signal, step, () => put(upload, body, options)),
      }),
    };
    return { ...parts, ...own };
  }

  /** Returns the report. */
  async report({ auth, totals }: Snapshot, settings: Settings): Promise<Diagnosis> {
    const { state, mode, required, error } = auth;
    const sums = Object.entries(totals).map(([name, value]) => [
      name,
      /Bytes|PerSecond/.test(name) ? rounded(value) : value,
    ]);
    return {
      version: VERSION,
      at: new Date().toISOString(),
      settings: Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [name, shown(name, value)]),
      ),
      browser: describeBrowser(),
      storage: await describeStorage(),
      auth: { state, mode, required, ...(error && { code: error.code }) },
      totals: Object.fromEntries(sums) as Totals,
      spans: [...this.#spans],
      errors: [...this.#errors],
    };
  }

  async #measure<T>(
    facts: Facts,
    failures: Map<string, number>,
    step: string,
    signal: AbortSignal,
    call: () => Promise<T>,
  ): Promise<T> {
    const start = now();
    const spans = this.#spans;
    const attempt = (failures.get(step) ?? 0) + 1;
    const end = (outcome: Span['outcome'], status?: number): void =>
      this.#addSpan(spans, facts, start, attempt, outcome, status);
    let result: T;
    try {
      result = await call();
    } catch (error) {
      const { code, status } = failureOf(error);
      // Errors of the browser have numbers as codes.
      if (signal.aborted || typeof code !== 'string') end('stopped');
      else {
        failures.set(step, attempt);
        end(code, status);
      }
      throw error;
    }
    failures.delete(step);
    end('ok');
    return result;
  }

  #onAuth(state: AuthState, previous: AuthState): void {
    const ended = this.#signIn;
    if (!RESTING.includes(state)) {
      if (!ended || RESTING.includes(previous)) this.#signIn = { ...now(), attempt: this.#signInAttempt };
      return;
    }
    this.#signIn = undefined;
    this.#ended = ended;
    if (!ended) return;
    this.#signInAttempt = state === 'prompt' || state === 'cooling' ? ended.attempt + 1 : 1;
    const isOk = state === 'signed-in';
    const spans = this.#spans;
    // The error is reported after the state.
    queueMicrotask(() => {
      const { code, status }: Failure = isOk ? {} : (ended.error ?? {});
      const outcome = isOk ? 'ok' : (code ?? (state === 'prompt' ? 'sign-in-required' : 'stopped'));
      this.#addSpan(spans, { kind: 'sign-in' }, ended, ended.attempt, outcome, status);
    });
  }

  #addSpan(
    spans: Span[],
    { sizeBytes, ...facts }: Facts,
    { startMs, atMs }: Start,
    attempt: number,
    outcome: Span['outcome'],
    status?: number,
  ): void {
    const span: Span = Object.freeze({
      ...facts,
      startMs,
      durationMs: performance.now() - atMs,
      outcome,
      attempt,
      ...(typeof status === 'number' && { status }),
      ...(sizeBytes !== undefined && { sizeBytes: rounded(sizeBytes) }),
    });
    keep(spans, span);
    try {
      this.#onSpan?.(span);
    } catch (error) {
      globalThis.reportError?.(error);
    }
  }

  #addError(problem: Problem): void {
    keep(this.#errors, Object.freeze(problem));
  }
}

function keep<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > MOST) list.shift();
}

const failureOf = (error: unknown): Failure => (error ?? {}) as Failure;

const problemOf = ({ code, status }: { readonly code: ErrorCode; readonly status?: number | undefined }) => ({
  code,
  ...(status !== undefined && { status }),
});

/** Settings that say who the user is, or where the files go. */
const PRIVATE = ['owner', 'parentId'];

function shown(name: string, value: unknown): unknown {
  if (PRIVATE.includes(name)) return value ? 'set' : 'unset';
  if (Array.isArray(value)) return value.map((each) => shown(name, each));
  switch (typeof value) {
    case 'string':
      return value.replace(/[?#].*/s, '').replace(/\/\/[^/]*@/, '//');
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'object':
      // The values may have secrets, such as the parameters of `authOptions`.
      return value === null ? value : Object.keys(value);
    default:
      return typeof value;
  }
}

/** What the browser says of itself, and which functions for uploads it has. */
function describeBrowser(): Diagnosis['browser'] {
  const facts = ['userAgent', 'language', 'onLine', 'hardwareConcurrency', 'deviceMemory'];
  const features = ['crypto', 'indexedDB', 'showOpenFilePicker', 'trustedTypes', 'Worker'];
  return {
    ...Object.fromEntries(facts.map((name) => [name, Reflect.get(navigator, name)])),
    ...Object.fromEntries(features.map((name) => [name, name in globalThis])),
    ...Object.fromEntries(['locks', 'serviceWorker', 'wakeLock'].map((name) => [name, name in navigator])),
    isSecureContext,
    isFramed: window.top !== window,
  };
}

async function describeStorage(): Promise<Diagnosis['storage']> {
  try {
    const { usage = 0, quota = 0 } = await navigator.storage.estimate();
    const isPersisted = await navigator.storage.persisted();
    return { usedBytes: rounded(usage), quotaBytes: rounded(quota), isPersisted };
  } catch {
    return {};
  }
}
