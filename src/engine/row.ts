// One row while it works: its file, where it goes, and how a run over it is put together. It knows what to tell, not
// when a row may start.

import type { Change } from '../core/changes.ts';
import type { UploaderError } from '../core/errors.ts';
import { isActive, type PauseReason, type Phase } from '../core/phases.ts';
import type { FileId, PickedFile, Session } from '../core/types.ts';
import { RETRY_POLICY, type RetryPolicy, retrying } from '../core/wait.ts';
import { ByteBudget } from '../pipeline/hash.ts';
import { chunkSizeFor } from '../pipeline/plan.ts';
import { type RunParts, type RunResult, run } from '../pipeline/run.ts';
import type { Claims } from '../pipeline/upload.ts';
import { isCallWorthRetrying } from '../service/client.ts';
import { identify, recordKey } from '../store/identity.ts';
import type { Connection } from './connection.ts';
import type { Lanes } from './lanes.ts';
import type { Line } from './line.ts';
import { Progress } from './progress.ts';
import type { RowRecords } from './records.ts';

/** What all rows of an engine share. */
export interface Shared {
  readonly lanes: Lanes;
  readonly claims: Claims;
  readonly line: Line;
  readonly policy?: RetryPolicy;
  readonly phaseOf: (id: FileId) => Phase | undefined;
  readonly report: (change: Change) => void;
  /** The row's numbers moved; they are told together, a few times a second. */
  readonly touch: (row: Row) => void;
  readonly warn: (message: string) => void;
  readonly bytesPerSecond: () => number | undefined;
}

/** Memory of the page for chunks that are hashed and wait for a lane. */
const PAGE_POOL = { freeBytes: 64 * 2 ** 20 };
/** On a fast line a call for this many bytes costs less than reading them again later. */
const EAGER_BYTES = 16 * 2 ** 20;
const FAST_LINE_BYTES_PER_SECOND = 32e6;

/** Without progress for so long, a PUT is sent again; in between, four times what was expected. */
const LEAST_STALL_MS = 10_000;
const MOST_STALL_MS = 120_000;
const UNKNOWN_LINE_MS = 7500;

export class Row {
  readonly id: FileId;
  readonly picked: PickedFile;
  readonly name: string;
  readonly parentId: string;
  readonly connection: Connection;
  readonly records: RowRecords;
  readonly progress: Progress;
  readonly #shared: Shared;
  /** Rows with a lower number go first. */
  order: number;
  /** Waits for `start()`. */
  isHeld: boolean;
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
    picked: PickedFile,
    place: { readonly name: string; readonly parentId: string; readonly order: number },
    connection: Connection,
    records: RowRecords,
    shared: Shared,
  ) {
    this.id = id;
    this.picked = picked;
    this.name = place.name;
    this.parentId = place.parentId;
    this.order = place.order;
    this.connection = connection;
    this.records = records;
    this.#shared = shared;
    this.isHeld = connection.settings.manual;
    this.progress = new Progress(picked.file.size);
    this.unsentCount = Math.ceil(picked.file.size / this.#chunkSizeBytes);
  }

  get isRunning(): boolean {
    return this.#controller !== undefined;
  }

  /** Starts a run. Resolves when it ended in any way; `onDone` and `onFailed` are not called after `stop()`. */
  start(onDone: (result: RunResult) => void, onFailed: (error: unknown) => void): Promise<void> {
    const controller = new AbortController();
    this.#controller = controller;
    this.startedAtMs ||= Date.now();
    this.#ended = run(
      { ...this.picked, name: this.name, parentId: this.parentId },
      this.#parts(controller.signal),
    )
      .then(
        (result) => {
          if (!controller.signal.aborted) onDone(result);
        },
        (error) => {
          if (!controller.signal.aborted) onFailed(error);
        },
      )
      .finally(() => {
        this.progress.halt();
        this.retryAt = undefined;
        this.#waitingPhase = undefined;
        if (this.#controller === controller) this.#controller = undefined;
      });
    return this.#ended;
  }

  /** Ends the run, if there is one; resolves when nothing of it is under way any more. */
  async stop(): Promise<void> {
    this.#controller?.abort();
    this.#controller = undefined;
    await this.#ended;
  }

  /** The run goes on waiting by itself, for something that is not in its hands. */
  wait(reason: PauseReason): void {
    const phase = this.#shared.phaseOf(this.id);
    if (!this.isRunning || !phase || !isActive(phase)) return;
    this.#waitingPhase = phase;
    this.#shared.report({ name: 'upload-paused', detail: { id: this.id, reason } });
  }

  /** What it waited for has come. */
  proceed(): void {
    const phase = this.#waitingPhase;
    if (!phase) return;
    this.#waitingPhase = undefined;
    this.#shared.report({ name: 'upload-resumed', detail: { id: this.id, phase } });
  }

  tellProgress(phase: Phase | undefined = this.#shared.phaseOf(this.id)): void {
    if (!phase) return;
    this.#shared.report({
      name: 'upload-progress',
      detail: {
        id: this.id,
        phase,
        sizeBytes: this.picked.file.size,
        ...this.progress.numbers(Date.now()),
        ...(this.retryAt !== undefined && { retryAt: this.retryAt }),
        ...(this.#warning && { warning: this.#warning.code }),
      },
    });
  }

  get #chunkSizeBytes(): number {
    return chunkSizeFor(this.picked.file.size, this.connection.settings.chunkSizeBytes);
  }

  /** Ten seconds, or four times what these bytes took lately; a page may have set it. */
  #stallMs(sizeBytes: number): number {
    const { stallMs } = this.connection;
    if (stallMs !== undefined) return stallMs;
    const perLane = (this.#shared.bytesPerSecond() ?? 0) / this.#shared.lanes.limit;
    const expectedMs = perLane > 0 ? (sizeBytes / perLane) * 1000 : UNKNOWN_LINE_MS;
    return Math.min(MOST_STALL_MS, Math.max(LEAST_STALL_MS, 4 * expectedMs));
  }

  #moveTo(phase: Phase): void {
    if (this.#waitingPhase) this.#waitingPhase = phase;
    else if (this.#shared.phaseOf(this.id) !== phase) this.tellProgress(phase);
  }

  #onWait(atMs: number | undefined): void {
    this.retryAt = atMs;
    this.tellProgress();
  }

  #onOffline(isOffline: boolean): void {
    if (isOffline) this.wait('offline');
    else this.proceed();
  }

  #parts(signal: AbortSignal): RunParts {
    const { connection, picked, progress } = this;
    const { calls, gates, pool, put, settings } = connection;
    const { claims, lanes, line, policy = RETRY_POLICY, report, touch } = this.#shared;
    const onOffline = (isOffline: boolean): void => this.#onOffline(isOffline);
    return {
      calls,
      put,
      claims,
      policy,
      signal,
      store: this.records,
      file: picked.file,
      hashSlice: pool.hashSlice,
      hashAlgorithm: settings.hash,
      width: pool.size + 1,
      budget: new ByteBudget(PAGE_POOL),
      chunkSizeBytes: chunkSizeFor(picked.file.size, settings.chunkSizeBytes, this.#shared.warn),
      fileName: settings.profile.fileName === 'path' ? picked.relativePath : this.name,
      batch: { limit: 1, max: settings.batchSize },
      eagerBytes: EAGER_BYTES,
      isLineFast: () =>
        (this.#shared.bytesPerSecond() ?? Number.POSITIVE_INFINITY) > FAST_LINE_BYTES_PER_SECOND,
      hasIdleLane: () => lanes.hasIdle,
      lineChange: () => line.change,
      mayMove: (sizeBytes, moveSignal) => line.mayMove(sizeBytes, moveSignal),
      stallMs: (sizeBytes) => this.#stallMs(sizeBytes),
      gate: gates.storage,
      acquireLane: (laneSignal) => lanes.acquire(() => this.order, laneSignal),
      identify: async () => {
        const identity = await identify(picked.file, pool.hashSlice, signal);
        const { baseUrl, clientId, owner } = settings;
        const place = {
          baseUrl,
          clientId,
          owner,
          parentId: this.parentId,
          relativePath: picked.relativePath,
        };
        return { key: recordKey({ ...place, ...identity }), firstSliceHash: identity.firstSliceHash };
      },
      retrying: (call, callSignal) =>
        retrying(call, {
          policy,
          gate: gates.service,
          signal: callSignal,
          onOffline,
          onWait: (atMs) => this.#onWait(atMs),
          isWorthRetrying: isCallWorthRetrying,
        }),
      onOffline,
      onWait: (atMs, error) => {
        if (error?.code === 'rate-limited' || error?.code === 'upload-stalled') lanes.slowDown();
        this.#onWait(atMs);
      },
      onWarning: (error) => {
        this.#warning = error;
        this.tellProgress();
      },
      onSession: (session) => {
        this.session = session;
      },
      onOpened: (chunks) => {
        const resumedBytes = progress.begin(chunks);
        this.unsentCount = chunks.length;
        report({ name: 'upload-started', detail: { id: this.id, chunkCount: chunks.length, resumedBytes } });
        this.tellProgress();
        if (connection.auth.snapshot.required) this.wait('signed-out');
      },
      onHashed: (chunk) => {
        progress.onHashed(chunk);
        report({
          name: 'chunk-hashed',
          detail: { id: this.id, index: chunk.index, hash: chunk.hash, sizeBytes: chunk.sizeBytes },
        });
        touch(this);
      },
      onPut: () => this.#moveTo('uploading'),
      onSent: (chunk, sentBytes) => {
        lanes.onMoved(progress.onSent(chunk, sentBytes));
        touch(this);
      },
      onStored: (chunk) => {
        const { hash, index, receipt, sizeBytes, skipped = false } = chunk;
        progress.onStored(chunk);
        this.unsentCount -= 1;
        lanes.onStored();
        report({ name: 'chunk-uploaded', detail: { id: this.id, index, hash, receipt, sizeBytes, skipped } });
        touch(this);
      },
      onCommit: () => {
        if (calls.commit) this.#moveTo('committing');
      },
    };
  }
}
