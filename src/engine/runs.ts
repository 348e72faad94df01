// The rows of the list, and the commands that a person gives. It moves a row's phase first and stops its run after, so that
// nothing is ever told twice.

import type { Change } from '../core/changes.ts';
import { canRetry } from '../core/errors.ts';
import { canMove, isSettled, type Phase } from '../core/phases.ts';
import type { FileId } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import type { Lanes } from './lanes.ts';
import { moveEntry, type SnapshotKeeper } from './reducer.ts';
import type { Row } from './row.ts';
import type { Tabs } from './tabs.ts';
import { Turns } from './turns.ts';

export class Runs {
  readonly turns: Turns;
  readonly #keeper: SnapshotKeeper;
  readonly #report: (change: Change) => void;
  readonly #rows = new Map<FileId, Row>();
  /** What commands have still to do to a row. */
  readonly #pending = new Map<Row, () => void>();
  readonly #rested = new WeakSet<Row>();

  constructor(keeper: SnapshotKeeper, lanes: Lanes, tabs: Tabs, report: (change: Change) => void) {
    this.#keeper = keeper;
    this.#report = report;
    this.turns = new Turns(keeper, lanes, tabs, report);
  }

  get(id: FileId): Row | undefined {
    return this.#rows.get(id);
  }

  get all(): readonly Row[] {
    return [...this.#rows.values()];
  }

  add(row: Row): void {
    this.#rows.set(row.id, row);
    this.turns.follow(row);
    this.turns.add(row);
  }

  /** Rows that wait for it begin. */
  start(id?: FileId): void {
    for (const row of this.#chosen(id)) row.isHeld = false;
    this.turns.pump();
  }

  /** Another tab may have what is paused here. */
  pause(id?: FileId): Promise<void> {
    return this.#pause(this.#chosen(id), (row) => row.records.kept?.save({ isPaused: true }));
  }

  /** The list is put aside. */
  rest(): Promise<void> {
    this.turns.isResting = true;
    const awake = this.all.filter(({ isHeld }) => !isHeld);
    return this.#pause(awake, (row) => this.#rested.add(row));
  }

  /** What `rest()` has paused goes on. */
  wake(): Promise<void> {
    this.turns.isResting = false;
    return this.#each(this.all, (row) => {
      if (this.#rested.delete(row) && this.#rests(row)) this.#requeue(row);
    });
  }

  resume(id?: FileId): Promise<void> {
    return this.#each(this.#chosen(id), (row) => {
      if (this.#rests(row)) this.#requeue(row);
    });
  }

  /** Fails, and cancels too: whoever asks for a canceled file wants it after all. `name` is for one alone. */
  retry(id?: FileId, name?: string): Promise<void> {
    return this.#each(this.#chosen(id), (row) => {
      const { phase, error } = this.#keeper.file(row.id) ?? {};
      const isWanted =
        phase === 'failed' ? canRetry(error?.code ?? 'network') : phase === 'canceled' && id !== undefined;
      if (!isWanted) return;
      if (id !== undefined && name) row.rename(name);
      this.#requeue(row);
    });
  }

  async cancel(id?: FileId): Promise<void> {
    const ended: Promise<void>[] = [];
    await this.#each(this.#chosen(id), (row) => {
      if (canMove(this.#phase(row) ?? 'done', 'canceled')) ended.push(this.#cancel(row));
    });
    await Promise.all(ended);
  }

  remove(id: FileId): Promise<void> {
    return this.#remove(this.#chosen(id), () => true);
  }

  /** Another row has taken its place: it leaves the list, and nobody gave it up. */
  replace(row: Row): void {
    row.endingCount += 1;
    this.#drop(row);
    void this.#end(row);
  }

  /** The rows that nothing will happen to any more leave the list. */
  clear(): Promise<void> {
    return this.#remove(this.all, (row) => this.#isSettled(row));
  }

  /** Puts a file before another one, or at the end. */
  move(id: FileId, beforeId?: FileId): void {
    if (!this.#rows.has(id) || id === beforeId) return;
    moveEntry(this.#rows, id, beforeId);
    for (const [order, row] of this.all.entries()) row.order = order;
    this.#report({ name: 'file-moved', detail: { id, ...(beforeId !== undefined && { beforeId }) } });
    this.turns.sort();
  }

  prioritize(id: FileId): void {
    const [first] = this.#rows.keys();
    this.move(id, first);
    const row = this.#rows.get(id);
    // The rows that run may take long; the lanes see to it that this one goes first.
    if (row) this.turns.prefer(row);
  }

  /** Takes rows off the list whose records stay, for whoever may see them. */
  async leave(rows: readonly Row[]): Promise<void> {
    for (const row of rows) this.#drop(row);
    const stopped = rows.map((row) => this.turns.stop(row));
    this.turns.pump();
    await Promise.all(stopped);
    for (const row of rows) row.records.leave();
  }

  /** A row got what it waited for, and takes its turn. */
  proceed(row: Row): void {
    if (this.#phase(row) === 'paused') this.#requeue(row);
    this.turns.pump();
  }

  /** Ends every run and keeps every record: the page, or the element, is going. */
  async close(): Promise<void> {
    await this.turns.close();
    for (const row of this.all) row.records.leave();
  }

  #chosen(id: FileId | undefined): readonly Row[] {
    if (id === undefined) return this.all;
    const row = this.#rows.get(id);
    return row ? [row] : [];
  }

  async #pause(rows: readonly Row[], onPaused: (row: Row) => void): Promise<void> {
    const stopped: Promise<void>[] = [];
    await this.#each(rows, (row) => {
      if (!row.picked || this.#isSettled(row) || this.#rests(row)) return;
      this.turns.touched.tell(row);
      onPaused(row);
      this.#report({ name: 'upload-paused', detail: { id: row.id, reason: 'user' } });
      const rest = (): void => {
        if (!row.isRunning) row.records.rest();
      };
      stopped.push(this.turns.stop(row).then(rest));
    });
    await Promise.all(stopped);
  }

  #phase(row: Row): Phase | undefined {
    return this.#keeper.file(row.id)?.phase;
  }

  #isSettled(row: Row): boolean {
    return isSettled(this.#phase(row) ?? 'done');
  }

  #rests(row: Row): boolean {
    return this.#keeper.file(row.id)?.pauseReason === 'user';
  }

  #requeue(row: Row): void {
    row.records.kept?.save({ isPaused: undefined });
    this.#report({ name: 'upload-resumed', detail: { id: row.id, phase: 'queued' } });
    row.isHeld = false;
    if (row.picked) this.turns.add(row);
    else this.#report({ name: 'upload-paused', detail: { id: row.id, reason: 'needs-file' } });
  }

  #cancel(row: Row): Promise<void> {
    // Before anybody hears of it, who may remove it there and then.
    row.endingCount += 1;
    this.turns.touched.tell(row);
    this.#report({ name: 'upload-canceled', detail: { id: row.id, name: row.name } });
    this.turns.settled();
    return this.#end(row);
  }

  /** Who wants it after all while it ends gets a new upload, of which nothing of this one is to take anything away. */
  async #end(row: Row): Promise<void> {
    await this.turns.stop(row);
    await row.forget(() => this.turns.pump());
  }

  /** A row leaves the list at once: while it ends, nobody can want it after all. */
  async #remove(rows: readonly Row[], isWanted: (row: Row) => boolean): Promise<void> {
    const ended: Promise<void>[] = [];
    await this.#each(rows, (row) => {
      if (!this.#rows.has(row.id) || !isWanted(row)) return;
      if (this.#phase(row) === 'failed' || !this.#isSettled(row)) ended.push(this.#cancel(row));
      this.#drop(row);
      // What is being forgotten leaves by itself.
      if (row.endingCount === 0) row.records.leave();
    });
    await Promise.all(ended);
  }

  #drop(row: Row): void {
    if (!this.#rows.delete(row.id)) return;
    this.#report({ name: 'file-removed', detail: { id: row.id, name: row.name } });
  }

  /** Many rows take their time, and the page has its turn. To a row that an earlier command has not come to yet, that comes first. */
  async #each(rows: readonly Row[], act: (row: Row) => void): Promise<void> {
    for (const row of rows) {
      const before = this.#pending.get(row);
      this.#pending.set(row, () => {
        before?.();
        act(row);
      });
    }
    const work = (row: Row): void => {
      const pending = this.#pending.get(row);
      this.#pending.delete(row);
      pending?.();
    };
    this.turns.commandCount += 1;
    try {
      // A list that is put aside closes what they run by.
      for (const row of rows) if (row.isRunning) work(row);
      await inSlices(rows, work);
    } finally {
      // Whatever goes wrong with one row, the list goes on.
      this.turns.commandCount -= 1;
      this.turns.pump();
    }
  }
}
