// Upload sessions: the interface, and an implementation in memory for one process. postgres.ts has the one for several.
import { createHash } from 'node:crypto';

/**
 * `open` → `committing` (the file is assembled) → `done` → `delivered` (`onCompleted` knows the file), or `refused`. The last two
 * keep their chunks for an hour and their answer for a week: a browser that was closed may repeat its commit.
 */
export type State = 'open' | 'committing' | 'done' | 'delivered' | 'refused';

/** Work: a commit that was interrupted or has failed, a file to report (`done`), or chunks and a session to delete (`ended`). */
export type Kind = 'committing' | 'done' | 'ended';

export interface Session {
  id: string;
  user: string;
  folder: string;
  name: string;
  sizeBytes: number;
  fileId: string;
  state: State;
  /** Of the committed hashes: `digestOf`. */
  digest: string;
  /** Why the file was refused. */
  sentence: string;
}

export interface Work extends Session {
  /** Chunks of a committed file. */
  hashes: string[];
  /**
   * What the key of the file ends with; `''` until it is made. Processes of the first release have written others than the digest.
   */
  keyEnd: string;
  /** True if the session has expired. */
  isOver: boolean;
  /** Hashes of the chunks that no other session of the user has. Only for `ended`. */
  chunks: string[];
}

/** Limits of one user. The files of a day are all that were opened, canceled ones too. */
export interface Limits {
  unfinishedFiles: number;
  freeBytes: number;
  filesPerDay: number;
  bytesPerDay: number;
}

/** A file to open, with the limits of its user. */
export interface Opening {
  session: Session;
  limits: Limits;
}

/** Chunks to add to a session, and how many chunks and bytes it may have. */
export interface Addition {
  id: string;
  sizes: Map<string, number>;
  most: number;
  mostBytes: number;
  /**
   * True if the chunks came with the opening: the browser may not have got the response, so the session expires as if it had none.
   */
  isOpening: boolean;
}

export type Opened = 'opened' | 'many' | 'full' | 'day';

/** All functions are atomic, also across processes. A `holder` is an attempt that has a session for `LEASE_MS` at a time. */
export interface Sessions {
  /**
   * Opens sessions of one user, each unless the user would have too many unfinished files (`many`), their bytes (`full`), or either
   * in a `day`. Those that are opened first count.
   */
  open(openings: readonly Opening[]): Promise<Opened[]>;
  find(id: string): Promise<Session | undefined>;
  /**
   * Adds the sizes of chunks to different sessions. Each is false if a chunk has another size, or the session would have more than
   * `most` or `mostBytes`; then nothing is added to it.
   */
  addChunks(additions: readonly Addition[]): Promise<boolean[]>;
  /**
   * Begins a commit. Resolves with false if another holder assembles the file, or the session is not open. The holder `''` leaves
   * an open session to `takeWork`, and changes no other one: a commit that is repeated would postpone itself.
   */
  claim(id: string, holder: string, hashes: string[]): Promise<boolean>;
  /** Extends the lease. Resolves with false if another holder has the session. */
  renew(id: string, holder: string): Promise<boolean>;
  /** Takes the session whose work is due for the longest time, that no holder has, and that is not of the users `without`. */
  takeWork(holder: string, kind: Kind, without: readonly string[]): Promise<Work | undefined>;
  /**
   * Ends the work on a session, or with the holder `''` cancels it (`expired`). Resolves with false if another holder has it, or
   * there is nothing to cancel. `cleared` forgets the chunks, and deletes a session that has ended.
   */
  move(id: string, holder: string, to: keyof typeof MOVES | 'cleared', sentence?: string): Promise<boolean>;
  /** Rejects if the sessions can't be reached. */
  check(): Promise<void>;
}

export const DAY_MS = 86_400_000;
export const LEASE_MS = 30_000;
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * DAY_MS;
/** Presigned URLs are valid for five minutes, and chunks stay for longer than that. */
const URLS_MS = 600_000;

/** What a move changes: the state, when the next work is due, and when the session expires. */
export const MOVES = {
  /** Until a request for chunks or a commit: the browser may not have got the response. */
  opened: { state: 'open', dueMs: HOUR_MS + URLS_MS, expiresMs: HOUR_MS },
  open: { state: 'open', dueMs: WEEK_MS + URLS_MS, expiresMs: WEEK_MS },
  /** A commit that has failed. It is tried again after a while, or when the browser repeats it. */
  committing: { state: 'committing', dueMs: LEASE_MS, expiresMs: undefined },
  done: { state: 'done', dueMs: 0, expiresMs: WEEK_MS },
  delivered: { state: 'delivered', dueMs: HOUR_MS, expiresMs: undefined },
  refused: { state: 'refused', dueMs: HOUR_MS, expiresMs: WEEK_MS },
  expired: { state: 'open', dueMs: URLS_MS, expiresMs: 0 },
} as const;

export const digestOf = (hashes: string[]) => createHash('sha256').update(`${hashes}`).digest('hex');

/**
 * Says of each file whether it may be opened. `used` are the files and bytes of the user that are unfinished, and those of the day.
 */
export function judge([...used]: number[], openings: readonly Opening[]): Opened[] {
  return openings.map(({ session: { sizeBytes }, limits }) => {
    const [files = 0, bytes = 0, filesToday = 0, bytesToday = 0] = used;
    if (files >= limits.unfinishedFiles) return 'many';
    if (bytes + sizeBytes > limits.freeBytes) return 'full';
    if (filesToday >= limits.filesPerDay || bytesToday + sizeBytes > limits.bytesPerDay) return 'day';
    used = [files + 1, bytes + sizeBytes, filesToday + 1, bytesToday + sizeBytes];
    return 'opened';
  });
}

type Times = Record<'openedAt' | 'expiresAt' | 'dueAt', number>;
type Row = Omit<Work, 'chunks' | 'isOver'> & Times & { sizes: Map<string, number>; holder: string };

export function memorySessions(): Sessions {
  const rows = new Map<string, Row>();
  const isLive = ({ state, expiresAt }: Row) => state === 'committing' || expiresAt > Date.now();
  const live = (id: string) => [rows.get(id)].find((row) => row && isLive(row));
  const isDue = ({ dueAt }: Row) => dueAt <= Date.now();
  const isActive = ({ state }: Row) => state === 'committing' || state === 'done';
  const isUnfinished = (row: Row) => isActive(row) || (row.state === 'open' && isLive(row));
  const lease = (row: Row, holder: string) =>
    Boolean(Object.assign(row, { holder, dueAt: Date.now() + LEASE_MS }));
  const schedule = (row: Row, { dueMs, expiresMs }: (typeof MOVES)[keyof typeof MOVES]) => {
    row.dueAt = Date.now() + dueMs;
    if (expiresMs !== undefined) row.expiresAt = Date.now() + expiresMs;
    return row;
  };
  const sum = (sizes: Iterable<number>) => [...sizes].reduce((total, size) => total + size, 0);
  const usage = (some: Row[]) => [some.length, sum(some.map(({ sizeBytes }) => sizeBytes))];
  return {
    async open(openings) {
      const ofUser = [...rows.values()].filter(({ user }) => user === openings[0]?.session.user);
      const today = ofUser.filter(({ openedAt }) => openedAt > Date.now() - DAY_MS);
      const judged = judge([...usage(ofUser.filter(isUnfinished)), ...usage(today)], openings);
      for (const [at, { session }] of openings.entries()) {
        if (judged[at] !== 'opened') continue;
        const row = {
          ...session,
          sizes: new Map(),
          hashes: [],
          keyEnd: '',
          holder: '',
          openedAt: Date.now(),
        };
        rows.set(session.id, schedule({ ...row, expiresAt: 0, dueAt: 0 }, MOVES.opened));
      }
      return judged;
    },
    find: async (id) => live(id) && { ...(live(id) as Row) },
    addChunks: async (additions) =>
      additions.map(({ id, sizes, most, mostBytes, isOpening }) => {
        const row = live(id);
        if (!row) return false;
        const all = new Map([...row.sizes, ...sizes]);
        const isSame = [...sizes].every(([hash, size]) => (row.sizes.get(hash) ?? size) === size);
        if (!isSame || all.size > most || sum(all.values()) > mostBytes) return false;
        row.sizes = all;
        if (row.state === 'open' && !isOpening) schedule(row, MOVES.open);
        return true;
      }),
    async claim(id, holder, hashes) {
      const row = live(id);
      const digest = digestOf(hashes);
      const isStale =
        row?.state === 'committing' && (isDue(row) || row.holder === '') && row.digest === digest;
      if (!row || !(row.state === 'open' || (isStale && holder !== ''))) return false;
      const expiresAt = Math.max(row.expiresAt, Date.now() + WEEK_MS);
      Object.assign(row, { state: 'committing', hashes, digest, expiresAt, holder, dueAt: Date.now() });
      return holder === '' || lease(row, holder);
    },
    async renew(id, holder) {
      const row = rows.get(id);
      return row?.holder === holder && lease(row, holder);
    },
    async takeWork(holder, kind, without) {
      const [row] = [...rows.values()]
        .filter((each) => isDue(each) && (isActive(each) ? each.state : 'ended') === kind)
        .filter(({ user }) => !without.includes(user))
        .sort((one, other) => one.dueAt - other.dueAt);
      if (!row || !lease(row, holder)) return undefined;
      const others = [...rows.values()].filter((each) => each !== row && each.user === row.user);
      const chunks = [...row.sizes.keys()].filter((hash) => !others.some(({ sizes }) => sizes.has(hash)));
      return { ...row, chunks, isOver: row.expiresAt <= Date.now() };
    },
    async move(id, holder, to, sentence = '') {
      const row = rows.get(id);
      const isAllowed = holder !== '' || row?.state === 'open' || row?.state === 'committing';
      if (row?.holder !== holder || !isAllowed) return false;
      if (to === 'cleared') {
        row.sizes.clear();
        const dueAt = Math.max(row.expiresAt, row.openedAt + DAY_MS);
        Object.assign(row, { holder: '', hashes: [], dueAt });
        if (isDue(row)) rows.delete(id);
        return true;
      }
      Object.assign(schedule(row, MOVES[to]), { state: MOVES[to].state, sentence, holder: '' });
      if (to === 'done') row.keyEnd = row.digest;
      return true;
    },
    async check() {},
  };
}
