// Counts wrong passwords and codes, to prevent guessing. The fifth causes a wait of a minute, each further one a wait of twice the
// time, up to a quarter of an hour. They are forgotten an hour after the last wait. The counts are rows of the state, because they
// must survive a restart.
import type { Parts } from './parts.ts';

const FREE_ATTEMPTS = 5;
const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 15 * 60_000;
const REMEMBER_MS = 60 * 60_000;

/**
 * Counts an attempt, and resolves with false if it has to wait. Call it before the answer is checked, so that concurrent requests
 * get no extra attempts, and `forgetAttempts` if the answer is correct.
 */
export async function takeAttempt({ tables, clock }: Parts, key: string): Promise<boolean> {
  const now = clock.now();
  let isTaken = false;
  await tables.attempts.update(key, (row) => {
    const last = row && row.keepUntil > now ? row : { count: 0, waitUntil: 0 };
    isTaken = last.waitUntil <= now;
    if (!isTaken) return undefined;
    const count = last.count + 1;
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (count - FREE_ATTEMPTS), LONGEST_WAIT_MS);
    const waitUntil = count < FREE_ATTEMPTS ? now : now + waitMs;
    return { count, waitUntil, keepUntil: waitUntil + REMEMBER_MS };
  });
  return isTaken;
}

/** Resolves with the number of attempts before the next wait; 0 during a wait. */
export async function attemptsLeft({ tables, clock }: Parts, key: string): Promise<number> {
  const now = clock.now();
  const row = await tables.attempts.get(key);
  if (!row || row.keepUntil <= now) return FREE_ATTEMPTS;
  return row.waitUntil > now ? 0 : Math.max(1, FREE_ATTEMPTS - row.count);
}

export async function forgetAttempts({ tables }: Parts, key: string): Promise<void> {
  await tables.attempts.take(key);
}
