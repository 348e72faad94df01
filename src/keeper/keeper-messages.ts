// The messages of the file keeper, and their validation, since any script of the origin can send messages.

interface Place {
  /** Base URL of the service. */
  readonly service: string;
  readonly owner: string;
}

/** The file of an unfinished upload. */
export interface Kept extends Place {
  /** Key of the upload's record. */
  readonly key: string;
  readonly file: File;
  /** True if the user paused the upload. */
  readonly isPaused: boolean;
}

/** A request for the files of uploads. The response is an array of `Kept` with the same service and owner. */
export interface Ask extends Place {
  /** Keys of the uploads' records. */
  readonly keys: readonly string[];
}

/** A request to the worker. `files`: files to keep for the next page. `ask`: files to return. `drop`: drops all files. */
export interface KeeperRequest {
  readonly files?: readonly Kept[];
  readonly ask?: Ask;
  readonly drop?: true;
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => Object(value);

const hasPlace = ({ service, owner }: Readonly<Record<string, unknown>>): boolean =>
  typeof service === 'string' && typeof owner === 'string';

function isKept(value: unknown): value is Kept {
  const fields = fieldsOf(value);
  const { key, file, isPaused } = fields;
  return hasPlace(fields) && typeof key === 'string' && file instanceof File && typeof isPaused === 'boolean';
}

/** Returns the valid files of a list; an empty list if `value` is not a list. */
export const readFiles = (value: unknown): readonly Kept[] =>
  Array.isArray(value) ? value.filter(isKept) : [];

/** Returns the request for files; `undefined` if `value` is not a valid request. */
export function readAsk(value: unknown): Ask | undefined {
  const fields = fieldsOf(value);
  return hasPlace(fields) && Array.isArray(fields.keys) ? (value as Ask) : undefined;
}

/** Returns the files of a list that a request may have. */
export const filesFor = ({ service, owner, keys }: Ask, files: Iterable<Kept>): readonly Kept[] =>
  [...files].filter((kept) => kept.service === service && kept.owner === owner && keys.includes(kept.key));
