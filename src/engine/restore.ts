// Adds the uploads that an earlier visit saved to the list.

import { copyOfMetadata } from '../core/metadata.ts';
import { trusted } from '../core/trusted.ts';
import type { PickedFile, UploadRecord } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import { dropKept } from '../keeper/drop-kept.ts';
import type { KeeperClient } from '../keeper/keeper-client.ts';
import type { Added, Kept } from '../keeper/keeper-messages.ts';
import { readHandle } from '../store/record.ts';
import type { Connection } from './connection.ts';
import {
  belongsTo,
  candidateOf,
  fileOf,
  type Intake,
  type IntakeParts,
  identityOf,
  placeOf,
  provideSame,
} from './intake.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import type { Upload } from './upload.ts';

/** Longest wait for the lock of a saved upload, in milliseconds. A page that is being closed may hold its locks for a moment. */
const CLOSING_MS = 5000;

export interface RestorerParts extends IntakeParts {
  readonly intake: Intake;
  readonly snapshots: SnapshotStore;
  /** Called when the page comes back from the back/forward cache. */
  readonly onReturn: () => void;
}

export class Restorer {
  readonly #parts: RestorerParts;
  /** Controller that `stop()` aborts. */
  #restoring = new AbortController();
  /** Controller that `leave()` aborts. */
  #finding = new AbortController();
  #keeper: Promise<KeeperClient | undefined> | undefined;

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
    this.#finding.abort();
    this.#finding = new AbortController();
  }

  /** Drops the files that are kept for the next page. */
  async dropKept(): Promise<void> {
    const keeper = await this.#keeper;
    keeper?.forget();
    await dropKept();
  }

  /** Stops handing over files when the page is left. */
  close(): void {
    this.leave();
    void this.#keeper?.then((keeper) => keeper?.close());
  }

  /** Deletes saved uploads older than `keepMs`, unless a tab is running them. Ignores errors of the store. */
  async prune(keepMs: number): Promise<void> {
    const { context, store } = this.#parts;
    const isRunning = await context.tabLocks.listLocked();
    await store.prune(keepMs, isRunning).catch(() => undefined);
  }

  /**
   * Adds the uploads that were saved with these settings to the list. The files of uploads without a saved file are then looked
   * for.
   */
  async restore(connection: Connection): Promise<void> {
    const { context, scheduler, store } = this.#parts;
    const { signal } = this.#restoring;
    // The keeper returns a file once. If the uploader is suspended meanwhile, the file is added anyway.
    const finding = this.#finding.signal;
    // Pages often change several settings in a row. Uploads that wait for their file use the latest settings.
    await inSlices(scheduler.all, (upload) => {
      const { record } = upload.resumeState;
      if (record && !upload.picked && !upload.isRunning && belongsTo(record, connection))
        upload.connection = connection;
    });
    if (connection.settings.noResume) return;
    const hadKeeper = this.#keeper !== undefined;
    const keeper = this.#loadKeeper(connection);
    // A page may set `keeper-url` after its uploads are listed.
    const wanted = keeper && !hadKeeper ? this.#waiting(connection) : [];
    for (const upload of wanted) upload.dispatch({ type: 'file-wanted' });
    const records = await store.list().catch(() => []);
    const isLocked = await context.tabLocks.listLocked();
    let listed = this.#listed();
    const restore = (record: UploadRecord): void => {
      if (this.#isListed(record, listed) || signal.aborted || !belongsTo(record, connection)) return;
      if (record.file) void this.#restoreFile(record, record.file, connection, signal);
      else if (!isLocked(record.key)) wanted.push(...this.#restoreUpload(record, connection));
    };
    await inSlices(records, restore, () => {
      listed = this.#listed();
    });
    void this.#findFiles(wanted, connection, await keeper, finding);
  }

  /** Returns the uploads of earlier pages whose file the user would have to choose. */
  #waiting(connection: Connection): Upload[] {
    return this.#parts.scheduler.all.filter(({ connection: own, lost, needsFile }) => {
      return own === connection && needsFile && !lost;
    });
  }

  /** Loads the keeper on first use, if `keeper-url` is set. */
  #loadKeeper({ settings: { keeperUrl } }: Connection): Promise<KeeperClient | undefined> | undefined {
    const { context, scheduler, snapshots, onReturn } = this.#parts;
    if (keeperUrl)
      this.#keeper ??= import('../keeper/keeper-client.ts').then(
        ({ KeeperClient }) =>
          new KeeperClient(keeperUrl, {
            uploads: () => scheduler.all,
            onChange: (listener) => snapshots.onChange(listener),
            onReturn,
            warn: context.warn,
            trusted,
          }),
        () => undefined,
      );
    return this.#keeper;
  }

  /**
   * Gives uploads the files of an earlier page, another tab or a handle that needs no permission. For other uploads, the user has
   * to choose the file. Adds the uploads without a record that an earlier page had.
   */
  async #findFiles(
    uploads: readonly Upload[],
    connection: Connection,
    keeper: KeeperClient | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { baseUrl: service, owner, clientId } = connection.settings;
    const byKey = new Map(uploads.map((upload) => [upload.resumeState.record?.key ?? '', upload]));
    const byPlace = new Map(
      uploads.map((upload) => [upload.resumeState.record && placeOf(upload.resumeState.record), upload]),
    );
    let listed: ReadonlySet<string> | undefined;
    await keeper?.ask({ service, owner, keys: [...byKey.keys()] }, clientId, async (kept) => {
      const { key, file, isPaused, added } = kept;
      const place = added && placeOf({ ...identityOf(file), ...added });
      // The upload may have got a record after the handover, so it is matched by folder and file, not by key.
      const upload = added ? byPlace.get(place) : byKey.get(key);
      listed ??= this.#listed();
      if (upload) await give(upload, file, isPaused);
      else if (added && place && !signal.aborted && !listed.has(place))
        this.#addAgain(kept, added, connection);
    });
    for (const upload of uploads) {
      const { handle } = upload.resumeState.record ?? {};
      const picked = handle && upload.needsFile ? await fileOf(handle, 'queryPermission') : undefined;
      if (picked) await give(upload, picked.file);
      if (upload.needsFile) upload.dispatch({ type: 'file-missing' });
    }
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

  /** Adds an upload without its file. Returns the upload if its file can be looked for. */
  #restoreUpload(record: UploadRecord, connection: Connection): readonly Upload[] {
    const { intake } = this.#parts;
    const { name, newName, relativePath, sizeBytes, type, parentId } = record;
    const resumeState = intake.createResumeState(connection);
    resumeState.adopt(record);
    const file = { name, relativePath, sizeBytes, type, parentId };
    const upload = intake.append(file, undefined, connection, resumeState);
    if (newName) upload.rename(newName);
    upload.showRecord(record);
    if (resumeState.isAccepted) return [];
    const mayBeFound = this.#keeper !== undefined || record.handle !== undefined;
    upload.dispatch({ type: mayBeFound ? 'file-wanted' : 'file-missing' });
    return mayBeFound ? [upload] : [];
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

/** Gives an upload a file that was found for it, if it is the same file. */
async function give(upload: Upload, file: File, isPaused = false): Promise<void> {
  const { handle } = upload.resumeState.record ?? {};
  const picked: PickedFile = { file, relativePath: upload.relativePath, ...(handle && { handle }) };
  await provideSame(upload, picked, isPaused);
}
