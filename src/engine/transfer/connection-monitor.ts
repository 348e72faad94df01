// The way out of the page, as the browser tells of it: another network, a machine that woke, and how much of it the page
// may use. It knows no request.

import { sleep, sleepUntil } from '../../core/wait.ts';

/** How often the clock is looked at, and how much of it may be missing before the machine must have slept, ms. */
const LOOK_MS = 5000;
const SLEPT_MS = 90_000;

/** Without progress for so long, a PUT is sent again; in between, four times what was expected. Milliseconds. */
const LEAST_STALL_MS = 10_000;
const MOST_STALL_MS = 120_000;
const UNKNOWN_LINE_MS = 7500;

/** How long a PUT of so many bytes may stand still in a slot that moves so many bytes a second (0: not known). */
export function stallMs(sizeBytes: number, slotBytesPerSecond: number): number {
  const expectedMs = slotBytesPerSecond > 0 ? (sizeBytes / slotBytesPerSecond) * 1000 : UNKNOWN_LINE_MS;
  return Math.min(MOST_STALL_MS, Math.max(LEAST_STALL_MS, 4 * expectedMs));
}

export class ConnectionMonitor {
  readonly #stop = new AbortController();
  #change = new AbortController();
  #lookedMs = Date.now();
  #bytesPerSecond: number;
  /** When what was allowed last will have gone. */
  #freeAtMs = 0;
  /** Aborts when that is another time than those who wait have heard. */
  #recount = new AbortController();

  constructor(bytesPerSecond: number = Number.POSITIVE_INFINITY) {
    this.#bytesPerSecond = bytesPerSecond;
    const { signal } = this.#stop;
    const onChange = (): void => this.changed();
    const { connection } = globalThis.navigator as Navigator & {
      connection?: EventTarget & { readonly type?: string };
    };
    let type = connection?.type;
    // It also tells of each new guess of how fast the line is.
    const onOpinion = (): void => {
      if (connection?.type !== type) onChange();
      type = connection?.type;
    };
    connection?.addEventListener('change', onOpinion, { signal });
    // Where the line is gone, what is under way would only be found out to be dead by waiting.
    for (const name of ['online', 'offline']) globalThis.addEventListener?.(name, onChange, { signal });
    globalThis.document?.addEventListener('resume', onChange, { signal });
    globalThis.addEventListener?.('pageshow', (event) => event.persisted && onChange(), { signal });
    this.#watchClock().catch(() => undefined);
  }

  /** Aborts with the next change; for requests that begin now. */
  get change(): AbortSignal {
    return this.#change.signal;
  }

  /** Whatever is under way may be on a dead connection. */
  changed(): void {
    const before = this.#change;
    this.#change = new AbortController();
    before.abort();
  }

  /** What all uploads together may use. */
  set bytesPerSecond(bytesPerSecond: number) {
    if (bytesPerSecond === this.#bytesPerSecond) return;
    this.#bytesPerSecond = bytesPerSecond;
    this.#free(0);
  }

  /** Resolves when so many bytes may go: then they take their share of the time to come, and what does not go is given back. */
  async waitForBandwidth(sizeBytes: number, signal: AbortSignal): Promise<(unsentBytes: number) => void> {
    for (let waitMs = this.#waitMs(); waitMs > 0; waitMs = this.#waitMs())
      await sleepUntil(waitMs, signal, this.#recount.signal);
    const perByteMs = 1000 / this.#bytesPerSecond;
    this.#freeAtMs = performance.now() + sizeBytes * perByteMs;
    return (unsentBytes) => {
      if (unsentBytes > 0) this.#free(this.#freeAtMs - unsentBytes * perByteMs);
    };
  }

  #waitMs(): number {
    return this.#freeAtMs - performance.now();
  }

  #free(atMs: number): void {
    const before = this.#recount;
    this.#freeAtMs = atMs;
    this.#recount = new AbortController();
    before.abort();
  }

  close(): void {
    this.#stop.abort();
  }

  /**
   * The timer of a hidden page runs once a minute at least; a longer gap means that the device slept. Some systems stop
   * `performance.now()` during sleep, so the system clock decides. When somebody sets that clock ahead, requests under way are repeated.
   */
  async #watchClock(): Promise<void> {
    for (;;) {
      await sleep(LOOK_MS, this.#stop.signal);
      const now = Date.now();
      if (now - this.#lookedMs > SLEPT_MS) this.changed();
      this.#lookedMs = now;
    }
  }
}
