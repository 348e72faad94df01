// From chunks to files: assembles committed uploads, reports files, and deletes what is not needed. All processes do this.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CompletedFile, onCompleted, refuse } from './hooks.ts';
import { LEASE_MS, type Session, type Sessions, type Work } from './sessions.ts';
import { assemble, forEach, remove, removeTarget, sizeOf } from './store.ts';

const MIN_PART_BYTES = 5 * 2 ** 20;
const POLL_MS = 5000;

/**
 * The user is part of the key, so that no user gets or learns of the bytes of another user. `%40` would be `@` in the store; `=40`
 * is the same in a key and in its URL.
 */
export const keyOf = (kind: 'chunks' | 'files', user: string, name: string) =>
  `${kind}/u-${encodeURIComponent(user).replaceAll('%', '=')}/${name}`;

/** The chunks do not make the file of the session. `missing` are those that are not stored. */
export class WrongChunks extends Error {
  readonly missing: string[];
  constructor(message: string, missing: string[] = []) {
    super(message);
    this.missing = missing;
  }
}

const fileOf = ({ fileId: id, user, folder, name, sizeBytes }: Session): CompletedFile => ({
  ...{ id, user, folder, name, sizeBytes },
  key: keyOf('files', user, id),
});

export function createFiles(sessions: Sessions, report: (error: unknown) => undefined) {
  const running = new Map<string, Promise<void>>();
  let isClosed = false;

  /**
   * Runs `work` while its `holder` has the lease of the session. `check` rejects if another process may have the session, and has
   * to be called before each step that can't be undone.
   */
  async function holding(
    id: string,
    holder: string,
    work: (check: () => Promise<void>, signal: AbortSignal) => Promise<void>,
  ) {
    const lost = new AbortController();
    let endsAt = Date.now() + LEASE_MS;
    const renew = async () => {
      const nextEnd = Date.now() + LEASE_MS;
      if (!(await sessions.renew(id, holder))) lost.abort();
      else endsAt = nextEnd;
    };
    const beat = setInterval(() => {
      // The database may be away for longer than the lease.
      if (Date.now() > endsAt) lost.abort();
      renew().catch(report);
    }, LEASE_MS / 3);
    try {
      await work(async () => {
        await renew();
        lost.signal.throwIfAborted();
      }, lost.signal);
    } finally {
      clearInterval(beat);
    }
  }

  async function checkChunks({ user, hashes, sizeBytes }: Session) {
    const distinct = [...new Set(hashes)];
    const sizeOfChunk = async (hash: string) => [hash, await sizeOf(keyOf('chunks', user, hash))] as const;
    const stored = new Map(await forEach(distinct, sizeOfChunk));
    const missing = distinct.filter((hash) => stored.get(hash) === undefined);
    if (missing.length > 0) throw new WrongChunks(`${missing.length} chunks are not stored`, missing);
    // Without this check, one large chunk that is listed 10,000 times would become 10,000 copies.
    const sizes = hashes.map((hash) => stored.get(hash) ?? 0);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    if (total !== sizeBytes) throw new WrongChunks(`the chunks have ${total} bytes, not file_size`);
    if (sizes.slice(0, -1).some((size) => size < MIN_PART_BYTES))
      throw new WrongChunks('all chunks but the last need 5 MiB: set chunk-size');
  }

  const build = (session: Session, holder: string) =>
    holding(session.id, holder, async (check, signal) => {
      const file = fileOf(session);
      try {
        await checkChunks(session);
        const chunks = session.hashes.map((hash) => keyOf('chunks', session.user, hash));
        await assemble(file.key, chunks, check, signal);
        const sentence = await refuse(file);
        await check();
        if (sentence) await remove(file.key);
        await sessions.move(session.id, holder, sentence ? 'refused' : 'done', sentence);
      } catch (error) {
        // If the store is away or full, any process tries it again, and so does a repeated commit.
        const next = error instanceof WrongChunks ? 'open' : 'committing';
        await sessions.move(session.id, holder, next).catch(() => undefined);
        throw error;
      }
    });

  async function deliver(session: Session, holder: string) {
    await onCompleted(fileOf(session));
    await sessions.move(session.id, holder, 'delivered');
  }

  async function clear(work: Work, holder: string) {
    const { id, user, chunks, state } = work;
    // The file of a canceled upload may have been assembled, or a part of it.
    if (state === 'open') await removeTarget(fileOf(work).key);
    await forEach(chunks, (hash) => remove(keyOf('chunks', user, hash)));
    await sessions.move(id, holder, 'deleted');
  }

  /** Does one thing that no process works on. If it fails, its lease ends after a while, and it is tried again. */
  async function workOff(): Promise<boolean> {
    const holder = randomUUID();
    const work = await sessions.takeWork(holder);
    if (work?.state === 'committing') await build(work, holder);
    else if (work) {
      const end = work.state === 'done' ? deliver : clear;
      await holding(work.id, holder, () => end(work, holder));
    }
    return work !== undefined;
  }
  let wake = new AbortController();
  const workSoon = () => {
    wake.abort();
    wake = new AbortController();
  };
  /** Several, so that a slow hook does not stop the others. */
  const loops = Array.from({ length: 4 }, async () => {
    while (!isClosed) {
      const { signal } = wake;
      const hasWorked = await workOff().catch(report);
      if (!hasWorked) await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  });

  return {
    /** Assembles the file of a committed session. Resolves with false if another process does. */
    async commit(session: Session): Promise<boolean> {
      if (!running.has(session.id)) {
        const holder = randomUUID();
        if (isClosed || !(await sessions.claim(session.id, holder, session.hashes))) return false;
        const work = build(session, holder).finally(() => running.delete(session.id));
        running.set(session.id, work);
        work.then(workSoon, () => undefined);
      }
      await running.get(session.id);
      return true;
    },
    /** Ends the background work, and waits for what is running. */
    async close() {
      isClosed = true;
      workSoon();
      await Promise.allSettled([...loops, ...running.values()]);
    },
  };
}
