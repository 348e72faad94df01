// Limits the bytes that a user and a session can store. The counters are in memory. Each start restores them from the tables,
// except for the chunks that open sessions have stored.
import type { UploadSession } from './parts.ts';

/** Limits of one user. */
export interface UsageLimits {
  /** Limit for the sum of finished files, open sessions, and chunks of ended sessions that are in no file. */
  maxUserBytes: number;
  /** Limit for finished files and open sessions together. */
  maxUserFiles: number;
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
  /** Times when the rows of canceled sessions are deleted. */
  canceled: number[];
  files: number;
  fileBytes: number;
  leftBytes: number;
  /** Chunks that are being received, also those of ended sessions. */
  drafts: number;
  draftBytes: number;
}

/** How long a canceled session is kept. Until then it counts as open, so that canceling doesn't fill the tables. */
export const CANCELED_MS = 3600_000;
// A session may store twice the size of its file, because a file that changes during the upload is sent again in the same session.
const RESEND_FACTOR = 2;
const MAX_CHUNKS = 40_000;
// Number of chunks that a user may send at once. Clients use fewer, but a broken connection counts until it times out.
const MAX_DRAFTS = 128;

function hasRoom({ storedBytes, sizeBytes, chunks }: Claim, bytes: number): boolean {
  return storedBytes + bytes <= RESEND_FACTOR * sizeBytes && chunks < MAX_CHUNKS;
}

export function createUsage(limits: UsageLimits, now: () => number): Usage {
  const { maxUserBytes, maxUserFiles, maxOpenSessions } = limits;
  const accounts = new Map<string, Account>();
  const accountOf = (userId: string): Account => {
    const none = { openBytes: 0, files: 0, fileBytes: 0, leftBytes: 0, drafts: 0, draftBytes: 0 };
    const known = accounts.get(userId) ?? { open: new Map(), canceled: [], ...none };
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
    account.canceled = account.canceled.filter((time) => time > now());
  };
  const add = (account: Account, { id, sizeBytes, expiresAt }: UploadSession): void => {
    account.open.set(id, { sizeBytes, storedBytes: 0, draftBytes: 0, chunks: 0, expiresAt });
    account.openBytes += sizeBytes;
  };

  return {
    open(session) {
      const account = accountOf(session.userId);
      dropExpired(account);
      if (account.open.size + account.canceled.length >= maxOpenSessions) return 'too-many';
      if (account.open.size + account.files >= maxUserFiles) return 'no-room';
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
      const account = accountOf(userId);
      account.files += 1;
      account.fileBytes += sizeBytes;
    },
    close(sessionId, userId, how) {
      const account = accountOf(userId);
      const claim = account.open.get(sessionId);
      if (!claim) return;
      if (how === 'finished') account.files += 1;
      else account.canceled.push(now() + CANCELED_MS);
      end(account, sessionId, how === 'finished' ? claim.sizeBytes : 0);
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
