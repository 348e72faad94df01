// One upload: its file, its place, its numbers, and the machine that decides what happens to it. Effects of the machine are
// carried out here; what a run consists of is in `upload-run.ts`.

import type { Change, ChangeMap, CompletedDetail } from '../core/changes.ts';
import { Machine } from '../core/machine.ts';
import type { Phase } from '../core/phases.ts';
import type { ErrorSnapshot, FileId, PickedFile, Session, UploadRecord } from '../core/types.ts';
import { chunkSizeFor, plan } from '../pipeline/plan.ts';
import type { RunResult } from '../pipeline/run.ts';
import type { Connection } from './connection.ts';
import type { ResumeState } from './resume/resume-state.ts';
import type { DoneElsewhere, RemoteProgress, TabLocks } from './resume/tab-locks.ts';
import { Progress } from './transfer/progress.ts';
import { reduce } from './upload-machine.ts';
import { type RunContext, startRun } from './upload-run.ts';
import {
  isRunning,
  publicPhase,
  type UploadCommand,
  type UploadEffect,
  type UploadModel,
  type UploadOutcome,
  type UploadState,
} from './upload-state.ts';

/** A service that does not answer must not keep `cancel()` from resolving, ms. */
const CANCEL_MS = 10_000;

/** What all uploads of an engine share. */
export interface UploadContext extends RunContext {
  readonly tabLocks: TabLocks;
  /** Called after each event of an upload, before its effects run. */
  readonly onTransition: (upload: Upload, before: UploadState, after: UploadState) => void;
}

/** What an upload is called, where it goes, and its place in the queue. */
export interface Place {
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly parentId: string;
  readonly order: number;
}

export class Upload {
  readonly id: FileId;
  readonly ownName: string;
  /** The name on the service: the file's own, or another one where that was taken. */
  name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly parentId: string;
  /** Absent on an upload of an earlier visit, or when the file cannot be read any more, until the file is provided again. */
  picked: PickedFile | undefined;
  /** The file that could not be read any more. */
  lost: PickedFile | undefined;
  connection: Connection;
  readonly resumeState: ResumeState;
  readonly progress: Progress;
  /** Uploads with a lower number start first. */
  order: number;
  session: Session | undefined;
  /** Shown while the upload goes on without being resumable, or waits for its file. */
  warning: ErrorSnapshot['code'] | undefined;
  /** Chunks that are still to be sent; tells how much work is in sight. */
  unsentCount: number;
  readonly #context: UploadContext;
  readonly #machine: Machine<UploadModel, UploadCommand, UploadOutcome, UploadEffect>;
  #startedMs: number | undefined;
  /** Resolves when every run, and every `forget`, that was started has ended. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(
    id: FileId,
    picked: PickedFile | undefined,
    place: Place,
    connection: Connection,
    resumeState: ResumeState,
    context: UploadContext,
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
    this.resumeState = resumeState;
    this.progress = new Progress(place.sizeBytes);
    this.unsentCount = Math.ceil(
      place.sizeBytes / chunkSizeFor(place.sizeBytes, connection.settings.chunkSizeBytes),
    );
    this.#context = context;
    const state: UploadState = { phase: connection.settings.manual ? 'held' : 'queued' };
    this.#machine = new Machine<UploadModel, UploadCommand, UploadOutcome, UploadEffect>(
      { state, generation: 0, hasFile: picked !== undefined },
      {
        reduce,
        facts: () => ({ hasFile: this.picked !== undefined }),
        onStep: (before, after) => context.onTransition(this, before.state, after.state),
        run: (effect, signal, send) => this.#run(effect, signal, send),
        // A defect; without an event the upload stays in the state that it has reached.
        onFault: (error) => void globalThis.reportError?.(error),
      },
    );
    resumeState.observeOtherTabs({
      onProgress: (numbers) => this.#onProgressElsewhere(numbers),
      onDone: (detail) => this.#onDoneElsewhere(detail),
    });
  }

  get state(): UploadState {
    return this.#machine.model.state;
  }

  get phase(): Phase {
    return publicPhase(this.state);
  }

  get isRunning(): boolean {
    return isRunning(this.state);
  }

  get needsFile(): boolean {
    const { state } = this;
    return state.phase === 'paused' && state.reason === 'needs-file';
  }

  dispatch(command: UploadCommand): void {
    this.#machine.dispatch(command);
  }

  /** Resolves when nothing of an ended run is under way any more; at once where the upload runs. */
  async stopped(): Promise<void> {
    // A command given by a listener is processed after the step that called the listener.
    await Promise.resolve();
    if (!this.isRunning) await this.#work;
  }

  /** The file is there, or there again. */
  provide(picked: PickedFile): void {
    this.picked = picked;
    this.lost = undefined;
    this.warning = undefined;
    this.dispatch({ type: 'file-provided' });
  }

  rename(name: string): void {
    if (name === this.name) return;
    this.name = name;
    this.resumeState.rename(name);
    // The session has the old name.
    this.session = undefined;
    this.#report('file-renamed', { id: this.id, name });
  }

  /** Shows what an earlier visit has stored. */
  showRecord({ stored, chunkSizeBytes }: UploadRecord): void {
    this.progress.beginRun(plan(this.sizeBytes, chunkSizeBytes, stored));
    this.reportProgress();
  }

  reportProgress(phase: Phase = this.phase): void {
    const { id, sizeBytes, state, warning } = this;
    const numbers = this.progress.numbers();
    const { key } = this.resumeState;
    if (key !== undefined && this.isRunning) this.#context.tabLocks.announceProgress(key, numbers);
    const retryAt = 'retryAtMs' in state ? state.retryAtMs : undefined;
    this.#report('upload-progress', {
      id,
      phase,
      sizeBytes,
      ...numbers,
      ...(retryAt !== undefined && { retryAt }),
      ...(warning && { warning }),
    });
  }

  #run(effect: UploadEffect, signal: AbortSignal, send: (outcome: UploadOutcome) => void): void {
    const { id, name, resumeState } = this;
    switch (effect.type) {
      case 'run':
        this.#startedMs ??= performance.now();
        this.#add(startRun(this, this.#context, signal, send).finally(() => this.#afterRun()));
        break;
      case 'forget':
        this.#add(this.#forget(() => send({ type: 'forgotten' })));
        break;
      case 'release':
        this.#whenStopped(() => resumeState.releaseLock());
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
      case 'rename':
        this.rename(effect.name);
        break;
      case 'drop-file':
        this.lost = this.picked;
        this.picked = undefined;
        this.warning = effect.error.code;
        break;
      case 'flush-progress':
        if (this.#context.throttle.cancelReport(this)) this.reportProgress(effect.phase);
        break;
      case 'report-progress':
        this.reportProgress(effect.phase);
        break;
      case 'report-started':
        this.#report('upload-started', {
          id,
          chunkCount: effect.chunkCount,
          resumedBytes: effect.resumedBytes,
        });
        break;
      case 'report-paused':
        this.#report('upload-paused', { id, reason: effect.reason });
        break;
      case 'report-resumed':
        this.#report('upload-resumed', { id, phase: effect.phase });
        break;
      case 'report-completed':
        this.#complete(this.#completedDetail(effect.result), true);
        break;
      case 'report-completed-elsewhere':
        this.#whenStopped(() => resumeState.releaseLock());
        this.#complete(effect.detail, false);
        break;
      case 'report-failed':
        this.#report('upload-failed', { id, name, ...effect.error });
        break;
      case 'report-canceled':
        this.#report('upload-canceled', { id, name });
        break;
      case 'report-removed':
        this.#report('file-removed', { id, name });
        break;
    }
  }

  #report<K extends Change['name']>(name: K, detail: ChangeMap[K]): void {
    this.#context.report({ name, detail } as Change);
  }

  #add(work: Promise<unknown>): void {
    this.#work = Promise.allSettled([this.#work, work]);
  }

  /** Nothing is sent any more, unless a new run has begun meanwhile. */
  #afterRun(): void {
    if (!this.isRunning) this.progress.endRun();
  }

  #whenStopped(act: () => void): void {
    void this.#work.then(() => {
      if (!this.isRunning) act();
    });
  }

  /** Deletes what was kept of the upload; `onForgotten` is called when a new upload of the same file may begin. */
  async #forget(onForgotten: () => void): Promise<void> {
    await this.#work;
    const session = this.session ?? this.resumeState.record?.session;
    const { auth, calls } = this.connection.service.client;
    this.session = undefined;
    this.progress.restart();
    const isGone = await this.resumeState.deleteRecord();
    onForgotten();
    // Best effort: a session that is not canceled expires by itself, and is not worth a sign-in.
    const hasToken = auth.snapshot.mode === 'none' || auth.snapshot.state === 'signed-in';
    if (hasToken && isGone && session && calls.cancel)
      await calls.cancel(session, AbortSignal.timeout(CANCEL_MS)).catch(() => undefined);
  }

  #complete(detail: CompletedDetail, isOurs: boolean): void {
    const { key } = this.resumeState;
    if (isOurs && key !== undefined) this.#context.tabLocks.announceDone(key, detail);
    this.resumeState.detach();
    this.#report('upload-completed', detail);
  }

  #completedDetail({ session, chunks, body }: RunResult): CompletedDetail {
    const { id, name, relativePath, sizeBytes } = this;
    const { putBytes } = this.progress;
    return {
      id,
      name,
      relativePath,
      sizeBytes,
      chunks: Object.freeze(
        chunks.map(({ index, hash, receipt }) => Object.freeze({ index, hash, receipt })),
      ),
      sentBytes: putBytes,
      skippedBytes: Math.max(0, sizeBytes - putBytes),
      durationMs: performance.now() - (this.#startedMs ?? performance.now()),
      ...(session.sessionId !== session.header && { sessionId: session.sessionId }),
      ...(body !== undefined && { commit: body }),
    };
  }

  /** Another tab runs it: shows how far that is. */
  #onProgressElsewhere(numbers: RemoteProgress): void {
    const { id, progress, sizeBytes } = this;
    if (this.phase !== 'paused') return;
    const shown = {
      id,
      phase: 'paused',
      sizeBytes,
      hashedBytes: 0,
      ...progress.showRemote(numbers),
    } as const;
    this.#report('upload-progress', shown);
  }

  #onDoneElsewhere(detail: DoneElsewhere): void {
    const { id, sizeBytes } = this;
    this.dispatch({
      type: 'done-elsewhere',
      detail: { ...detail, id, sentBytes: 0, skippedBytes: sizeBytes },
    });
  }
}
