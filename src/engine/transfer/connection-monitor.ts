// Detects when connections may be dead (network change, wake-up from sleep), and limits the bandwidth.

import { sleep, sleepUntil } from '../../core/wait.ts';

/** How often the clock is read, and the gap between two readings that means the device slept, ms. */
const CHECK_MS = 5000;
const SLEPT_MS = 90_000;

/** Bounds of the timeout for a PUT without progress, and the expected duration of a PUT while the rate is unknown, ms. */
const MIN_STALL_MS = 10_000;
const MAX_STALL_MS = 120_000;
const UNKNOWN_RATE_MS = 7500;

/** Returns the timeout for a PUT without progress, ms: four times its expected duration. `slotBytesPerSecond` is 0 if unknown. */
export function stallMs(sizeBytes: number, slotBytesPerSecond: number): number {
  const expectedMs = slotBytesPerSecond > 0 ? (sizeBytes / slotBytesPerSecond) * 1000 : UNKNOWN_RATE_MS;
  return Math.min(MAX_STALL_MS, Math.max(MIN_STALL_MS, 4 * expectedMs));
}

export class ConnectionMonitor {
  readonly #stop = new AbortController();
  #change = new AbortController();
  #checkedMs = Date.now();
  #bytesPerSecond: number;
  /** When the next bytes may be sent, on the clock of `performance.now()`. */
  #freeAtMs = 0;
  /** Aborted when `#freeAtMs` changes, so that waiting uploads read it again. */
  #recount = new AbortController();

  constructor(bytesPerSecond: number = Number.POSITIVE_INFINITY) {
    this.#bytesPerSecond = bytesPerSecond;
    const { signal } = this.#stop;
    const onChange = (): void => this.changed();
    const { connection } = globalThis.navigator as Navigator & {
      connection?: EventTarget & { readonly type?: string };
    };
    let type = connection?.type;
    // The browser also dispatches the event for each new estimate of the bandwidth.
    const onConnection = (): void => {
      if (connection?.type !== type) onChange();
      type = connection?.type;
    };
    connection?.addEventListener('change', onConnection, { signal });
    // Without this, requests on a lost connection would fail only after a timeout.
    for (const name of ['online', 'offline']) globalThis.addEventListener?.(name, onChange, { signal });
    globalThis.document?.addEventListener('resume', onChange, { signal });
    globalThis.addEventListener?.('pageshow', (event) => event.persisted && onChange(), { signal });
    this.#watchClock().catch(() => undefined);
  }

  /** A signal for requests that start now. It aborts when their connection may be dead. */
  get change(): AbortSignal {
    return this.#change.signal;
  }

  /** Aborts `change`. */
  changed(): void {
    const before = this.#change;
    this.#change = new AbortController();
    before.abort();
  }

  /** The bandwidth limit for all uploads together. */
  set bytesPerSecond(bytesPerSecond: number) {
    if (bytesPerSecond === this.#bytesPerSecond) return;
    this.#bytesPerSecond = bytesPerSecond;
    this.#free(0);
  }

  /**
   * Resolves when these bytes may be sent, with a function to give back bytes that were not sent after all. Rejects with the
   * signal's reason.
   */
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
   * Even on hidden pages, timers run at least once a minute: a longer gap means that the device slept. Reads the system clock,
   * since `performance.now()` stops during sleep on some systems. Setting the clock forward only repeats requests needlessly.
   */
  async #watchClock(): Promise<void> {
    for (;;) {
      await sleep(CHECK_MS, this.#stop.signal);
      const now = Date.now();
      if (now - this.#checkedMs > SLEPT_MS) this.changed();
      this.#checkedMs = now;
    }
  }
}
