// Replaces a file before it is uploaded: calls `transformFile`, and prepares photos.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import { trusted } from '../core/trusted.ts';
import { abortable, online } from '../core/wait.ts';
import { warnOnConsole } from '../core/warn.ts';
import { limitsOf, refusal } from '../pipeline/pick.ts';

const TRANSFORM_MS = 300_000;

/**
 * Resolves with the file to upload instead of `file`. Calls `send` before if there may be another one. Rejects with the code
 * `transform-failed` if `transformFile` throws or returns no file, if a photo cannot be prepared, or if this takes longer than
 * `longestMs`; with `file-unreadable`; with `location-not-removed`; with the code of a limit that the new file exceeds; with the
 * signal's reason if that aborts.
 */
export async function prepare(
  file: File,
  settings: Settings,
  signal: AbortSignal,
  send: (outcome: { readonly type: 'transform-started' }) => void,
  longestMs = TRANSFORM_MS,
): Promise<File> {
  const { imageMaxEdge, stripLocation, transformFile } = settings;
  const isPhotoPrepared = stripLocation || imageMaxEdge < Number.POSITIVE_INFINITY;
  if (!transformFile && !isPhotoPrepared) return file;
  // A part that cannot be loaded now may never be loaded in this page: some browsers remember the failure.
  if (isPhotoPrepared) await online(Number.POSITIVE_INFINITY, signal);
  send({ type: 'transform-started' });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  const prepareIt = async (): Promise<File> => {
    const made: unknown = transformFile ? await transformFile(file, limit) : file;
    if (!isFile(made)) throw new TypeError('transformFile returned no file');
    if (!isPhotoPrepared) return made;
    const { preparePhoto } = await import('../photos/photos.ts');
    const parts = { trusted, loadTasks: () => import('../photos/photo-tasks.ts') };
    const photo = await preparePhoto(made, imageMaxEdge, stripLocation, parts, limit);
    if (photo) return photo;
    throw new UploaderError('location-not-removed', "The location can't be removed from this file");
  };
  const made = await abortable(prepareIt(), limit).catch(async (error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof UploaderError) throw error;
    await abortable(file.slice(0, 1).arrayBuffer(), signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new UploaderError('file-unreadable', 'The file cannot be read', { cause });
    });
    warnOnConsole('A file could not be prepared', error);
    throw new UploaderError('transform-failed', 'A file could not be prepared', { cause: error });
  });
  const refused = made !== file && refusal({ file: made }, limitsOf(settings), 0);
  if (refused) throw new UploaderError(refused.code, 'The prepared file is not accepted');
  return made;
}

/** A `File` of another document is no instance of this `File`. */
const isFile = (value: unknown): value is File =>
  Object.prototype.toString.call(value) === '[object File]' && (value as File).name !== '';
