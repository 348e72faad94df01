// The reference service that runs beside the tests: tokens, faults and log. Other test files use the same service at the same time,
// so every fault names the file or the chunk that it applies to.

import { createSettings, type Settings, type SettingsInput } from '../../src/core/config.ts';
import type { Calls, WithToken } from '../../src/core/types.ts';
import { createCalls } from '../../src/service/client.ts';
import type { HttpOptions } from '../../src/service/http.ts';

export interface Reference {
  readonly baseUrl: string;
  readonly storageUrl: string;
}

/** URLs of the service. */
export async function findReference(): Promise<Reference> {
  const response = await fetch('/test-config.json');
  return (await response.json()) as Reference;
}

/** Settings for the service, all paths set. */
export async function referenceSettings(input: SettingsInput = {}): Promise<Settings> {
  const { baseUrl } = await findReference();
  return createSettings({
    baseUrl,
    commitPath: '/files/uploadsession/commit',
    cancelPath: '/files/uploadsession',
    ...input,
  });
}

async function ask(path: string, method: string, body?: unknown): Promise<unknown> {
  const { baseUrl } = await findReference();
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/_test${path}`, { method, headers, ...init });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}

/** A bearer token of a demo user. */
export async function tokenOf(user: string): Promise<string> {
  return ((await ask('/token', 'POST', { user })) as { token: string }).token;
}

/** Calls with this token and nothing else. */
export const withToken =
  (token: string | undefined): WithToken =>
  (call) =>
    call(token);

/** The upload operations of the service, as a demo user. */
export async function callsOf(
  user = 'alice',
  input: SettingsInput = {},
  options: HttpOptions = {},
): Promise<Calls> {
  return createCalls(await referenceSettings(input), withToken(await tokenOf(user)), options);
}

export const addFault = (fault: Readonly<Record<string, unknown>>): Promise<unknown> =>
  ask('/faults', 'POST', fault);

export interface LogEntry {
  readonly operation: string;
  readonly headers: readonly string[];
  readonly hasBearer: boolean;
  readonly hasCookie: boolean;
  readonly fileName?: string;
  readonly hash?: string;
  readonly sizeBytes?: number;
  readonly fields?: readonly string[];
  readonly stored?: boolean;
  readonly broken?: boolean;
}

/** The service's log of one file or chunk. */
export async function logOf(match: { fileName?: string; hash?: string }): Promise<LogEntry[]> {
  const log = (await ask('/log', 'GET')) as LogEntry[];
  return log.filter(
    ({ fileName, hash }) =>
      (match.fileName === undefined || fileName === match.fileName) &&
      (match.hash === undefined || hash === match.hash),
  );
}

/** A name that no other test has. */
export const uniqueName = (): string => `${crypto.randomUUID()}.bin`;

/** Random bytes, so that no other test has stored them, and their hash. */
export async function randomChunk(
  sizeBytes = 1000,
): Promise<{ body: Blob; hash: string; sizeBytes: number }> {
  const bytes = new Uint8Array(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { body: new Blob([bytes]), hash, sizeBytes };
}

/** The error that a promise rejects with; throws if it resolves. */
export async function rejection<T = Error>(promise: Promise<unknown>): Promise<T> {
  try {
    await promise;
  } catch (error) {
    return error as T;
  }
  throw new Error('it was expected to reject');
}

/** A signal that is never aborted. */
export const forever = new AbortController().signal;
