// Shared and exclusive locks: uploads of a user run concurrently, but not while chunks of that user are removed. One process serves
// a data folder, so memory is enough.

/** Locks by key, first come first served. */
export interface Locks {
  /** Runs `work` concurrently with other shared work of this key. */
  shared<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Runs `work` after all earlier work of this key; later work waits. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Keys are not removed, so they must be few: users, not sessions. */
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
