// Limits the bytes that a user and a session can store. The counters are in memory. Each start restores them from the tables,
// except for the chunks that open sessions have stored.
import type { UploadSession } from './parts.ts';

/** Limits of one user. */
export interface UsageLimits {
  /** Limit for the sum of finished files, open sessions, and chunks of ended sessions that are in no file. */
  maxUserBytes: number;
  maxOpenSessions: number;
}

/** Counters of all users. */
export interface Usage {
  /** Reserves the size of a new session, if the result is `ok`. */
  open(session: UploadSession): 'ok' | 'no-room' | 'too-many';
  /** Counts a session that existed at the start, if it is open. */
  restore(session: UploadSession): void;
  addFile(userId: string, sizeBytes: number): void;
  /** Ends a session. With `finished`, the size of the session is counted as a file. A second call has no effect. */
  close(sessionId: string, userId: string, how: 'finished' | 'canceled'): void;
  /** Reserves the bytes of a chunk that a session starts to send. Returns the reason if the session may not send it now. */
  beginChunk(sessionId: string, userId: string, bytes: number): Draft | 'too-much' | 'busy' | 'closed';
  /** Stops counting the chunks that are in no file. Call `swept` after the removal of these chunks. */
  swept(userId: string): void;
}

/** A chunk that is being received. */
export interface Draft {
  /** Counts the chunk just before it is stored. Returns false, and counts nothing, if the session has ended. */
  store(): boolean;
  /** Ends the reservation. The caller must call it once, after `store` or without it. */
  end(): void;
}

interface Claim {
  sizeBytes: number;
  storedBytes: number;
  draftBytes: number;
  chunks: number;
  expiresAt: number;
}

interface Account {
  /** Open sessions by id, in the order in which they expire. */
  open: Map<string, Claim>;
  openBytes: number;
  fileBytes: number;
  leftBytes: number;
  /** Chunks that are being received, also those of ended sessions. */
  drafts: number;
  draftBytes: number;
}

// A session may store twice the size of its file, because a file that changes during the upload is sent again in the same session.
const RESEND_FACTOR = 2;
const MAX_CHUNKS = 40_000;
// Number of chunks that a user may send at once. Clients use fewer, but a broken connection counts until it times out.
const MAX_DRAFTS = 128;

function hasRoom({ storedBytes, sizeBytes, chunks }: Claim, bytes: number): boolean {
  return storedBytes + bytes <= RESEND_FACTOR * sizeBytes && chunks < MAX_CHUNKS;
}

export function createUsage({ maxUserBytes, maxOpenSessions }: UsageLimits, now: () => number): Usage {
  const accounts = new Map<string, Account>();
  const accountOf = (userId: string): Account => {
    const none = { openBytes: 0, fileBytes: 0, leftBytes: 0, drafts: 0, draftBytes: 0 };
    const known = accounts.get(userId) ?? { open: new Map(), ...none };
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
    account.open.set(id, { sizeBytes, storedBytes: 0, draftBytes: 0, chunks: 0, expiresAt });
    account.openBytes += sizeBytes;
  };

  return {
    open(session) {
      const account = accountOf(session.userId);
      dropExpired(account);
      if (account.open.size >= maxOpenSessions) return 'too-many';
      const { openBytes, fileBytes, leftBytes, draftBytes } = account;
      const takenBytes = openBytes + fileBytes + leftBytes + draftBytes;
      if (takenBytes + session.sizeBytes > maxUserBytes) return 'no-room';
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
      const account = accountOf(userId);
      const claim = account.open.get(sessionId);
      if (!claim || claim.expiresAt <= now()) return 'closed';
      if (!hasRoom(claim, bytes)) return 'too-much';
      if (!hasRoom(claim, claim.draftBytes + bytes) || account.drafts >= MAX_DRAFTS) return 'busy';
      const reserve = (drafts: number, draftBytes: number): void => {
        account.drafts += drafts;
        account.draftBytes += draftBytes;
        claim.draftBytes += draftBytes;
      };
      reserve(1, bytes);
      return {
        store() {
          if (account.open.get(sessionId) !== claim) return false;
          claim.storedBytes += bytes;
          claim.chunks += 1;
          return true;
        },
        end: () => reserve(-1, -bytes),
      };
    },
    swept(userId) {
      accountOf(userId).leftBytes = 0;
    },
  };
}
