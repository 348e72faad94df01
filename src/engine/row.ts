// One row while it works: its file, where it goes, and how a run over it is put together. It knows what to tell, not
// when a row may start.

import type { UploaderError } from '../core/errors.ts';
import { isActive, type PauseReason, type Phase } from '../core/phases.ts';
import type { FileId, PickedFile, Session, UploadRecord } from '../core/types.ts';
import { RETRY_POLICY, retrying } from '../core/wait.ts';
import { chunkSizeFor, plan } from '../pipeline/plan.ts';
import { type RunParts, type RunResult, run } from '../pipeline/run.ts';
import { isCallWorthRetrying } from '../service/client.ts';
import { identify, recordKey } from '../store/identity.ts';
import { createBodies } from './bodies.ts';
import type { Connection } from './connection.ts';
import { stallMs } from './line.ts';
import { pathUnder, renaming } from './names.ts';
import { Progress } from './progress.ts';
import type { RowRecords } from './records.ts';
import type { Place, Shared } from './shared.ts';
import type { TabProgress } from './tabs.ts';
import { tellRun } from './tell-run.ts';

export class Row {
  readonly id: FileId;
  readonly ownName: string;
  /** What it is called on the service: the file's own name, or another one where that was taken. */
  name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly parentId: string;
  /** Absent on a row of an earlier visit, and where the file cannot be read any more, until the file is there again. */
  picked: PickedFile | undefined;
  /** The file that could not be read any more. */
  lost: PickedFile | undefined;
  connection: Connection;
  readonly records: RowRecords;
  readonly progress: Progress;
  readonly #shared: Shared;
  /** Rows with a lower number go first. */
  order: number;
  /** Waits for `start()`. */
  isHeld: boolean;
  /** Cancels that have not ended yet: until then nothing new begins. */
  endingCount = 0;
  retryAt: number | undefined;
  session: Session | undefined;
  startedAtMs = 0;
  /** Chunks that still want a lane; tells how much work is in sight. */
  unsentCount: number;
  /** Where the row goes on after a pause that is not the person's. */
  #waitingPhase: Phase | undefined;
  #controller: AbortController | undefined;
  #ended: Promise<void> = Promise.resolve();
  #warning: UploaderError | undefined;

  constructor(
    id: FileId,
    picked: PickedFile | undefined,
    place: Place,
    connection: Connection,
    records: RowRecords,
    shared: Shared,
  ) {
    this.id = id;
    this.picked = picked;
    this.ownName = place.name;
    this.name = place.name;
    this.relativePath = place.relativePath;
    this.sizeBytes = place.sizeBytes;
    this.parentId = place.parentId;
    this.order = place.order;
    this.connection = connection;
    this.records = records;
    this.#shared = shared;
    this.isHeld = connection.settings.manual;
    this.progress = new Progress(place.sizeBytes);
    const chunkBytes = chunkSizeFor(place.sizeBytes, connection.settings.chunkSizeBytes);
    this.unsentCount = Math.ceil(place.sizeBytes / chunkBytes);
  }

  /** Starts a run. Resolves when it ended in any way; `onDone` and `onFailed` are not called after `stop()`. */
  start(onDone: (result: RunResult) => void, onFailed: (error: unknown) => void): Promise<void> {
    const { picked } = this;
    if (!picked) throw new TypeError('A row without its file cannot start');
    const controller = new AbortController();
    this.#controller = controller;
    this.retryAt = undefined;
    this.#waitingPhase = undefined;
    this.startedAtMs ||= Date.now();
    // Whoever hears of the end may start the row again there and then.
    const hasEnded = (): boolean => {
      if (!controller.signal.aborted) this.#controller = undefined;
      return !controller.signal.aborted;
    };
    this.#ended = run(
      { ...picked, name: picked.file.name, relativePath: this.relativePath, parentId: this.parentId },
      this.#parts(picked, controller.signal),
    )
      .then(
        (result) => {
          if (hasEnded()) onDone(result);
        },
        (error) => {
          if (hasEnded()) onFailed(error);
        },
      )
      .finally(() => {
        // A new run may have begun while this one was ending.
        if (this.#controller) return;
        this.progress.halt();
      });
    return this.#ended;
  }

  get isRunning(): boolean {
    return this.#controller !== undefined;
  }

  /** Ends the run, if there is one; resolves when nothing of it is under way any more. */
  async stop(): Promise<void> {
    this.#controller?.abort();
    this.#controller = undefined;
    this.#waitingPhase = undefined;
    await this.#ended;
  }

  /** The run goes on waiting by itself, for something that is not in its hands. */
  wait(reason: PauseReason): void {
    const phase = this.#shared.phaseOf(this.id);
    if (!this.isRunning || !phase) return;
    if (isActive(phase) || phase === 'queued') this.#waitingPhase = phase;
    // Sign-in, or the line, that comes back does not end the wait for another tab.
    else if (!this.#waitingPhase || reason !== 'other-tab') return;
    this.#shared.report({ name: 'upload-paused', detail: { id: this.id, reason } });
  }

  /** What it waited for has come. */
  proceed(): void {
    const phase = this.#waitingPhase;
    if (!phase) return;
    this.#waitingPhase = undefined;
    this.#shared.report({ name: 'upload-resumed', detail: { id: this.id, phase } });
  }

  /** Its file cannot be read: the person is asked for it. */
  lose(error: UploaderError): void {
    this.lost = this.picked;
    this.picked = undefined;
    this.#warning = error;
    this.tellProgress();
    this.#shared.report({ name: 'upload-paused', detail: { id: this.id, reason: 'needs-file' } });
  }

  give(picked: PickedFile): void {
    this.picked = picked;
    this.lost = undefined;
    this.#warning = undefined;
  }

  rename(name: string): void {
    if (name === this.name) return;
    this.name = name;
    this.records.newName = name;
    // That one has the name of before.
    this.session = undefined;
    this.records.kept?.save({ newName: name, session: undefined });
    this.#shared.report({ name: 'file-renamed', detail: { id: this.id, name } });
  }

  tellProgress(phase: Phase | undefined = this.#shared.phaseOf(this.id)): void {
    if (!phase) return;
    const numbers = this.progress.numbers(Date.now());
    const { key } = this.records;
    if (key !== undefined && this.isRunning) this.#shared.tabs.tellProgress(key, numbers);
    this.#shared.report({
      name: 'upload-progress',
      detail: {
        id: this.id,
        phase,
        sizeBytes: this.sizeBytes,
        ...numbers,
        ...(this.retryAt !== undefined && { retryAt: this.retryAt }),
        ...(this.#warning && { warning: this.#warning.code }),
      },
    });
  }

  /**
   * The person gave it up: nothing of it is kept here, and the service is told where it wants to be. `onForgotten` is called when a
   * new upload of the same file may begin.
   */
  async forget(onForgotten: () => void): Promise<void> {
    const session = this.session ?? this.records.record?.session;
    const { calls } = this.connection;
    this.session = undefined;
    const isGone = await this.records.forget();
    this.endingCount -= 1;
    onForgotten();
    // Best effort: a session that is not canceled runs out by itself.
    if (isGone && session && calls.cancel)
      await calls.cancel(session, AbortSignal.timeout(10_000)).catch(() => undefined);
  }

  /** A row of an earlier visit shows what was stored then. */
  showRecord({ stored, chunkSizeBytes }: UploadRecord): void {
    this.progress.begin(plan(this.sizeBytes, chunkSizeBytes, stored));
    this.tellProgress();
  }

  /** Another tab runs it: this one shows how far that is. */
  follow(numbers: TabProgress): void {
    const { id, progress, sizeBytes } = this;
    if (this.#shared.phaseOf(id) !== 'paused') return;
    this.#shared.report({
      name: 'upload-progress',
      detail: { id, phase: 'paused', sizeBytes, hashedBytes: 0, ...progress.follow(numbers) },
    });
  }

  /** The run came to another phase. */
  moveTo(phase: Phase): void {
    if (this.#waitingPhase) this.#waitingPhase = phase;
    else if (this.#shared.phaseOf(this.id) !== phase) this.tellProgress(phase);
  }

  #parts(picked: PickedFile, signal: AbortSignal): RunParts {
    const { connection } = this;
    const { calls, pool, put, settings } = connection;
    const { claims, gateOf, lanes, line, policy = RETRY_POLICY } = this.#shared;
    const onWait = (atMs: number | undefined): void => {
      this.retryAt = atMs;
      this.tellProgress();
    };
    const onOffline = (isOffline: boolean): void => (isOffline ? this.wait('offline') : this.proceed());
    return {
      calls: settings.onConflict === 'rename' ? renaming(calls, (name) => this.rename(name)) : calls,
      put,
      claims,
      policy,
      signal,
      store: this.records.forRun(
        signal,
        (error) => {
          this.#warning = error;
          this.tellProgress();
        },
        (name) => this.rename(name),
      ),
      file: picked.file,
      ...createBodies(pool.hashFirst),
      hashAlgorithm: settings.hash,
      width: pool.size + 1,
      chunkSizeBytes: chunkSizeFor(picked.file.size, settings.chunkSizeBytes, this.#shared.warn),
      fileName: () =>
        settings.profile.fileName === 'path'
          ? pathUnder(this.name, this.ownName, this.relativePath)
          : this.name,
      session: this.session,
      batch: { limit: 1, max: settings.batchSize },
      bytesPerSecond: this.#shared.bytesPerSecond,
      hasIdleLane: () => lanes.hasIdle,
      lineChange: () => line().change,
      mayMove: (sizeBytes, moveSignal) => line().mayMove(sizeBytes, moveSignal),
      stallMs: (sizeBytes) =>
        connection.stallMs ?? stallMs(sizeBytes, (this.#shared.bytesPerSecond() ?? 0) / lanes.limit),
      gateOf,
      acquireLane: (laneSignal) => lanes.acquire(() => this.order, laneSignal),
      identify: async () => {
        const identity = await identify(picked.file, pool.hashSmall, signal);
        const { parentId, relativePath } = this;
        const key = recordKey({ ...settings, ...identity, parentId, relativePath });
        return { key, firstSliceHash: identity.firstSliceHash };
      },
      retrying: (call, callSignal) =>
        retrying(call, {
          policy,
          gate: gateOf(settings.baseUrl),
          signal: callSignal,
          lineChange: () => line().change,
          onOffline,
          onWait,
          isWorthRetrying: isCallWorthRetrying,
        }),
      onOffline,
      onWait: (atMs, error) => {
        if (error?.code === 'rate-limited' || error?.code === 'upload-stalled') lanes.slowDown();
        onWait(atMs);
      },
      onSession: (session) => {
        this.session = session;
        this.records.kept?.save({ session });
      },
      ...tellRun(this, this.#shared),
    };
  }
}
