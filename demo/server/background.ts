// Work that continues after its response was sent. The service ends it, and waits for it, before it closes its data.

export interface Background {
  /** Aborts when the service closes. */
  readonly signal: AbortSignal;
  /** Adds work that ends early when `signal` aborts. Never rejects. */
  add(work: Promise<unknown>): void;
  /** Ends the work. Resolves when none is left. */
  end(): Promise<void>;
}

export function createBackground(): Background {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    signal: closing.signal,
    add(work) {
      running.add(work);
      void work.then(() => running.delete(work));
    },
    async end() {
      closing.abort();
      await Promise.all(running);
    },
  };
}
