// From chunks to files: assembles committed uploads, reports files, and deletes what is not needed. All processes do this.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { assemble, removeOthers, type Source } from './assemble.ts';
import { type CompletedFile, onCompleted, refuse } from './hooks.ts';
import { within } from './log.ts';
import { digestOf, type Kind, LEASE_MS, type Session, type Sessions, type Work } from './sessions.ts';
import { forEach, PATIENT, remove, sizeOf } from './store.ts';

const MIN_PART_BYTES = 5 * 2 ** 20;
const POLL_MS = 5000;
/** Until a hook has failed. */
const HOOK_MS = 600_000;
/** Files that a process assembles at once for its requests. Each needs eight requests to the store at once. */
const MAX_BUILDS = 32;
/** Of these, files of one user. */
const MAX_BUILDS_OF_USER = 4;
/** Users for which a process works in the background at once. */
const PLACES: Record<Kind, number> = { committing: 8, done: 8, ended: 2 };
const KINDS = Object.keys(PLACES) as Kind[];

/**
 * The user is part of the key, so that no user gets or learns of the bytes of another user. Other characters are written so that
 * they are the same in a key, in a URL and in XML: `%40` would be `@` in the store.
 */
export const keyOf = (kind: 'chunks' | 'files', user: string, name: string) => {
  const text = encodeURIComponent(user).replace(/[!'()*~]/g, (sign) => `=${sign.charCodeAt(0).toString(16)}`);
  return `${kind}/u-${text.replaceAll('%', '=')}/${name}`;
};

/** The chunks do not make the file of the session. `missing` are those that are not stored. */
export class WrongChunks extends Error {
  missing: string[] = [];
}

const beginningOf = ({ user, fileId }: Session) => keyOf('files', user, `${fileId}-`);
/**
 * The key names the chunks, so that all attempts make the same object: one continues what another has copied, and one that is late
 * can't change what another has made. So no attempt deletes it, but one that refuses the file.
 */
const fileOf = (session: Session, keyEnd: string): CompletedFile => ({
  ...{ id: session.fileId, user: session.user, folder: session.folder, name: session.name },
  ...{ sizeBytes: session.sizeBytes, key: beginningOf(session) + keyEnd },
});

/** Calls a hook. Rejects if it has not ended after `HOOK_MS`. */
async function limited<T>(name: 'refuse' | 'onCompleted', hook: () => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const late = sleep(HOOK_MS, undefined, { signal: ended.signal, ref: false }).then(() => {
    throw Object.assign(new Error('a hook takes too long'), { code: 'HOOK_TIMEOUT' });
  });
  return within('hook', name, () => Promise.race([hook(), late])).finally(() => ended.abort());
}

export function createFiles(sessions: Sessions, report: (error: Error, fileId?: string) => undefined) {
  const running = new Map<string, { user: string; work: Promise<void> }>();
  const closing = new AbortController();
  const bell = () => new AbortController();
  const bells = { committing: bell(), done: bell(), ended: bell(), place: bell() };
  /** Lets the background work look for work now, or commits for a place. */
  const ring = (kind: keyof typeof bells) => {
    bells[kind].abort();
    bells[kind] = bell();
  };

  /** Runs `work` while `holder` has the lease of the session. The signal aborts when another process may have it. */
  async function holding(session: Session, holder: string, work: (signal: AbortSignal) => Promise<void>) {
    const lost = new AbortController();
    const renew = async () => void ((await sessions.renew(session.id, holder)) || lost.abort());
    const beat = setInterval(
      () => void renew().catch((error) => report(error, session.fileId)),
      LEASE_MS / 3,
    );
    await work(lost.signal).finally(() => clearInterval(beat));
  }

  /** Resolves with the chunks of a file, in their order. */
  async function checkChunks(
    { user, sizeBytes, hashes }: Session & { hashes: string[] },
    signal: AbortSignal,
  ): Promise<Source[]> {
    const distinct = [...new Set(hashes)];
    const sizeOfChunk = async (hash: string) =>
      [hash, await sizeOf(keyOf('chunks', user, hash), { ...PATIENT, signal })] as const;
    const stored = new Map(await forEach(distinct, sizeOfChunk));
    const missing = distinct.filter((hash) => stored.get(hash) === undefined);
    if (missing.length > 0)
      throw Object.assign(new WrongChunks(`${missing.length} chunks are not stored`), { missing });
    // Without this check, one large chunk that is listed 10,000 times would become 10,000 copies.
    const sizes = hashes.map((hash) => stored.get(hash) ?? 0);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    if (total !== sizeBytes) throw new WrongChunks(`the chunks have ${total} bytes, not file_size`);
    if (sizes.slice(0, -1).some((size) => size < MIN_PART_BYTES))
      throw new WrongChunks('all chunks but the last need 5 MiB: set chunk-size');
    return hashes.map((hash, index) => ({ key: keyOf('chunks', user, hash), sizeBytes: sizes[index] ?? 0 }));
  }

  const build = (session: Session & { hashes: string[]; isOver?: boolean }, holder: string) =>
    holding(session, holder, async (signal) => {
      const file = fileOf(session, digestOf(session.hashes));
      let sentence: string | undefined;
      try {
        const chunks = await checkChunks(session, signal);
        await assemble(file.key, chunks, { isFirst: session.state === 'open', signal });
        sentence = (await limited('refuse', () => refuse(file)))?.replace(/\p{C}/gu, ' ');
      } catch (error) {
        // If the store is away or full, any process continues, and so does a repeated commit.
        const next = session.isOver ? 'expired' : 'committing';
        await sessions.move(session.id, holder, error instanceof WrongChunks ? 'open' : next);
        throw error;
      }
      const isOwn = await sessions.move(session.id, holder, sentence ? 'refused' : 'done', sentence);
      // Not before the move: an attempt that is late could delete what another one has accepted.
      if (isOwn && sentence) await remove(file.key);
      ring('done');
    });

  const deliver = (work: Work, holder: string) =>
    holding(work, holder, async () => {
      await limited('onCompleted', () => onCompleted(fileOf(work, work.keyEnd)));
      await sessions.move(work.id, holder, 'delivered');
    });

  const clear = (work: Work, holder: string) =>
    holding(work, holder, async () => {
      const { id, user, chunks, keyEnd, hashes, sizeBytes } = work;
      // Not if there was no attempt, and not the second time: `cleared` forgets the hashes.
      if (hashes.length > 0 || sizeBytes === 0)
        await removeOthers(beginningOf(work), keyEnd && fileOf(work, keyEnd).key);
      await forEach(chunks, (hash) => remove(keyOf('chunks', user, hash)));
      await sessions.move(id, holder, 'cleared');
    });

  const WORK = { committing: build, done: deliver, ended: clear };
  /** Works for one session of each user at a time, so that slow hooks and many deletions of a user delay no other one. */
  async function workOff(kind: Kind): Promise<void> {
    const jobs = new Map<string, Promise<unknown>>();
    while (!closing.signal.aborted) {
      const { signal } = bells[kind];
      const holder = randomUUID();
      const take = () => sessions.takeWork(holder, kind, [...jobs.keys()]).catch(report);
      const work = jobs.size < PLACES[kind] ? await take() : undefined;
      if (!work) {
        await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
        continue;
      }
      // If it fails, its lease ends after a while, and it is tried again.
      const job = WORK[kind](work, holder).catch((error) => report(error, work.fileId));
      const next = job.finally(() => jobs.delete(work.user) && ring(kind));
      jobs.set(work.user, next);
    }
    await Promise.all(jobs.values());
  }
  const loops = KINDS.map(workOff);

  async function attempt(session: Session, hashes: string[]) {
    const holder = randomUUID();
    if (await sessions.claim(session.id, holder, hashes)) await build({ ...session, hashes }, holder);
  }
  /** For any process that is not busy. */
  async function leave({ id, state }: Session, hashes: string[]) {
    if (state === 'open' && (await sessions.claim(id, '', hashes))) ring('committing');
  }

  return {
    /**
     * Begins to assemble a file, unless another process does. If this one is busy until the time `endsAt`, resolves with
     * `undefined`, and the background work of any process does.
     */
    async begin(
      session: Session,
      hashes: string[],
      endsAt: number,
    ): Promise<{ work: Promise<void> } | undefined> {
      for (;;) {
        const known = running.get(session.id);
        if (known) return known;
        const ofUser = [...running.values()].filter(({ user }) => user === session.user);
        const isBusy = running.size >= MAX_BUILDS || ofUser.length >= MAX_BUILDS_OF_USER;
        if (!isBusy && !closing.signal.aborted) break;
        const leftMs = endsAt - Date.now();
        if (leftMs <= 0 || closing.signal.aborted) return void (await leave(session, hashes));
        await sleep(leftMs, undefined, { signal: bells.place.signal, ref: false }).catch(() => undefined);
      }
      const work = attempt(session, hashes).finally(() => {
        running.delete(session.id);
        ring('place');
      });
      const begun = { user: session.user, work };
      running.set(session.id, begun);
      return begun;
    },
    /** Ends the background work, and waits for what is running. */
    async close() {
      closing.abort();
      for (const kind of [...KINDS, 'place'] as const) ring(kind);
      await Promise.allSettled([...loops, ...[...running.values()].map(({ work }) => work)]);
    },
  };
}
