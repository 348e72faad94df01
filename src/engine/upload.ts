// One upload: its file, its progress and its state machine. Runs the effects of the state machine.

import type { Change, ChangeMap, ChangeName, CompletedDetail } from '../core/changes.ts';
import type { ErrorCode } from '../core/errors.ts';
import { Machine } from '../core/machine.ts';
import type { Phase } from '../core/phases.ts';
import type {
  AddedFile,
  FileId,
  FileSnapshot,
  NextAttempt,
  PickedFile,
  ProgressNumbers,
  UploadRecord,
} from '../core/types.ts';
import { plan } from '../pipeline/plan.ts';
import { type Connection, chunkSizesOf } from './connection.ts';
import { fileSnapshotOf, publicPhase } from './file-snapshot.ts';
import type { ResumeState } from './resume/resume-state.ts';
import type { DoneElsewhere, RemoteProgress, TabLocks } from './resume/tab-locks.ts';
import { runFile } from './run-file.ts';
import { Progress } from './transfer/progress.ts';
import { reduce } from './upload-machine.ts';
import { completedDetailOf, type RunContext, type RunTarget, type Send } from './upload-run.ts';
import {
  isRunning,
  type UploadCommand,
  type UploadEffect,
  type UploadModel,
  type UploadOutcome,
  type UploadState,
  waitsForFile,
} from './upload-state.ts';

/** Changes whose detail contains the name of the file. */
const NAMED: readonly ChangeName[] = ['upload-failed', 'upload-canceled', 'file-removed', 'file-renamed'];

/** Number of following uploads that get a slot before an upload whose PUT has stalled. It is larger than the number that runs. */
const YIELD_COUNT = 1000;

/** Everything that all uploads of an engine share. */
export interface UploadContext extends RunContext {
  readonly tabLocks: TabLocks;
  /** Called after each event of an upload, before its effects run. */
  readonly onTransition: (upload: Upload, before: UploadState, after: UploadState) => void;
  /** Called when the snapshot of an upload has changed. */
  readonly onChange: () => void;
}

export class Upload {
  readonly id: FileId;
  readonly ownName: string;
  /** Name on the service. Differs from `ownName` if `ownName` was taken. */
  name: string;
  /** Name of the file that the last run uploaded. */
  bodyName: string;
  readonly relativePath: string;
  readonly parentId: string;
  readonly type: string;
  /** The file; `undefined` if the upload comes from an earlier visit, or if the file became unreadable. */
  picked: PickedFile | undefined;
  /** File that became unreadable. */
  lost: PickedFile | undefined;
  #connection: Connection;
  #readyCount: number;
  readonly resumeState: ResumeState;
  readonly progress: Progress;
  /** Position in the list. Uploads with a lower number start first. */
  order: number;
  /** What is known of the session on the service, also if the upload has no record. */
  savedSession: RunTarget['savedSession'];
  /** Reason why the progress cannot be saved, why the upload has started over, or why it needs its file. */
  warning: ErrorCode | undefined;
  unsentCount: number;
  usedSlotMs = Number.NEGATIVE_INFINITY;
  readonly #context: UploadContext;
  readonly #machine: Machine<UploadModel, UploadCommand, UploadOutcome, UploadEffect>;
  #startedMs: number | undefined;
  /** The size and the numbers that were reported last. */
  #numbers: ProgressNumbers & { readonly sizeBytes: number };
  /** The current snapshot; `undefined` after a change, until the next read. */
  #snapshot: FileSnapshot | undefined;
  /** Promise that resolves when all runs and deletions that have started are over. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(
    file: AddedFile,
    picked: PickedFile | undefined,
    order: number,
    connection: Connection,
    resumeState: ResumeState,
    context: UploadContext,
  ) {
    const { manual } = connection.settings;
    this.id = file.id;
    this.ownName = file.name;
    this.bodyName = file.name;
    this.name = file.name;
    this.relativePath = file.relativePath;
    this.parentId = file.parentId;
    this.type = file.type;
    this.picked = picked;
    this.order = order;
    this.#connection = connection;
    this.#readyCount = connection.service.pastReadyCount;
    this.resumeState = resumeState;
    this.progress = new Progress(file.sizeBytes);
    this.#numbers = {
      sizeBytes: file.sizeBytes,
      hashedBytes: 0,
      sentBytes: 0,
      storedBytes: 0,
      skippedBytes: 0,
    };
    this.unsentCount = Math.ceil(file.sizeBytes / chunkSizesOf(connection, file.sizeBytes).chunkSizeBytes);
    this.#context = context;
    this.#machine = new Machine<UploadModel, UploadCommand, UploadOutcome, UploadEffect>(
      { state: { phase: manual ? 'held' : 'queued' }, generation: 0, hasFile: picked !== undefined },
      {
        reduce,
        facts: () => ({ hasFile: this.picked !== undefined || this.resumeState.isCommitted }),
        onStep: (before, after) => {
          if (before.state !== after.state) this.#changed();
          context.onTransition(this, before.state, after.state);
        },
        run: (effect, signal, send) => this.#run(effect, signal, send),
        // Only a defect throws here. The upload keeps its current state.
        onFault: (error) => void globalThis.reportError?.(error),
      },
    );
    resumeState.observeOtherTabs({
      onProgress: (numbers) => this.#onProgressElsewhere(numbers),
      onDone: (detail) => this.#onDoneElsewhere(detail),
    });
  }

  /** Size of what is uploaded. */
  get sizeBytes(): number {
    return this.progress.sizeBytes;
  }

  get connection(): Connection {
    return this.#connection;
  }

  set connection(connection: Connection) {
    this.#connection = connection;
    this.#readyCount = connection.service.pastReadyCount;
  }

  /** True if the upload may have used a token of its connection. The next token may be that of another user. */
  get hadToken(): boolean {
    const { isReady, pastReadyCount } = this.#connection.service;
    return isReady || pastReadyCount > this.#readyCount;
  }

  get state(): UploadState {
    return this.#machine.model.state;
  }

  get phase(): Phase {
    return publicPhase(this.state);
  }

  /** The session on the service. */
  get session() {
    return this.savedSession?.session ?? this.resumeState.record?.session;
  }

  get isRunning(): boolean {
    return isRunning(this.state);
  }

  /** The next attempt, if a request waits to be repeated. */
  get attempt(): NextAttempt | undefined {
    const { state } = this;
    return 'attempt' in state ? state.attempt : undefined;
  }

  /** An upload that stalls may be the only one that does. With one slot, it would hold up all others. */
  get slotOrder(): number {
    return this.attempt?.lastError.code === 'upload-stalled' ? this.order + YIELD_COUNT : this.order;
  }

  /** Frozen state of the upload for pages and views. The same object until something changes. */
  get snapshot(): FileSnapshot {
    this.#snapshot ??= Object.freeze(this.#describe());
    return this.#snapshot;
  }

  #describe(): FileSnapshot {
    const { id, name, relativePath, type, parentId, warning } = this;
    const { sizeBytes, ...numbers } = this.#numbers;
    const file = { id, name, relativePath, sizeBytes, type, parentId };
    return fileSnapshotOf(file, this.state, numbers, warning);
  }

  #changed(): void {
    this.#snapshot = undefined;
    this.#context.onChange();
  }

  get needsFile(): boolean {
    return this.state.phase === 'paused' && waitsForFile(this.state);
  }

  dispatch(command: UploadCommand): void {
    this.#machine.dispatch(command);
  }

  /** Resolves when the ended runs have stopped. Resolves immediately if the upload is running. */
  async stopped(): Promise<void> {
    // If a listener gave the command, the command is processed only after the current step.
    await Promise.resolve();
    if (!this.isRunning) await this.#work;
  }

  /** Gives the upload the file that it needs. */
  provide(picked: PickedFile): void {
    this.picked = { ...picked, metadata: picked.metadata ?? this.lost?.metadata };
    this.lost = undefined;
    this.warning = undefined;
    this.dispatch({ type: 'file-provided' });
  }

  rename(name: string): void {
    if (name === this.name) return;
    this.name = name;
    this.#changed();
    this.resumeState.rename(name);
    // The current session was opened with the old name.
    this.savedSession = undefined;
    this.#report('file-renamed', {});
  }

  /** Reports the progress that an earlier visit saved. */
  showRecord({ stored, chunkSizeBytes, sizeBytes, bodyBytes = sizeBytes }: UploadRecord): void {
    this.progress.resize(bodyBytes);
    this.progress.beginRun(plan(this.sizeBytes, chunkSizeBytes, stored));
    this.reportProgress();
  }

  reportProgress(phase: Phase = this.phase): void {
    const { sizeBytes, attempt, warning } = this;
    const numbers = this.progress.numbers();
    this.#show(numbers);
    const { key } = this.resumeState;
    if (key !== undefined && this.isRunning) this.#context.tabLocks.announceProgress(key, numbers);
    this.#report('upload-progress', {
      phase,
      sizeBytes,
      ...numbers,
      ...attempt,
      ...(warning && { warning }),
    });
  }

  #show(numbers: ProgressNumbers): void {
    this.#numbers = { sizeBytes: this.sizeBytes, ...numbers };
    this.#changed();
  }

  #run(effect: UploadEffect, signal: AbortSignal, send: Send): void {
    const { resumeState } = this;
    switch (effect.type) {
      case 'run':
        this.#startedMs ??= performance.now();
        this.#add(runFile(this, this.#context, signal, send).finally(() => this.#afterRun()));
        break;
      case 'forget':
        this.#add(this.#forget(() => send({ type: 'forgotten' })));
        break;
      case 'release':
        void this.#work.then(() => {
          if (!this.isRunning) resumeState.releaseLock();
        });
        break;
      case 'yield':
        resumeState.yieldRecord();
        break;
      case 'leave':
        void this.#work.then(() => resumeState.detach());
        break;
      case 'note-paused':
        resumeState.notePaused(effect.isPaused);
        break;
      case 'note-withdrawn':
        resumeState.noteWithdrawn(effect.isWithdrawn);
        break;
      case 'rename':
        this.rename(effect.name);
        break;
      case 'drop-file':
        this.lost = this.picked;
        this.picked = undefined;
        // A lost session needs no text of its own: the row asks for the file.
        this.warning = effect.error.code === 'session-expired' ? undefined : effect.error.code;
        break;
      case 'flush-progress':
        if (this.#context.throttle.cancelReport(this)) this.reportProgress(effect.phase);
        break;
      case 'report-progress':
        this.reportProgress(effect.phase);
        break;
      case 'report':
        this.#report(effect.name, effect.detail);
        break;
      case 'report-completed': {
        const detail = completedDetailOf(this, effect.result, this.#startedMs ?? performance.now());
        if (resumeState.key !== undefined) this.#context.tabLocks.announceDone(resumeState.key, detail);
        this.#complete(detail);
        break;
      }
      case 'report-completed-elsewhere':
        this.#complete(effect.detail);
        break;
    }
  }

  #report<K extends ChangeName>(name: K, detail: Omit<ChangeMap[K], 'id' | 'name'>): void {
    const subject = NAMED.includes(name) ? { id: this.id, name: this.name } : { id: this.id };
    this.#context.report({ name, detail: { ...subject, ...detail } } as Change);
  }

  #add(work: Promise<unknown>): void {
    this.#work = Promise.allSettled([this.#work, work]);
  }

  #afterRun(): void {
    // Another run may have started in the meantime.
    if (!this.isRunning) this.progress.endRun();
  }

  /**
   * Deletes the record, calls `onForgotten`, then tries to cancel the session. From `onForgotten` on, the file may be uploaded
   * again.
   */
  async #forget(onForgotten: () => void): Promise<void> {
    await this.#work;
    const { session } = this;
    this.savedSession = undefined;
    this.warning = undefined;
    this.progress.restart();
    const isGone = await this.resumeState.deleteRecord();
    onForgotten();
    if (isGone && session) await this.connection.service.cancel(session);
  }

  #complete(detail: CompletedDetail): void {
    this.resumeState.detach();
    this.#report('upload-completed', detail);
  }

  /** Shows the progress of another tab that runs this upload. */
  #onProgressElsewhere(numbers: RemoteProgress): void {
    const { progress, phase, sizeBytes } = this;
    if (phase !== 'paused') return;
    const remoteNumbers = { hashedBytes: 0, ...progress.showRemote(numbers) };
    this.#show(remoteNumbers);
    this.#report('upload-progress', { phase, sizeBytes, ...remoteNumbers });
  }

  #onDoneElsewhere(detail: DoneElsewhere): void {
    const { id, sizeBytes } = this;
    this.dispatch({
      type: 'done-elsewhere',
      detail: { ...detail, id, sentBytes: 0, skippedBytes: sizeBytes },
    });
  }
}
