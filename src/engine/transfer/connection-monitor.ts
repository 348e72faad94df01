// Detects when connections may be dead (network change, wake-up from sleep), and limits the bandwidth.

import { runUntil, sleep, sleepUntil } from '../../core/wait.ts';

/** Interval at which the clock is read, and the gap between two readings that means the device slept, in milliseconds. */
const CHECK_MS = 5000;
const SLEPT_MS = 90_000;

/**
 * Bounds of the timeout for a PUT without progress, in milliseconds. `UNKNOWN_RATE_MS` is the expected duration of a PUT if the
 * rate is unknown.
 */
const MIN_STALL_MS = 10_000;
const MAX_STALL_MS = 120_000;
const UNKNOWN_RATE_MS = 7500;

/**
 * Returns the timeout for a PUT without progress, in milliseconds: four times the expected duration. `slotBytesPerSecond` is 0 if
 * unknown.
 */
export function stallMs(sizeBytes: number, slotBytesPerSecond: number): number {
  const expectedMs = slotBytesPerSecond > 0 ? (sizeBytes / slotBytesPerSecond) * 1000 : UNKNOWN_RATE_MS;
  return Math.min(MAX_STALL_MS, Math.max(MIN_STALL_MS, 4 * expectedMs));
}

export class ConnectionMonitor {
  readonly #stop = new AbortController();
  #change = new AbortController();
  #checkedMs = Date.now();
  #bytesPerSecond: number;
  /** Time from which the next bytes may be sent, on the clock of `performance.now()`. */
  #freeAtMs = 0;
  /** Controller that is aborted when `#freeAtMs` changes, so that waiting uploads read `#freeAtMs` again. */
  #recount = new AbortController();

  constructor(bytesPerSecond: number = Number.POSITIVE_INFINITY) {
    this.#bytesPerSecond = bytesPerSecond;
    const { signal } = this.#stop;
    const onChange = (): void => this.changed();
    const { connection } = globalThis.navigator as Navigator & {
      connection?: EventTarget & { readonly type?: string };
    };
    let type = connection?.type;
    // The browser also dispatches `change` for each new estimate of the bandwidth.
    const onConnection = (): void => {
      if (connection?.type !== type) onChange();
      type = connection?.type;
    };
    connection?.addEventListener('change', onConnection, { signal });
    // Without these listeners, requests on a lost connection would fail only after a timeout.
    for (const name of ['online', 'offline']) globalThis.addEventListener?.(name, onChange, { signal });
    globalThis.document?.addEventListener('resume', onChange, { signal });
    globalThis.addEventListener?.('pageshow', (event) => event.persisted && onChange(), { signal });
    runUntil(signal, () => this.#watchClock());
  }

  /** Signal for requests that start now. The signal aborts when the connections of these requests may be dead. */
  get change(): AbortSignal {
    return this.#change.signal;
  }

  /** Aborts `change`. */
  changed(): void {
    const before = this.#change;
    this.#change = new AbortController();
    before.abort();
  }

  /** Bandwidth limit for all uploads together. */
  set bytesPerSecond(bytesPerSecond: number) {
    if (bytesPerSecond === this.#bytesPerSecond) return;
    this.#bytesPerSecond = bytesPerSecond;
    this.#free(0);
  }

  /**
   * Resolves when `sizeBytes` may be sent. The result is a function for giving back bytes that were not sent. Rejects with the
   * signal's reason if `signal` aborts.
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
   * Detects that the device slept. Timers run at least once a minute even on hidden pages, so a longer gap means sleep. Reads the
   * system clock, since `performance.now()` stops during sleep on some systems. If the user sets the clock forward, requests are
   * repeated needlessly.
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
