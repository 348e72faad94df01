// Turns changes into the next snapshot. The only place where a row changes; whoever reads gets frozen objects.

import type { Change } from '../core/changes.ts';
import { isSettled, move } from '../core/phases.ts';
import type { AuthSnapshot, FileId, FileSnapshot, Rejection, Snapshot, Totals } from '../core/types.ts';
import { Rate } from './progress.ts';

/** The row after a change; `undefined` where it is gone. Throws `TypeError` on a move that the phase table refuses. */
export function reduceFile(file: FileSnapshot | undefined, change: Change): FileSnapshot | undefined {
  if (change.name === 'file-added') {
    return {
      ...change.detail,
      phase: 'queued',
      hashedBytes: 0,
      sentBytes: 0,
      storedBytes: 0,
      skippedBytes: 0,
    };
  }
  if (!file) return undefined;
  const {
    pauseReason: _reason,
    retryAt: _retryAt,
    bytesPerSecond: _rate,
    remainingMs: _left,
    ...kept
  } = file;
  switch (change.name) {
    case 'file-removed':
      return undefined;
    case 'file-renamed':
      return { ...file, name: change.detail.name };
    case 'upload-started':
      return { ...kept, phase: move(file.phase, 'hashing') };
    case 'upload-progress': {
      const phase = change.detail.phase === file.phase ? file.phase : move(file.phase, change.detail.phase);
      const { warning: _warning, ...rest } = kept;
      return {
        ...rest,
        ...(file.pauseReason && phase === 'paused' && { pauseReason: file.pauseReason }),
        ...change.detail,
        phase,
      };
    }
    case 'upload-paused':
      return {
        ...kept,
        phase: file.phase === 'paused' ? 'paused' : move(file.phase, 'paused'),
        pauseReason: change.detail.reason,
      };
    case 'upload-resumed': {
      const { error: _error, warning: _warning, ...rest } = kept;
      return { ...rest, phase: move(file.phase, change.detail.phase) };
    }
    case 'upload-completed': {
      const { warning: _warning, ...rest } = kept;
      const { sizeBytes } = file;
      return { ...rest, phase: move(file.phase, 'done'), sentBytes: sizeBytes, storedBytes: sizeBytes };
    }
    case 'upload-failed': {
      const { id: _id, name: _name, ...error } = change.detail;
      return { ...kept, phase: move(file.phase, 'failed'), error };
    }
    case 'upload-canceled': {
      const { error: _error, ...rest } = kept;
      return { ...rest, phase: move(file.phase, 'canceled') };
    }
    default:
      return file;
  }
}

/** Puts an entry before another one, or at the end. */
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

/** Keeps the rows, and makes a snapshot when somebody looks: ten thousand changes cost one list. */
export class SnapshotKeeper {
  readonly #files = new Map<FileId, FileSnapshot>();
  readonly #rate = new Rate();
  #movedBytes = 0;
  #rejections: Rejection[] = [];
  #auth: AuthSnapshot;
  #made: Snapshot | undefined;

  constructor(auth: AuthSnapshot) {
    this.#auth = auth;
  }

  file(id: FileId): FileSnapshot | undefined {
    return this.#files.get(id);
  }

  get files(): Iterable<FileSnapshot> {
    return this.#files.values();
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
      this.#measure(change, (after?.sentBytes ?? 0) - (before?.sentBytes ?? 0));
    } else return;
    this.#made = undefined;
  }

  setAuth(auth: AuthSnapshot): void {
    if (auth === this.#auth) return;
    this.#auth = auth;
    this.#made = undefined;
  }

  /** All together, smoothed; `undefined` until known. */
  get bytesPerSecond(): number | undefined {
    return this.#rate.perSecond;
  }

  get snapshot(): Snapshot {
    this.#made ??= Object.freeze({
      files: Object.freeze([...this.#files.values()]),
      rejections: Object.freeze([...this.#rejections]),
      totals: Object.freeze(this.totals()),
      auth: this.#auth,
    });
    return this.#made;
  }

  totals(): Totals {
    let doneCount = 0;
    let failedCount = 0;
    let openCount = 0;
    let sizeBytes = 0;
    let sentBytes = 0;
    let storedBytes = 0;
    let leftBytes = 0;
    let isMoving = false;
    for (const file of this.#files.values()) {
      if (file.phase === 'canceled') continue;
      sizeBytes += file.sizeBytes;
      sentBytes += file.sentBytes;
      storedBytes += file.storedBytes;
      if (file.phase === 'done') doneCount += 1;
      if (file.phase === 'failed') failedCount += 1;
      if (!isSettled(file.phase)) {
        openCount += 1;
        leftBytes += file.sizeBytes - file.sentBytes;
      }
      isMoving ||= file.phase === 'uploading';
    }
    const bytesPerSecond = isMoving ? this.#rate.perSecond : undefined;
    return {
      fileCount: this.#files.size,
      doneCount,
      failedCount,
      openCount,
      sizeBytes,
      sentBytes,
      storedBytes,
      ...(bytesPerSecond !== undefined && { bytesPerSecond }),
      ...(bytesPerSecond && { remainingMs: (leftBytes / bytesPerSecond) * 1000 }),
    };
  }

  /** The line's rate, from what is told anyway: whether somebody looks at the snapshot must not matter. */
  #measure(change: Change, movedBytes: number): void {
    if (change.name === 'upload-progress') {
      this.#movedBytes += movedBytes;
      this.#rate.add(this.#movedBytes, Date.now());
    } else if (change.name === 'upload-paused' || change.name === 'upload-started') {
      // Time without bytes, or bytes of an earlier visit, say nothing of the line.
      this.#rate.skip();
    }
  }
}
