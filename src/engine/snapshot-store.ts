// Applies changes to the frozen snapshot, and notifies the listeners.

import type { Change, ProgressDetail } from '../core/changes.ts';
import { EMPTY_SNAPSHOT } from '../core/empty-snapshot.ts';
import { Listeners } from '../core/listeners.ts';
import { isActive, isSettled, needsUser } from '../core/phases.ts';
import type {
  AuthSnapshot,
  FileFacts,
  FileId,
  FileSnapshot,
  Rejection,
  Snapshot,
  Totals,
} from '../core/types.ts';
import { Estimate, type Estimated } from './transfer/progress.ts';

/** Returns the snapshot of a file after `change`; `undefined` if `change` removes the file. */
export function reduceFile(file: FileSnapshot | undefined, change: Change): FileSnapshot | undefined {
  if (change.name === 'file-added')
    return {
      ...change.detail,
      phase: 'queued',
      hashedBytes: 0,
      sentBytes: 0,
      storedBytes: 0,
      skippedBytes: 0,
    };
  if (!file) return undefined;
  switch (change.name) {
    case 'file-removed':
      return undefined;
    case 'file-renamed':
      return { ...file, name: change.detail.name };
    case 'upload-started':
      return { ...factsOf(file), phase: 'hashing' };
    case 'upload-progress':
      return progressed(file, change.detail);
    case 'upload-paused':
      return { ...factsOf(file), phase: 'paused', pauseReason: change.detail.reason };
    case 'upload-resumed':
      return resumed(file, change.detail.phase);
    case 'upload-completed': {
      const { warning: _warning, sizeBytes, ...facts } = factsOf(file);
      return { ...facts, sizeBytes, phase: 'done', sentBytes: sizeBytes, storedBytes: sizeBytes };
    }
    case 'upload-failed': {
      const { id: _id, name: _name, ...error } = change.detail;
      return { ...factsOf(file), phase: 'failed', error };
    }
    case 'upload-canceled':
      return { ...factsOf(file), phase: 'canceled' };
    default:
      return file;
  }
}

/** Returns the fields that do not depend on the phase. */
function factsOf(file: FileSnapshot): FileFacts {
  const { phase, pauseReason, retryAtMs, lastError, error, bytesPerSecond, remainingMs, ...facts } = file;
  return facts;
}

function resumed(file: FileSnapshot, phase: ProgressDetail['phase']): FileSnapshot {
  const { warning: _warning, ...facts } = factsOf(file);
  return { ...facts, phase: isActive(phase) ? phase : 'queued' };
}

function progressed(
  file: FileSnapshot,
  { phase, retryAtMs, lastError, ...numbers }: ProgressDetail,
): FileSnapshot {
  const { warning: _warning, ...before } = factsOf(file);
  const facts = { ...before, ...numbers };
  if (phase === 'paused') return { ...facts, phase, pauseReason: file.pauseReason ?? 'user' };
  if (phase === 'failed' || phase === 'done' || phase === 'canceled') return { ...file, ...numbers };
  return { ...facts, phase, ...(lastError && { retryAtMs, lastError }) };
}

/** Moves the entry `id` before the entry `beforeId`, or to the end. */
export function moveEntry<T>(entries: Map<FileId, T>, id: FileId, beforeId: FileId | undefined): void {
  const moved = entries.get(id);
  if (moved === undefined || id === beforeId) return;
  const others = [...entries].filter(([other]) => other !== id);
  entries.clear();
  for (const [other, entry] of others) {
    if (other === beforeId) entries.set(id, moved);
    entries.set(other, entry);
  }
  entries.set(id, moved);
}

/** Holds the file snapshots. Builds the list only on reading, so that many changes in a row build the list once. */
export class SnapshotStore {
  readonly #files = new Map<FileId, FileSnapshot>();
  readonly #estimate = new Estimate();
  #movedBytes = 0;
  #rejections: Rejection[] = [];
  #auth: AuthSnapshot;
  /** Current snapshot; `undefined` after a change, until the next read. */
  #snapshot: Snapshot | undefined;
  readonly #listeners = new Listeners<void>();
  readonly #changeListeners = new Listeners<Change>();

  constructor(auth: AuthSnapshot) {
    this.#auth = auth;
  }

  /** Calls `listener` once in a microtask after changes. Returns a function that removes `listener`. */
  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Calls `listener` synchronously with every change. Returns a function that removes `listener`. */
  onChange(listener: (change: Change) => void): () => void {
    return this.#changeListeners.add(listener);
  }

  /** Applies `change`, then calls the listeners. */
  report(change: Change): void {
    this.apply(change);
    this.#changeListeners.tell(
      Object.freeze({ name: change.name, detail: Object.freeze(change.detail) }) as Change,
    );
    this.#listeners.tellSoon();
  }

  /** Removes the rejections with these ids; by default, all. */
  dismissRejections(ids: readonly string[] = this.#rejections.map(({ id }) => id)): void {
    if (ids.length > 0) this.report({ name: 'rejections-dismissed', detail: { ids } });
  }

  apply(change: Change): void {
    if (change.name === 'file-rejected') {
      this.#rejections.push(change.detail);
    } else if (change.name === 'rejections-dismissed') {
      const gone = new Set(change.detail.ids);
      this.#rejections = this.#rejections.filter(({ id }) => !gone.has(id));
    } else if (change.name === 'file-moved') {
      moveEntry(this.#files, change.detail.id, change.detail.beforeId);
    } else if ('id' in change.detail) {
      const { id } = change.detail;
      const before = this.#files.get(id);
      const after = reduceFile(before, change);
      if (after === before) return;
      if (!after) this.#files.delete(id);
      else this.#files.set(id, Object.freeze(after));
    } else return;
    this.#snapshot = undefined;
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
    this.#snapshot ??= Object.freeze({
      files: Object.freeze([...this.#files.values()]),
      rejections: Object.freeze([...this.#rejections]),
      totals: Object.freeze(
        totalsOf(this.#files.values(), (leftBytes) =>
          this.#estimate.of(this.#movedBytes, leftBytes, performance.now()),
        ),
      ),
      auth: this.#auth,
    });
    return this.#snapshot;
  }
}

/** Returns the sums over `files`. `estimate` returns speed and time left of all uploads for the bytes that are left. */
export function totalsOf(files: Iterable<FileSnapshot>, estimate: (leftBytes: number) => Estimated): Totals {
  const sums = { ...EMPTY_SNAPSHOT.totals };
  let leftBytes = 0;
  let isMoving = false;
  for (const file of files) {
    sums.fileCount += 1;
    if (file.phase === 'canceled') continue;
    sums.sizeBytes += file.sizeBytes;
    sums.sentBytes += file.sentBytes;
    sums.storedBytes += file.storedBytes;
    if (file.phase === 'done') sums.doneCount += 1;
    if (file.phase === 'failed') sums.failedCount += 1;
    if (isSettled(file.phase)) continue;
    sums.openCount += 1;
    // The remaining time does not include files that wait for the user.
    if (!needsUser(file)) leftBytes += file.sizeBytes - file.sentBytes;
    isMoving ||= file.phase === 'uploading';
  }
  const estimated = estimate(leftBytes);
  return { ...(isMoving && estimated), ...sums };
}
