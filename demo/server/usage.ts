// Limits the bytes of each user: open sessions with their chunks, finished files, and chunks that are in no file. In memory,
// counted from the rows at each start; the chunks of open sessions are not counted then.
import type { UploadSession } from './parts.ts';

/** Limits of one user. */
export interface UsageLimits {
  /** Bytes of finished files, open sessions and left-over chunks together. */
  maxUserBytes: number;
  maxOpenSessions: number;
}

/** The bytes and sessions of all users. */
export interface Usage {
  /** Claims a new session's size. `no-room` and `too-many` claim nothing. */
  open(session: UploadSession): 'ok' | 'no-room' | 'too-many';
  /** Counts a session or file that existed at the start. */
  restore(session: UploadSession): void;
  addFile(userId: string, sizeBytes: number): void;
  /** Ends a session: `finished` turns its size into a file's. Ending it again does nothing. */
  close(sessionId: string, userId: string, how: 'finished' | 'canceled'): void;
  /** Starts a chunk; every `ok` needs an `endChunk`. */
  beginChunk(sessionId: string, userId: string, bytes: number): 'ok' | 'too-much' | 'busy' | 'closed';
  /** Counts a chunk that is about to be stored. False: the session has stored too much meanwhile. */
  storeChunk(sessionId: string, userId: string, bytes: number): boolean;
  endChunk(sessionId: string, userId: string): void;
  /** All chunks that no file has were removed. */
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
  /** In the order of opening, which is that of expiry. */
  open: Map<string, Claim>;
  openBytes: number;
  fileBytes: number;
  leftBytes: number;
}

// A file that changed while it was uploaded is sent again in the same session: twice the size covers that.
const RESEND_FACTOR = 2;
const MAX_CHUNKS = 40_000;
// Broken connections count until they time out, so this is more than any client uses at once.
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
