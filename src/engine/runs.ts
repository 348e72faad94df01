// Which rows run, wait or end: the queue, in fair order, and the commands that a person gives. It moves a row's phase
// first and stops its run after, so that nothing is ever told twice.

import type { Change, CompletedDetail } from '../core/changes.ts';
import { canRetry, UploaderError } from '../core/errors.ts';
import { canMove, isSettled, type Phase } from '../core/phases.ts';
import type { FileId } from '../core/types.ts';
import { nextTask } from '../core/wait.ts';
import { DoneElsewhere } from '../pipeline/open.ts';
import type { RunResult } from '../pipeline/run.ts';
import { completedOf } from './completed.ts';
import type { Connection } from './connection.ts';
import { describeError } from './describe-error.ts';
import { Finish } from './finish.ts';
import type { Lanes } from './lanes.ts';
import { mayBegin, Queue } from './queue.ts';
import { moveEntry, type SnapshotKeeper } from './reducer.ts';
import type { Row } from './row.ts';
import { REASONS_OF_SIGN_IN, waitsFor } from './sign-in-waits.ts';
import type { Tabs } from './tabs.ts';
import { Touched } from './touched.ts';

/** An upload of one chunk is in its lane for a third of its time: the rest is calls. */
const ROWS_PER_LANE = 3;
/** Each asks for its session and reads its first bytes at once. */
const BEGIN_AT_ONCE = 4;

export class Runs {
  readonly #keeper: SnapshotKeeper;
  readonly #lanes: Lanes;
  readonly #tabs: Tabs;
  readonly #report: (change: Change) => void;
  readonly #rows = new Map<FileId, Row>();
  readonly #queue = new Queue((row) => this.#phase(row) === 'queued');
  readonly #running = new Set<Row>();
  readonly touched = new Touched();
  readonly #finish: Finish;
  /** Hears of a row whose file cannot be read any more. */
  onLost: (row: Row) => void = () => undefined;
  /** The list is put aside, or closed: nothing begins. */
  isResting = false;

  constructor(keeper: SnapshotKeeper, lanes: Lanes, tabs: Tabs, report: (change: Change) => void) {
    this.#keeper = keeper;
    this.#lanes = lanes;
    this.#tabs = tabs;
    this.#report = report;
    this.#finish = new Finish(report);
  }

  get(id: FileId): Row | undefined {
    return this.#rows.get(id);
  }

  get all(): readonly Row[] {
    return [...this.#rows.values()];
  }

  add(row: Row): void {
    this.#rows.set(row.id, row);
    this.#queue.add(row);
  }

  /** Starts whatever there is room for, a few at a time so that the page has its turn. */
  pump(): void {
    if (this.isResting) return;
    for (let count = 0; this.#hasRoom(); count += 1) {
      const row = count < BEGIN_AT_ONCE ? this.#queue.take() : undefined;
      if (row) this.#begin(row);
      else {
        if (count === BEGIN_AT_ONCE) void nextTask().then(() => this.pump());
        break;
      }
    }
    this.#tellFinished();
  }

  /** Rows that wait for it begin. */
  start(id?: FileId): void {
    for (const row of this.#chosen(id)) row.isHeld = false;
    this.pump();
  }

  async pause(id?: FileId | readonly FileId[]): Promise<void> {
    const rows = this.#chosen(id).filter((row) => row.picked && !this.#isSettled(row) && !this.#rests(row));
    for (const row of rows) {
      this.touched.tell(row);
      if (!this.isResting) row.records.kept?.save({ isPaused: true });
      this.#report({ name: 'upload-paused', detail: { id: row.id, reason: 'user' } });
    }
    await this.#stop(rows);
  }

  resume(id?: FileId | readonly FileId[]): void {
    this.#requeue(this.#chosen(id).filter((row) => this.#rests(row)));
    this.pump();
  }

  /** Fails, and cancels too: whoever asks for a canceled file wants it after all. `name` is for one alone. */
  retry(id?: FileId, name?: string): void {
    const isWanted = (row: Row): boolean => {
      const { phase, error } = this.#keeper.file(row.id) ?? {};
      return phase === 'failed'
        ? canRetry(error?.code ?? 'network')
        : phase === 'canceled' && id !== undefined;
    };
    const rows = this.#chosen(id).filter(isWanted);
    if (id !== undefined && name) rows[0]?.rename(name);
    this.#requeue(rows);
    this.pump();
  }

  async cancel(id?: FileId): Promise<void> {
    const rows = this.#chosen(id).filter((row) => canMove(this.#phase(row) ?? 'done', 'canceled'));
    for (const row of rows) {
      this.touched.tell(row);
      this.#report({ name: 'upload-canceled', detail: { id: row.id, name: row.name } });
    }
    if (rows.length > 0) this.#finish.settled();
    // Who wants it after all while it ends gets a new upload, of which nothing of this one is to take anything away.
    for (const row of rows) row.endingCount += 1;
    await this.#stop(rows);
    await Promise.all(rows.map((row) => row.forget(() => this.pump())));
  }

  async remove(id: FileId): Promise<void> {
    const row = this.#rows.get(id);
    if (!row) return;
    if (this.#phase(row) === 'failed' || !this.#isSettled(row)) await this.cancel(id);
    if (!this.#rows.delete(id)) return;
    row.records.leave();
    this.#report({ name: 'file-removed', detail: { id, name: row.name } });
  }

  /** Another row has taken its place: it leaves the list, and nobody gave it up. */
  replace(row: Row): void {
    this.#rows.delete(row.id);
    this.#report({ name: 'file-removed', detail: { id: row.id, name: row.name } });
    row.endingCount += 1;
    void row.forget(() => this.pump());
  }

  /** The rows that nothing will happen to any more leave the list. */
  async clear(): Promise<void> {
    const settled = this.all.filter((row) => this.#isSettled(row));
    await Promise.all(settled.map((row) => this.remove(row.id)));
  }

  /** Puts a file before another one, or at the end. */
  move(id: FileId, beforeId?: FileId): void {
    if (!this.#rows.has(id) || id === beforeId) return;
    moveEntry(this.#rows, id, beforeId);
    for (const [order, row] of this.all.entries()) row.order = order;
    this.#report({ name: 'file-moved', detail: { id, ...(beforeId !== undefined && { beforeId }) } });
    this.#queue.sort();
  }

  prioritize(id: FileId): void {
    const [first] = this.#rows.keys();
    this.move(id, first);
    const row = this.#rows.get(id);
    // The rows that run may take long; the lanes see to it that this one goes first.
    if (row && this.#phase(row) === 'queued' && mayBegin(row) && !this.isResting) this.#begin(row);
    this.pump();
  }

  /** Takes rows off the list whose records stay, for whoever may see them. */
  async leave(rows: readonly Row[]): Promise<void> {
    const stopped = Promise.all(rows.map((row) => row.stop()));
    for (const row of rows) {
      this.#running.delete(row);
      this.#rows.delete(row.id);
      this.#report({ name: 'file-removed', detail: { id: row.id, name: row.name } });
    }
    this.pump();
    await stopped;
    for (const row of rows) row.records.leave();
  }

  /** A row got what it waited for, and takes its turn. */
  proceed(row: Row): void {
    if (this.#phase(row) === 'paused') this.#requeue([row]);
    this.pump();
  }

  /** Sign-in of a connection moved: its rows wait for the person, or go on. */
  onAuth(connection: Connection): void {
    const reason = waitsFor(connection.auth.snapshot);
    for (const row of this.#running) {
      if (row.connection !== connection) continue;
      const { pauseReason } = this.#keeper.file(row.id) ?? {};
      if (reason) row.wait(reason);
      else if (pauseReason && REASONS_OF_SIGN_IN.has(pauseReason)) row.proceed();
    }
  }

  /** Ends every run and keeps every record: the page, or the element, is going. */
  async close(): Promise<void> {
    this.isResting = true;
    this.touched.close();
    await this.#stop([...this.#running]);
    for (const row of this.all) row.records.leave();
  }

  #chosen(id: FileId | readonly FileId[] | undefined): readonly Row[] {
    if (id === undefined) return this.all;
    return [id].flat().flatMap((one) => this.#rows.get(one) ?? []);
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

  /** One large file is enough; of small ones so many go side by side that calls of some fill the time that others wait. */
  #hasRoom(): boolean {
    const wanted = ROWS_PER_LANE * this.#lanes.most;
    let unsent = 0;
    for (const row of this.#running) unsent += Math.max(1, row.unsentCount);
    return unsent < wanted;
  }

  #begin(row: Row): void {
    this.#finish.began();
    this.#running.add(row);
    void row
      .start(
        (result) => this.#onDone(row, result),
        (error) => this.#onFailed(row, error),
      )
      .finally(() => {
        if (!row.isRunning) this.#running.delete(row);
        this.pump();
      });
  }

  #onDone(row: Row, result: RunResult): void {
    row.progress.finish();
    row.tellProgress();
    this.#complete(row, completedOf(row, result));
  }

  #complete(row: Row, detail: CompletedDetail): void {
    this.#finish.settled();
    row.proceed();
    const { key } = row.records;
    if (key !== undefined) this.#tabs.tellDone(key, detail);
    row.records.done();
    this.#report({ name: 'upload-completed', detail });
  }

  #onFailed(row: Row, error: unknown): void {
    if (error instanceof DoneElsewhere) {
      this.#complete(row, { ...error.detail, id: row.id, sentBytes: 0, skippedBytes: row.sizeBytes });
      return;
    }
    this.touched.tell(row);
    this.#finish.settled();
    if (error instanceof UploaderError && error.code === 'file-unreadable') {
      row.lose(error);
      this.onLost(row);
      return;
    }
    const { code, retryable, status } = describeError(error);
    this.#report({
      name: 'upload-failed',
      detail: { id: row.id, name: row.name, code, retryable, ...(status !== undefined && { status }) },
    });
  }

  #requeue(rows: readonly Row[]): void {
    for (const row of rows) {
      row.records.kept?.save({ isPaused: undefined });
      this.#report({ name: 'upload-resumed', detail: { id: row.id, phase: 'queued' } });
      row.isHeld = false;
      if (row.picked) this.#queue.add(row);
      else this.#report({ name: 'upload-paused', detail: { id: row.id, reason: 'needs-file' } });
    }
    this.#queue.sort();
  }

  async #stop(rows: readonly Row[]): Promise<void> {
    const stopped = rows.map((row) => row.stop());
    for (const row of rows) this.#running.delete(row);
    this.pump();
    await Promise.all(stopped);
  }

  #tellFinished(): void {
    if (this.#running.size === 0)
      this.#finish.tell(this.#keeper.files, (id) => this.#rows.get(id)?.isHeld ?? false);
  }
}
