// The snapshot of the list and of sign-in, which it builds from the uploads, and its listeners.

import type { Change } from '../core/changes.ts';
import { Listeners } from '../core/listeners.ts';
import { totalsOf } from '../core/totals.ts';
import type { AuthSnapshot, FileSnapshot, Rejection, Snapshot } from '../core/types.ts';
import { Estimate } from './transfer/progress.ts';

/** Builds the snapshot only on reading, so that many changes in a row build it once. */
export class SnapshotStore {
  #files: () => readonly FileSnapshot[];
  readonly #estimate = new Estimate();
  #movedBytes = 0;
  #rejections: Rejection[] = [];
  #auth: AuthSnapshot;
  /** Current snapshot; `undefined` after a change, until the next read. */
  #snapshot: Snapshot | undefined;
  readonly #listeners = new Listeners<void>();
  readonly #changeListeners = new Listeners<Change>();

  /** `files` returns the snapshots of the uploads, in the order of the list. */
  constructor(auth: AuthSnapshot, files: () => readonly FileSnapshot[]) {
    this.#auth = auth;
    this.#files = files;
  }

  /** Calls `listener` once in a microtask after changes. Returns a function that removes `listener`. */
  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Calls `listener` synchronously with every change. Returns a function that removes `listener`. */
  onChange(listener: (change: Change) => void): () => void {
    return this.#changeListeners.add(listener);
  }

  /** Passes `change` to the listeners. Only rejections are kept here; uploads describe themselves. */
  report(change: Change): void {
    if (change.name === 'file-rejected') {
      this.#rejections.push(change.detail);
      this.#snapshot = undefined;
    } else if (change.name === 'rejections-dismissed') {
      const dismissed = new Set(change.detail.ids);
      this.#rejections = this.#rejections.filter(({ id }) => !dismissed.has(id));
      this.#snapshot = undefined;
    }
    this.#changeListeners.tell(
      Object.freeze({ name: change.name, detail: Object.freeze(change.detail) }) as Change,
    );
    this.#listeners.tellSoon();
  }

  /** Removes the rejections with these ids; by default, all. */
  dismissRejections(ids: readonly string[] = this.#rejections.map(({ id }) => id)): void {
    if (ids.length > 0) this.report({ name: 'rejections-dismissed', detail: { ids } });
  }

  /** Makes the next read build another snapshot. Call this method when an upload, or their list, has changed. */
  onListChange(): void {
    this.#snapshot = undefined;
    this.#listeners.tellSoon();
  }

  /** Keeps the list as it is now, also when its uploads are closed. */
  close(): void {
    const { files } = this.snapshot;
    this.#files = () => files;
  }

  setAuth(auth: AuthSnapshot): void {
    this.#listeners.tellSoon();
    if (auth === this.#auth) return;
    this.#auth = auth;
    this.#snapshot = undefined;
  }

  /** Smoothed rate of all uploads together, bytes per second; `undefined` until measured. */
  get bytesPerSecond(): number | undefined {
    return this.#estimate.perSecond;
  }

  /** Adds bytes that were handed to the network to the measured rate. */
  onBytesSent(bytes: number): void {
    this.#movedBytes += bytes;
    // The snapshot may be read seldom.
    this.#estimate.add(this.#movedBytes, performance.now());
  }

  /** Excludes the time until the next bytes from the rate. Call this method when no upload is running. */
  onIdle(): void {
    this.#estimate.skip();
  }

  get snapshot(): Snapshot {
    if (this.#snapshot) return this.#snapshot;
    const files = Object.freeze(this.#files());
    this.#snapshot = Object.freeze({
      files,
      rejections: Object.freeze([...this.#rejections]),
      totals: Object.freeze(
        totalsOf(files, (leftBytes) => this.#estimate.of(this.#movedBytes, leftBytes, performance.now())),
      ),
      auth: this.#auth,
    });
    return this.#snapshot;
  }
}
