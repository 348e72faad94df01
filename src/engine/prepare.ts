// Replaces a file before it is uploaded: calls `transformFile`, and prepares photos.

import { UploaderError } from '../core/errors.ts';
import { isFile } from '../core/list-of.ts';
import type { Settings } from '../core/settings-table.ts';
import { abortable } from '../core/wait.ts';
import { warnOnConsole } from '../core/warn.ts';
import { limitsOf, refusal } from '../pipeline/pick.ts';
import type { Times } from './connection.ts';
import { photos, preparesPhotos } from './late-photos.ts';

const TRANSFORM_MS = 300_000;
/** Longest time for reading one byte, in milliseconds. Afterwards, the drive counts as gone. */
const READ_MS = 5000;

/**
 * Resolves with the file to upload instead of `file`. If there may be another one, calls `send` and then `waitForBytes` before,
 * which resolves when the file can be read: `transformFile` and the photos have a time limit. Rejects with the code
 * `transform-failed` if `transformFile` throws, returns no file, or takes longer than `times.transformMs`, or if a photo cannot be
 * prepared; with `file-unreadable`; with `location-not-removed`; with the code of a limit that the new file exceeds; with the
 * signal's reason if that aborts.
 */
export async function prepare(
  file: File,
  settings: Settings,
  signal: AbortSignal,
  send: (outcome: { readonly type: 'transform-started' | 'offline' | 'online' }) => void,
  { transformMs = TRANSFORM_MS, photoMs }: Pick<Times, 'transformMs' | 'photoMs'> = {},
  waitForBytes: () => Promise<unknown> = async () => undefined,
): Promise<File> {
  const { transformFile } = settings;
  const isPhotoPrepared = preparesPhotos(settings);
  if (!transformFile && !isPhotoPrepared) return file;
  send({ type: 'transform-started' });
  await waitForBytes();
  const prepareIt = async (): Promise<File> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(transformMs)]);
    const transformIt = async (): Promise<unknown> => (transformFile ? transformFile(file, limit) : file);
    const output = await abortable(transformIt(), limit);
    if (!isFile(output) || output.name === '') throw new TypeError('transformFile returned no file');
    return isPhotoPrepared ? photos.prepare(output, settings, signal, send, photoMs) : output;
  };
  const body = await abortable(prepareIt(), signal).catch(async (error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof UploaderError) throw error;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
    await abortable(file.slice(0, 1).arrayBuffer(), limit).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new UploaderError('file-unreadable', 'The file cannot be read', { cause });
    });
    warnOnConsole('A file could not be prepared', error);
    throw new UploaderError('transform-failed', 'A file could not be prepared', { cause: error });
  });
  const reason = body !== file && refusal({ file: body }, limitsOf(settings), 0);
  if (reason) throw new UploaderError(reason.code, 'The prepared file is not accepted');
  return body;
}
