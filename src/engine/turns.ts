// Which rows run: as many as there is room for, in the order of the queue; and what becomes of a row when its run ends, here
// or in another tab. It knows no commands.

import type { Change, CompletedDetail } from '../core/changes.ts';
import { UploaderError } from '../core/errors.ts';
import { canMove, type Phase } from '../core/phases.ts';
import { nextTask } from '../core/wait.ts';
import type { RunResult } from '../pipeline/run.ts';
import { completedOf } from './completed.ts';
import type { Connection } from './connection.ts';
import { describeError } from './describe-error.ts';
import { Finish } from './finish.ts';
import type { Lanes } from './lanes.ts';
import { mayBegin, Queue } from './queue.ts';
import type { SnapshotKeeper } from './reducer.ts';
import type { Row } from './row.ts';
import { REASONS_OF_SIGN_IN, waitsFor } from './sign-in-waits.ts';
import type { DoneElsewhere, Tabs } from './tabs.ts';
import { Touched } from './touched.ts';

/** An upload of one chunk is in its lane for a third of its time: the rest is calls. */
const ROWS_PER_LANE = 3;
/** Each asks for its session and reads its first bytes at once. */
const BEGIN_AT_ONCE = 4;

export class Turns {
  readonly #keeper: SnapshotKeeper;
  readonly #lanes: Lanes;
  readonly #tabs: Tabs;
  readonly #report: (change: Change) => void;
  readonly #queue = new Queue((row) => this.#phase(row) === 'queued');
  readonly #running = new Set<Row>();
  readonly touched = new Touched();
  readonly #finish: Finish;
  /** Hears of a row whose file cannot be read any more. */
  onLost: (row: Row) => void = () => undefined;
  /** The list is put aside, or closed: nothing begins. */
  isResting = false;
  /** Commands that are being carried out: until then nothing begins either. */
  commandCount = 0;
  #preferred: Row | undefined;

  constructor(keeper: SnapshotKeeper, lanes: Lanes, tabs: Tabs, report: (change: Change) => void) {
    this.#keeper = keeper;
    this.#lanes = lanes;
    this.#tabs = tabs;
    this.#report = report;
    this.#finish = new Finish(report);
  }

  /** A row hears from now on what other tabs do with its upload. */
  follow(row: Row): void {
    row.records.follow({
      onWait: () => {
        row.wait('other-tab');
        this.pump();
      },
      onGo: () => row.proceed(),
      onProgress: (numbers) => row.follow(numbers),
      onDone: (detail) => this.#onDoneElsewhere(row, detail),
    });
  }

  /** A row takes its turn. */
  add(row: Row): void {
    this.#queue.add(row);
  }

  /** After the order of the list changed. */
  sort(): void {
    this.#queue.sort();
  }

  /** Starts whatever there is room for, a few at a time so that the page has its turn. */
  pump(): void {
    if (this.#isStill) return;
    const preferred = this.#preferred;
    this.#preferred = undefined;
    if (preferred && this.#phase(preferred) === 'queued' && mayBegin(preferred)) this.#begin(preferred);
    for (let count = 0; ; count += 1) {
      if (count === BEGIN_AT_ONCE) {
        void nextTask().then(() => this.pump());
        break;
      }
      const row = this.#next();
      if (!row) break;
      this.#begin(row);
    }
    this.#tellFinished();
  }

  /** Does not wait for its turn. */
  prefer(row: Row): void {
    this.#preferred = row;
    this.pump();
  }

  /** Resolves when nothing of the row is under way any more. */
  stop(row: Row): Promise<void> {
    this.#running.delete(row);
    return row.stop();
  }

  async close(): Promise<void> {
    this.isResting = true;
    this.touched.close();
    await Promise.all([...this.#running].map((row) => this.stop(row)));
  }

  /** A row came to its end. */
  settled(): void {
    this.#finish.settled();
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
    this.pump();
  }

  get #isStill(): boolean {
    return this.isResting || this.commandCount > 0;
  }

  #phase(row: Row): Phase | undefined {
    return this.#keeper.file(row.id)?.phase;
  }

  /**
   * The next row, if there is room for one. One large file is enough; of small ones so many go side by side that calls of some fill
   * the time that others wait. Who waits for another tab takes no room, and who waits for sign-in none of those who do not.
   */
  #next(): Row | undefined {
    const wanted = ROWS_PER_LANE * this.#lanes.most;
    let unsent = 0;
    let unsentHeld = 0;
    for (const row of this.#running) {
      if (this.#keeper.file(row.id)?.pauseReason === 'other-tab') continue;
      const count = Math.max(1, row.unsentCount);
      unsent += count;
      if (isHeldUp(row)) unsentHeld += count;
    }
    if (unsent - unsentHeld >= wanted) return undefined;
    return this.#queue.take((row) => unsent < wanted || !isHeldUp(row));
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
    const detail = completedOf(row, result);
    const { key } = row.records;
    if (key !== undefined) this.#tabs.tellDone(key, detail);
    row.proceed();
    this.#complete(row, detail);
  }

  /** Whatever the row waited for here. */
  #onDoneElsewhere(row: Row, detail: DoneElsewhere): void {
    const { id, sizeBytes } = row;
    const phase = this.#phase(row);
    if (!phase || phase === 'done' || phase === 'canceled') return;
    // What it was about to take meanwhile is nobody's.
    void this.stop(row).then(() => row.records.rest());
    if (!canMove(phase, 'done')) this.#report({ name: 'upload-resumed', detail: { id, phase: 'queued' } });
    this.#complete(row, { ...detail, id, sentBytes: 0, skippedBytes: sizeBytes });
    this.pump();
  }

  #complete(row: Row, detail: CompletedDetail): void {
    this.#finish.settled();
    row.records.done();
    this.#report({ name: 'upload-completed', detail });
  }

  #onFailed(row: Row, error: unknown): void {
    this.touched.tell(row);
    this.#finish.settled();
    if (error instanceof UploaderError && error.code === 'file-unreadable') {
      row.records.rest();
      row.lose(error);
      this.onLost(row);
      return;
    }
    row.records.giveWay();
    const { code, retryable, status } = describeError(error);
    this.#report({
      name: 'upload-failed',
      detail: { id: row.id, name: row.name, code, retryable, ...(status !== undefined && { status }) },
    });
  }

  #tellFinished(): void {
    if (this.#running.size === 0) this.#finish.tell(this.#keeper.files, () => this.#queue.isWaiting);
  }
}

const isHeldUp = ({ connection }: Row): boolean => waitsFor(connection.auth.snapshot) !== undefined;
