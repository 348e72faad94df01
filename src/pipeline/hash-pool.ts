// Hashes slices in the hash workers; on the page if no worker can run. A slice whose bytes do not arrive waits for them as long as
// it takes, and holds up no slice of another file.

import { UploaderError } from '../core/errors.ts';
import { Lane, type Place } from '../core/lane.ts';
import type { ContinueHash, HashAlgorithm, HashSlice } from '../core/types.ts';
import { abortable, sleep } from '../core/wait.ts';
import { createHashSlice, type Hashed } from './digest.ts';
import type { HashAnswer, HashRequest } from './hash-messages.ts';
import { type WorkerOptions, WorkerSet } from './worker-set.ts';

export interface HashPoolOptions extends Partial<Omit<WorkerOptions, 'needsWasm'>> {
  readonly algorithm: HashAlgorithm;
  /** True if the pool is used for `continueHash`, which needs hash-wasm. */
  readonly hashesFiles?: boolean | undefined;
  /**
   * Time without bytes after which `onSilent` is called, or the worker is replaced if it does not respond at all, in milliseconds,
   * plus one second for each MiB. Defaults to 10 s. WebKit reports nothing until all bytes have arrived.
   */
  readonly silenceMs?: number;
  /** Time after which a slice counts as slow, in milliseconds, plus one second for each 4 MiB. Defaults to 1 s. */
  readonly slowMs?: number;
  /** Delay before an unreadable slice is read a second time, in milliseconds. A drive may have to wake up. Defaults to 500 ms. */
  readonly readAgainMs?: number;
}

const DEFAULTS = { startMs: 10_000, silenceMs: 10_000, slowMs: 1000, idleMs: 30_000, readAgainMs: 500 };

/** Hashes on the page. */
const hashOnPage = createHashSlice(() => import('./wasm-hashes.ts'));

type HashResult = Omit<Extract<Hashed, { hash: string }>, 'id'>;

type HashOptions = Parameters<HashSlice>[1] & Pick<HashRequest, 'state'>;

/**
 * True if the browser reports the bytes of a slice while they arrive. Without reports, a slice that is read slowly looks like one
 * whose bytes do not arrive, and the memory of those that have left their place would have no limit.
 */
const REPORTS_BYTES = 'ReadableByteStreamController' in globalThis;

/** Rate below which a slice counts as slow. */
const SLOW_READ_BYTES_PER_SECOND = 4 * 2 ** 20;

/** Lowest expected rate of one worker while other workers read from the same drive. */
const SLOWEST_READ_BYTES_PER_SECOND = 2 ** 20;

/** Returns the number of workers, 2 to 4. From four cores on, leaves two cores for the page and the network. */
export const poolSize = (cores: number = globalThis.navigator?.hardwareConcurrency ?? 2): number =>
  Math.min(4, Math.max(2, cores - 2));

export class HashPool {
  readonly #options: HashPoolOptions & typeof DEFAULTS & { readonly size: number };
  readonly #workers: WorkerSet;
  /** A place for each worker. On the page, there is one place, to limit memory use. */
  readonly #lane: Lane;
  /** Controller that `close()` aborts. */
  #closing = new AbortController();

  constructor(options: HashPoolOptions) {
    // Without `crypto.subtle`, SHA-256 needs hash-wasm, too.
    const needsWasm = options.hashesFiles || options.algorithm !== 'sha-256' || !globalThis.crypto?.subtle;
    this.#options = { ...DEFAULTS, size: poolSize(), ...options };
    this.#lane = new Lane(this.size, this.#options.startMs);
    this.#workers = new WorkerSet({ ...this.#options, needsWasm });
  }

  get size(): number {
    return this.#options.size;
  }

  /**
   * Hashes a slice in a worker. Rejects with `file-unreadable`, `hash-failed`, `bad-config` (the hash needs another worker), or the
   * signal's reason.
   */
  readonly hashSlice: HashSlice = (slice, options) =>
    this.#twice(() => this.#hash(slice, options), options.signal);

  /**
   * Continues the SHA-256 of a file in a worker. Rejects like `hashSlice`; with `bad-config` also if `workerUrl` is the file of an
   * older version.
   */
  readonly continueHash: ContinueHash = (slice, state, signal) =>
    this.#twice(async () => {
      const result = await this.#hash(slice, { keepBytes: false, state, signal });
      const { hash, state: after, sliceHash } = result;
      if (after && sliceHash !== undefined) return { hash, state: after, sliceHash };
      throw new UploaderError('bad-config', 'worker-url is not the hash-wasm.worker.js of this version');
    }, signal);

  /** See `WorkerSet`. */
  preload(): Promise<void> {
    return this.#workers.preload();
  }

  /** See `WorkerSet`. */
  warmUp(): void {
    this.#workers.warmUp();
  }

  /** Terminates all workers. Unfinished slices reject with `hash-failed`. The next slice starts new workers. */
  close(): void {
    const closed = new UploaderError(
      'hash-failed',
      'The hash workers were closed before the slice was hashed',
    );
    this.#closing.abort(closed);
    this.#closing = new AbortController();
    this.#workers.close();
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

  async #hash(slice: Blob, { keepBytes, state, signal, onSilent }: HashOptions): Promise<HashResult> {
    const { algorithm } = this.#options;
    const request = { id: this.#workers.newId(), slice, algorithm, keepBytes, ...(state && { state }) };
    const over = AbortSignal.any([signal, this.#closing.signal]);
    // Slices with the same signal are of the same file.
    return resultOf(
      await this.#lane.run((_signal, place) => this.#inPlace(request, place, over, onSilent), over, signal),
    );
  }

  /**
   * Hashes a slice in its place of the lane. If it is slow, it loses the place to a slice of another file. If none of its bytes
   * arrive, it leaves the place, and continues when they arrive.
   */
  async #inPlace(
    request: HashRequest,
    { renew, leave }: Place,
    signal: AbortSignal,
    onSilent: HashOptions['onSilent'] = () => undefined,
  ): Promise<Hashed> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isSilent = false;
    /** Number of signs of life. */
    let signCount = 0;
    const onHang = async (): Promise<void> => {
      const { silenceMs } = this.#options;
      const hangingSince = signCount;
      if (REPORTS_BYTES) leave();
      this.#workers.release(request);
      const isAlive = await this.#workers.responds(request, silenceMs, signal).catch(() => false);
      if (!isAlive || signCount !== hangingSince) return;
      timer = setTimeout(() => {
        isSilent = true;
        onSilent(true);
      }, this.#silenceMs(request));
    };
    const onBytes = (): void => {
      clearTimeout(timer);
      signCount += 1;
      if (isSilent) onSilent(false);
      isSilent = false;
      timer = setTimeout(() => void onHang(), this.#hangMs(request));
    };
    const onStart = (): void => {
      renew(this.#slowMs(request));
      onBytes();
    };
    try {
      const answer = await this.#workers.ask(request, signal, { onStart, onBytes });
      this.#lane.width = answer ? this.size : 1;
      if (answer) return answer;
      onStart();
      return await abortable(hashOnPage(request, onBytes), signal);
    } finally {
      signCount += 1;
      clearTimeout(timer);
      if (isSilent) onSilent(false);
    }
  }

  /** Time after which a slice is slow, in milliseconds. */
  #slowMs({ slice }: HashRequest): number {
    return this.#options.slowMs + (slice.size / SLOW_READ_BYTES_PER_SECOND) * 1000;
  }

  /**
   * Time without bytes after which a slice leaves its place, in milliseconds. Shorter while others have left theirs: a drive that
   * is gone has many files.
   */
  #hangMs(request: HashRequest): number {
    const { slowMs } = this.#options;
    return this.#slowMs(request) + (this.#lane.hasLeft ? -0.75 : 1) * slowMs;
  }

  #silenceMs({ slice }: HashRequest): number {
    return this.#options.silenceMs + (slice.size / SLOWEST_READ_BYTES_PER_SECOND) * 1000;
  }
}

/** Returns the result of an answer, or throws its error. */
function resultOf(answer: Hashed): HashResult {
  if ('hash' in answer) {
    const { id: _id, ...result } = answer as HashResult & Partial<HashAnswer>;
    return result;
  }
  const { name, message, isRead } = answer.error;
  // `NotSupportedError`: the worker lacks hash-wasm, so a retry cannot help.
  const code = isRead ? 'file-unreadable' : name === 'NotSupportedError' ? 'bad-config' : 'hash-failed';
  throw new UploaderError(code, `${name}: ${message}`);
}
