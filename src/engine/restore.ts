// Adds the uploads that an earlier visit saved to the list.

import type { UploadRecord } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import type { UploadStore } from '../store/uploads.ts';
import type { Commands } from './commands.ts';
import type { Connection } from './connection.ts';
import { belongsTo, candidateOf, type Intake, identityOf, placeOf } from './intake.ts';
import type { TabLocks } from './resume/tab-locks.ts';
import type { Scheduler } from './scheduler.ts';

/** Longest wait for the lock of a saved upload, in milliseconds. A page that is being closed may hold its locks for a moment. */
const CLOSING_MS = 5000;

export interface RestorerParts {
  readonly scheduler: Scheduler;
  readonly commands: Commands;
  readonly intake: Intake;
  readonly store: UploadStore;
  readonly tabLocks: TabLocks;
}

export class Restorer {
  readonly #parts: RestorerParts;
  /** Controller that `stop()` aborts. */
  #restoring = new AbortController();

  constructor(parts: RestorerParts) {
    this.#parts = parts;
  }

  /** Stops a `restore()` that is in progress. */
  stop(): void {
    this.#restoring.abort();
    this.#restoring = new AbortController();
  }

  /** Deletes saved uploads older than `keepMs`, unless a tab is running them. Ignores errors of the store. */
  async prune(keepMs: number): Promise<void> {
    const { store, tabLocks } = this.#parts;
    const isRunning = await tabLocks.listLocked();
    await store.prune(keepMs, isRunning).catch(() => undefined);
  }

  /** Adds the uploads that were saved with these settings to the list. An upload without a saved file waits in `needs-file`. */
  async restore(connection: Connection): Promise<void> {
    const { scheduler, store, tabLocks } = this.#parts;
    const { signal } = this.#restoring;
    // Pages often change several settings in a row. Uploads that wait for their file use the latest settings.
    await inSlices(scheduler.all, (upload) => {
      const { record } = upload.resumeState;
      if (record && !upload.picked && belongsTo(record, connection)) upload.connection = connection;
    });
    if (connection.settings.noResume) return;
    const records = await store.list().catch(() => []);
    const isLocked = await tabLocks.listLocked();
    let listed = this.#listed();
    const restore = (record: UploadRecord): void => {
      if (this.#isListed(record, listed) || signal.aborted || !belongsTo(record, connection)) return;
      if (record.file) void this.#restoreFile(record, record.file, connection, signal);
      else if (!isLocked(record.key)) this.#restoreUpload(record, connection);
    };
    await inSlices(records, restore, () => {
      listed = this.#listed();
    });
  }

  /**
   * Adds an upload whose file was saved. The upload resumes, unless the user paused it. Adds nothing if another tab keeps the lock
   * of the upload.
   */
  async #restoreFile(
    record: UploadRecord,
    file: File,
    connection: Connection,
    restoring: AbortSignal,
  ): Promise<void> {
    const { commands, intake } = this.#parts;
    const { key, newName, relativePath, parentId, isPaused } = record;
    const resumeState = intake.createResumeState(connection);
    const signal = AbortSignal.any([restoring, AbortSignal.timeout(CLOSING_MS)]);
    if (!(await resumeState.waitForLock(key, signal))) return;
    if (restoring.aborted || this.#isListed(record)) {
      resumeState.releaseLock();
      return;
    }
    resumeState.adopt(record);
    const picked = { file, relativePath };
    const upload = intake.append({ ...candidateOf(picked), parentId }, picked, connection, resumeState);
    if (newName) upload.rename(newName);
    if (isPaused) await commands.apply({ type: 'pause' }, upload.id);
  }

  #restoreUpload(record: UploadRecord, connection: Connection): void {
    const { intake } = this.#parts;
    const { name, newName, relativePath, sizeBytes, type, parentId } = record;
    const resumeState = intake.createResumeState(connection);
    resumeState.adopt(record);
    const file = { name, relativePath, sizeBytes, type, parentId };
    const upload = intake.append(file, undefined, connection, resumeState);
    if (newName) upload.rename(newName);
    upload.showRecord(record);
    if (!resumeState.isAccepted) upload.dispatch({ type: 'file-missing' });
  }

  #isListed(record: UploadRecord, listed = this.#listed()): boolean {
    return this.#parts.intake.hasResumeState(record.key) || listed.has(placeOf(record));
  }

  /**
   * Returns the files that the page added before the records were read, by `placeOf`. The runs of these files look up their own
   * records.
   */
  #listed(): ReadonlySet<string> {
    const listed = new Set<string>();
    for (const upload of this.#parts.scheduler.all) {
      if (!upload.picked || upload.phase === 'failed' || upload.phase === 'canceled') continue;
      listed.add(placeOf({ ...upload, ...identityOf(upload.picked.file) }));
    }
    return listed;
  }
}
