// A service that a test scripts, and calls to it that share requests.

import { createSettings } from '../../src/core/config.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { Calls, HashOfChunk, Session, WithToken } from '../../src/core/types.ts';
import { createCalls } from '../../src/service/client.ts';
import { settled } from '../support/collect.ts';
import { replace } from '../support/world.ts';
import { forever, withToken } from './reference.ts';

export type Fields = Readonly<Record<string, unknown>>;
interface Sent {
  readonly path: string;
  readonly token: string | null;
  readonly session: string | null;
  readonly body: Fields;
}
export interface Said {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export const hashOf = (name: string): string =>
  Array.from(name.padEnd(32, '-'), (letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('');
export const chunkOf = (name: string): HashOfChunk => ({ hash: hashOf(name), sizeBytes: 5 });
export const ticketFor = (hash: string): object => ({
  upload_url: `https://store.test/${hash}`,
  receipt: `receipt of ${hash}`,
});

/** Creates calls to a service that opens, presigns and commits everything. A test replaces what it says. */
export function scripted(input: SettingsInput = {}, asUser: WithToken = withToken('token')) {
  const sent: Sent[] = [];
  let sessionCount = 0;
  const nextNumber = (): number => {
    sessionCount += 1;
    return sessionCount;
  };
  const ticketsOf = (hashes: unknown): object =>
    Object.fromEntries((hashes as string[]).map((hash) => [hash, ticketFor(hash)]));
  const says = {
    open: (): Said => ({ status: 201, body: { session_id: `session ${nextNumber()}` } }),
    /** Answer for a file that a batch opens, from that of the single call. */
    openInBatch: (file: Fields, opened: Said): Fields => ({
      status: opened.status,
      body: { ...(opened.body as object), chunks: ticketsOf(file.hashes) },
    }),
    presign: ({ body }: Sent): Said => ({ status: 200, body: { chunks: ticketsOf(body.hashes) } }),
    commit: (): Said => ({ status: 200, body: { file_id: 'file' } }),
    batch: (files: readonly Fields[], kind: string): Said | Promise<Said> => ({
      status: 200,
      body: {
        answers: files.map((file) => (kind === 'open' ? says.openInBatch(file, says.open()) : says.commit())),
      },
    }),
    cancel: (): Said => ({ status: 204 }),
  };
  const answer = (request: Sent): Said | Promise<Said> => {
    const { path, body } = request;
    if (path === '/batch') {
      const [kind = '', files = []] = Object.entries(body)[0] ?? [];
      return says.batch(files as readonly Fields[], kind);
    }
    if (path.endsWith('/chunks')) return says.presign(request);
    if (path === '/commit') return says.commit();
    return path === '/cancel' ? says.cancel() : says.open();
  };
  replace(globalThis, 'fetch' as never, async (url: URL, { headers, body, signal }: RequestInit) => {
    const names = new Headers(headers);
    const request: Sent = {
      path: url.pathname,
      token: names.get('authorization'),
      session: names.get('x-service-uploadsession'),
      body: typeof body === 'string' ? JSON.parse(body) : {},
    };
    sent.push(request);
    const said = await Promise.race([
      answer(request),
      new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ]);
    const text = said.body === undefined ? null : JSON.stringify(said.body);
    return new Response(text, { status: said.status, ...(said.headers && { headers: said.headers }) });
  });
  const settings = createSettings({
    baseUrl: 'https://service.test',
    commitPath: '/commit',
    cancelPath: '/cancel',
    batchPath: '/batch',
    ...input,
  });
  const calls = createCalls(settings, asUser);
  const open = (
    name: string,
    firstChunks: Promise<readonly HashOfChunk[]> | undefined = Promise.resolve([chunkOf(name)]),
    signal = forever,
  ): Promise<Session> => {
    const file = { name, relativePath: '', sizeBytes: 5, type: '', lastModifiedMs: 0 };
    return calls.openSession(
      { parentId: 'folder', fileName: name, fileSize: 5, file, firstChunks: () => firstChunks },
      signal,
    );
  };
  const commit = (session: Session, name: string, options = {}) => {
    const proof = { hashes: [hashOf(name)], receipts: ['receipt'] };
    return (calls.commit as NonNullable<Calls['commit']>)(session, proof, forever, options);
  };
  const paths = (): string[] => sent.map(({ path }) => path.split('/').at(-1) as string);
  /** Opens files, after the code for batches was loaded and a first file has gone alone. */
  const openInBatch = async (...names: string[]): Promise<Session[]> => {
    await import('../../src/service/batches.ts');
    await settled();
    await open('first');
    sent.length = 0;
    return Promise.all(names.map((name) => open(name)));
  };
  return { calls, commit, open, openInBatch, paths, says, sent };
}
