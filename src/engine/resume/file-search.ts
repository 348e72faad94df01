// What tells files apart: their place and identity, their record, and their handle.

import type { Candidate } from '../../core/changes.ts';
import type { Lane } from '../../core/lane.ts';
import { mapAhead } from '../../core/streams.ts';
import type { PickedFile, UploadRecord } from '../../core/types.ts';
import { abortable } from '../../core/wait.ts';
import type { Connection } from '../connection.ts';
import type { Upload } from '../upload.ts';
import { isOver, stateNameOf } from '../upload-state.ts';
import type { RecordToSave } from './record.ts';
import { type FileIdentity, identify, isSameFile, recordKey } from './same-file.ts';

/** True if the record was created for the same service, client and owner, with the same hash algorithm. */
export const belongsTo = (record: RecordToSave, { settings }: Connection): boolean =>
  record.hashAlgorithm === settings.hash && record.key === recordKey({ ...settings, ...record });

/** A `File` of another document is no instance of this `File`. */
export const isFile = (value: unknown): value is File =>
  Object.prototype.toString.call(value) === '[object File]';

type Seen = Pick<UploadRecord, 'name' | 'sizeBytes' | 'lastModifiedMs'>;

export const identityOf = ({ name, size, lastModified }: File): Seen => ({
  name,
  sizeBytes: size,
  lastModifiedMs: lastModified,
});

type Place = Seen & Pick<UploadRecord, 'parentId' | 'relativePath'>;

/** Returns a string for folder, path, name and size of a file. */
export const pathAndSizeOf = ({
  parentId,
  relativePath,
  name,
  sizeBytes,
}: Omit<Place, 'lastModifiedMs'>): string => JSON.stringify([parentId, relativePath, name, sizeBytes]);

/** Returns a string that identifies a file without its content: folder, path, name, size and modification time. */
export const placeOf = (file: Place): string => `${pathAndSizeOf(file)} ${file.lastModifiedMs}`;

export interface Compared {
  readonly found: FileIdentity;
  /** The file, if it is the one of the upload. */
  readonly same?: File;
}

/**
 * Compares a file with the one of an upload. It is the same file if name, size, modification time and first bytes are the same.
 * It is also the same file if only name or time differ, and all stored chunks have the same bytes (without stored chunks, if only
 * the time differs). It then gets the name and the time of the record. Rejects if the file cannot be read, or with the signal's
 * reason.
 */
export async function compare(
  { connection, lost, ownName, resumeState: { record }, sizeBytes: bodyBytes }: Upload,
  file: File,
  signal: AbortSignal,
): Promise<Compared> {
  const { hashSlice } = connection.service.client.pool;
  const found = await identify(file, hashSlice, signal);
  const sizeBytes = lost?.file.size ?? bodyBytes;
  if (isSameFile({ ...found, name: ownName, sizeBytes, ...record }, found)) return { found, same: file };
  if (record?.sizeBytes !== found.sizeBytes || record.firstSliceHash !== found.firstSliceHash)
    return { found };
  const { chunkSizeBytes, name, lastModifiedMs: lastModified, stored } = record;
  if (stored.size === 0 && name !== found.name) return { found };
  // The run compares what `transformFile` makes of the file.
  const compared = record.bodyBytes === undefined ? stored : [];
  const isStored = mapAhead(compared, 2, async ([index, { hash }]) => {
    const slice = file.slice(index * chunkSizeBytes, (index + 1) * chunkSizeBytes);
    return hash === (await hashSlice(slice, { keepBytes: false, signal })).hash;
  });
  for await (const isSame of isStored) if (!isSame) return { found };
  return { found, same: new File([file], name, { type: file.type, lastModified }) };
}

export const candidateOf = ({ file, relativePath }: PickedFile): Candidate => ({
  name: file.name,
  relativePath,
  sizeBytes: file.size,
  type: file.type,
});

/**
 * Gives an upload its file, if it is the same (`compare`). Returns the identity of the file; `undefined` if the file cannot be
 * read. With `isPaused`, the upload does not start.
 */
export async function provideSame(
  upload: Upload,
  picked: PickedFile,
  isPaused = false,
): Promise<FileIdentity | undefined> {
  const { signal } = new AbortController();
  const { found, same } = await compare(upload, picked.file, signal).catch(() => ({}) as Partial<Compared>);
  if (!same || upload.picked || isOver(upload.state)) return found;
  upload.provide({ ...picked, file: same });
  if (isPaused) upload.dispatch({ type: 'pause' });
  return found;
}

/** File handle, with methods of Chromium. On a later visit, a saved handle usually needs the user's permission again. */
type Askable = FileSystemFileHandle & {
  readonly [K in 'queryPermission' | 'requestPermission']?: (wanted: {
    mode: 'read';
  }) => Promise<PermissionState>;
};

/**
 * Returns the file of a handle. Returns `undefined` if the file was moved or deleted, or if the browser or the user denies access.
 * With `queryPermission`, the user is not asked.
 */
export async function fileOf(
  handle: Askable,
  ask: 'queryPermission' | 'requestPermission',
): Promise<PickedFile | undefined> {
  try {
    const permission = (await handle[ask]?.({ mode: 'read' })) ?? 'granted';
    return permission === 'granted'
      ? { file: await handle.getFile(), relativePath: handle.name, handle }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Longest wait for a file from its handle, in milliseconds. A drive that is gone may never answer. */
const HANDLE_MS = 5000;

/**
 * Opens a file that became unreadable because it was changed. Resolves with `undefined` if it is not the same (`compare`), or if
 * the user would have to be asked. Rejects if it cannot be read, or takes too long.
 */
export async function openAgain(
  upload: Upload,
  handle: Askable,
  signal: AbortSignal,
): Promise<File | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HANDLE_MS)]);
  const again = await abortable(fileOf(handle, 'queryPermission'), limit);
  return again && (await compare(upload, again.file, signal)).same;
}

/** Gives an upload a file that was found for it, if it is the same file. */
export async function give(upload: Upload, file: File, isPaused = false): Promise<void> {
  const { handle } = upload.resumeState.record ?? {};
  const picked: PickedFile = { file, relativePath: upload.relativePath, ...(handle && { handle }) };
  await provideSame(upload, picked, isPaused);
}

/** Gives an upload the file of its handle, when the lane has a place, or asks the user for the file. */
export async function openHandle(upload: Upload, lane: Lane, signal: AbortSignal): Promise<void> {
  const { handle, isPaused } = upload.resumeState.record ?? {};
  const open = async (wanted: FileSystemFileHandle): Promise<void> => {
    const picked = upload.needsFile && (await fileOf(wanted, 'queryPermission'));
    if (picked) await give(upload, picked.file, isPaused);
  };
  if (handle)
    // Without an answer of the drive in time, the user is asked for the file.
    await lane
      .run(() => abortable(open(handle), AbortSignal.timeout(HANDLE_MS)), signal)
      .catch(() => undefined);
  askFor(upload);
}

/** Asks the user for the file of an upload that still needs it, and lets other tabs look for it. */
export function askFor(upload: Upload): void {
  if (upload.needsFile) upload.dispatch({ type: 'file-missing' });
}

/** Returns those uploads whose file the user was asked for. From now on, their files are looked for, until `askFor`. */
export function wantFilesOf(uploads: readonly Upload[]): Upload[] {
  const asked = uploads.filter(({ lost, state }) => stateNameOf(state) === 'needs-file' && !lost);
  for (const upload of asked) upload.dispatch({ type: 'file-wanted' });
  return asked;
}
