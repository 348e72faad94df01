// One Web Lock for each upload. The tab with the lock runs the upload and announces its progress; other tabs show this progress and
// wait for the lock. If a tab closes or crashes, the browser releases the tab's locks.

import type { CompletedDetail } from '../../core/changes.ts';
import { openChannel } from '../../core/channel.ts';
import type { ProgressNumbers } from '../../core/types.ts';
import { sleep, whenSettled } from '../../core/wait.ts';

/** Progress of an upload that another tab runs. */
export type RemoteProgress = Pick<ProgressNumbers, 'sentBytes' | 'storedBytes' | 'skippedBytes'>;

/** The result of an upload that another tab completed. */
export type DoneElsewhere = Omit<CompletedDetail, 'id'>;

/** Messages between tabs. Messages contain no tokens or upload URLs. */
type TabMessage =
  | { readonly type: 'asked'; readonly key: string }
  | { readonly type: 'progress'; readonly key: string; readonly numbers: RemoteProgress }
  | { readonly type: 'done'; readonly key: string; readonly detail: DoneElsewhere };

/** Callbacks for announcements of other tabs about an upload. */
export interface TabObserver {
  readonly onProgress: (numbers: RemoteProgress) => void;
  readonly onDone: (detail: DoneElsewhere) => void;
}

/** Releases a lock. Resolves when the browser has released the lock. */
export type Release = () => Promise<void>;

const NOTHING_TO_RELEASE: Release = () => Promise.resolve();

/** Time until a lock for which the browser stopped waiting is requested again, in milliseconds. */
const WAIT_AGAIN_MS = 1000;

const LOCK = 'secure-uploader:upload:';
const CHANNEL = 'secure-uploader:uploads';

/** The uploaders of this page that are in use. */
const PAGE = new Set<TabLocks>();

export class TabLocks {
  readonly #page: Set<TabLocks>;
  readonly #onLeft: () => void;
  #opened: BroadcastChannel | undefined;
  #isClosed = false;
  readonly #observers = new Map<string, Set<TabObserver>>();
  /** Latest progress of the uploads that this tab runs. Sent to tabs that ask for the progress. */
  readonly #announced = new Map<string, RemoteProgress>();
  /** One promise for each lock that this tab holds. The promise resolves when the browser has released the lock. */
  readonly #held = new Set<Promise<void>>();
  /** Names of the locks that tabs held when this object was created. */
  #seen: ReadonlySet<string | undefined> = new Set();
  /** Each function ends the wait of one call of `allReleased()`. */
  readonly #onOpen = new Set<() => void>();

  /** `onLeft` is called when another uploader of the page has closed or is suspended. */
  constructor(page = PAGE, onLeft: () => void = () => undefined) {
    this.#page = page.add(this);
    this.#onLeft = onLeft;
    // The answer arrives long before that of the database.
    void heldNames().then((names) => {
      this.#seen = names;
    });
  }

  /** Channel to the other tabs, opened on first use; `undefined` after `close()`. */
  get #channel(): BroadcastChannel | undefined {
    if (this.#opened || this.#isClosed) return this.#opened;
    this.#opened = openChannel(CHANNEL);
    if (!this.#opened) return undefined;
    this.#opened.onmessage = ({ data }: MessageEvent<unknown>) => {
      const message = readMessage(data);
      const numbers = message?.type === 'asked' ? this.#announced.get(message.key) : undefined;
      if (message && numbers) this.#post({ type: 'progress', key: message.key, numbers });
      for (const observer of this.#observers.get(message?.key ?? '') ?? []) {
        if (message?.type === 'progress') observer.onProgress(message.numbers);
        else if (message?.type === 'done') observer.onDone(message.detail);
      }
    };
    return this.#opened;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Waits for the lock. Resolves with a function that releases the lock. Rejects with the signal's reason if `signal` aborts. */
  async waitForLock(key: string, signal: AbortSignal): Promise<Release> {
    this.#post({ type: 'asked', key });
    for (;;) {
      try {
        const release = await requestLock(key, { signal });
        return this.#trackLock(key, release ?? NOTHING_TO_RELEASE);
      } catch {
        // The browser may end a wait, for example that of a page that it puts into the back/forward cache.
        signal.throwIfAborted();
        const free = await this.tryLock(key);
        if (free) return free;
        await sleep(WAIT_AGAIN_MS, signal);
      }
    }
  }

  /**
   * Works like `waitForLock()`, but resolves with `undefined` if another tab holds the lock. Always succeeds in a browser without
   * Web Locks.
   */
  async tryLock(key: string): Promise<Release | undefined> {
    if (!globalThis.navigator?.locks) return this.#trackLock(key, NOTHING_TO_RELEASE);
    // Pages with an opaque origin, such as sandboxed frames, may not use locks.
    const release = await requestLock(key, { ifAvailable: true }).catch(() => NOTHING_TO_RELEASE);
    return release && this.#trackLock(key, release);
  }

  /** Returns true if an uploader of this page has an upload with this key in its list. */
  isListed(key: string): boolean {
    return [...this.#page].some((locks) => locks.#observers.has(key));
  }

  /** Calls `observer` for announcements of other tabs about an upload. Returns a function that removes the observer. */
  observe(key: string, observer: TabObserver): () => void {
    const observers = this.#observers.get(key) ?? new Set();
    // Opens the channel.
    void this.#channel;
    this.#observers.set(key, observers.add(observer));
    return () => {
      observers.delete(observer);
      if (observers.size === 0) this.#observers.delete(key);
    };
  }

  /** Resolves with a function that returns true if any tab held the lock for a key at the time of the call. */
  async listLocked(): Promise<(key: string) => boolean> {
    const names = await heldNames();
    return (key) => names.has(LOCK + key);
  }

  /** Returns true if a tab held the lock for such a key when this object was created. */
  hasSeen(isMatch: (key: string) => boolean): boolean {
    return [...this.#seen].some((name) => name?.startsWith(LOCK) && isMatch(name));
  }

  /** Undoes `close()`. */
  open(): void {
    this.#isClosed = false;
    this.#page.add(this);
    for (const end of this.#onOpen) end();
    if (this.#observers.size > 0) void this.#channel;
  }

  announceProgress(key: string, { sentBytes, storedBytes, skippedBytes }: RemoteProgress): void {
    const numbers = { sentBytes, storedBytes, skippedBytes };
    this.#announced.set(key, numbers);
    this.#post({ type: 'progress', key, numbers });
  }

  announceDone(key: string, { id: _id, commit: _commit, ...detail }: CompletedDetail): void {
    this.#post({ type: 'done', key, detail });
  }

  /**
   * Resolves when all locks that this tab holds now are released, or when `open()` is called, since uploads can then keep their
   * locks. Does not release the locks.
   */
  async allReleased(): Promise<void> {
    let end: () => void = () => undefined;
    const untilOpen = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#onOpen.add(end);
    await Promise.race([untilOpen, Promise.all(this.#held)]);
    this.#onOpen.delete(end);
  }

  close(): void {
    this.#isClosed = true;
    this.#page.delete(this);
    for (const locks of this.#page) locks.#onLeft();
    this.#opened?.close();
    this.#opened = undefined;
  }

  #post(message: TabMessage): void {
    this.#channel?.postMessage(message);
  }

  #trackLock(key: string, release: Release): Release {
    let onReleased: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      onReleased = resolve;
    });
    this.#held.add(released);
    return async () => {
      this.#announced.delete(key);
      try {
        await release();
      } finally {
        this.#held.delete(released);
        onReleased();
      }
    };
  }
}

async function heldNames(): Promise<ReadonlySet<string | undefined>> {
  // Without the names, each lock looks free. `tryLock()` still tells which tab gets it.
  const locks = await globalThis.navigator?.locks?.query().catch(() => undefined);
  return new Set(locks?.held?.map(({ name }) => name));
}

/**
 * Resolves with a function that releases the lock. Resolves with `undefined` if `ifAvailable` is set and another tab holds the
 * lock. Rejects on abort.
 */
export function requestLock(key: string, options: LockOptions): Promise<Release | undefined> {
  return new Promise((resolve, reject) => {
    const released = navigator.locks.request(LOCK + key, options, (lock) => {
      if (!lock) {
        resolve(undefined);
        return undefined;
      }
      return new Promise<void>((release) =>
        resolve(async () => {
          release();
          // Rejects if the browser or another script took the lock away. Then it is released, too.
          await released.catch(() => undefined);
        }),
      );
    });
    released.catch(reject);
  });
}

/** Returns the message; `undefined` if the message is invalid. Other tabs may run another version of this package. */
function readMessage(data: unknown): TabMessage | undefined {
  const { type, key, numbers, detail } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof key !== 'string') return undefined;
  if (type === 'asked') return { type, key };
  if (type === 'done') return isCompleted(detail) ? { type, key, detail } : undefined;
  if (type !== 'progress') return undefined;
  const { sentBytes, storedBytes, skippedBytes } = (numbers ?? {}) as RemoteProgress;
  const isSound = [sentBytes, storedBytes, skippedBytes].every(
    (bytes) => Number.isFinite(bytes) && bytes >= 0,
  );
  return isSound ? { type, key, numbers: { sentBytes, storedBytes, skippedBytes } } : undefined;
}

function isCompleted(detail: unknown): detail is DoneElsewhere {
  const { name, chunks } = (detail ?? {}) as Readonly<Record<string, unknown>>;
  const isStored = (chunk: Readonly<Record<string, unknown>> | null): boolean =>
    typeof chunk?.hash === 'string' && typeof chunk.receipt === 'string';
  return typeof name === 'string' && Array.isArray(chunks) && chunks.every(isStored);
}

export type LockState = 'none' | 'waiting' | 'ours' | 'releasing';
export type LockEvent = 'requested' | 'granted' | 'refused' | 'release-asked' | 'released';

/** States of a lock, and the next state for each event. An event that is not in the table for the current state is ignored. */
export const LOCK_TABLE: Readonly<Record<LockState, Readonly<Partial<Record<LockEvent, LockState>>>>> = {
  none: { requested: 'waiting' },
  waiting: { granted: 'ours', refused: 'none' },
  ours: { 'release-asked': 'releasing' },
  releasing: { released: 'none' },
};

export class UploadLock {
  #state: LockState = 'none';
  #release: Release | undefined;
  #steps: Promise<unknown> = Promise.resolve();

  get state(): LockState {
    return this.#state;
  }

  /**
   * Resolves with true once this upload holds the lock, and with false if `take` did not get the lock. Rejects if `take` rejects.
   */
  acquire(take: () => Promise<Release | undefined>): Promise<boolean> {
    return this.#next(async () => {
      if (!this.#move('requested')) return true;
      try {
        this.#release = await take();
        return this.#release !== undefined;
      } finally {
        this.#move(this.#release ? 'granted' : 'refused');
      }
    });
  }

  /** Calls and awaits `finishUse`, then releases the lock. Ignores errors of both: then the browser has taken the lock away. */
  release(finishUse: () => Promise<void>): Promise<void> {
    return this.#next(async () => {
      if (this.#state !== 'ours') return;
      await whenSettled(finishUse());
      this.#move('release-asked');
      if (this.#release) await whenSettled(this.#release());
      this.#release = undefined;
      this.#move('released');
    });
  }

  /** Changes the state. Returns false if the table does not have the event for the current state. */
  #move(event: LockEvent): boolean {
    const nextState = LOCK_TABLE[this.#state][event];
    if (nextState) this.#state = nextState;
    return nextState !== undefined;
  }

  #next<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#steps.then(step);
    this.#steps = whenSettled(result);
    return result;
  }
}
