// The lock that keeps two tabs from renewing at the same time.

import { sleep } from '../core/wait.ts';

export interface Lock {
  readonly ready: Promise<void>;
  readonly release: () => void;
}

/** `ready` resolves when the lock is held, after `longestMs`, and where it cannot be had (in a frame of another site). */
export function takeLock(name: string, longestMs: number): Lock {
  const held = new AbortController();
  const { signal } = held;
  const ready = new Promise<void>((resolve) => {
    const { locks } = navigator;
    if (!locks) return resolve();
    const hold = (): Promise<void> => {
      resolve();
      return new Promise((done) => signal.addEventListener('abort', () => done()));
    };
    locks.request(name, { signal }, hold).catch(() => resolve());
    sleep(longestMs, signal).then(resolve, resolve);
  });
  return { ready, release: () => held.abort() };
}
