// Shared and exclusive locks. A user's uploads run concurrently, but never while that user's chunks are deleted. The locks are in
// memory, because only one process uses a data folder.

/** Locks by key, granted in the order of the calls. */
export interface Locks {
  /** Runs `work`, possibly concurrently with other shared work for this key. */
  shared<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Runs `work` alone: after all earlier work for this key, and before all later work. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Creates the locks. Keys are never removed, so use keys with few values: users, not sessions. */
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
