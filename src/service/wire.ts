// Names and shapes of the service's interface; the only module with snake_case. Writes request bodies and validates answers.

import type { Profile } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { Session, SessionFile, Ticket, TicketUpload } from '../core/types.ts';
import { warnOnceHere } from '../core/warn.ts';
import { type Answer, readDateMs, readRetryAfterMs } from './http.ts';
import { askProfile, type FullProfile, meaningOf } from './profile.ts';
import {
  checkHeaders,
  checkMethod,
  checkUploadUrl,
  lifetimeOf,
  lifetimeUntil,
  type TicketRules,
} from './ticket-checks.ts';

/** The header with the upload session (U1). */
export const SESSION_HEADER = 'x-service-uploadsession';

const MAX_TEXT = 16_384;
const MAX_DEBUG_INFO = 500;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
/** An own field, never an inherited one (`constructor`, `__proto__`). */
const field = (value: unknown, name: string): unknown =>
  isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : undefined;

/** Body of `POST /files/uploadsession`. The name is in NFC, since macOS writes NFD. Throws `bad-config`. */
export function sessionBody(
  {
    parentId,
    fileName,
    fileSize,
    file,
  }: { parentId: string; fileName: string; fileSize: number; file?: SessionFile },
  { sessionFields }: Pick<Profile, 'sessionFields'> = {},
): unknown {
  const own = { parent_id: parentId, file_name: fileName.normalize('NFC'), file_size: fileSize };
  if (!sessionFields || !file) return own;
  // Here, what is no JSON is an error of the page's function.
  const more = askProfile('sessionFields', () => JSON.parse(JSON.stringify(sessionFields(file))) as object);
  return { ...more, ...own };
}

/** The session in the answer of `POST /files/uploadsession` (U1). Throws `bad-response`. */
export function readSession(answer: Answer, profile: FullProfile): Session {
  const { body } = answer;
  const sessionId = text(field(body, 'session_id'));
  if (!isFields(body) || sessionId === undefined) throw badResponse(answer, 'the answer has no session_id');
  const header = answer.header(SESSION_HEADER);
  const value = profile.sessionHeader
    ? askProfile('sessionHeader', () => profile.sessionHeader?.({ body, header }))
    : ((header || text(field(body, 'passport'))) ?? text(field(body, 'token')) ?? sessionId);
  if (text(value) === undefined || !/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value ?? '')) {
    throw badResponse(answer, 'what opens the session cannot go into a header');
  }
  const chunkSizeBytes = askProfile('chunkSize', () => profile.chunkSize?.({ body }));
  if (chunkSizeBytes === undefined) return { sessionId, header: value as string };
  if (!Number.isSafeInteger(chunkSizeBytes) || chunkSizeBytes <= 0)
    throw badResponse(answer, 'profile.chunkSize gave no whole number of bytes');
  return { sessionId, header: value as string, chunkSizeBytes };
}

/** A hash in the notation of the service (U5); ours is lower-case hex. */
export function encodeHash(hash: string, encoding: FullProfile['hashEncoding']): string {
  if (encoding === 'hex') return hash;
  const bytes = (hash.match(/../g) ?? []).map((pair) => String.fromCharCode(Number.parseInt(pair, 16)));
  const base64 = btoa(bytes.join(''));
  return encoding === 'base64' ? base64 : base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Body of `POST /files/uploadsession/chunks`; `sizes` only if the profile asks for it (U19). */
export function presignBody(
  chunks: readonly { hash: string; sizeBytes: number }[],
  profile: FullProfile,
): unknown {
  const hashes = chunks.map(({ hash }) => encodeHash(hash, profile.hashEncoding));
  return profile.sendSizes ? { hashes, sizes: chunks.map(({ sizeBytes }) => sizeBytes) } : { hashes };
}

/** Tickets by hash, for exactly `hashes` (U2-U4, U7, U8). Throws `bad-response`, or `bad-config` (`upload-origins`). */
export function readTickets(
  answer: Answer,
  hashes: readonly string[],
  profile: FullProfile,
  rules: TicketRules,
): ReadonlyMap<string, Ticket> {
  const chunks = field(answer.body, 'chunks');
  if (!isFields(chunks)) throw badResponse(answer, 'the answer has no chunks');
  const find = entryFinder(chunks, hashes.length, profile);
  const nowMs = readDateMs(answer.header('Date')) ?? Date.now();
  const tickets = hashes.map((hash, position): [string, Ticket] => {
    const name = encodeHash(hash, profile.hashEncoding);
    const entry = find(name, position);
    if (entry === undefined && profile.missingChunk === 'stored') return [hash, { receipt: '' }];
    if (!isFields(entry)) throw badResponse(answer, 'a chunk has no entry in the answer');
    return [hash, readTicket(answer, { entry, name, nowMs }, profile, rules)];
  });
  return new Map(tickets);
}

function entryFinder(
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
  const byLowerCase = new Map(keys.map((key) => [key.toLowerCase(), chunks[key]]));
  return (name) => field(chunks, name) ?? byLowerCase.get(name.toLowerCase());
}

function readTicket(
  answer: Answer,
  { entry, name, nowMs }: { entry: Fields; name: string; nowMs: number },
  profile: FullProfile,
  rules: TicketRules,
): Ticket {
  const receipt = text(field(entry, 'receipt'));
  if (receipt === undefined) throw badResponse(answer, 'a chunk has no receipt');
  const url = field(entry, 'upload_url') ?? '';
  const isStored = profile.storedChunk
    ? askProfile('storedChunk', () => profile.storedChunk?.(entry))
    : url === '';
  if (isStored) return { receipt };
  if (typeof url !== 'string') throw badResponse(answer, 'an upload_url is no string');
  const href = checkUploadUrl(url, rules);
  const lifetimeMs = readLifetimeMs(href, entry, nowMs, profile);
  const added = profile.putHeaders
    ? askProfile('putHeaders', () => profile.putHeaders?.(name, entry))
    : undefined;
  const receivedAtMs = performance.now();
  const upload: TicketUpload = {
    url: href,
    method: checkMethod(field(entry, 'method')),
    headers: { ...checkHeaders(field(entry, 'headers'), rules), ...checkHeaders(added, rules) },
    receivedAtMs,
    ...(lifetimeMs === undefined ? {} : { expiresAtMs: receivedAtMs + lifetimeMs }),
  };
  return { receipt, upload };
}

function readLifetimeMs(
  url: string,
  entry: Fields,
  nowMs: number,
  { urlLifetime }: FullProfile,
): number | undefined {
  if (!urlLifetime) return lifetimeUntil(field(entry, 'expires_at'), nowMs) ?? lifetimeOf(url, nowMs);
  const seconds = askProfile('urlLifetime', () => urlLifetime(url, entry));
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Body of the commit (U10): both lists in chunk order. */
export function commitBody(
  { hashes, receipts }: { readonly hashes: readonly string[]; readonly receipts: readonly string[] },
  { hashEncoding }: FullProfile,
): unknown {
  return { hashes: hashes.map((hash) => encodeHash(hash, hashEncoding)), receipts };
}

/** A 2xx answer to a commit: JSON or empty. Anything else comes from a proxy: throws `bad-response`. */
export function readCommitted(answer: Answer): unknown {
  if (answer.body === undefined && !answer.isEmpty) {
    throw badResponse(answer, 'the answer to a commit is no JSON');
  }
  return answer.body;
}

/**
 * The hashes that are missing by a 409 on commit; `undefined` if it names none. Throws `bad-response` for a hash that was not sent.
 */
export function readMissing(
  answer: Answer,
  hashes: readonly string[],
  { hashEncoding }: FullProfile,
): string[] | undefined {
  const missing = field(answer.body, 'missing');
  if (!Array.isArray(missing) || missing.length === 0) return undefined;
  const fold = (name: string): string => (hashEncoding === 'hex' ? name.toLowerCase() : name);
  const ours = new Map(hashes.map((hash) => [fold(encodeHash(hash, hashEncoding)), hash]));
  const named = missing.map((name: unknown) => (typeof name === 'string' ? ours.get(fold(name)) : undefined));
  if (named.includes(undefined))
    throw badResponse(answer, 'the service misses a chunk that is not of this file');
  return [...new Set(named as string[])];
}

/** Some statuses have another meaning for each operation. */
export type Operation = 'open' | 'presign' | 'commit' | 'cancel';

/** `Retry-After` or `retry_after` in the body, at most `longestMs`. */
export function readPauseMs(answer: Answer, longestMs?: number): number | undefined {
  const told = answer.header('Retry-After') ?? field(answer.body, 'retry_after');
  return readRetryAfterMs(typeof told === 'number' ? told : text(told), answer.header('Date'), longestMs);
}

/** The error for an answer other than 2xx (U12, U15). See `Calls` in `client.ts` for the codes. */
export function readRefusal(answer: Answer, operation: Operation, profile: FullProfile): UploaderError {
  const { status } = answer;
  const retryAfterMs = readPauseMs(answer);
  const debugInfo = text(field(answer.body, 'debuginfo'))?.slice(0, MAX_DEBUG_INFO);
  const details = { status, ...(debugInfo === undefined ? {} : { debugInfo }) };
  const waiting = retryAfterMs === undefined ? details : { ...details, retryAfterMs };
  const says = `the service answered ${status} to ${operation}`;
  // Errors of the service itself have `debuginfo`.
  if ((status === 404 || status === 405) && debugInfo === undefined)
    warnOnceHere(`${says}: is ${answer.address} right, as base-url and the path have it?`);
  switch (meaningOf(status, profile.statuses)) {
    case 'token':
      return readTokenRefusal(answer, says, details);
    case 'forbidden':
      return new UploaderError('forbidden', says, details);
    case 'gone':
      // There is no session yet; the user cannot see the folder.
      return new UploaderError(operation === 'open' ? 'forbidden' : 'session-expired', says, details);
    case 'too-large':
      return operation === 'open'
        ? new UploaderError('file-too-large', says, details)
        : new UploaderError('upload-refused', says, { ...details, status: 413 });
    case 'slow-down':
      return new UploaderError('rate-limited', says, waiting);
    case 'retry':
      return new UploaderError('service-failed', says, waiting);
    default:
      return new UploaderError(
        operation === 'open' && status === 409 ? 'name-taken' : 'upload-refused',
        says,
        details,
      );
  }
}

function readTokenRefusal(answer: Answer, says: string, details: object): UploaderError {
  const wwwAuthenticate = answer.header('WWW-Authenticate') ?? '';
  // The token is valid, but not for this call; a new one would not help.
  if (/insufficient_scope/i.test(wwwAuthenticate)) {
    return new UploaderError('forbidden', says, { ...details, status: 403 });
  }
  const cause = wwwAuthenticate === '' ? {} : { cause: { wwwAuthenticate } };
  return new UploaderError('token-rejected', says, { ...details, status: 401, ...cause });
}

function badResponse(answer: Answer, why: string): UploaderError {
  return new UploaderError('bad-response', why, { status: answer.status });
}
