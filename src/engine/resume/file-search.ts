// Gets the file of an upload again, from its handle or from an earlier page, or has the user asked for it.

import type { Lane } from '../../core/lane.ts';
import type { PickedFile } from '../../core/types.ts';
import { abortable } from '../../core/wait.ts';
import type { Upload } from '../upload.ts';
import { isOver, stateNameOf } from '../upload-state.ts';
import { type Comparison, compare, type FileIdentity } from './same-file.ts';

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
  const { identity, sameFile } = await compare(upload, picked.file, signal).catch(
    () => ({}) as Partial<Comparison>,
  );
  if (!sameFile || upload.picked || isOver(upload.state)) return identity;
  upload.provide({ ...picked, file: sameFile });
  if (isPaused) upload.dispatch({ type: 'pause' });
  return identity;
}

/** File handle, with methods of Chromium. On a later visit, a saved handle usually needs the user's permission again. */
type Askable = FileSystemFileHandle & {
  readonly [K in 'queryPermission' | 'requestPermission']?: (access: {
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
  const picked = await abortable(fileOf(handle, 'queryPermission'), limit);
  return picked && (await compare(upload, picked.file, signal)).sameFile;
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
  const open = async (savedHandle: FileSystemFileHandle): Promise<void> => {
    const picked = upload.needsFile && (await fileOf(savedHandle, 'queryPermission'));
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
  const searching = uploads.filter(({ lost, state }) => stateNameOf(state) === 'needs-file' && !lost);
  for (const upload of searching) upload.dispatch({ type: 'file-wanted' });
  return searching;
}
