// Takes in picked files. Each file becomes a new upload, goes to an upload that needs the file, or is rejected with a reason.

import type { Candidate } from '../core/changes.ts';
import { createId } from '../core/create-id.ts';
import { UploaderError } from '../core/errors.ts';
import { loadTexts } from '../core/explain.ts';
import { Lane } from '../core/lane.ts';
import { isFile } from '../core/list-of.ts';
import { copyOfMetadata } from '../core/metadata.ts';
import type { AddedFile, FileId, PickedFile, UnreadableFile } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import { limitsOf, type Refusal, refusal } from '../pipeline/pick.ts';
import type { Commands } from './commands.ts';
import type { Connection } from './connection.ts';
import { type FileCache, isCacheable } from './resume/file-cache.ts';
import { askFor, fileOf, provideSame, wantFilesOf } from './resume/file-search.ts';
import { ResumeState, type ResumeStates } from './resume/resume-state.ts';
import { belongsTo, compare, pathKeyOf, statOf } from './resume/same-file.ts';
import type { UploadStore } from './resume/upload-store.ts';
import type { Scheduler } from './scheduler.ts';
import { Upload, type UploadContext } from './upload.ts';
import { saveFile } from './upload-run.ts';

export interface IntakeParts {
  readonly scheduler: Scheduler;
  readonly commands: Commands;
  readonly context: UploadContext;
  readonly store: UploadStore;
  readonly fileCache: FileCache;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #resumeStates: ResumeStates = new Map();
  /** Controller that `stop()` aborts. */
  #adding = new AbortController();
  /** A file that is not read within a second lets the next one pass. */
  readonly #comparing = new Lane(4, 1000);
  #order = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Stops adding files. Files that are not in the list yet are dropped. */
  stop(): void {
    this.#adding.abort();
    this.#adding = new AbortController();
  }

  /**
   * Adds each file to the list, or rejects the file with a reason. If an upload in the list needs the file, that upload gets the
   * file instead. Skips files for which `mayAdd` returns false. If any of them is no file or has invalid metadata, adds none and
   * throws `bad-config`.
   */
  async add(
    files: readonly (PickedFile | UnreadableFile | File)[],
    connection: Connection,
    mayAdd: (file: Candidate) => boolean,
  ): Promise<void> {
    const { signal } = this.#adding;
    if (!files.every(isPicked)) throw await errorFor(files.find((item) => !isPicked(item)));
    const pickedFiles = files.map(readPicked);
    const { multiple } = connection.settings;
    const limits = limitsOf(connection.settings);
    const waitingUploads = this.#waitingUploads();
    let listedCount = this.#countListed(multiple);
    /** Files that differ from a needed file in their time. They are read to compare them. */
    const doubtful: PickedFile[] = [];
    const addNew = (picked: PickedFile): void => {
      const candidate = candidateOf(picked);
      const reason = refusal(picked, limits, listedCount);
      if (reason) this.#refuse(candidate, reason);
      else if (mayAdd(candidate)) {
        listedCount += 1;
        this.addNew(picked, candidate, connection);
      }
    };
    const addOne = (picked: PickedFile | UnreadableFile): void => {
      if (signal.aborted) return;
      if (!picked.file) {
        this.#refuseUnreadable(picked);
        return;
      }
      const { lastModified } = picked.file;
      const candidates = waitingFor(picked, waitingUploads, connection);
      const exact = candidates.find((upload) => seenBy(upload)?.lastModifiedMs === lastModified);
      if (exact) exact.provide(picked);
      else if (candidates.some(({ resumeState }) => resumeState.record)) doubtful.push(picked);
      else addNew(picked);
    };
    const recount = (): void => {
      listedCount = this.#countListed(multiple);
    };
    const compareOne = async (picked: PickedFile): Promise<void> => {
      // The hash workers tell files apart by their signals.
      const comparisonSignal = AbortSignal.any([signal]);
      const isSame = await this.#provideTo(
        waitingFor(picked, waitingUploads, connection),
        picked,
        comparisonSignal,
      );
      if (signal.aborted) return;
      recount();
      if (isSame === undefined) this.#refuse(candidateOf(picked), { code: 'file-unreadable' });
      else if (!isSame) addNew(picked);
    };
    await this.#parts.scheduler.whileAdding(async () => {
      await inSlices(pickedFiles, addOne, recount);
      const comparing = doubtful.map((picked) => this.#comparing.run(() => compareOne(picked), signal));
      await Promise.all(comparing).catch((error) => {
        if (!signal.aborted) throw error;
      });
    });
  }

  /**
   * Gives the file to the first upload that it belongs to (`compare`), if that still needs it. Resolves with false if it belongs to
   * none, and with `undefined` if it cannot be read.
   */
  async #provideTo(
    uploads: readonly Upload[],
    picked: PickedFile,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    for (const upload of uploads) {
      if (!upload.resumeState.record) continue;
      const [searching] = wantFilesOf([upload]);
      // A file that cannot be read is rejected with this reason by the caller.
      const comparison = await compare(upload, picked.file, signal).catch(() => undefined);
      const sameFile = signal.aborted ? undefined : comparison?.sameFile;
      if (sameFile && upload.needsFile) upload.provide({ ...picked, file: sameFile });
      if (searching) askFor(searching);
      if (!comparison || signal.aborted) return undefined;
      if (sameFile) return true;
    }
    return false;
  }

  /**
   * Gives an upload the file that it needs. Rejects a different file (`wrong-file`). With a record, the file must be the same
   * (`compare`). Without a record, name and size must be equal to the upload. Exception: if the original file became unreadable
   * during this visit, a changed file with the same name is uploaded from the start.
   */
  async provide(id: FileId, item: PickedFile | UnreadableFile | File): Promise<void> {
    const upload = this.#parts.scheduler.get(id);
    if (!upload || upload.picked) return;
    if (!isPicked(item)) throw await errorFor(item);
    const picked = readPicked(item);
    if (!picked.file) {
      this.#refuseUnreadable(picked);
      return;
    }
    const identity = await provideSame(upload, picked);
    // In the meantime, another call may have provided the file or canceled the upload.
    if (upload.picked || !upload.needsFile) return;
    if (identity && upload.lost && identity.name === upload.ownName) this.#replace(upload, picked);
    else this.#refuse(candidateOf(picked), { code: identity ? 'wrong-file' : 'file-unreadable' });
  }

  /**
   * Gets the file of an upload from its saved handle. Resolves with false if the file is not available. Call this method in a click
   * handler, since the browser may ask the user for permission.
   */
  async ask(id: FileId): Promise<boolean> {
    const upload = this.#parts.scheduler.get(id);
    const handle = upload?.resumeState.record?.handle ?? upload?.lost?.handle;
    const picked = handle && (await fileOf(handle, 'requestPermission'));
    if (picked) await this.provide(id, picked);
    return picked !== undefined;
  }

  /** Adds a file that no upload in the list needs. */
  addNew(
    picked: PickedFile,
    candidate: Candidate,
    connection: Connection,
    parentId = parentOf(picked, connection),
  ): Upload {
    const { context, fileCache } = this.#parts;
    if (!parentId) context.warn('Neither parent-id nor parentFor names a folder.');
    const resumeState = this.createResumeState(connection);
    resumeState.keepsFile = isCacheable(candidate.sizeBytes, connection.settings);
    const upload = this.append({ ...candidate, parentId }, picked, connection, resumeState);
    if (resumeState.keepsFile) fileCache.add({ sizeBytes: upload.sizeBytes, save: () => saveFile(upload) });
    return upload;
  }

  /** Creates an upload, adds it to the end of the list, and reports `file-added`. */
  append(
    file: Omit<AddedFile, 'id'>,
    picked: PickedFile | undefined,
    connection: Connection,
    resumeState: ResumeState,
  ): Upload {
    const { context, scheduler } = this.#parts;
    const addedFile = { id: createId(), ...file };
    this.#order += 1;
    const upload = new Upload(addedFile, picked, this.#order, connection, resumeState, context);
    scheduler.append(upload);
    context.report({ name: 'file-added', detail: addedFile });
    return upload;
  }

  createResumeState({ settings }: Connection): ResumeState {
    const { context, store } = this.#parts;
    return new ResumeState(settings.noResume ? undefined : store, this.#resumeStates, context.tabLocks);
  }

  /** Returns the uploads that need their file. The keys are the `pathKeyOf` values of these files. */
  #waitingUploads(): UploadsByPathKey {
    const byPathKey = new Map<string, Upload[]>();
    for (const upload of this.#parts.scheduler.all) {
      const file = upload.needsFile && seenBy(upload);
      if (!file) continue;
      const pathKey = pathKeyOf(file);
      byPathKey.set(pathKey, [...(byPathKey.get(pathKey) ?? []), upload]);
    }
    return byPathKey;
  }

  /** Replaces an upload whose file became unreadable and has changed. The new file is uploaded from the start. */
  #replace(upload: Upload, { file, handle, metadata }: PickedFile): void {
    const { relativePath, lost } = upload;
    const picked = { file, relativePath, metadata: metadata ?? lost?.metadata, ...(handle && { handle }) };
    const reason = refusal(picked, limitsOf(upload.connection.settings), 0);
    if (reason) {
      this.#refuse(candidateOf(picked), reason);
      return;
    }
    this.addNew(picked, candidateOf(picked), upload.connection, upload.parentId);
    void this.#parts.commands.applyTo([upload], { type: 'replace' });
  }

  #refuseUnreadable({ relativePath }: UnreadableFile): void {
    const name = relativePath.split('/').findLast(Boolean) ?? relativePath;
    this.#refuse({ name, relativePath, sizeBytes: 0, type: '' }, { code: 'file-unreadable' });
  }

  #refuse(file: Candidate, why: Refusal): void {
    const { name, relativePath, sizeBytes } = file;
    this.#parts.context.report({
      name: 'file-rejected',
      detail: { id: createId(), name, relativePath, sizeBytes, ...why },
    });
  }

  /** Returns the number of files that count towards `max-files`. */
  #countListed(isMultiple: boolean): number {
    let count = 0;
    for (const { phase, needsFile } of this.#parts.scheduler.all) {
      if (phase === 'failed' || phase === 'canceled') continue;
      // With `multiple` off, the next file can be added when nothing is being uploaded.
      if (!isMultiple && (phase === 'done' || needsFile)) continue;
      count += 1;
    }
    return count;
  }
}

type UploadsByPathKey = ReadonlyMap<string, readonly Upload[]>;

export const candidateOf = ({ file, relativePath }: PickedFile): Candidate => ({
  name: file.name,
  relativePath,
  sizeBytes: file.size,
  type: file.type,
});

/** Returns what is known of the file that an upload had. */
const seenBy = ({ lost, resumeState, parentId, relativePath }: Upload) =>
  resumeState.record ?? (lost && { ...statOf(lost.file), parentId, relativePath });

/** Returns the uploads that need a file with this place and size. Does not read the file. */
function waitingFor(
  picked: PickedFile,
  uploads: UploadsByPathKey,
  connection: Connection,
): readonly Upload[] {
  if (uploads.size === 0) return [];
  const file = { ...statOf(picked.file), ...picked, parentId: parentOf(picked, connection) };
  return (uploads.get(pathKeyOf(file)) ?? []).filter((upload) => {
    const { record } = upload.resumeState;
    // Since `uploads` was collected, the upload may have got its file, or been removed, canceled, or completed by another tab.
    if (!upload.needsFile) return false;
    return record
      ? belongsTo(record, connection)
      : upload.lost && upload.connection.service === connection.service;
  });
}

const parentOf = ({ relativePath }: PickedFile, { settings }: Connection): string =>
  settings.parentFor?.(relativePath) ?? settings.parentId;

/** False for what scripts pass by mistake, such as the file input itself. */
function isPicked(item: unknown): boolean {
  const { file, relativePath } = Object(item);
  return isFile(item) || (typeof relativePath === 'string' && (isFile(file) || !file));
}

const errorFor = async (item: unknown): Promise<UploaderError> =>
  new UploaderError('bad-config', (await loadTexts())?.insteadOfFile(item) ?? 'Not a file');

function readPicked<T extends PickedFile | UnreadableFile>(item: T | File): T | PickedFile {
  if (isFile(item)) return { file: item, relativePath: item.webkitRelativePath || item.name };
  if (!item.file || item.metadata === undefined) return item;
  const metadata = copyOfMetadata(item.metadata);
  if (metadata) return { ...item, metadata };
  throw new UploaderError(
    'bad-config',
    `The metadata of ${item.file.name} must be a JSON object of at most 4 kB`,
  );
}
