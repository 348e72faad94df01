// Creates request bodies and validates responses. Only this module contains the field names (snake_case) of the upload operations.

import { toBase64Url } from '../core/base64-url.ts';
import { UploaderError } from '../core/errors.ts';
import { isMinChunkSize, type Profile } from '../core/read-profile.ts';
import type { CommitProof, HashOfChunk, Session, SessionInput, Ticket, TicketUpload } from '../core/types.ts';
import { warnOnceHere } from '../core/warn.ts';
import { type Answer, readDateMs, readRetryAfterMs } from './http.ts';
import { askProfile, FAULTS, type FullProfile, type Meaning, meaningOf } from './profile.ts';
import {
  checkHeaders,
  checkMethod,
  checkUploadUrl,
  lifetimeOf,
  lifetimeUntil,
  type TicketRules,
} from './ticket-checks.ts';

/** Name of the header that identifies the upload session (U1). */
export const SESSION_HEADER = 'x-service-uploadsession';

/** Longest text in a response that is used, in characters. */
export const MAX_TEXT = 16_384;
const MAX_DEBUG_INFO = 500;

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
/** Returns a field of the object itself. Ignores inherited fields (`constructor`, `__proto__`). */
const field = (value: unknown, name: string): unknown =>
  isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : undefined;
/** Returns a field that is a text of 1 to 16,384 characters. */
export const textField = (value: unknown, name: string): string | undefined => text(field(value, name));

/**
 * Returns the body of `POST /files/uploadsession`. Converts the name to NFC, because macOS uses NFD. Throws `bad-config` if
 * `sessionFields` throws.
 */
export function sessionBody(
  { parentId, fileName, fileSize, file }: SessionInput,
  { sessionFields }: Pick<Profile, 'sessionFields'> = {},
): object {
  const ownFields = { parent_id: parentId, file_name: fileName.normalize('NFC'), file_size: fileSize };
  if (!sessionFields || !file) return ownFields;
  // Converts inside `askProfile`, so that a result that is not JSON is reported as an error of `sessionFields`.
  const pageFields = askProfile(
    'sessionFields',
    () => JSON.parse(JSON.stringify(sessionFields(file))) as object,
  );
  return { ...pageFields, ...ownFields };
}

/** Reads the session from the response to `POST /files/uploadsession` (U1). Throws `bad-response`. */
export function readSession(answer: Answer, profile: FullProfile): Session {
  const { body } = answer;
  const sessionId = textField(body, 'session_id');
  if (!isFields(body) || sessionId === undefined) throw badResponse(answer, 'The response has no session_id');
  const value = sessionHeaderOf(answer, profile);
  if (!isHeaderValue(value)) throw badResponse(answer, 'The session header is missing or not valid');
  const chunkSizeBytes = askProfile('chunkSize', () => profile.chunkSize?.({ body }));
  if (chunkSizeBytes !== undefined && !(Number.isSafeInteger(chunkSizeBytes) && chunkSizeBytes > 0))
    throw badResponse(answer, 'profile.chunkSize must return a whole number of bytes');
  const minChunkBytes = isMinChunkSize(profile.minChunkSize) ? profile.minChunkSize : readMinChunkBytes(body);
  const isDerived =
    profile.sessionHeader !== undefined && value !== answer.header(SESSION_HEADER) && !hasText(body, value);
  return {
    sessionId,
    header: value,
    ...(isDerived && { isDerived }),
    ...(chunkSizeBytes !== undefined && { chunkSizeBytes }),
    ...(minChunkBytes !== undefined && { minChunkBytes }),
  };
}

/** Returns the value of the session header as it is, in the first of its places that has one (U1). */
export function sessionHeaderOf(answer: Answer, { sessionHeader }: Profile): string | undefined {
  const { body } = answer;
  const header = answer.header(SESSION_HEADER);
  if (sessionHeader && isFields(body))
    return askProfile('sessionHeader', () => sessionHeader({ body, header }));
  return (header || textField(body, 'passport')) ?? textField(body, 'token') ?? textField(body, 'session_id');
}

/** Returns true if a request can have the value of a session header. */
export const isHeaderValue = (value: string | undefined): value is string =>
  text(value) !== undefined && /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value ?? '');

/** Returns true if `text` is a value in a response, at any depth. Without recursion: a service decides how deep a response is. */
function hasText(body: Fields, text: unknown): boolean {
  const parts: unknown[] = [body];
  for (const part of parts) {
    if (part === text) return true;
    if (isFields(part)) for (const child of Object.values(part)) parts.push(child);
  }
  return false;
}

/** Reads the size of the smallest chunk that the storage takes (U6c); `undefined` if the service does not say it. */
function readMinChunkBytes(body: Fields): number | undefined {
  const bytes = field(body, 'min_chunk_size');
  if (bytes === undefined || bytes === null) return undefined;
  if (isMinChunkSize(bytes)) return bytes;
  warnOnceHere('min_chunk_size is ignored. It must be a whole number of bytes, at most 64 MiB.');
  return undefined;
}

/** Converts a hash from lower-case hex to the encoding of the service (U5). */
export function encodeHash(hash: string, encoding: FullProfile['hashEncoding']): string {
  if (encoding === 'hex') return hash;
  const bytes = Uint8Array.from(hash.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return encoding === 'base64' ? btoa(String.fromCharCode(...bytes)) : toBase64Url(bytes);
}

/** Returns the body of `POST /files/uploadsession/chunks`. Adds `sizes` only if the profile sets `sendSizes` (U19). */
export function presignBody(chunks: readonly HashOfChunk[], profile: FullProfile): object {
  const hashes = chunks.map(({ hash }) => encodeHash(hash, profile.hashEncoding));
  return profile.sendSizes ? { hashes, sizes: chunks.map(({ sizeBytes }) => sizeBytes) } : { hashes };
}

/**
 * Reads one ticket for each of `hashes` (U2-U4, U7, U8) and returns the tickets by hash. Throws `bad-response`, or `bad-config` if
 * a URL is not secure, or not allowed by `upload-origins`.
 */
export function readTickets(
  answer: Answer,
  hashes: readonly string[],
  profile: FullProfile,
  rules: TicketRules,
): ReadonlyMap<string, Ticket> {
  const chunks = readChunks(answer);
  if (!chunks) throw badResponse(answer, 'The response has no chunks');
  const find = entryFinder(chunks, hashes.length, profile);
  const nowMs = readDateMs(answer.header('Date')) ?? Date.now();
  const tickets = hashes.map((hash, position): [string, Ticket] => {
    const name = encodeHash(hash, profile.hashEncoding);
    const entry = find(name, position);
    if (entry === undefined && profile.missingChunk === 'stored') return [hash, { receipt: '' }];
    if (!isFields(entry)) throw badResponse(answer, 'A chunk has no entry in the response');
    return [hash, readTicket(answer, { entry, name, nowMs }, profile, rules)];
  });
  return new Map(tickets);
}

/** Returns the entries of the chunks in a response; `undefined` if there is no object with them. */
export function readChunks({ body }: Answer): Fields | undefined {
  const chunks = field(body, 'chunks');
  return isFields(chunks) ? chunks : undefined;
}

/** Returns the function that finds the entry of a hash (U2). */
export function entryFinder(
  chunks: Fields,
  count: number,
  { chunkKey, hashEncoding }: FullProfile,
): (name: string, position: number) => unknown {
  if (chunkKey)
    return (name, position) =>
      field(
        chunks,
        askProfile('chunkKey', () => chunkKey(name, position)),
      );
  const keys = Object.keys(chunks);
  const isPositional =
    keys.length === count && keys.every((_, position) => Object.hasOwn(chunks, String(position)));
  if (isPositional) return (_, position) => field(chunks, String(position));
  if (hashEncoding !== 'hex') return (name) => field(chunks, name);
  const entriesByLowerCase = new Map(keys.map((key) => [key.toLowerCase(), chunks[key]]));
  return (name) => field(chunks, name) ?? entriesByLowerCase.get(name.toLowerCase());
}

/** Returns the receipt in the entry of a chunk. */
export const readReceipt = (entry: unknown): string | undefined => textField(entry, 'receipt');

function readTicket(
  answer: Answer,
  { entry, name, nowMs }: { entry: Fields; name: string; nowMs: number },
  profile: FullProfile,
  rules: TicketRules,
): Ticket {
  const receipt = readReceipt(entry);
  if (receipt === undefined) throw badResponse(answer, 'A chunk has no receipt');
  const url = field(entry, 'upload_url');
  // A missing field does not count, because a misspelled field would mean that no byte has to be sent.
  const isStored = profile.storedChunk
    ? askProfile('storedChunk', () => profile.storedChunk?.(entry))
    : url === null || url === '';
  if (isStored) return { receipt };
  if (url === undefined) throw badResponse(answer, 'A chunk has no upload_url (null if the chunk is stored)');
  if (typeof url !== 'string') throw badResponse(answer, 'An upload_url is not a string');
  const href = checkUploadUrl(url, rules);
  const lifetimeMs = readLifetimeMs(href, entry, nowMs, profile);
  const addedHeaders = profile.putHeaders
    ? askProfile('putHeaders', () => profile.putHeaders?.(name, entry))
    : undefined;
  const receivedAtMs = performance.now();
  const upload: TicketUpload = {
    url: href,
    method: checkMethod(field(entry, 'method')),
    headers: { ...checkHeaders(field(entry, 'headers'), rules), ...checkHeaders(addedHeaders, rules) },
    receivedAtMs,
    ...(lifetimeMs === undefined ? {} : { expiresAtMs: receivedAtMs + lifetimeMs }),
  };
  return { receipt, upload };
}

/** Returns how long the URL of an entry lives, in milliseconds; `undefined` if that is unknown. */
export function readLifetimeMs(
  url: string,
  entry: Fields,
  nowMs: number,
  { urlLifetime }: FullProfile,
): number | undefined {
  if (!urlLifetime) return lifetimeUntil(field(entry, 'expires_at'), nowMs) ?? lifetimeOf(url, nowMs);
  const seconds = askProfile('urlLifetime', () => urlLifetime(url, entry));
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Returns the body of the commit (U10). */
export function commitBody(
  { hashes, receipts, fileHash }: CommitProof,
  { hashEncoding }: FullProfile,
): object {
  return {
    hashes: hashes.map((hash) => encodeHash(hash, hashEncoding)),
    receipts,
    file_hash: fileHash && encodeHash(fileHash, hashEncoding),
  };
}

/**
 * Returns the JSON of a 2xx response to a commit; `undefined` if the response is empty. Throws `bad-response` if the response is
 * not JSON, for example from a proxy.
 */
export function readCommitted(answer: Answer): unknown {
  if (answer.body === undefined && !answer.isEmpty) {
    throw badResponse(answer, 'The response to the commit is not JSON');
  }
  return answer.body;
}

/**
 * Returns the hashes that a 409 response to a commit lists as missing; `undefined` if the response lists no hash. Throws
 * `bad-response` for a hash that was not sent.
 */
export function readMissing(
  answer: Answer,
  hashes: readonly string[],
  { hashEncoding }: FullProfile,
): string[] | undefined {
  const missingNames = field(answer.body, 'missing');
  if (!Array.isArray(missingNames) || missingNames.length === 0) return undefined;
  const fold = (name: string): string => (hashEncoding === 'hex' ? name.toLowerCase() : name);
  const hashesByName = new Map(hashes.map((hash) => [fold(encodeHash(hash, hashEncoding)), hash]));
  const missingHashes = missingNames.map((name: unknown) =>
    typeof name === 'string' ? hashesByName.get(fold(name)) : undefined,
  );
  if (missingHashes.includes(undefined))
    throw badResponse(answer, 'The service reports a missing chunk that is not part of this file');
  return [...new Set(missingHashes as string[])];
}

/** Upload operation. The meaning of some statuses depends on the operation. */
export type Operation = 'open' | 'presign' | 'commit' | 'cancel';

/** Names of the attributes that set the paths of the operations. */
const PATHS: Readonly<Record<Operation, string>> = {
  open: 'session-path',
  presign: 'chunks-path',
  commit: 'commit-path',
  cancel: 'cancel-path',
};

/** Returns `Retry-After`, or `retry_after` from the body, in milliseconds and at most `longestMs`. */
export function readPauseMs(answer: Answer, longestMs?: number): number | undefined {
  const delay = answer.header('Retry-After') ?? field(answer.body, 'retry_after');
  return readRetryAfterMs(typeof delay === 'number' ? delay : text(delay), answer.header('Date'), longestMs);
}

/** Returns true if something else than the service may have responded: errors of the service have `debuginfo`. */
export const isFromElsewhere = ({ status, body }: Answer): boolean =>
  (status === 404 || status === 405) && textField(body, 'debuginfo') === undefined;

/** Returns true, and warns, if something else than the service may have responded. */
export function warnOfPath(answer: Answer, operation: Operation): boolean {
  if (!isFromElsewhere(answer)) return false;
  const { status, address } = answer;
  const path = PATHS[operation];
  warnOnceHere(
    `The service responded with ${status} to ${operation}. Check base-url and ${path}: ${address}`,
  );
  return true;
}

/** Returns the error for a response other than 2xx (U12, U15). `createCalls` in `client.ts` lists the codes. */
export function readRefusal(answer: Answer, operation: Operation, profile: FullProfile): UploaderError {
  const { status } = answer;
  const retryAfterMs = readPauseMs(answer);
  const debugInfo = textField(answer.body, 'debuginfo')?.slice(0, MAX_DEBUG_INFO);
  const details = { status, debugInfo };
  const message = `The service responded with ${status} to ${operation}`;
  const meaning = meaningOf(status, profile.statuses);
  const isElsewhere = warnOfPath(answer, operation);
  if (!isElsewhere && operation === 'open' && (meaning === 'forbidden' || meaning === 'gone'))
    warnOnceHere(`${message}. Check parent-id and the rights of the user.`);
  const fault = FAULTS[meaning];
  if (fault) return new UploaderError(fault, message, { ...details, retryAfterMs });
  // In a session, a 404 may also come from a proxy, or from a server that doesn't know the session yet.
  const isSure = isElsewhere && (operation === 'open' || status === 405);
  if (isSure && profile.statuses[status] === undefined)
    return new UploaderError('service-not-found', message, details);
  switch (meaning) {
    case 'token':
      return readTokenRefusal(answer, message, details);
    case 'forbidden':
      return new UploaderError('forbidden', message, details);
    case 'gone':
      // When opening a session, the status means that the user cannot see the folder.
      return new UploaderError(operation === 'open' ? 'forbidden' : 'session-expired', message, details);
    case 'too-large':
      return operation === 'open'
        ? new UploaderError('file-too-large', message, details)
        : new UploaderError('upload-refused', message, { ...details, status: 413 });
    default:
      return new UploaderError(
        status === 409 && /open|commit/.test(operation) ? 'name-taken' : 'upload-refused',
        message,
        details,
      );
  }
}

/** Returns true if a token is valid, but not for this call. A new token would not help. */
const lacksScope = (answer: Answer): boolean =>
  /insufficient_scope/i.test(answer.header('WWW-Authenticate') ?? '');

/** Returns what the status of a response to an upload operation means (U12). */
export function meaningOfAnswer(answer: Answer, { statuses }: FullProfile): Meaning {
  const meaning = meaningOf(answer.status, statuses);
  return meaning === 'token' && lacksScope(answer) ? 'forbidden' : meaning;
}

function readTokenRefusal(answer: Answer, message: string, details: object): UploaderError {
  const wwwAuthenticate = answer.header('WWW-Authenticate') ?? '';
  if (lacksScope(answer)) {
    return new UploaderError('forbidden', message, { ...details, status: 403 });
  }
  const cause = wwwAuthenticate === '' ? {} : { cause: { wwwAuthenticate } };
  return new UploaderError('token-rejected', message, { ...details, status: 401, ...cause });
}

function badResponse(answer: Answer, message: string): UploaderError {
  return new UploaderError('bad-response', message, { status: answer.status });
}
