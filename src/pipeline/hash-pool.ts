// The hash workers. Workers start on demand, are replaced when they fail or time out, and are terminated when idle. If no worker
// can run, the page hashes the slices.

import { UploaderError } from '../core/errors.ts';
import type { ContinueHash, HashAlgorithm, HashSlice } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { createHashSlice, type Hashed } from './digest.ts';
import { workerStarter } from './start-worker.ts';

/** A message to a worker. The reply has the same `id`. */
export interface HashRequest {
  readonly id: number;
  readonly slice: Blob;
  readonly algorithm: HashAlgorithm;
  readonly keepBytes: boolean;
  readonly state?: Uint8Array | undefined;
}

export type HashAnswer = Hashed & { readonly id: number };

/** First message from a worker. */
export type Ready = 'ready';

export interface HashPoolOptions {
  readonly algorithm: HashAlgorithm;
  /** True if the pool is used for `continueHash`, which needs hash-wasm. */
  readonly hashesFiles?: boolean | undefined;
  readonly workerUrl?: string | undefined;
  /** Maximum number of workers. Defaults to `poolSize()`. */
  readonly size?: number;
  /** Timeout for the start of a worker, in milliseconds. Defaults to 10 s. */
  readonly startMs?: number;
  /**
   * Timeout of a slice in milliseconds, plus one second for each MiB. After the timeout, the slice counts as unreadable, and the
   * worker is replaced. Defaults to 60 s.
   */
  readonly silenceMs?: number;
  /** Time after which idle workers are terminated, in milliseconds. Defaults to 30 s. */
  readonly idleMs?: number;
  /** Delay before an unreadable slice is read a second time, in milliseconds. A drive may have to wake up. Defaults to 500 ms. */
  readonly readAgainMs?: number;
}

/** Hashes on the page. The one-file build has no `wasm-hashes.ts` here (`vite.config.ts`). */
const hashSlice = createHashSlice(() => import('./wasm-hashes.ts'));

/** True if `crypto.subtle` can hash. Otherwise, a worker needs hash-wasm. */
const isPlatformHash = (algorithm: HashAlgorithm): boolean =>
  algorithm === 'sha-256' && Boolean(globalThis.crypto?.subtle);

type Found = Omit<Extract<Hashed, { hash: string }>, 'id'>;

interface Task {
  readonly request: HashRequest;
  readonly signal: AbortSignal;
  readonly resolve: (found: Found) => void;
  readonly reject: (error: unknown) => void;
  tries: number;
}

interface Member {
  readonly worker: Worker;
  task: Task | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Size limit of slices that `hashFirst` hashes on the page, in bytes. Larger slices wait for a worker. */
const LARGEST_ON_PAGE = 16 * 2 ** 20;

/** Lowest expected rate of one worker while other workers read from the same drive. */
const SLOWEST_READ_BYTES_PER_SECOND = 2 ** 20;

/** Time without new workers after two failed starts in a row, in milliseconds. */
const START_AGAIN_MS = 60_000;

/** Returns the number of workers, 2 to 4. From four cores on, leaves two cores for the page and the network. */
export const poolSize = (cores: number = globalThis.navigator?.hardwareConcurrency ?? 2): number =>
  Math.min(4, Math.max(2, cores - 2));

export class HashPool {
  readonly #options: Required<Omit<HashPoolOptions, 'workerUrl' | 'startMs' | 'hashesFiles'>> & {
    readonly workerUrl: string | undefined;
    readonly needsWasm: boolean;
  };
  readonly #startWorker: ReturnType<typeof workerStarter>;
  readonly #queue: Task[] = [];
  readonly #members = new Set<Member>();
  #starting = 0;
  #failedStarts = 0;
  #failedAtMs = 0;
  #onPage = 0;
  #nextId = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Controller that `close()` aborts, to stop workers that are starting. */
  #closing = new AbortController();

  constructor({
    algorithm,
    hashesFiles = false,
    workerUrl,
    size = poolSize(),
    startMs = 10_000,
    silenceMs = 60_000,
    idleMs = 30_000,
    readAgainMs = 500,
  }: HashPoolOptions) {
    const needsWasm = hashesFiles || !isPlatformHash(algorithm);
    this.#options = { algorithm, needsWasm, workerUrl, size, silenceMs, idleMs, readAgainMs };
    this.#startWorker = workerStarter(workerUrl, needsWasm, startMs);
  }

  get size(): number {
    return this.#options.size;
  }

  /**
   * Hashes a slice in a worker. Rejects with `file-unreadable`, `hash-failed`, `bad-config` (the hash needs another worker), or the
   * signal's reason.
   */
  readonly hashSlice: HashSlice = (slice, options) =>
    this.#twice(() => this.#hashQueued(slice, options), options.signal);

  /** Works like `hashSlice`, but hashes the first slice on the page if possible, without waiting for a worker to start. */
  readonly hashFirst: HashSlice = (slice, options) =>
    (this.#isCold && slice.size <= LARGEST_ON_PAGE ? this.hashSmall : this.hashSlice)(slice, options);

  get #isCold(): boolean {
    return this.#members.size === 0 && this.#onPage === 0;
  }

  /**
   * Continues the SHA-256 of a file in a worker. Rejects like `hashSlice`; with `bad-config` also if `workerUrl` is the file of an
   * older version.
   */
  readonly continueHash: ContinueHash = (slice, state, signal) =>
    this.#twice(async () => {
      const found = await this.#queued({ slice, keepBytes: false, state }, signal);
      const { hash, state: after, sliceHash } = found;
      if (after && sliceHash !== undefined) return { hash, state: after, sliceHash };
      throw new UploaderError(
        'bad-config',
        'worker-url is not the hash-wasm.worker.js of this version of secure-uploader',
      );
    }, signal);

  readonly #hashQueued: HashSlice = (slice, { keepBytes, signal }) =>
    this.#queued({ slice, keepBytes }, signal);

  #queued(work: Pick<HashRequest, 'slice' | 'keepBytes' | 'state'>, signal: AbortSignal): Promise<Found> {
    const request = { id: this.#nextId++, algorithm: this.#options.algorithm, ...work };
    const found = new Promise<Found>((resolve, reject) => {
      this.#queue.push({ request, signal, resolve, reject, tries: 0 });
    });
    this.#pump();
    return abortable(found, signal);
  }

  /** Works like `hashSlice`, but hashes on the page if `crypto.subtle` can. Starts a worker for later slices. */
  readonly hashSmall: HashSlice = (slice, options) =>
    this.#twice(() => this.#hashSoon(slice, options), options.signal);

  readonly #hashSoon: HashSlice = (slice, { keepBytes, signal }) => {
    const { algorithm } = this.#options;
    if (!isPlatformHash(algorithm)) return this.#hashQueued(slice, { keepBytes, signal });
    if (this.#members.size + this.#starting === 0 && this.#mayStart) this.#start();
    const found = new Promise<Found>((resolve, reject) => {
      const request = { id: this.#nextId++, slice, algorithm, keepBytes };
      this.#onPage += 1;
      hashWithin(this.#timeoutMs(request), request)
        .then((answer) => settle({ resolve, reject }, answer), reject)
        .finally(() => {
          this.#onPage -= 1;
        });
    });
    return abortable(found, signal);
  };

  /** Calls `hash` a second time if the slice was unreadable. */
  async #twice<T>(hash: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await hash();
    } catch (error) {
      if (!(error instanceof UploaderError) || error.code !== 'file-unreadable') throw error;
      await sleep(this.#options.readAgainMs, signal);
      return hash();
    }
  }

  /** Terminates all workers. The next slice starts new workers. */
  close(): void {
    clearTimeout(this.#idleTimer);
    this.#closing.abort();
    this.#closing = new AbortController();
    for (const member of this.#members) this.#drop(member);
  }

  #pump(): void {
    clearTimeout(this.#idleTimer);
    while (this.#queue[0]?.signal.aborted) this.#queue.shift();
    const wanted = Math.min(this.#options.size, this.#queue.length + this.#busyCount);
    while (this.#members.size + this.#starting < wanted && this.#mayStart) this.#start();
    for (const member of this.#members) {
      if (!member.task) this.#assign(member);
    }
    if (this.#members.size === 0 && this.#starting === 0) this.#hashOnPage();
    if (this.#queue.length === 0 && this.#busyCount === 0 && this.#members.size > 0) {
      this.#idleTimer = setTimeout(() => this.close(), this.#options.idleMs);
    }
  }

  /**
   * False for a while after two failed starts in a row. Later starts may succeed, because the network may only have been too slow.
   */
  get #mayStart(): boolean {
    return this.#failedStarts < 2 || performance.now() - this.#failedAtMs > START_AGAIN_MS;
  }

  get #busyCount(): number {
    let busy = 0;
    for (const { task } of this.#members) busy += task ? 1 : 0;
    return busy;
  }

  #start(): void {
    this.#starting += 1;
    const { signal } = this.#closing;
    this.#startWorker(signal)
      .then((worker) => {
        const member: Member = { worker, task: undefined, timer: undefined };
        this.#failedStarts = 0;
        worker.onmessage = ({ data }: MessageEvent<HashAnswer>) => this.#onAnswer(member, data);
        worker.onerror = (event) => {
          // Prevents an `error` event on the page, because another worker gets the slice.
          event.preventDefault();
          this.#onError(member);
        };
        this.#members.add(member);
      })
      .catch(() => {
        if (signal.aborted) return;
        this.#failedStarts += 1;
        this.#failedAtMs = performance.now();
        if (!this.#mayStart) this.#warn();
      })
      .finally(() => {
        this.#starting -= 1;
        this.#pump();
      });
  }

  #warn(): void {
    const { workerUrl, needsWasm } = this.#options;
    warnOnceHere(
      `The hash worker${workerUrl ? ` ${workerUrl}` : ''} can't start. Chunks are hashed on the page's main thread, which is slower. ` +
        `Copy secure-uploader/hash${needsWasm ? '-wasm' : ''}.worker.js to your site and set worker-url to its URL.`,
    );
  }

  #timeoutMs({ slice }: HashRequest): number {
    return this.#options.silenceMs + (slice.size / SLOWEST_READ_BYTES_PER_SECOND) * 1000;
  }

  #next(): Task | undefined {
    for (let task = this.#queue.shift(); task; task = this.#queue.shift()) {
      if (!task.signal.aborted) return task;
    }
    return undefined;
  }

  #assign(member: Member): void {
    const task = this.#next();
    if (!task) return;
    task.tries += 1;
    member.task = task;
    member.timer = setTimeout(() => this.#onTimeout(member), this.#timeoutMs(task.request));
    member.worker.postMessage(task.request);
  }

  #onAnswer(member: Member, answer: HashAnswer): void {
    const { task } = member;
    if (!task || task.request.id !== answer.id) return;
    clearTimeout(member.timer);
    member.task = undefined;
    settle(task, answer);
    this.#pump();
  }

  #onError(member: Member): void {
    const { task } = member;
    this.#drop(member);
    if (task && task.tries < 3) this.#queue.unshift(task);
    else
      task?.reject(
        new UploaderError('hash-failed', 'The hash worker failed three times with the same slice'),
      );
    this.#pump();
  }

  #onTimeout(member: Member): void {
    const { task } = member;
    this.#drop(member);
    if (task) settle(task, TIMED_OUT);
    this.#pump();
  }

  #drop(member: Member): void {
    clearTimeout(member.timer);
    member.worker.terminate();
    this.#members.delete(member);
  }

  /** Hashes the next slice on the page. Used if no worker can run. Hashes one slice at a time, to limit memory use. */
  #hashOnPage(): void {
    const task = this.#next();
    if (!task) return;
    this.#starting += 1;
    void hashWithin(this.#timeoutMs(task.request), task.request)
      .then((answer) => settle(task, answer))
      .finally(() => {
        this.#starting -= 1;
        this.#pump();
      });
  }
}

/** Result after a timeout. A timeout counts as a read error, since hashing itself is fast. */
const TIMED_OUT: Hashed = {
  error: { name: 'TimeoutError', message: 'The slice was not read in time', isRead: true },
};

async function hashWithin(ms: number, request: HashRequest): Promise<Hashed> {
  const over = new AbortController();
  const timeout = sleep(ms, over.signal).then(() => TIMED_OUT);
  try {
    return await Promise.race([hashSlice(request), timeout]);
  } finally {
    over.abort();
  }
}

function settle(task: Pick<Task, 'resolve' | 'reject'>, answer: Hashed): void {
  if ('hash' in answer) {
    const { hash, body, state, sliceHash } = answer;
    task.resolve({
      hash,
      ...(body && { body }),
      ...(state && { state }),
      ...(sliceHash !== undefined && { sliceHash }),
    });
    return;
  }
  const { name, message, isRead } = answer.error;
  // `NotSupportedError`: the worker, or the page of the one-file build, lacks hash-wasm, so a retry cannot help.
  const code = isRead ? 'file-unreadable' : name === 'NotSupportedError' ? 'bad-config' : 'hash-failed';
  task.reject(new UploaderError(code, `${name}: ${message}`));
}
