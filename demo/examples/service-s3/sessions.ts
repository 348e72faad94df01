// Upload sessions: the interface, and an implementation in memory for one process. postgres.ts has the one for several.

/**
 * `open` → `committing` (the file is assembled) → `done` → `delivered` (`onCompleted` knows the file), or `refused`. Sessions that
 * are not `committing` or `done` expire, and are deleted with their chunks ten minutes later, when no presigned URL is valid.
 */
export type State = 'open' | 'committing' | 'done' | 'delivered' | 'refused';

export interface Session {
  id: string;
  user: string;
  folder: string;
  name: string;
  sizeBytes: number;
  fileId: string;
  state: State;
  /** Chunks of the file, from the commit on. */
  hashes: string[];
  /** Why the file was refused. */
  sentence: string;
}

/** A session, and its chunks that no other session of its user needs (only if the session is to be deleted). */
export type Work = Session & { chunks: string[] };

/** All functions are atomic, also across processes. A `holder` is a process that has a session for `LEASE_MS` at a time. */
export interface Sessions {
  /** Opens a session, unless the user has `most` unfinished ones (`many`), or they would have more than `freeBytes` (`full`). */
  open(session: Session, most: number, freeBytes: number): Promise<'opened' | 'many' | 'full'>;
  find(id: string): Promise<Session | undefined>;
  /**
   * Adds the sizes of chunks. Resolves with false if one has another size, or the session would have more than `most` or
   * `mostBytes`.
   */
  addChunks(id: string, sizes: Map<string, number>, most: number, mostBytes: number): Promise<boolean>;
  /** Begins a commit. Resolves with false if another holder assembles the file, or the session is not open. */
  claim(id: string, holder: string, hashes: string[]): Promise<boolean>;
  /** Extends the lease. Resolves with false if another holder has the session. */
  renew(id: string, holder: string): Promise<boolean>;
  /** Takes a session that no process works on: an interrupted commit, a file to deliver, or a session to delete. */
  takeWork(holder: string): Promise<Work | undefined>;
  /**
   * Ends the work on a session, or with the holder `''` cancels it (`expired`). Resolves with false if a process has it, or it is
   * done.
   */
  move(id: string, holder: string, to: State | 'expired' | 'deleted', sentence?: string): Promise<boolean>;
  /** Rejects if the sessions can't be reached. */
  check(): Promise<void>;
}

export const LEASE_MS = 30_000;
export const OPEN_MS = 7 * 86_400_000;
/** A browser that has lost the response to a commit may repeat the commit for an hour. */
export const ENDED_MS = 3_600_000;
/** Presigned URLs are valid for five minutes. */
export const URLS_MS = 600_000;

interface Row {
  session: Session;
  sizes: Map<string, number>;
  expiresAt: number;
  holder: string;
  leaseUntil: number;
}

export function memorySessions(): Sessions {
  const rows = new Map<string, Row>();
  const isLive = ({ session, expiresAt }: Row) => session.state === 'committing' || expiresAt > Date.now();
  const live = (id: string) => {
    const row = rows.get(id);
    return row && isLive(row) ? row : undefined;
  };
  const lease = (row: Row, holder: string) =>
    Object.assign(row, { holder, leaseUntil: Date.now() + LEASE_MS });
  const isFree = ({ leaseUntil }: Row) => leaseUntil <= Date.now();
  const sum = (sizes: Iterable<number>) => [...sizes].reduce((total, size) => total + size, 0);
  return {
    async open(session, most, freeBytes) {
      const unfinished = [...rows.values()].filter((row) => {
        const { user, state } = row.session;
        return (
          user === session.user && (/^(committing|done)$/.test(state) || (state === 'open' && isLive(row)))
        );
      });
      const bytes = sum(unfinished.map((row) => row.session.sizeBytes));
      if (unfinished.length >= most) return 'many';
      if (bytes + session.sizeBytes > freeBytes) return 'full';
      const expiresAt = Date.now() + OPEN_MS;
      rows.set(session.id, {
        session: { ...session },
        sizes: new Map(),
        expiresAt,
        holder: '',
        leaseUntil: 0,
      });
      return 'opened';
    },
    async find(id) {
      const row = live(id);
      return row && { ...row.session };
    },
    async addChunks(id, sizes, most, mostBytes) {
      const row = live(id);
      if (!row) return false;
      const all = new Map([...row.sizes, ...sizes]);
      const isSame = [...sizes].every(([hash, size]) => (row.sizes.get(hash) ?? size) === size);
      if (!isSame || all.size > most || sum(all.values()) > mostBytes) return false;
      row.sizes = all;
      return true;
    },
    async claim(id, holder, hashes) {
      const row = live(id);
      const isStale = row?.session.state === 'committing' && (isFree(row) || row.holder === '');
      if (!row || !(row.session.state === 'open' || (isStale && `${row.session.hashes}` === `${hashes}`)))
        return false;
      Object.assign(row.session, { state: 'committing', hashes });
      return Boolean(lease(row, holder));
    },
    async renew(id, holder) {
      const row = rows.get(id);
      return row?.holder === holder && Boolean(lease(row, holder));
    },
    async takeWork(holder) {
      const isDue = (row: Row) =>
        /^(comm|done)/.test(row.session.state) || row.expiresAt + URLS_MS < Date.now();
      const row = [...rows.values()].find((each) => isFree(each) && isDue(each));
      if (!row) return undefined;
      lease(row, holder);
      const others = [...rows.values()].filter(
        (each) => each !== row && each.session.user === row.session.user && isLive(each),
      );
      const chunks = [...row.sizes.keys()].filter((hash) => !others.some(({ sizes }) => sizes.has(hash)));
      return { ...row.session, chunks };
    },
    async move(id, holder, to, sentence = '') {
      const row = rows.get(id);
      if (!row || row.holder !== holder) return false;
      if (to === 'deleted') return rows.delete(id);
      if (to === 'expired' && !/^(open|committing)$/.test(row.session.state)) return false;
      // A commit that has failed is tried again after a while, or when the browser repeats it.
      const leaseUntil = to === 'committing' ? Date.now() + LEASE_MS : 0;
      Object.assign(row, { holder: '', leaseUntil });
      if (to === 'expired') {
        row.expiresAt = Date.now();
        row.session.state = 'open';
      } else {
        Object.assign(row.session, { state: to, sentence });
        if (to === 'done' || to === 'refused') row.expiresAt = Date.now() + ENDED_MS;
      }
      return true;
    },
    async check() {},
  };
}
