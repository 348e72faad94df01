// Locks that several requests may share, or one may have alone: uploads of a user go on side by side, and stop while chunks of
// that user are removed. One process serves a data folder, so memory is enough. It knows no upload.

/** Locks by key, first come first served. */
export interface Locks {
  /** Runs `work` beside other shared work of this key, but not beside exclusive work. */
  shared<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Runs `work` once all earlier work of this key has ended; later work waits for it. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Creates the locks. Keys are kept, so they must be few: users, not sessions. */
export function createLocks(): Locks {
  const gates = new Map<string, Promise<unknown>>();
  const running = new Map<string, Set<Promise<unknown>>>();

  return {
    shared(key, work) {
      const done = (gates.get(key) ?? Promise.resolve()).then(work);
      const settled = done.catch(() => undefined);
      const others = running.get(key) ?? new Set();
      running.set(key, others.add(settled));
      void settled.then(() => others.delete(settled));
      return done;
    },
    exclusive(key, work) {
      const done = Promise.all([gates.get(key), ...(running.get(key) ?? [])]).then(work);
      running.delete(key);
      gates.set(
        key,
        done.catch(() => undefined),
      );
      return done;
    },
  };
}
