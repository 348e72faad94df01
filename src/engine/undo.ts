// The last cancel or removal by a button, which can be undone for some seconds. Meanwhile its uploads are in the state `withdrawn`.

import { totalsOf } from '../core/totals.ts';
import type { FileId, FileSnapshot, Snapshot } from '../core/types.ts';
import type { Scheduler } from './scheduler.ts';
import type { Upload } from './upload.ts';
import type { UndoCommand } from './upload-state.ts';

/** Time in which a command can be undone, in milliseconds. */
const UNDO_MS = 8000;

/** A command that can be undone, and its uploads that no other command has ended. */
export interface Undoable {
  readonly next: 'canceled' | 'removed';
  readonly uploads: readonly { readonly id: FileId; readonly name: string }[];
}

/** Only the last command can be undone; the next command completes it. */
interface Withdrawal {
  readonly next: Undoable['next'];
  readonly uploads: readonly Upload[];
  /** Time left at `startMs`, in milliseconds. Without `startMs`, the timer is stopped. */
  readonly leftMs: number;
  readonly startMs?: number | undefined;
}

/** Gives uploads a command. Resolves when the runs that it ends have stopped. */
type Apply = (uploads: readonly Upload[], command: UndoCommand) => Promise<void>;

export class Undo {
  readonly #scheduler: Scheduler;
  readonly #apply: Apply;
  #last: Withdrawal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(scheduler: Scheduler, apply: Apply) {
    this.#scheduler = scheduler;
    this.#apply = apply;
  }

  /** What can be undone; `undefined` if nothing can. */
  get undoable(): Undoable | undefined {
    if (!this.#last) return undefined;
    const { next } = this.#last;
    const uploads = this.#last.uploads.filter((upload) => this.#isOpen(upload, next));
    return uploads.length > 0 ? { next, uploads } : undefined;
  }

  /** Cancels or removes uploads when the time is over. Resolves when their runs have stopped. */
  async withdraw(next: Undoable['next'], ids: readonly FileId[]): Promise<void> {
    const uploads = ids.flatMap((id) => this.#scheduler.get(id) ?? []);
    void this.complete();
    this.#last = { next, uploads, leftMs: UNDO_MS };
    this.hold(false);
    await this.#apply(uploads, { type: 'withdraw', next });
  }

  /** Undoes the command for one upload; without an id, for all. */
  async undo(id?: FileId): Promise<void> {
    if (!this.#last) return;
    const isMeant = (upload: Upload): boolean => id === undefined || upload.id === id;
    const { uploads } = this.#last;
    const others = uploads.filter((upload) => !isMeant(upload));
    if (others.length > 0) this.#last = { ...this.#last, uploads: others };
    else this.forget();
    await this.#apply(uploads.filter(isMeant), { type: 'undo' });
  }

  /** Completes the command at once. Resolves when the uploads are canceled or removed. */
  readonly complete = async (): Promise<void> => {
    const { uploads = [] } = this.#last ?? {};
    this.forget();
    if (uploads.length > 0) await this.#apply(uploads, { type: 'complete' });
  };

  /** Forgets the command. Call this method when its uploads leave the list. */
  forget(): void {
    this.#last = undefined;
    clearTimeout(this.#timer);
  }

  /** Stops the time, or continues it. */
  hold(isHeld: boolean): void {
    if (!this.#last || isHeld === (this.#last.startMs === undefined)) return;
    const nowMs = performance.now();
    const { startMs = nowMs } = this.#last;
    const leftMs = this.#last.leftMs - (nowMs - startMs);
    clearTimeout(this.#timer);
    this.#last = { ...this.#last, leftMs, startMs: isHeld ? undefined : nowMs };
    if (!isHeld) this.#timer = setTimeout(this.complete, leftMs);
  }

  /** True unless another command has ended the upload, such as a sign-out. A long list gets its commands in several tasks. */
  #isOpen(upload: Upload, next: Undoable['next']): boolean {
    if (this.#scheduler.get(upload.id) !== upload) return false;
    return next === 'removed' || (upload.phase !== 'done' && upload.phase !== 'canceled');
  }

  /** Returns the list as it will be when the command is complete. */
  shown(snapshot: Snapshot): Snapshot {
    const { undoable } = this;
    if (!undoable) return snapshot;
    const ids = new Set(undoable.uploads.map(({ id }) => id));
    const files = snapshot.files.flatMap((file) => {
      if (!ids.has(file.id)) return file;
      return undoable.next === 'removed' ? [] : asCanceled(file);
    });
    return { ...snapshot, files, totals: totalsOf(files, () => snapshot.totals) };
  }
}

function asCanceled(file: FileSnapshot): FileSnapshot {
  const { phase, pauseReason, error, retryAtMs, lastError, bytesPerSecond, remainingMs, ...facts } = file;
  return { ...facts, phase: 'canceled' };
}
