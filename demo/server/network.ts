// Test mode: simulates latency and bandwidth.
import type { Faults } from './faults.ts';

/** Waits `ms`, or until `signal` aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const onEnd = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onEnd);
      resolve();
    };
    const timer = setTimeout(onEnd, ms);
    signal?.addEventListener('abort', onEnd, { once: true });
  });
}

/** Waits until `signal` aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

export interface Network {
  /** Yields the bytes at the configured rate. */
  throttle(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Waits for the configured latency. */
  latency(signal: AbortSignal): Promise<void>;
}

// Waits of up to this time are skipped, because timers are too inaccurate for them.
const GRAIN_MS = 4;

/** Creates the simulated network, with the latency and the rates of `faults.network`. */
export function createNetwork(faults: Faults): Network {
  let sharedFreeAt = 0;

  function dueIn(bytes: number, own: { freeAt: number }): number {
    const now = performance.now();
    const { bytesPerSecond = 0, totalBytesPerSecond = 0 } = faults.network;
    let freeAt = now;
    if (bytesPerSecond > 0) {
      own.freeAt = Math.max(own.freeAt, now - 20) + (bytes / bytesPerSecond) * 1000;
      freeAt = Math.max(freeAt, own.freeAt);
    }
    if (totalBytesPerSecond > 0) {
      sharedFreeAt = Math.max(sharedFreeAt, now - 20) + (bytes / totalBytesPerSecond) * 1000;
      freeAt = Math.max(freeAt, sharedFreeAt);
    }
    return freeAt - now;
  }

  async function* slowly(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const own = { freeAt: 0 };
    for await (const piece of bytes) {
      const waitMs = dueIn(piece.byteLength, own);
      if (waitMs > GRAIN_MS) await pause(waitMs, signal);
      yield piece;
    }
  }

  return {
    throttle(bytes, signal) {
      const { bytesPerSecond, totalBytesPerSecond } = faults.network;
      return bytesPerSecond || totalBytesPerSecond ? slowly(bytes, signal) : bytes;
    },
    latency: (signal) => pause(faults.network.latencyMs ?? 0, signal),
  };
}
