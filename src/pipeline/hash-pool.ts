// The life of the hash workers: they start with the first slice, are replaced when they die or fall silent, end when
// nothing is left to do for a while, and where none can run the page hashes with the platform's own threads.

import { UploaderError } from '../core/errors.ts';
import type { HashAlgorithm, HashSlice } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { type Hashed, hashSlice } from './digest.ts';
import { startWorker } from './start-worker.ts';

/** What the page asks of a worker; `id` comes back with the answer. */
export interface HashRequest {
  readonly id: number;
  readonly slice: Blob;
  readonly algorithm: HashAlgorithm;
  readonly keepBytes: boolean;
}

/** What a worker answers. */
export type HashAnswer = Hashed & { readonly id: number };

/** Sent once by a worker, when it can be asked. */
export type Ready = 'ready';

export interface HashPoolOptions {
  readonly algorithm: HashAlgorithm;
  readonly workerUrl?: string | undefined;
  /** Workers at most; by the number of cores unless told. */
  readonly size?: number;
  /** A worker that has not said `ready` by then is given up. */
  readonly startMs?: number;
  /** A slice that is not read and hashed by then, and a second more for each MiB, is given up as unreadable, and its worker is replaced. */
  readonly silenceMs?: number;
  /** Idle workers end after this long. */
  readonly idleMs?: number;
  /** A slice that could not be read is read once more after this long: a drive wakes up, a cloud brings the file. */
  readonly readAgainMs?: number;
}

interface Task {
  readonly request: HashRequest;
  readonly signal: AbortSignal;
  readonly resolve: (found: { hash: string; body?: Blob }) => void;
  readonly reject: (error: unknown) => void;
  tries: number;
}

interface Member {
  readonly worker: Worker;
  task: Task | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** No more than this is hashed on the page while a worker could do it, bytes. */
const LARGEST_ON_PAGE = 16 * 2 ** 20;

/** Of one worker, where several read from the same drive. */
const SLOWEST_READ_BYTES_PER_SECOND = 2 ** 20;

const START_AGAIN_MS = 60_000;

/** How many workers help: beyond three they only take cores from the sending. */
export const poolSize = (cores: number = globalThis.navigator?.hardwareConcurrency ?? 2): number =>
  Math.min(4, Math.max(2, cores - 2));

export class HashPool {
  readonly #options: Required<Omit<HashPoolOptions, 'workerUrl'>> & {
    readonly workerUrl: string | undefined;
  };
  readonly #queue: Task[] = [];
  readonly #members = new Set<Member>();
  #starting = 0;
  #failedStarts = 0;
  #failedAtMs = 0;
  #onPage = 0;
  #nextId = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Aborts the starts that are under way. */
  #closing = new AbortController();

  constructor({
    algorithm,
    workerUrl,
    size = poolSize(),
    startMs = 10_000,
    silenceMs = 60_000,
    idleMs = 30_000,
    readAgainMs = 500,
  }: HashPoolOptions) {
    this.#options = { algorithm, workerUrl, size, startMs, silenceMs, idleMs, readAgainMs };
  }

  get size(): number {
    return this.#options.size;
  }

  /** Rejects with `file-unreadable`, `hash-failed`, `bad-config` (no such hash without a worker), or the signal's reason. */
  readonly hashSlice: HashSlice = (slice, options) =>
    this.#twice(() => this.#hashQueued(slice, options), options.signal);

  /** As `hashSlice`, but the first slice does not wait until a worker has started. */
  readonly hashFirst: HashSlice = (slice, options) =>
    (this.#isCold && slice.size <= LARGEST_ON_PAGE ? this.hashSmall : this.hashSlice)(slice, options);

  get #isCold(): boolean {
    return this.#members.size === 0 && this.#onPage === 0;
  }

  readonly #hashQueued: HashSlice = (slice, { keepBytes, signal }) => {
    const request = { id: this.#nextId++, slice, algorithm: this.#options.algorithm, keepBytes };
    const found = new Promise<{ hash: string; body?: Blob }>((resolve, reject) => {
      this.#queue.push({ request, signal, resolve, reject, tries: 0 });
    });
    this.#pump();
    return abortable(found, signal);
  };

  /**
   * As `hashSlice`, for a few bytes that somebody waits for: on the page where that is off its thread, while a worker starts for
   * what comes next.
   */
  readonly hashSmall: HashSlice = (slice, options) =>
    this.#twice(() => this.#hashSoon(slice, options), options.signal);

  readonly #hashSoon: HashSlice = (slice, { keepBytes, signal }) => {
    const { algorithm } = this.#options;
    if (algorithm !== 'sha-256' || !globalThis.crypto?.subtle)
      return this.#hashQueued(slice, { keepBytes, signal });
    if (this.#members.size + this.#starting === 0 && this.#mayStart) this.#start();
    const found = new Promise<{ hash: string; body?: Blob }>((resolve, reject) => {
      const request = { id: this.#nextId++, slice, algorithm, keepBytes };
      this.#onPage += 1;
      hashWithin(this.#silenceMs(request), request)
        .then((answer) => settle({ resolve, reject }, answer), reject)
        .finally(() => {
          this.#onPage -= 1;
        });
    });
    return abortable(found, signal);
  };

  /** What cannot be read gets a second try. */
  async #twice<T>(hash: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await hash();
    } catch (error) {
      if (!(error instanceof UploaderError) || error.code !== 'file-unreadable') throw error;
      await sleep(this.#options.readAgainMs, signal);
      return hash();
    }
  }

  /** Ends all workers, those that are still starting too. The next slice starts others. */
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
      if (!member.task) this.#give(member);
    }
    if (this.#members.size === 0 && this.#starting === 0) this.#hashHere();
    if (this.#queue.length === 0 && this.#busyCount === 0 && this.#members.size > 0) {
      this.#idleTimer = setTimeout(() => this.close(), this.#options.idleMs);
    }
  }

  /** After two failures in a row the page hashes, and a worker is tried again later: the line may only have been busy. */
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
    startWorker(this.#options.workerUrl, this.#options.startMs, signal)
      .then((worker) => {
        const member: Member = { worker, task: undefined, timer: undefined };
        this.#failedStarts = 0;
        worker.onmessage = ({ data }: MessageEvent<HashAnswer>) => this.#onAnswer(member, data);
        worker.onerror = (event) => {
          // The slice is given to another worker; the page's own error handlers have no part in it.
          event.preventDefault();
          this.#onDeath(member);
        };
        worker.onmessageerror = () => this.#onDeath(member);
        this.#members.add(member);
      })
      .catch(() => {
        if (signal.aborted) return;
        this.#failedStarts += 1;
        this.#failedAtMs = performance.now();
      })
      .finally(() => {
        this.#starting -= 1;
        this.#pump();
      });
  }

  /** A drive that reads all the time is slow, not silent. */
  #silenceMs({ slice }: HashRequest): number {
    return this.#options.silenceMs + (slice.size / SLOWEST_READ_BYTES_PER_SECOND) * 1000;
  }

  #next(): Task | undefined {
    for (let task = this.#queue.shift(); task; task = this.#queue.shift()) {
      if (!task.signal.aborted) return task;
    }
    return undefined;
  }

  #give(member: Member): void {
    const task = this.#next();
    if (!task) return;
    task.tries += 1;
    member.task = task;
    member.timer = setTimeout(() => this.#onSilence(member), this.#silenceMs(task.request));
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

  #onDeath(member: Member): void {
    const { task } = member;
    this.#drop(member);
    if (task && task.tries < 3) this.#queue.unshift(task);
    else
      task?.reject(new UploaderError('hash-failed', 'The hash worker ended three times over the same slice'));
    this.#pump();
  }

  #onSilence(member: Member): void {
    const { task } = member;
    this.#drop(member);
    if (task) settle(task, SILENT);
    this.#pump();
  }

  #drop(member: Member): void {
    clearTimeout(member.timer);
    member.worker.terminate();
    this.#members.delete(member);
  }

  /** No worker can run here: `crypto.subtle` works off the page's thread anyway, one slice at a time keeps memory flat. */
  #hashHere(): void {
    const task = this.#next();
    if (!task) return;
    this.#starting += 1;
    void hashWithin(this.#silenceMs(task.request), task.request)
      .then((answer) => settle(task, answer))
      .finally(() => {
        this.#starting -= 1;
        this.#pump();
      });
  }
}

/** Hashing takes no time that matters: what hangs is the drive, or the cloud that is to bring the file. */
const SILENT: Hashed = { error: { name: 'TimeoutError', message: 'no bytes came', isRead: true } };

async function hashWithin(ms: number, request: HashRequest): Promise<Hashed> {
  const over = new AbortController();
  const silence = sleep(ms, over.signal).then(() => SILENT);
  try {
    return await Promise.race([hashSlice(request), silence]);
  } finally {
    over.abort();
  }
}

function settle(task: Pick<Task, 'resolve' | 'reject'>, answer: Hashed): void {
  if ('hash' in answer) {
    task.resolve(answer.body ? { hash: answer.hash, body: answer.body } : { hash: answer.hash });
    return;
  }
  const { name, message, isRead } = answer.error;
  // No retry helps where the build has no such hash for the page itself.
  const code = isRead ? 'file-unreadable' : name === 'NotSupportedError' ? 'bad-config' : 'hash-failed';
  task.reject(new UploaderError(code, `${name}: ${message}`));
}
