// Limits the bytes per user: open sessions with their chunks, finished files, and chunks that are in no file. The counters are in
// memory and are restored from the tables at each start, without the chunks of open sessions.
import type { UploadSession } from './parts.ts';

/** Limits of one user. */
export interface UsageLimits {
  /** Limit for finished files, open sessions and chunks in no file, together. */
  maxUserBytes: number;
  maxOpenSessions: number;
}

/** Counters of all users. */
export interface Usage {
  /** Reserves the size of a new session. Reserves nothing if the result is `no-room` or `too-many`. */
  open(session: UploadSession): 'ok' | 'no-room' | 'too-many';
  /** Counts a session or file that existed at the start. */
  restore(session: UploadSession): void;
  addFile(userId: string, sizeBytes: number): void;
  /** Ends a session. After `finished`, its size counts as a file's. Safe to call twice. */
  close(sessionId: string, userId: string, how: 'finished' | 'canceled'): void;
  /** Called before a chunk is received. After `ok`, call `endChunk` too. */
  beginChunk(sessionId: string, userId: string, bytes: number): 'ok' | 'too-much' | 'busy' | 'closed';
  /** Counts a chunk just before it is stored. Returns false if the session is now over its limit. */
  storeChunk(sessionId: string, userId: string, bytes: number): boolean;
  endChunk(sessionId: string, userId: string): void;
  /** Called after all chunks that are in no file were removed. */
  swept(userId: string): void;
}

interface Claim {
  sizeBytes: number;
  storedBytes: number;
  chunks: number;
  underWay: number;
  expiresAt: number;
}

interface Account {
  /** In the order in which they were opened, and so expire. */
  open: Map<string, Claim>;
  openBytes: number;
  fileBytes: number;
  leftBytes: number;
}

// If a file changes during its upload, it is sent again in the same session. Twice the size allows that once.
const RESEND_FACTOR = 2;
const MAX_CHUNKS = 40_000;
// Chunks that one session may send at once. More than clients use, because broken connections count until they time out.
const MAX_UNDER_WAY = 64;

function hasRoom({ storedBytes, sizeBytes, chunks }: Claim, bytes: number): boolean {
  return storedBytes + bytes <= RESEND_FACTOR * sizeBytes && chunks < MAX_CHUNKS;
}

export function createUsage({ maxUserBytes, maxOpenSessions }: UsageLimits, now: () => number): Usage {
  const accounts = new Map<string, Account>();
  const accountOf = (userId: string): Account => {
    const known = accounts.get(userId) ?? { open: new Map(), openBytes: 0, fileBytes: 0, leftBytes: 0 };
    accounts.set(userId, known);
    return known;
  };
  const end = (account: Account, sessionId: string, keptBytes: number): void => {
    const claim = account.open.get(sessionId);
    if (!claim) return;
    account.open.delete(sessionId);
    account.openBytes -= claim.sizeBytes;
    account.fileBytes += keptBytes;
    account.leftBytes += Math.max(0, claim.storedBytes - keptBytes);
  };
  const dropExpired = (account: Account): void => {
    for (const [id, { expiresAt }] of account.open) {
      if (expiresAt > now()) break;
      end(account, id, 0);
    }
  };
  const add = (account: Account, { id, sizeBytes, expiresAt }: UploadSession): void => {
    account.open.set(id, { sizeBytes, storedBytes: 0, chunks: 0, underWay: 0, expiresAt });
    account.openBytes += sizeBytes;
  };

  return {
    open(session) {
      const account = accountOf(session.userId);
      dropExpired(account);
      if (account.open.size >= maxOpenSessions) return 'too-many';
      const { openBytes, fileBytes, leftBytes } = account;
      if (openBytes + fileBytes + leftBytes + session.sizeBytes > maxUserBytes) return 'no-room';
      add(account, session);
      return 'ok';
    },
    restore(session) {
      if (session.phase === 'open') add(accountOf(session.userId), session);
    },
    addFile(userId, sizeBytes) {
      accountOf(userId).fileBytes += sizeBytes;
    },
    close(sessionId, userId, how) {
      const account = accountOf(userId);
      end(account, sessionId, how === 'finished' ? (account.open.get(sessionId)?.sizeBytes ?? 0) : 0);
    },
    beginChunk(sessionId, userId, bytes) {
      const claim = accountOf(userId).open.get(sessionId);
      if (!claim || claim.expiresAt <= now()) return 'closed';
      if (!hasRoom(claim, bytes)) return 'too-much';
      if (claim.underWay >= MAX_UNDER_WAY) return 'busy';
      claim.underWay += 1;
      return 'ok';
    },
    storeChunk(sessionId, userId, bytes) {
      const claim = accountOf(userId).open.get(sessionId);
      if (!claim || !hasRoom(claim, bytes)) return false;
      claim.storedBytes += bytes;
      claim.chunks += 1;
      return true;
    },
    endChunk(sessionId, userId) {
      const claim = accountOf(userId).open.get(sessionId);
      if (claim) claim.underWay -= 1;
    },
    swept(userId) {
      accountOf(userId).leftBytes = 0;
    },
  };
}
