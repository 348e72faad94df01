// One upload, one tab: whoever holds an upload's lock runs it, the others wait for the lock and show what the holder tells.
// A tab that dies gives its locks up. It knows keys and numbers, not files.

import type { CompletedDetail } from '../core/changes.ts';
import { openChannel } from '../core/channel.ts';

/** How far the tab that runs an upload is. */
export interface TabProgress {
  readonly sentBytes: number;
  readonly storedBytes: number;
  readonly skippedBytes: number;
}

/** What is told of a file that another tab has uploaded. */
export type DoneElsewhere = Omit<CompletedDetail, 'id'>;

/** What tabs say of an upload to each other; nothing secret. */
type Said =
  | { readonly type: 'asked'; readonly key: string }
  | { readonly type: 'progress'; readonly key: string; readonly numbers: TabProgress }
  | { readonly type: 'done'; readonly key: string; readonly detail: DoneElsewhere };

/** What a row hears of its upload in other tabs. */
export interface Follower {
  /** Another tab runs it, and this one waits until that gives it up; then `onGo`. */
  readonly onWait: () => void;
  readonly onGo: () => void;
  readonly onProgress: (numbers: TabProgress) => void;
  readonly onDone: (detail: DoneElsewhere) => void;
}

/** Gives an upload up; resolves when others can have it. */
export type Release = () => Promise<void>;

const NOTHING_TO_RELEASE: Release = () => Promise.resolve();

const LOCK = 'secure-uploader:upload:';
const CHANNEL = 'secure-uploader:uploads';

export class Tabs {
  #opened: BroadcastChannel | undefined;
  readonly #followers = new Map<string, Set<Follower>>();
  /** How far the uploads are that this tab runs, for tabs that come later. */
  readonly #told = new Map<string, TabProgress>();

  /** Open from when it is first needed until `close()`, and again after. */
  get #channel(): BroadcastChannel | undefined {
    if (this.#opened) return this.#opened;
    this.#opened = openChannel(CHANNEL);
    if (!this.#opened) return undefined;
    this.#opened.onmessage = ({ data }: MessageEvent<unknown>) => {
      const said = readSaid(data);
      const numbers = said?.type === 'asked' ? this.#told.get(said.key) : undefined;
      if (said && numbers) this.#say({ type: 'progress', key: said.key, numbers });
      for (const follower of this.#followers.get(said?.key ?? '') ?? []) {
        if (said?.type === 'progress') follower.onProgress(said.numbers);
        else if (said?.type === 'done') follower.onDone(said.detail);
      }
    };
    return this.#opened;
  }

  /**
   * Resolves with how to give the upload up, once it is ours; rejects with the signal's reason. Where the browser has no locks, it
   * is ours at once.
   */
  async take(key: string, signal: AbortSignal, follower: Follower | undefined): Promise<Release> {
    const free = await this.takeFree(key);
    if (free) return free;
    follower?.onWait();
    this.#say({ type: 'asked', key });
    const release = await hold(key, { signal });
    follower?.onGo();
    return this.#ours(key, release ?? NOTHING_TO_RELEASE);
  }

  /** As `take`, but without waiting: `undefined` where another tab has it. */
  async takeFree(key: string): Promise<Release | undefined> {
    if (!globalThis.navigator?.locks) return this.#ours(key, NOTHING_TO_RELEASE);
    // A page without an origin may have none either.
    const release = await hold(key, { ifAvailable: true }).catch(() => NOTHING_TO_RELEASE);
    return release && this.#ours(key, release);
  }

  /** Tells what other tabs say of an upload. Returns how to stop it. */
  follow(key: string, follower: Follower): () => void {
    // Opened here, or nothing would be heard.
    const all = this.#channel && (this.#followers.get(key) ?? new Set());
    if (!all) return () => undefined;
    this.#followers.set(key, all.add(follower));
    return () => {
      all.delete(follower);
      if (all.size === 0) this.#followers.delete(key);
    };
  }

  /** Tells of a key whether a tab, this one or another, runs that upload now. */
  async listTaken(): Promise<(key: string) => boolean> {
    const found = await globalThis.navigator?.locks?.query().catch(() => undefined);
    const names = new Set(found?.held?.map(({ name }) => name));
    return (key) => names.has(LOCK + key);
  }

  /** Hears again for those who follow, after `close()`. */
  open(): void {
    if (this.#followers.size > 0) void this.#channel;
  }

  tellProgress(key: string, { sentBytes, storedBytes, skippedBytes }: TabProgress): void {
    const numbers = { sentBytes, storedBytes, skippedBytes };
    this.#told.set(key, numbers);
    this.#say({ type: 'progress', key, numbers });
  }

  tellDone(key: string, { id: _id, commit: _commit, ...detail }: CompletedDetail): void {
    this.#say({ type: 'done', key, detail });
  }

  close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }

  #say(said: Said): void {
    this.#channel?.postMessage(said);
  }

  #ours(key: string, release: Release): Release {
    return async () => {
      this.#told.delete(key);
      await release();
    };
  }
}

/** Resolves with how to let the lock go; `undefined` where it is not available. Rejects with the signal's reason. */
export function hold(key: string, options: LockOptions): Promise<Release | undefined> {
  return new Promise((resolve, reject) => {
    const released = navigator.locks.request(LOCK + key, options, (lock) => {
      if (!lock) {
        resolve(undefined);
        return undefined;
      }
      return new Promise<void>((release) =>
        resolve(() => {
          release();
          return released;
        }),
      );
    });
    released.catch(reject);
  });
}

/** What another tab said, field by field: it may run another version of this package. */
function readSaid(data: unknown): Said | undefined {
  const { type, key, numbers, detail } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof key !== 'string') return undefined;
  if (type === 'asked') return { type, key };
  if (type === 'done') return isCompleted(detail) ? { type, key, detail } : undefined;
  if (type !== 'progress') return undefined;
  const { sentBytes, storedBytes, skippedBytes } = (numbers ?? {}) as TabProgress;
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
