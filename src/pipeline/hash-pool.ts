// The hash workers. Workers start on demand, are replaced when they fail or time out, and are terminated when idle. If no worker
// can run, the page hashes the slices.

import { UploaderError } from '../core/errors.ts';
import { type Job, Lane } from '../core/lane.ts';
import { type WorkerCode, workerStarter } from '../core/start-worker.ts';
import type { ContinueHash, HashAlgorithm, HashSlice } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { createHashSlice, type Hashed } from './digest.ts';
import type { HashAnswer, HashProgress, HashRequest } from './hash-messages.ts';
import { HASH_WASM_WORKER, HASH_WORKER } from './hash-workers.ts';

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
   * Time without progress after which a slice counts as unreadable and its worker is replaced, in milliseconds, plus one second for
   * each MiB. Defaults to 60 s. WebKit reports no progress.
   */
  readonly silenceMs?: number;
  /** Time after which a slice counts as slow, in milliseconds, plus one second for each 4 MiB. Defaults to 1 s. */
  readonly slowMs?: number;
  /** Time after which idle workers are terminated, in milliseconds. Defaults to 30 s. */
  readonly idleMs?: number;
  /** Delay before an unreadable slice is read a second time, in milliseconds. A drive may have to wake up. Defaults to 500 ms. */
  readonly readAgainMs?: number;
}

const DEFAULTS = { startMs: 10_000, silenceMs: 60_000, slowMs: 1000, idleMs: 30_000, readAgainMs: 500 };

/** Hashes on the page. */
const hashSlice = createHashSlice(() => import('./wasm-hashes.ts'));

type Found = Omit<Extract<Hashed, { hash: string }>, 'id'>;

type QueueOptions = Parameters<HashSlice>[1] & Pick<HashRequest, 'state'>;

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
  startedMs: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Maximum number of workers that are started beyond `size`, for other files, while slow slices use workers. */
const MAX_EXTRA = 2;

/** Rate below which a large slice counts as slow. */
const SLOW_READ_BYTES_PER_SECOND = 4 * 2 ** 20;

/** Lowest expected rate of one worker while other workers read from the same drive. */
const SLOWEST_READ_BYTES_PER_SECOND = 2 ** 20;

/** Time without new workers after two failed starts in a row, in milliseconds. */
const START_AGAIN_MS = 60_000;

/** Returns the number of workers, 2 to 4. From four cores on, leaves two cores for the page and the network. */
export const poolSize = (cores: number = globalThis.navigator?.hardwareConcurrency ?? 2): number =>
  Math.min(4, Math.max(2, cores - 2));

export class HashPool {
  readonly #options: HashPoolOptions &
    typeof DEFAULTS & { readonly size: number; readonly needsWasm: boolean };
  readonly #code: WorkerCode;
  readonly #startWorker: ReturnType<typeof workerStarter>;
  /** True if one worker stays when all are idle, because its file may be gone when the next one has to start. */
  #keepsOne = false;
  #queue: Task[] = [];
  readonly #members = new Set<Member>();
  #starting = 0;
  #failedStarts = 0;
  #failedAtMs = 0;
  #nextId = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #slowTimer: ReturnType<typeof setTimeout> | undefined;
  /** The slices that the page hashes, one at a time to limit memory use. A slow one lets those of other files pass. */
  readonly #page: Lane;
  /** Controller that `close()` aborts, to stop workers that are starting, and slices on the page. */
  #closing = new AbortController();

  constructor(options: HashPoolOptions) {
    // Without `crypto.subtle`, SHA-256 needs hash-wasm, too.
    const needsWasm = options.hashesFiles || options.algorithm !== 'sha-256' || !globalThis.crypto?.subtle;
    this.#options = { ...DEFAULTS, size: poolSize(), ...options, needsWasm };
    this.#page = new Lane(1, this.#options.slowMs);
    this.#code = needsWasm ? HASH_WASM_WORKER : HASH_WORKER;
    this.#startWorker = workerStarter(this.#code, this.#options.startMs, options.workerUrl);
  }

  get size(): number {
    return this.#options.size;
  }

  /**
   * Hashes a slice in a worker. Rejects with `file-unreadable`, `hash-failed`, `bad-config` (the hash needs another worker), or the
   * signal's reason.
   */
  readonly hashSlice: HashSlice = (slice, options) =>
    this.#twice(() => this.#queued(slice, options), options.signal);

  /**
   * Continues the SHA-256 of a file in a worker. Rejects like `hashSlice`; with `bad-config` also if `workerUrl` is the file of an
   * older version.
   */
  readonly continueHash: ContinueHash = (slice, state, signal) =>
    this.#twice(async () => {
      const found = await this.#queued(slice, { keepBytes: false, state, signal });
      const { hash, state: after, sliceHash } = found;
      if (after && sliceHash !== undefined) return { hash, state: after, sliceHash };
      throw new UploaderError('bad-config', 'worker-url is not the hash-wasm.worker.js of this version');
    }, signal);

  #queued(slice: Blob, { keepBytes, state, signal }: QueueOptions): Promise<Found> {
    const { algorithm } = this.#options;
    const request = { id: this.#nextId++, slice, algorithm, keepBytes, ...(state && { state }) };
    const found = new Promise<Found>((resolve, reject) => {
      this.#queue.push({ request, signal, resolve, reject, tries: 0 });
    });
    this.#pump();
    return abortable(found, signal);
  }

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

  /**
   * Loads what later hashes need, if the page cannot compute them: after a release, the file of the worker may be gone. Either the
   * text of the worker is loaded, or a worker starts and stays. Never rejects.
   */
  async preload(): Promise<void> {
    const { needsWasm, workerUrl } = this.#options;
    if (!needsWasm) return;
    if (this.#code.text && workerUrl === undefined) await this.#code.text().catch(() => undefined);
    else if (!this.#keepsOne) {
      this.#keepsOne = true;
      if (this.#members.size + this.#starting === 0) this.#start();
    }
  }

  /** Terminates all workers. Unfinished slices reject with `hash-failed`. The next slice starts new workers. */
  close(): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#slowTimer);
    this.#slowTimer = undefined;
    const closed = new UploaderError(
      'hash-failed',
      'The hash workers were closed before the slice was hashed',
    );
    this.#closing.abort(closed);
    this.#closing = new AbortController();
    this.#keepsOne = false;
    const tasks = [...this.#queue, ...[...this.#members].flatMap(({ task }) => task ?? [])];
    this.#queue = [];
    for (const member of this.#members) this.#drop(member);
    for (const task of tasks) task.reject(closed);
  }

  /** Terminates idle workers. */
  #rest(): void {
    for (const member of [...this.#members].slice(this.#keepsOne ? 1 : 0)) this.#drop(member);
  }

  #pump(): void {
    clearTimeout(this.#idleTimer);
    this.#queue = this.#queue.filter(({ signal }) => !signal.aborted);
    const wanted = this.#wantedCount;
    while (this.#members.size + this.#starting < wanted && this.#mayStart) this.#start();
    for (const member of this.#members) {
      if (!member.task) this.#assign(member);
      if (!member.task && this.#members.size > this.#options.size && this.#slowFiles.size === 0)
        this.#drop(member);
    }
    if (this.#members.size === 0 && this.#starting === 0) this.#hashOnPage();
    if (this.#queue.length === 0 && this.#busyCount === 0 && this.#members.size > 0) {
      this.#idleTimer = setTimeout(() => this.#rest(), this.#options.idleMs);
    }
    if (this.#queue.length > 0 && !this.#slowTimer) {
      this.#slowTimer = setTimeout(() => {
        this.#slowTimer = undefined;
        this.#pump();
      }, this.#options.slowMs);
    }
  }

  /** The signals of the slow slices in workers. Slices with the same signal are of the same file. */
  get #slowFiles(): ReadonlySet<AbortSignal> {
    const slow = new Set<AbortSignal>();
    for (const { task, startedMs } of this.#members) {
      if (!task) continue;
      if (performance.now() - startedMs >= this.#slowMs(task.request)) slow.add(task.signal);
    }
    return slow;
  }

  get #wantedCount(): number {
    const { size } = this.#options;
    const slow = this.#slowFiles;
    const busy = this.#busyCount;
    const others = this.#queue.filter(({ signal }) => !slow.has(signal)).length;
    const extra = slow.size > 0 ? MAX_EXTRA : 0;
    return Math.max(Math.min(size, busy + this.#queue.length), Math.min(size + extra, busy + others));
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
        const member: Member = { worker, task: undefined, startedMs: 0, timer: undefined };
        this.#failedStarts = 0;
        worker.onmessage = ({ data }: MessageEvent<HashAnswer | HashProgress>) =>
          this.#onAnswer(member, data);
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
      `The hash worker${workerUrl ? ` ${workerUrl}` : ''} can't start, so hashing is slower. ` +
        `Copy secure-uploader/hash${needsWasm ? '-wasm' : ''}.worker.js to your site and set worker-url to its URL.`,
    );
  }

  #slowMs({ slice }: HashRequest): number {
    return this.#options.slowMs + (slice.size / SLOW_READ_BYTES_PER_SECOND) * 1000;
  }

  #timeoutMs({ slice }: HashRequest): number {
    return this.#options.silenceMs + (slice.size / SLOWEST_READ_BYTES_PER_SECOND) * 1000;
  }

  /** Removes the next slice from the queue. Other files go before files with slow slices, which get no extra workers. */
  #next(): Task | undefined {
    const slow = this.#slowFiles;
    const other = this.#queue.findIndex(({ signal }) => !slow.has(signal));
    if ((other < 0 || slow.size === 0) && this.#busyCount >= this.#options.size) return undefined;
    return this.#queue.splice(Math.max(0, other), 1)[0];
  }

  #assign(member: Member): void {
    const task = this.#next();
    if (!task) return;
    task.tries += 1;
    member.task = task;
    member.startedMs = performance.now();
    this.#startTimer(member, this.#timeoutMs(task.request));
    member.worker.postMessage(task.request);
  }

  #startTimer(member: Member, ms: number): void {
    clearTimeout(member.timer);
    member.timer = setTimeout(() => this.#onTimeout(member), ms);
  }

  #onAnswer(member: Member, answer: HashAnswer | HashProgress): void {
    const { task } = member;
    if (!task || task.request.id !== answer.id) return;
    if ('isReading' in answer) {
      if (task.signal.aborted) {
        this.#drop(member);
        this.#pump();
      } else this.#startTimer(member, this.#timeoutMs(task.request));
      return;
    }
    clearTimeout(member.timer);
    member.task = undefined;
    settle(task, answer);
    this.#pump();
  }

  #onError(member: Member): void {
    const { task } = member;
    this.#drop(member);
    if (task && task.tries < 3) this.#queue.unshift(task);
    else task?.reject(new UploaderError('hash-failed', `${task.tries} hash workers crashed with the slice`));
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

  /** Hashes the queued slices on the page. Used if no worker can run. */
  #hashOnPage(): void {
    for (const { request, signal, ...task } of this.#queue.splice(0)) {
      const hash: Job<Hashed> = (_signal, renew) => {
        renew(this.#slowMs(request));
        return hashWithin(this.#timeoutMs(request), request);
      };
      const over = AbortSignal.any([signal, this.#closing.signal]);
      void this.#page.run(hash, over, signal).then((answer) => settle(task, answer), task.reject);
    }
  }
}

/** Result after a timeout. A timeout counts as a read error, since hashing itself is fast. */
const TIMED_OUT: Hashed = {
  error: { name: 'TimeoutError', message: 'The slice was not read in time', isRead: true },
};

/** Hashes a slice on the page. Resolves with `TIMED_OUT` after `ms` without progress. */
async function hashWithin(ms: number, request: HashRequest): Promise<Hashed> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  try {
    return await new Promise((resolve) => {
      const restart = (): void => {
        clearTimeout(timer);
        if (!isOver) timer = setTimeout(() => resolve(TIMED_OUT), ms);
      };
      restart();
      void hashSlice(request, restart).then(resolve);
    });
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

function settle(task: Pick<Task, 'resolve' | 'reject'>, answer: Hashed): void {
  if ('hash' in answer) {
    const { id: _id, ...found } = answer as Found & Partial<HashAnswer>;
    task.resolve(found);
    return;
  }
  const { name, message, isRead } = answer.error;
  // `NotSupportedError`: the worker lacks hash-wasm, so a retry cannot help.
  const code = isRead ? 'file-unreadable' : name === 'NotSupportedError' ? 'bad-config' : 'hash-failed';
  task.reject(new UploaderError(code, `${name}: ${message}`));
}
