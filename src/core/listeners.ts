// A set of listeners.

/** An error of a listener goes to `reportError`, as with event listeners; the others are called nevertheless. */
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

  /** Calls the listeners after the current task, once for all calls made in it. */
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
