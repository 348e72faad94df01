// The messages of the file keeper, and their validation, since any script of the origin can send messages.

import type { Phase } from '../../../core/phases.ts';
import type { Settings } from '../../../core/settings-table.ts';
import type { FileId, Metadata, PickedFile, UploadRecord } from '../../../core/types.ts';

interface Place {
  /** Base URL of the service. */
  readonly service: string;
  readonly owner: string;
}

/** What the next page needs to add a file again whose upload has no record. */
export interface Added {
  /** Id of the upload. */
  readonly id: string;
  /** Id of the document, if it has the upload and may come back from the back/forward cache; '' otherwise. */
  readonly document: string;
  readonly name: string;
  readonly relativePath: string;
  readonly parentId: string;
  readonly metadata?: Metadata | undefined;
  readonly handle?: FileSystemFileHandle | undefined;
  /** True if the upload waits for `start()`. */
  readonly isHeld: boolean;
}

/** The file of an unfinished upload. */
export interface Kept extends Place {
  /** Key of the upload's record; `keyOfNew()` for an upload without a record, which has `added`. */
  readonly key: string;
  readonly file: File;
  /** True if the user paused the upload. */
  readonly isPaused: boolean;
  readonly added?: Added | undefined;
}

/** What the keeper reads of an upload. */
export interface KeptUpload {
  readonly id: FileId;
  readonly name: string;
  readonly relativePath: string;
  readonly parentId: string;
  readonly phase: Phase;
  readonly state: {
    readonly phase: string;
    readonly reason?: string;
    readonly error?: { readonly retryable: boolean };
  };
  readonly picked: PickedFile | undefined;
  readonly resumeState: { readonly record: UploadRecord | undefined };
  readonly connection: {
    readonly settings: Pick<Settings, 'baseUrl' | 'clientId' | 'owner' | 'noResume'>;
  };
  dispatch(command: { type: 'suspend' | 'restore' | 'leave' }): void;
}

/** Returns what the next page needs to add the file of `upload` again. `document` is `Added.document`. */
export const addedOf = (
  { id, name, relativePath, parentId, picked, state }: KeptUpload,
  document: string,
): Added => ({
  id,
  document,
  name,
  relativePath,
  parentId,
  metadata: picked?.metadata,
  handle: picked?.handle,
  isHeld: state.phase === 'held',
});

/** A request for the files of uploads. The response is an array of `Kept` with the same service and owner. */
export interface Ask extends Place {
  /** Values of `Kept.key`. */
  readonly keys: readonly string[];
  /** Id of the document. */
  readonly document: string;
}

/**
 * A request to the worker. `files`: files to keep for the next page, with the ids of the page's requests that were not answered
 * (`unanswered`). `ask`: files to return, with an id of the request. `got`: id of a request whose answer has arrived; any id stops
 * the timer of a worker without files. `drop`: drops all files.
 */
export interface KeeperRequest {
  readonly files?: readonly Kept[];
  readonly unanswered?: readonly string[];
  readonly ask?: Ask;
  readonly id?: string;
  readonly got?: string;
  readonly drop?: true;
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => Object(value);

const PLACE = ['service', 'owner'];

const hasTexts = (value: unknown, ...names: readonly string[]): boolean =>
  names.every((name) => typeof fieldsOf(value)[name] === 'string');

function isKept(value: unknown): value is Kept {
  const { file, isPaused, added } = fieldsOf(value);
  const isSound =
    added === undefined || hasTexts(added, 'id', 'document', 'name', 'relativePath', 'parentId');
  return hasTexts(value, ...PLACE, 'key') && file instanceof File && typeof isPaused === 'boolean' && isSound;
}

/** Returns the valid files of a list; an empty list if `value` is not a list. */
export const readFiles = (value: unknown): readonly Kept[] =>
  Array.isArray(value) ? value.filter(isKept) : [];

/** Returns the request for files; `undefined` if `value` is not a valid request. */
export function readAsk(value: unknown): Ask | undefined {
  return hasTexts(value, ...PLACE, 'document') && Array.isArray(fieldsOf(value).keys)
    ? (value as Ask)
    : undefined;
}

/** Returns the files of a list that a request may have. */
export function filesFor({ service, owner, keys }: Ask, files: Iterable<Kept>): readonly Kept[] {
  const askedKeys = new Set(keys);
  return [...files].filter(
    (keptFile) => keptFile.service === service && keptFile.owner === owner && askedKeys.has(keptFile.key),
  );
}

/** Returns a string that differs between the files that are kept. */
export const idOf = ({ key, added }: Kept): string => added?.id ?? key;
