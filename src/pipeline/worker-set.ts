// The hash workers. They start on demand, are replaced when they die or stop responding, and are terminated when idle.

import { UploaderError } from '../core/errors.ts';
import { type WorkerCode, workerStarter } from '../core/start-worker.ts';
import { loadEarly } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import type { Hashed } from './digest.ts';
import type { HashAnswer, HashProgress, HashRequest } from './hash-messages.ts';
import { HASH_WASM_WORKER, HASH_WORKER } from './hash-workers.ts';

export interface WorkerOptions {
  readonly needsWasm: boolean;
  readonly workerUrl?: string | undefined;
  /** Maximum number of workers. */
  readonly size: number;
  /** Timeout for the start of a worker, in milliseconds. */
  readonly startMs: number;
  /** Time after which idle workers are terminated, in milliseconds. */
  readonly idleMs: number;
}

/** What a worker that hashes a slice reports. */
export interface Signs {
  /** Called when the worker has got the slice; again if the worker died and another one got it. */
  readonly onStart: () => void;
  /** Called when bytes have arrived, at most once a second. */
  readonly onBytes: () => void;
}

/** Why a worker did not answer. */
type NoAnswer = 'not-started' | 'died';

/** A request that a worker has. */
interface Asked extends Signs {
  readonly settle: (answer: Hashed | NoAnswer) => void;
  /** False if the bytes of the slice do not arrive, so that the worker has time for other slices. */
  isWork: boolean;
}

interface Member {
  /** Resolves with `undefined` if the worker cannot start. */
  readonly started: Promise<Worker | undefined>;
  readonly asked: Map<number, Asked>;
  worker?: Worker;
}

/** Number of workers that may die with a slice. */
const MOST_DEATHS = 3;

/** Number of workers that an upload needs at first: for the identity of the file, and for its first chunk. */
const FIRST_WORKERS = 2;

/** Time without new workers after two failed starts in a row, in milliseconds. */
const START_AGAIN_MS = 60_000;

const ignore: Signs = { onStart: () => undefined, onBytes: () => undefined };

export class WorkerSet {
  readonly #options: WorkerOptions;
  readonly #code: WorkerCode;
  readonly #startWorker: ReturnType<typeof workerStarter>;
  readonly #members = new Set<Member>();
  /** True if one worker stays when all are idle, because its file may be gone when the next one has to start. */
  #keepsOne = false;
  #failedStarts = 0;
  #failedAtMs = 0;
  #lastId = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Controller that `close()` aborts, to stop workers that are starting. */
  #closing = new AbortController();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#code = options.needsWasm ? HASH_WASM_WORKER : HASH_WORKER;
    this.#startWorker = workerStarter(this.#code, options.startMs, options.workerUrl);
  }

  newId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /**
   * Gives the slice to the worker with the least work. Resolves with `undefined` if no worker can start. Rejects with `hash-failed`
   * if three workers died with it, or with the signal's reason.
   */
  async ask(request: HashRequest, signal: AbortSignal, signs: Signs): Promise<Hashed | undefined> {
    for (let deathCount = 0; deathCount < MOST_DEATHS; ) {
      const member = this.#pick();
      if (!member) return undefined;
      const answer = await this.#askMember(member, request, signal, signs);
      if (typeof answer === 'object') return answer;
      if (answer === 'died') deathCount += 1;
    }
    throw new UploaderError('hash-failed', `${MOST_DEATHS} hash workers died with the slice`);
  }

  /** From now on, the slice is no work for its worker. Call this method if its bytes do not arrive. */
  release({ id }: HashRequest): void {
    const asked = this.#memberOf(id)?.asked.get(id);
    if (asked) asked.isWork = false;
  }

  /**
   * Resolves with true if the worker that has the slice responds, or if no worker has it. Replaces a worker that does not respond
   * within `limitMs`: another one then gets its slices.
   */
  async responds({ algorithm, id }: HashRequest, limitMs: number, signal: AbortSignal): Promise<boolean> {
    const member = this.#memberOf(id);
    if (!member) return true;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    // This Blob is in memory. Only a worker that is dead or blocked does not hash it.
    const empty = { id: this.newId(), slice: new Blob(), algorithm, keepBytes: false };
    // A worker that has not answered within the limit is replaced below.
    const answer = await this.#askMember(member, empty, limit, ignore).catch(() => undefined);
    signal.throwIfAborted();
    if (answer === undefined) this.#drop(member);
    return typeof answer === 'object';
  }

  /**
   * Loads what later hashes need, if the page cannot compute them. Either the text of the worker is loaded, or a worker starts and
   * stays, because its file may be gone later. Never rejects.
   */
  async preload(): Promise<void> {
    const { needsWasm, workerUrl } = this.#options;
    if (!needsWasm) return;
    if (this.#code.text && workerUrl === undefined) await loadEarly(this.#code.text);
    else if (!this.#keepsOne) {
      this.#keepsOne = true;
      if (this.#members.size === 0) this.#start();
    }
  }

  /** Starts the workers of the first slices, so that these do not wait for them. Workers that stay idle are terminated. */
  warmUp(): void {
    while (this.#members.size < Math.min(FIRST_WORKERS, this.#options.size) && this.#mayStart) this.#start();
    this.#watchIdle();
  }

  /** Terminates all workers. */
  close(): void {
    clearTimeout(this.#idleTimer);
    this.#closing.abort(new UploaderError('hash-failed', 'The hash workers were closed'));
    this.#closing = new AbortController();
    this.#keepsOne = false;
    for (const member of this.#members) this.#drop(member);
  }

  #memberOf(id: number): Member | undefined {
    return [...this.#members].find(({ asked }) => asked.has(id));
  }

  /** Returns the worker with the least work, which may still be starting; `undefined` if no worker can start. */
  #pick(): Member | undefined {
    const [best] = [...this.#members].sort((one, other) => workOf(one) - workOf(other));
    const wantsMore = !best || workOf(best) > 0;
    if (wantsMore && this.#members.size < this.#options.size && this.#mayStart) return this.#start();
    return best;
  }

  /**
   * False for a while after two failed starts in a row. Later starts may succeed, because the network may only have been too slow.
   */
  get #mayStart(): boolean {
    return this.#failedStarts < 2 || performance.now() - this.#failedAtMs > START_AGAIN_MS;
  }

  #start(): Member {
    const { signal } = this.#closing;
    const started = this.#startWorker(signal).then(
      (worker) => {
        this.#failedStarts = 0;
        member.worker = worker;
        worker.onmessage = ({ data }: MessageEvent<HashAnswer | HashProgress>) =>
          this.#onMessage(member, data);
        worker.onerror = (event) => {
          // Prevents an `error` event on the page, because another worker gets the slice.
          event.preventDefault();
          this.#drop(member);
        };
        this.#watchIdle();
        return worker;
      },
      () => {
        this.#members.delete(member);
        this.#watchIdle();
        if (signal.aborted) return undefined;
        this.#failedStarts += 1;
        this.#failedAtMs = performance.now();
        if (!this.#mayStart) this.#warn();
        return undefined;
      },
    );
    const member: Member = { started, asked: new Map() };
    this.#members.add(member);
    return member;
  }

  #warn(): void {
    const { workerUrl, needsWasm } = this.#options;
    warnOnceHere(
      `The hash worker${workerUrl ? ` ${workerUrl}` : ''} can't start, so hashing is slower. ` +
        `Copy secure-uploader/hash${needsWasm ? '-wasm' : ''}.worker.js to your site and set worker-url to its URL.`,
    );
  }

  #askMember(
    member: Member,
    request: HashRequest,
    signal: AbortSignal,
    { onStart, onBytes }: Signs,
  ): Promise<Hashed | NoAnswer> {
    const { id } = request;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        signal.removeEventListener('abort', onAbort);
        member.asked.delete(id);
        this.#watchIdle();
      };
      const settle = (answer: Hashed | NoAnswer): void => {
        end();
        resolve(answer);
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason);
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', onAbort);
      member.asked.set(id, { onStart, onBytes, settle, isWork: true });
      this.#watchIdle();
      void member.started.then((worker) => {
        if (!member.asked.has(id)) return;
        if (!worker) return settle('not-started');
        worker.postMessage(request);
        onStart();
      });
    });
  }

  #onMessage(member: Member, message: HashAnswer | HashProgress): void {
    const asked = member.asked.get(message.id);
    if ('isReading' in message) {
      asked?.onBytes();
      // It reads a slice that is no longer wanted, and nothing else.
      if (member.asked.size === 0) this.#drop(member);
    } else asked?.settle(message);
  }

  /** Starts the time after which idle workers end. A worker that is starting is not idle yet, and could not be terminated. */
  #watchIdle(): void {
    clearTimeout(this.#idleTimer);
    const members = [...this.#members];
    if (members.length === 0 || members.some(({ asked, worker }) => asked.size > 0 || !worker)) return;
    this.#idleTimer = setTimeout(() => {
      for (const member of members.slice(this.#keepsOne ? 1 : 0)) this.#drop(member);
    }, this.#options.idleMs);
  }

  #drop(member: Member): void {
    member.worker?.terminate();
    this.#members.delete(member);
    for (const { settle } of member.asked.values()) settle('died');
  }
}

/** The number of slices that a worker reads, then those that it waits for. */
const workOf = ({ asked }: Member): number => {
  const workCount = [...asked.values()].filter(({ isWork }) => isWork).length;
  return workCount + asked.size / 1000;
};
