// A set of listeners.

/** If a listener throws, the error goes to `reportError`, and the other listeners are still called. */
export class Listeners<T> {
  readonly #all = new Set<{ readonly listener: (value: T) => void }>();
  #isTelling = false;

  get size(): number {
    return this.#all.size;
  }

  /** Returns a function that removes the listener. A function that was added twice is called twice. */
  add(listener: (value: T) => void): () => boolean {
    const own = { listener };
    this.#all.add(own);
    return () => this.#all.delete(own);
  }

  /** Calls the listeners in a microtask: once, with the first value, for all calls made before it. */
  tellSoon(value: T): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      this.tell(value);
    });
  }

  tell(value: T): void {
    for (const { listener } of [...this.#all]) {
      try {
        listener(value);
      } catch (error) {
        globalThis.reportError?.(error);
      }
    }
  }
}
