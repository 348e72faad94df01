// How uploads come into the list: files that are picked now, and uploads of an earlier visit that wait for their file. It
// knows nothing of runs but that uploads are handed to them.

import type { Candidate, ChangeMap } from '../core/changes.ts';
import { createId } from '../core/create-id.ts';
import type { FileId, PickedFile, UploadRecord } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import { refusal } from '../pipeline/pick.ts';
import { MAX_FILE_BYTES } from '../pipeline/plan.ts';
import { identify, isSameFile, recordKey } from '../store/identity.ts';
import type { UploadStore } from '../store/uploads.ts';
import type { Commands } from './commands.ts';
import type { Connection } from './connection.ts';
import { type FileCache, isCacheable } from './resume/file-cache.ts';
import { ResumeState, type ResumeStates } from './resume/resume-state.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import { type Place, Upload, type UploadContext } from './upload.ts';
import { saveFile } from './upload-run.ts';

/** How long to wait for the lock of a saved upload, ms. */
const CLOSING_MS = 5000;

export interface IntakeParts {
  readonly snapshots: SnapshotStore;
  readonly commands: Commands;
  readonly context: UploadContext;
  readonly store: UploadStore;
  readonly fileCache: FileCache;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #resumeStates: ResumeStates = new Map();
  /** Grows when the owner changes, signs out, or the engine closes: what was begun before is not shown after. */
  #generation = 0;
  /** Aborts with each of these, and when the list is suspended: what is being restored is looked up again later. */
  #restoring = new AbortController();
  #order = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Takes files, or refuses each with its reason. A file that a upload of an earlier visit waits for goes there. */
  async add(
    files: Iterable<PickedFile | File>,
    connection: Connection,
    mayAdd: (file: Candidate) => boolean,
  ): Promise<void> {
    const { settings } = connection;
    const generation = this.#generation;
    const limits = limitsOf(connection);
    const uploads = this.#places();
    let takenCount = this.#countTaken(settings.multiple);
    const take = (item: PickedFile | File): void => {
      if (this.#generation !== generation) return;
      const picked = readPicked(item);
      const candidate = candidateOf(picked);
      const waiting = this.#waitingForPicked(uploads, picked, connection);
      const refused = waiting ? undefined : refusal(picked, limits, takenCount);
      if (waiting) waiting.provide(picked);
      else if (refused) this.#refuse(candidate, refused);
      else if (mayAdd(candidate)) {
        takenCount += 1;
        this.#addNew(picked, candidate, connection);
      }
    };
    await inSlices(files, take, () => {
      takenCount = this.#countTaken(settings.multiple);
    });
  }

  /** Adds the uploads that an earlier visit saved for these settings: paused until their file is provided. */
  async restore(connection: Connection): Promise<void> {
    const { commands, context, store } = this.#parts;
    const { signal } = this.#restoring;
    // Settings often come in pieces: an upload that the user has not touched uses the newest.
    await inSlices(commands.all, (upload) => {
      const { record } = upload.resumeState;
      if (record && !upload.picked && belongsTo(record, connection)) upload.connection = connection;
    });
    if (connection.settings.noResume) return;
    const records = await store.list().catch(() => []);
    const isLocked = await context.tabLocks.listLocked();
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

  #isListed(record: UploadRecord, listed = this.#listed()): boolean {
    return this.#resumeStates.has(record.key) || listed.has(placeOf(record));
  }

  /** Files that came before the uploads of an earlier visit were known: those they are finds their run. */
  #listed(): ReadonlySet<string> {
    const listed = new Set<string>();
    for (const { id, phase } of this.#parts.snapshots.files) {
      const upload = phase === 'failed' || phase === 'canceled' ? undefined : this.#parts.commands.get(id);
      if (upload?.picked) listed.add(placeOf({ ...upload, ...identityOf(upload.picked.file) }));
    }
    return listed;
  }

  /** The user signed out: every upload leaves the list, and what is still being added or restored does not come. */
  abandon(): Promise<void> {
    this.stop();
    const { commands } = this.#parts;
    return commands.applyTo(commands.all, { type: 'abandon' });
  }

  /** Files that are being added or restored, and are not in the list yet, are dropped. */
  stop(): void {
    this.#generation += 1;
    this.stopRestoring();
  }

  stopRestoring(): void {
    this.#restoring.abort();
    this.#restoring = new AbortController();
  }

  /** The uploads of an owner are no longer to be seen. Those that came before there was one stay with whoever picked them. */
  leaveOwner(owner: string): Promise<void> {
    const { commands } = this.#parts;
    this.stop();
    const gone = commands.all.filter((upload) => owner !== '' || (!upload.picked && !upload.lost));
    return commands.applyTo(gone, { type: 'leave' });
  }

  /**
   * Gives a upload its file. Another file is refused (`wrong-file`), by name, size, time and first bytes (by name and size where the
   * record was forgotten), and the upload goes on waiting. One that was lost on this visit may have changed since: it goes up anew.
   */
  async provide(id: FileId, item: PickedFile | File): Promise<void> {
    const upload = this.#parts.commands.get(id);
    if (!upload || upload.picked) return;
    const { record } = upload.resumeState;
    const picked = readPicked(item);
    const { signal } = new AbortController();
    const found = await identify(picked.file, upload.connection.service.client.pool.hashSmall, signal).catch(
      () => undefined,
    );
    // Somebody else may have brought it meanwhile, or given it up.
    if (!upload.needsFile) return;
    if (
      found &&
      isSameFile({ ...found, name: upload.ownName, sizeBytes: upload.sizeBytes, ...record }, found)
    )
      upload.provide(picked);
    else if (found && upload.lost && found.name === upload.ownName) this.#replace(upload, picked);
    else this.#refuse(candidateOf(picked), { code: found ? 'wrong-file' : 'file-unreadable' });
  }

  /** Asks the browser for the file of a upload whose handle was kept. To be called in the click; true where it came. */
  async ask(id: FileId): Promise<boolean> {
    const upload = this.#parts.commands.get(id);
    const handle = upload?.resumeState.record?.handle ?? upload?.lost?.handle;
    const picked = handle && (await askFor(handle));
    if (picked) await this.provide(id, picked);
    return picked !== undefined;
  }

  #addNew(
    picked: PickedFile,
    candidate: Candidate,
    connection: Connection,
    parentId = parentOf(picked, connection),
  ): void {
    const { context, fileCache } = this.#parts;
    if (!parentId) context.warn('parent-id is not set, and parentFor gives none.');
    const resumeState = this.#resumeState(connection);
    resumeState.keepsFile = isCacheable(candidate.sizeBytes, connection.settings);
    const upload = this.#append({ ...candidate, parentId }, picked, connection, resumeState);
    if (resumeState.keepsFile) fileCache.add({ sizeBytes: upload.sizeBytes, save: () => saveFile(upload) });
  }

  /** An upload with its file continues by itself, unless the user paused it. The tab that holds its lock keeps it. */
  async #restoreFile(
    record: UploadRecord,
    file: File,
    connection: Connection,
    restoring: AbortSignal,
  ): Promise<void> {
    const { commands } = this.#parts;
    const { key, newName, relativePath, parentId, isPaused } = record;
    const resumeState = this.#resumeState(connection);
    // A page that is being closed may hold its locks a moment longer.
    const signal = AbortSignal.any([restoring, AbortSignal.timeout(CLOSING_MS)]);
    if (!(await resumeState.waitForLock(key, signal))) return;
    if (restoring.aborted || this.#isListed(record)) {
      resumeState.releaseLock();
      return;
    }
    resumeState.adopt(record);
    const picked = { file, relativePath };
    const upload = this.#append({ ...candidateOf(picked), parentId }, picked, connection, resumeState);
    if (newName) upload.rename(newName);
    if (isPaused) await commands.apply({ type: 'pause' }, upload.id);
  }

  #restoreUpload(record: UploadRecord, connection: Connection): void {
    const { name, newName, relativePath, sizeBytes, type, parentId } = record;
    const resumeState = this.#resumeState(connection);
    resumeState.adopt(record);
    const upload = this.#append(
      { name, relativePath, sizeBytes, type, parentId },
      undefined,
      connection,
      resumeState,
    );
    if (newName) upload.rename(newName);
    upload.showRecord(record);
    upload.dispatch({ type: 'file-missing' });
  }

  #append(
    file: Candidate & { readonly parentId: string },
    picked: PickedFile | undefined,
    connection: Connection,
    resumeState: ResumeState,
  ): Upload {
    const { commands, context } = this.#parts;
    const id = createId();
    this.#order += 1;
    const place: Place = { ...file, order: this.#order };
    const upload = new Upload(id, picked, place, connection, resumeState, context);
    commands.append(upload);
    context.report({ name: 'file-added', detail: { id, ...file } });
    return upload;
  }

  #resumeState({ settings }: Connection): ResumeState {
    const { context, store } = this.#parts;
    return new ResumeState(settings.noResume ? undefined : store, this.#resumeStates, context.tabLocks);
  }

  /** The uploads that wait, by where their file goes: looked up once for many files. */
  #places(): Places {
    const places = new Map<string, Upload[]>();
    for (const upload of this.#parts.commands.all) {
      const { lost, resumeState } = upload;
      if (!upload.needsFile) continue;
      const file = resumeState.record ?? (lost && { ...upload, ...identityOf(lost.file) });
      if (!file) continue;
      const place = placeOf(file);
      places.set(place, [...(places.get(place) ?? []), upload]);
    }
    return places;
  }

  /** The upload of an earlier visit that this file, for this place, may be for: its first bytes are compared when the run opens. */
  #waitingForPicked(uploads: Places, picked: PickedFile, connection: Connection): Upload | undefined {
    if (uploads.size === 0) return undefined;
    const place = { ...identityOf(picked.file), ...picked, parentId: parentOf(picked, connection) };
    return this.#waitingFor(uploads, placeOf(place), connection);
  }

  #waitingFor(uploads: Places, place: string, connection: Connection): Upload | undefined {
    for (const upload of uploads.get(place) ?? []) {
      const { record } = upload.resumeState;
      // Others have their file by now, or were removed, given up, or uploaded by another tab.
      if (!upload.needsFile) continue;
      if (
        record
          ? belongsTo(record, connection)
          : upload.lost && upload.connection.service === connection.service
      )
        return upload;
    }
    return undefined;
  }

  /** The file was lost on this visit, and is another one now than was begun: it goes up anew in the same folder. */
  #replace(upload: Upload, { file, handle }: PickedFile): void {
    const picked = { file, relativePath: upload.relativePath, ...(handle && { handle }) };
    const refused = refusal(picked, limitsOf(upload.connection), 0);
    if (refused) {
      this.#refuse(candidateOf(picked), refused);
      return;
    }
    this.#addNew(picked, candidateOf(picked), upload.connection, upload.parentId);
    void this.#parts.commands.applyTo([upload], { type: 'replace' });
  }

  #refuse(file: Candidate, why: { code: ChangeMap['file-rejected']['code']; limit?: number | string }): void {
    const { name, relativePath, sizeBytes } = file;
    this.#parts.context.report({
      name: 'file-rejected',
      detail: { id: createId(), name, relativePath, sizeBytes, ...why },
    });
  }

  #countTaken(isMultiple: boolean): number {
    let count = 0;
    for (const { phase, pauseReason } of this.#parts.snapshots.files) {
      if (phase === 'failed' || phase === 'canceled') continue;
      // A list of one file takes the next file when nothing is uploaded any more.
      if (!isMultiple && (phase === 'done' || pauseReason === 'needs-file')) continue;
      count += 1;
    }
    return count;
  }
}

type Places = ReadonlyMap<string, readonly Upload[]>;

/** True where the record was made for this service, client and owner, with the same hash. */
const belongsTo = (record: UploadRecord, { settings }: Connection): boolean =>
  record.hashAlgorithm === settings.hash && record.key === recordKey({ ...settings, ...record });

type Seen = Pick<UploadRecord, 'name' | 'sizeBytes' | 'lastModifiedMs'>;

const identityOf = ({ name, size, lastModified }: File): Seen => ({
  name,
  sizeBytes: size,
  lastModifiedMs: lastModified,
});

/** What can be told of a file without reading it, and where it goes. */
const placeOf = (file: Seen & Pick<UploadRecord, 'parentId' | 'relativePath'>): string =>
  JSON.stringify([file.parentId, file.relativePath, file.name, file.sizeBytes, file.lastModifiedMs]);

const parentOf = ({ relativePath }: PickedFile, { settings }: Connection): string =>
  settings.parentFor?.(relativePath) ?? settings.parentId;

/** What the page allows. */
const limitsOf = ({ settings }: Connection) => ({
  accept: settings.accept,
  maxFiles: settings.multiple ? settings.maxFiles : 1,
  maxFileSizeBytes: Math.min(settings.maxFileSizeBytes, MAX_FILE_BYTES),
  refuseEmpty: settings.profile.emptyFile === 'refuse',
});

const readPicked = (item: PickedFile | File): PickedFile =>
  item instanceof File ? { file: item, relativePath: item.webkitRelativePath || item.name } : item;

const candidateOf = ({ file, relativePath }: PickedFile): Candidate => ({
  name: file.name,
  relativePath,
  sizeBytes: file.size,
  type: file.type,
});

/** A handle as Chromium has it: the permission is asked for again after a restart. */
type Askable = FileSystemFileHandle & {
  requestPermission?: (wanted: { mode: 'read' }) => Promise<PermissionState>;
};

/** The file of a handle; `undefined` where it was moved or deleted, or is not allowed, as without a click. It has to be picked then. */
async function askFor(handle: Askable): Promise<PickedFile | undefined> {
  try {
    const given = (await handle.requestPermission?.({ mode: 'read' })) ?? 'granted';
    return given === 'granted'
      ? { file: await handle.getFile(), relativePath: handle.name, handle }
      : undefined;
  } catch {
    return undefined;
  }
}
