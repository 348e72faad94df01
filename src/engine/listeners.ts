// Those who want to hear of something. It knows neither what it is nor who they are.

/** Listeners; one that throws keeps it neither from the others nor from whoever tells. */
export class Listeners<T> {
  readonly #all = new Set<{ readonly listener: (value: T) => void }>();
  #isTelling = false;

  /** Returns how to stop it. The same function added twice hears everything twice. */
  add(listener: (value: T) => void): () => void {
    const own = { listener };
    this.#all.add(own);
    return () => void this.#all.delete(own);
  }

  /** Tells after the task that is running, once for all that is told in it. */
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
        // A defect of the page's, told as the browser tells those of its event listeners.
        globalThis.reportError?.(error);
      }
    }
  }
}
