// Helpers for the reference service of a test file: tokens, faults and log. A fault names its file or chunk, because all tests of a
// test file share one service.

import type { LogEntry } from '../../demo/server/faults.ts';
import { createSettings } from '../../src/core/config.ts';
import type { Settings, SettingsInput } from '../../src/core/settings-table.ts';
import type { Calls, Session, WithToken } from '../../src/core/types.ts';
import { createCalls } from '../../src/service/client.ts';
import type { HttpOptions } from '../../src/service/http.ts';

export interface Reference {
  readonly baseUrl: string;
  readonly storageUrl: string;
}

/** Resolves with the URLs of the reference service. */
export async function findReference(): Promise<Reference> {
  const response = await fetch('/test-config');
  return (await response.json()) as Reference;
}

/** Resolves with settings for the reference service, including the optional paths. */
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

/** Resolves with a bearer token of a demo user. */
export async function tokenOf(user: string, lifetimeMs?: number): Promise<string> {
  return ((await ask('/token', 'POST', { user, lifetimeMs })) as { token: string }).token;
}

/** Returns a function that makes each call with `token`, without renewal. */
export const withToken =
  (token: string | undefined): WithToken =>
  (call) =>
    call(token);

/** Resolves with the upload operations of the service, authorized as the demo user `user`. */
export async function callsOf(
  user = 'alice',
  input: SettingsInput = {},
  options: HttpOptions = {},
): Promise<Calls> {
  return createCalls(await referenceSettings(input), withToken(await tokenOf(user)), options);
}

export const addFault = (fault: Readonly<Record<string, unknown>>): Promise<unknown> =>
  ask('/faults', 'POST', fault);

/** Removes all faults, for a test of a file whose faults no other one needs. */
export const clearFaults = (): Promise<unknown> => ask('/faults', 'DELETE');

/** Resolves with the log entries about one file or chunk. */
export async function logOf(match: { fileName?: string; hash?: string }): Promise<LogEntry[]> {
  const log = (await ask('/log', 'GET')) as LogEntry[];
  return log.filter(
    ({ fileName, hash }) =>
      (match.fileName === undefined || fileName === match.fileName) &&
      (match.hash === undefined || hash === match.hash),
  );
}

/** Returns a unique file name. */
export const uniqueName = (): string => `${crypto.randomUUID()}.bin`;

/** Resolves with random bytes, which no other test has stored, and their hash. */
export async function randomChunk(
  sizeBytes = 1000,
): Promise<{ body: Blob; hash: string; sizeBytes: number }> {
  const bytes = new Uint8Array(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { body: new Blob([bytes]), hash, sizeBytes };
}

/** Signal that is never aborted. */
export const forever = new AbortController().signal;

export const openSession = (
  calls: Calls,
  fileName: string,
  { parentId = 'folder-a', fileSize = 1000 } = {},
): Promise<Session> => calls.openSession({ parentId, fileName, fileSize }, forever);

/** Resolves with the number of files that the service has by these names. */
export async function countFiles(names: readonly string[]): Promise<number> {
  const { baseUrl } = await findReference();
  const headers = { authorization: `Bearer ${await tokenOf('alice')}` };
  const response = await fetch(`${baseUrl}/files?parent_id=folder-a`, { headers });
  const { files } = (await response.json()) as { files: { file_name: string }[] };
  return files.filter(({ file_name }) => names.includes(file_name)).length;
}
