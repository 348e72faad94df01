// A set of listeners.

/** If a listener throws, the error goes to `reportError`, and the other listeners are still called. */
export class Listeners<T> {
  readonly #entries = new Set<{ readonly listener: (value: T) => void }>();
  #isTelling = false;

  get size(): number {
    return this.#entries.size;
  }

  /** Adds `listener`. Returns a function that removes `listener`. A function that was added twice is called twice. */
  add(listener: (value: T) => void): () => boolean {
    const entry = { listener };
    this.#entries.add(entry);
    return () => this.#entries.delete(entry);
  }

  /** Calls the listeners once in a microtask, with `value`. Further calls before this microtask have no effect. */
  tellSoon(value: T): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      this.tell(value);
    });
  }

  tell(value: T): void {
    for (const { listener } of [...this.#entries]) {
      try {
        listener(value);
      } catch (error) {
        globalThis.reportError?.(error);
      }
    }
  }
}
