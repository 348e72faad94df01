// What can be told of a picked file without reading it, and how a handle becomes one. It takes and refuses nothing.

import type { Candidate } from '../core/changes.ts';
import type { PickedFile, UploadRecord } from '../core/types.ts';
import { MAX_FILE_BYTES } from '../pipeline/plan.ts';
import type { Connection } from './connection.ts';

type Seen = Pick<UploadRecord, 'name' | 'sizeBytes' | 'lastModifiedMs'>;

export const identityOf = ({ name, size, lastModified }: File): Seen => ({
  name,
  sizeBytes: size,
  lastModifiedMs: lastModified,
});

/** What can be told of a file without reading it, and where it goes. */
export const placeOf = (file: Seen & Pick<UploadRecord, 'parentId' | 'relativePath'>): string =>
  JSON.stringify([file.parentId, file.relativePath, file.name, file.sizeBytes, file.lastModifiedMs]);

export const parentOf = ({ relativePath }: PickedFile, { settings }: Connection): string =>
  settings.parentFor?.(relativePath) ?? settings.parentId;

/** What the page allows. */
export const limitsOf = ({ settings }: Connection) => ({
  accept: settings.accept,
  maxFiles: settings.multiple ? settings.maxFiles : 1,
  maxFileSizeBytes: Math.min(settings.maxFileSizeBytes, MAX_FILE_BYTES),
  refuseEmpty: settings.profile.emptyFile === 'refuse',
});

export const readPicked = (item: PickedFile | File): PickedFile =>
  item instanceof File ? { file: item, relativePath: item.webkitRelativePath || item.name } : item;

export const candidateOf = ({ file, relativePath }: PickedFile): Candidate => ({
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
export async function askFor(handle: Askable): Promise<PickedFile | undefined> {
  try {
    const given = (await handle.requestPermission?.({ mode: 'read' })) ?? 'granted';
    return given === 'granted'
      ? { file: await handle.getFile(), relativePath: handle.name, handle }
      : undefined;
  } catch {
    return undefined;
  }
}
