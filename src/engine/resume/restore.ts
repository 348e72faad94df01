// Adds the uploads that an earlier visit saved to the list.

import { Lane } from '../../core/lane.ts';
import { copyOfMetadata } from '../../core/metadata.ts';
import type { UploadRecord } from '../../core/types.ts';
import type { CurrentUser } from '../../core/user.ts';
import { abortable, inSlices, runUntil, sleep } from '../../core/wait.ts';
import { type Connection, keepDurationMs } from '../connection.ts';
import { candidateOf, type Intake, type IntakeParts } from '../intake.ts';
import type { SnapshotStore } from '../snapshot-store.ts';
import type { Upload } from '../upload.ts';
import { isOver, stateNameOf } from '../upload-state.ts';
import { BATCH_SIZE } from './database.ts';
import { askFor, give, openHandle, wantFilesOf } from './file-search.ts';
import { dropKept, keyOfNew } from './keeper/drop-kept.ts';
import type { KeeperClient } from './keeper/keeper-client.ts';
import type { Added, Kept } from './keeper/keeper-messages.ts';
import { readHandle } from './record.ts';
import { findWanted } from './resume-state.ts';
import { belongsTo, fileKeyOf, statOf } from './same-file.ts';
import type { KeepMsOf } from './upload-store.ts';

/** How long another tab's lock must be free before this tab takes over the upload, in milliseconds. */
const TAKE_OVER_AFTER_MS = 1000;
/** Longest wait for the keeper's code until the user is asked for files, in milliseconds. */
const KEEPER_MS = 10_000;

export interface RestorerParts extends IntakeParts {
  readonly intake: Intake;
  readonly snapshots: SnapshotStore;
  readonly user: CurrentUser;
  /** Called when the page comes back from the back/forward cache. */
  readonly onReturn: () => void;
}

export class Restorer {
  readonly #parts: RestorerParts;
  /** Controller that `stop()` aborts. */
  #restoring = new AbortController();
  /** Controller that `leave()` aborts. */
  #finding = new AbortController();
  /** A drive that is gone lets handles of other drives pass after a second. */
  readonly #handles = new Lane(4, 1000);
  #keeper: Promise<KeeperClient | undefined> | undefined;
  /**
   * Uploads that another tab runs, by the key of the record, and since when their locks are free (`performance.now()`). The uploads
   * may have left the list.
   */
  readonly #elsewhere = new Map<string, { readonly upload: Upload; freeSinceMs: number }>();

  constructor(parts: RestorerParts) {
    this.#parts = parts;
  }

  /** Stops a `restore()` that is in progress. */
  stop(): void {
    this.#restoring.abort();
    this.#restoring = new AbortController();
  }

  /** Works like `stop()`. Files that the keeper returns later are not added, either. */
  leave(): void {
    this.stop();
    this.#elsewhere.clear();
    this.#finding.abort();
    this.#finding = new AbortController();
  }

  /**
   * Drops the files that are kept for the next page. Does not wait for the keeper's code: without it, this page has none of them.
   */
  async dropKept(): Promise<void> {
    this.forgetKept();
    await dropKept();
  }

  /** Forgets the files that this page has received from the keeper. */
  forgetKept(): void {
    void this.#keeper?.then((keeper) => keeper?.forget());
  }

  /** Stops handing over files when the page is left. */
  close(): void {
    this.leave();
    void this.#keeper?.then((keeper) => keeper?.close());
  }

  /** Deletes old saved uploads, unless a tab is running them or this page lists them. Never rejects. */
  async prune(connection: Connection): Promise<void> {
    const { context, store } = this.#parts;
    const isRunning = await context.tabLocks.listLocked();
    const isInUse = (key: string): boolean => isRunning(key) || context.tabLocks.isListed(key);
    // What could not be deleted is deleted on a later visit.
    await store.prune(keepMsOf(connection), isInUse).catch(() => undefined);
  }

  /**
   * Adds the uploads that were saved with these settings to the list. The files of uploads without a saved file are then looked
   * for.
   */
  async restore(connection: Connection): Promise<void> {
    const { context, onReturn, scheduler, store } = this.#parts;
    this.stop();
    const { signal } = this.#restoring;
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) void this.#lookAgain().finally(onReturn);
    };
    globalThis.addEventListener?.('pageshow', onShow, { signal });
    runUntil(signal, () => this.#watch(signal));
    // The keeper returns a file once. If the uploader is suspended meanwhile, the file is added anyway.
    const finding = this.#finding.signal;
    // Pages often change several settings in a row. Uploads that wait for their file use the latest settings.
    await inSlices(scheduler.all, (upload) => {
      const { record } = upload.resumeState;
      if (record && !upload.picked && !upload.isRunning && belongsTo(record, connection))
        upload.connection = connection;
    });
    if (connection.settings.noResume) return;
    // A page may set `keeper-url` after the user was asked for files of earlier pages.
    const isOfConnection = (upload: Upload): boolean => upload.connection === connection;
    const uploadsWithoutFile = this.#loadKeeper(connection)
      ? wantFilesOf(scheduler.all.filter(isOfConnection))
      : [];
    const keepMs = keepDurationMs(connection);
    const ownKeepMsOf: KeepMsOf = (record) =>
      belongsTo(record, connection) ? keepMs : Number.NEGATIVE_INFINITY;
    const keys = await store.keys(ownKeepMsOf).catch(() => []);
    const restoringFiles: Promise<void>[] = [];
    let listedFileKeys = this.#listed();
    const restore = (record: UploadRecord, isLocked: (key: string) => boolean): void => {
      if (this.#isListed(record, listedFileKeys) || signal.aborted) return;
      if (isLocked(record.key)) this.#restoreElsewhere(record, connection, signal);
      else if (record.file) restoringFiles.push(this.#restoreFile(record, connection, signal));
      else uploadsWithoutFile.push(...this.#continue(this.#restoreUpload(record, connection), record));
    };
    const list = (): void => {
      listedFileKeys = this.#listed();
    };
    for (let at = 0; at < keys.length && !signal.aborted; at += BATCH_SIZE) {
      // Uploads that end between these two lines count as locked. Otherwise, they would be sent again.
      const isLocked = await context.tabLocks.listLocked();
      const records = await store.list(keys.slice(at, at + BATCH_SIZE)).catch(() => []);
      list();
      await inSlices(records, (record) => restore(record, isLocked), list);
    }
    await Promise.all(restoringFiles);
    void this.#findFiles(uploadsWithoutFile, connection, finding, [keyOfNew(connection.settings.clientId)]);
  }

  /** Loads the keeper on first use, if `keeper-url` is set. Returns true if it is loaded now. */
  #loadKeeper({ settings: { keeperUrl } }: Connection): boolean {
    const { context, scheduler, snapshots, user } = this.#parts;
    if (!keeperUrl || this.#keeper) return false;
    this.#keeper = import('./keeper/keeper-client.ts').then(
      ({ KeeperClient }) =>
        new KeeperClient(keeperUrl, {
          uploads: () => scheduler.all,
          isSignedOut: () => user.isSignedOut,
          onChange: (listener) => snapshots.onChange(listener),
          warn: context.warn,
        }),
      (error) => {
        context.warn(`keeper-url: ${error}`);
        this.#keeper = undefined; // the next call loads it again
        return undefined;
      },
    );
    return true;
  }

  /**
   * Gives uploads the files of an earlier page, another tab or a handle that needs no permission. For other uploads, the user has
   * to choose the file. Adds the uploads without a record that an earlier page had, by their `newKeys`.
   */
  async #findFiles(
    uploads: readonly Upload[],
    connection: Connection,
    signal: AbortSignal,
    newKeys: readonly string[] = [],
  ): Promise<void> {
    if (uploads.length + newKeys.length === 0) return;
    const loading = this.#keeper ?? Promise.resolve(undefined);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(KEEPER_MS)]);
    // The time is over: until the keeper is loaded, the files are looked for elsewhere.
    const keeper = await abortable(loading, limit).catch(() => undefined);
    if (signal.aborted) return;
    if (!keeper && limit.aborted)
      void loading.then((loadedKeeper) => {
        if (loadedKeeper && !signal.aborted)
          void this.#findFiles(wantFilesOf(uploads), connection, signal, newKeys);
      });
    const { baseUrl: service, owner } = connection.settings;
    const byKey = new Map(uploads.map((upload) => [upload.resumeState.key ?? '', upload]));
    const byFileKey = new Map(
      uploads.map((upload) => [upload.resumeState.record && fileKeyOf(upload.resumeState.record), upload]),
    );
    let listedFileKeys: ReadonlySet<string> | undefined;
    await keeper?.ask({ service, owner, keys: [...byKey.keys()] }, newKeys, async (keptFile) => {
      const { key, file, isPaused, added } = keptFile;
      const fileKey = added && fileKeyOf({ ...statOf(file), ...added });
      // The upload may have got a record after the handover, so it is matched by folder and file, not by key.
      const upload = added ? byFileKey.get(fileKey) : byKey.get(key);
      listedFileKeys ??= this.#listed();
      if (upload) await give(upload, file, isPaused);
      else if (added && fileKey && !signal.aborted && !listedFileKeys.has(fileKey))
        this.#addAgain(keptFile, added, connection);
    });
    await Promise.all(uploads.map((upload) => openHandle(upload, this.#handles, signal)));
  }

  /** Adds an upload whose file was saved. The upload resumes, unless the user paused it. */
  async #restoreFile(record: UploadRecord, connection: Connection, signal: AbortSignal): Promise<void> {
    const { intake, store } = this.#parts;
    const { file, isPaused, key } = record;
    const resumeState = intake.createResumeState(connection);
    const isOurs = await resumeState.tryLock(key);
    // Another tab may have ended the upload since the records were listed.
    const savedRecord = await findWanted(store, key).catch(() => record);
    if (signal.aborted || this.#isListed(record) || !savedRecord) resumeState.releaseLock();
    else if (!isOurs) this.#restoreElsewhere(record, connection, signal);
    else {
      const upload = this.#restoreUpload(record, connection, resumeState, file);
      if (isPaused) upload.dispatch({ type: 'pause' });
    }
  }

  /** Adds an upload that had no record. */
  #addAgain({ file, isPaused }: Kept, added: Added, connection: Connection): void {
    const { name, relativePath, parentId, isHeld } = added;
    const handle = readHandle(added.handle);
    const metadata = copyOfMetadata(added.metadata);
    const picked = { file, relativePath, metadata, ...(handle && { handle }) };
    const upload = this.#parts.intake.addNew(picked, candidateOf(picked), connection, parentId);
    upload.rename(name);
    if (isPaused) upload.dispatch({ type: 'pause' });
    else if (!isHeld) upload.dispatch({ type: 'start' });
  }

  /** Adds an upload with its file, or without it. */
  #restoreUpload(
    record: UploadRecord,
    connection: Connection,
    resumeState = this.#parts.intake.createResumeState(connection),
    file?: File,
  ): Upload {
    const { name, newName, relativePath, type, parentId } = record;
    resumeState.adopt(record);
    const sizeBytes = record.bodyBytes ?? record.sizeBytes;
    const candidate = { name, relativePath, sizeBytes, type, parentId };
    const picked = file && { file, relativePath };
    const upload = this.#parts.intake.append(candidate, picked, connection, resumeState);
    if (newName) upload.rename(newName);
    return upload;
  }

  /** Adds an upload that another tab runs. */
  #restoreElsewhere(record: UploadRecord, connection: Connection, signal: AbortSignal): void {
    const upload = this.#restoreUpload(record, connection);
    upload.showRecord(record);
    upload.dispatch({ type: 'tab-found' });
    this.#elsewhere.set(record.key, { upload, freeSinceMs: Number.POSITIVE_INFINITY });
    if (this.#elsewhere.size === 1) runUntil(signal, () => this.#watch(signal));
  }

  /** Continues uploads on this page that no other tab runs any more, unless they are done or were canceled. */
  async #watch(signal: AbortSignal): Promise<void> {
    while (this.#elsewhere.size > 0) {
      const isLocked = await this.#parts.context.tabLocks.listLocked();
      const nowMs = performance.now();
      const uploadsWithoutFile: Upload[] = [];
      for (const [key, entry] of this.#elsewhere) {
        entry.freeSinceMs = isLocked(key) ? Number.POSITIVE_INFINITY : Math.min(entry.freeSinceMs, nowMs);
        const { freeSinceMs, upload } = entry;
        if (nowMs - freeSinceMs >= TAKE_OVER_AFTER_MS)
          uploadsWithoutFile.push(...(await this.#takeOver(key, upload, signal)));
      }
      for (const connection of new Set(uploadsWithoutFile.map((upload) => upload.connection))) {
        const uploads = uploadsWithoutFile.filter((upload) => upload.connection === connection);
        void this.#findFiles(uploads, connection, this.#finding.signal);
      }
      await sleep(TAKE_OVER_AFTER_MS, signal);
    }
  }

  /** Continues an upload that no other tab runs. Several tabs may try: one gets the lock. */
  async #takeOver(key: string, upload: Upload, signal: AbortSignal): Promise<readonly Upload[]> {
    const { resumeState } = upload;
    // It may have left the list, which also ends the use of its record.
    const isOwn = (): boolean => !resumeState.key || upload.picked !== undefined || isOver(upload.state);
    if (!isOwn() && !(await resumeState.tryLock(key))) return [];
    const record = await findWanted(this.#parts.store, key).catch(() => resumeState.record);
    if (signal.aborted && !isOwn()) resumeState.releaseLock();
    if (signal.aborted || !this.#elsewhere.delete(key) || isOwn()) return [];
    if (record) return this.#continue(upload, record);
    upload.dispatch({ type: 'leave' });
    return [];
  }

  /** Continues an upload with its record. Returns the upload if its file can be looked for. */
  #continue(upload: Upload, record: UploadRecord): readonly Upload[] {
    const { file, handle, isPaused, newName } = record;
    upload.resumeState.adopt(record);
    if (newName) upload.rename(newName);
    upload.showRecord(record);
    if (stateNameOf(upload.state) === 'user') {
      upload.resumeState.notePaused(true);
      upload.resumeState.releaseLock();
    }
    if (upload.resumeState.isCommitted) upload.dispatch({ type: isPaused ? 'pause' : 'file-provided' });
    else if (file) void give(upload, file, isPaused).then(() => askFor(upload));
    else if (this.#keeper || handle) {
      upload.dispatch({ type: 'file-wanted' });
      return [upload];
    } else upload.dispatch({ type: 'file-missing' });
    return [];
  }

  /**
   * Reads the records of uploads that wait for the user again: while this page was in the back/forward cache, another page may have
   * continued or ended them, and its messages did not arrive.
   */
  async #lookAgain(): Promise<void> {
    const { scheduler, store } = this.#parts;
    const isWaiting = ({ needsFile, resumeState: { key, record }, state, warning }: Upload): boolean =>
      // With a warning, the record may be in memory only.
      key !== undefined && record !== undefined && !warning && (needsFile || stateNameOf(state) === 'user');
    const byKey = new Map(
      scheduler.all.filter(isWaiting).map((upload) => [upload.resumeState.key ?? '', upload]),
    );
    // Without the records, the uploads wait as before: their next run reads the store again.
    const records = await store.list([...byKey.keys()]).catch(() => undefined);
    if (!records) return;
    for (const record of records) {
      const upload = byKey.get(record.key);
      byKey.delete(record.key);
      if (!upload?.needsFile || !isWaiting(upload)) continue;
      upload.resumeState.adopt(record);
      upload.showRecord(record);
    }
    for (const upload of byKey.values()) if (isWaiting(upload)) upload.dispatch({ type: 'leave' });
  }

  #isListed(record: UploadRecord, fileKeys = this.#listed()): boolean {
    const isHere = this.#elsewhere.has(record.key) || this.#parts.context.tabLocks.isListed(record.key);
    return isHere || fileKeys.has(fileKeyOf(record));
  }

  /**
   * Returns the files that the page added before the records were read, by `fileKeyOf`. The runs of these files look up their own
   * records.
   */
  #listed(): ReadonlySet<string> {
    const fileKeys = new Set<string>();
    for (const upload of this.#parts.scheduler.all) {
      if (!upload.picked || upload.phase === 'failed' || upload.phase === 'canceled') continue;
      fileKeys.add(fileKeyOf({ ...upload, ...statOf(upload.picked.file) }));
    }
    return fileKeys;
  }
}

/** Uploads of `connection` are kept for its `keep-days`, all others for the `keep-days` of the page that saved them. */
function keepMsOf(connection: Connection): KeepMsOf {
  const keepMs = keepDurationMs(connection);
  return (record) => (belongsTo(record, connection) ? keepMs : (record.keepMs ?? keepMs));
}
