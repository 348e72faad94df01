// Progress of one upload. `sentBytes` never decreases, and reaches the file size only when the upload is done.

import type { Chunk, ProgressNumbers, StoredChunk } from '../../core/types.ts';

/** Rate in bytes per second, smoothed over the last seconds. */
export class Rate {
  readonly #windowMs: number;
  #lastMs: number | undefined;
  #lastBytes = 0;
  #perSecond: number | undefined;

  constructor(windowMs = 3000) {
    this.#windowMs = windowMs;
  }

  /** Adds a measurement of the total so far. If the total is smaller than before, the measurement starts again. */
  add(totalBytes: number, nowMs: number): void {
    if (this.#lastMs === undefined || totalBytes < this.#lastBytes) {
      this.#lastMs = nowMs;
      this.#lastBytes = totalBytes;
      return;
    }
    const elapsedMs = nowMs - this.#lastMs;
    if (elapsedMs < 50) return;
    const now = ((totalBytes - this.#lastBytes) / elapsedMs) * 1000;
    const weight = 1 - Math.exp(-elapsedMs / this.#windowMs);
    this.#perSecond =
      this.#perSecond === undefined ? now : this.#perSecond + (now - this.#perSecond) * weight;
    this.#lastMs = nowMs;
    this.#lastBytes = totalBytes;
  }

  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  /** Excludes the time until the next measurement from the rate. */
  skip(): void {
    this.#lastMs = undefined;
  }

  stop(): void {
    this.#lastMs = undefined;
    this.#perSecond = undefined;
  }
}

export class Progress {
  readonly #sizeBytes: number;
  readonly #rate = new Rate();
  readonly #stored = new Map<number, number>();
  readonly #inFlight = new Map<number, number>();
  /** Chunks stored in this run, by index. The value is true if the chunk did not have to be sent. */
  readonly #ended = new Map<number, boolean>();
  #storedBytes = 0;
  #skippedBytes = 0;
  /** Number of stored bytes that did not have to be sent. The rate ignores these bytes. */
  #unsentBytes = 0;
  #hashedBytes = 0;
  #shownBytes = 0;
  /** Number of bytes that were sent and stored, in all runs. */
  putBytes = 0;

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /**
   * Starts a run. Recorded chunks count as stored, until `onHashed()` finds a different hash. Returns the size of the recorded
   * chunks in bytes.
   */
  beginRun(chunks: readonly Chunk[]): number {
    this.#stored.clear();
    this.#inFlight.clear();
    this.#ended.clear();
    this.#storedBytes = 0;
    this.#skippedBytes = 0;
    this.#unsentBytes = 0;
    this.#hashedBytes = 0;
    this.#rate.stop();
    for (const chunk of chunks) if (chunk.recorded) this.#add(chunk);
    return this.#storedBytes;
  }

  onHashed(chunk: Chunk): void {
    this.#hashedBytes += chunk.sizeBytes;
    const recordedBytes = this.#stored.get(chunk.index);
    if (recordedBytes !== undefined && chunk.receipt === undefined) {
      this.#stored.delete(chunk.index);
      this.#storedBytes -= recordedBytes;
    }
  }

  /** Returns how many more bytes of the chunk were sent since the last call; 0 after a failed PUT. */
  onSent(chunk: Chunk, sentBytes: number): number {
    const before = this.#inFlight.get(chunk.index) ?? 0;
    if (sentBytes > 0) this.#inFlight.set(chunk.index, Math.min(sentBytes, chunk.sizeBytes));
    else this.#inFlight.delete(chunk.index);
    return Math.max(0, sentBytes - before);
  }

  onStored(chunk: StoredChunk): void {
    const { index, sizeBytes, skipped = false } = chunk;
    this.#inFlight.delete(index);
    if (this.#add(chunk) && skipped) this.#unsentBytes += sizeBytes;
    if (!skipped) this.putBytes += sizeBytes;
    // A chunk may be stored a second time, in another session.
    const wasSkipped = this.#ended.get(index);
    if (skipped && wasSkipped === undefined) this.#skippedBytes += sizeBytes;
    if (!skipped && wasSkipped) this.#skippedBytes -= sizeBytes;
    this.#ended.set(index, skipped && wasSkipped !== false);
  }

  /** Resets all numbers. Call this method when the upload is canceled, because a retry sends the whole file again. */
  restart(): void {
    this.beginRun([]);
    this.#shownBytes = 0;
    this.putBytes = 0;
  }

  /** Forgets unfinished chunks and the rate. Call this method when a run has ended. */
  endRun(): void {
    this.#inFlight.clear();
    this.#rate.stop();
  }

  /** Returns the numbers of another tab. If this tab then continues the upload, `sentBytes` does not decrease. */
  showRemote<T extends { readonly sentBytes: number }>(numbers: T): T {
    return { ...numbers, sentBytes: this.#show(numbers.sentBytes) };
  }

  /** Sets the progress to the size of the file. Call this method when the upload is done. */
  finish(): void {
    this.#shownBytes = this.#sizeBytes;
  }

  numbers(nowMs: number = performance.now()): ProgressNumbers {
    let movedBytes = this.#storedBytes;
    for (const bytes of this.#inFlight.values()) movedBytes += bytes;
    this.#rate.add(movedBytes - this.#unsentBytes, nowMs);
    const bytesPerSecond = this.#rate.perSecond;
    return {
      hashedBytes: Math.min(this.#hashedBytes, this.#sizeBytes),
      sentBytes: this.#show(movedBytes),
      storedBytes: this.#storedBytes,
      skippedBytes: this.#skippedBytes,
      ...(bytesPerSecond !== undefined && { bytesPerSecond }),
      ...(bytesPerSecond && {
        remainingMs: Math.max(0, ((this.#sizeBytes - movedBytes) / bytesPerSecond) * 1000),
      }),
    };
  }

  #show(bytes: number): number {
    this.#shownBytes = Math.max(this.#shownBytes, Math.min(bytes, this.#sizeBytes - 1));
    return this.#shownBytes;
  }

  /** Counts a chunk as stored. Returns false if the chunk was counted before. */
  #add({ index, sizeBytes }: Chunk): boolean {
    if (this.#stored.has(index)) return false;
    this.#stored.set(index, sizeBytes);
    this.#storedBytes += sizeBytes;
    return true;
  }
}

const PROGRESS_MS = 100;

interface Reporter {
  readonly isRunning: boolean;
  reportProgress(): void;
}

/** Limits progress events to ten per second for each upload, and reports all changed uploads together. */
export class ProgressThrottle {
  readonly #uploads = new Set<Reporter>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Reports the progress of the upload within 100 ms, if the upload is still running then. */
  reportSoon(upload: Reporter): void {
    this.#uploads.add(upload);
    this.#timer ??= setTimeout(() => this.#flush(), PROGRESS_MS);
  }

  /** Cancels a pending report. Returns false if no report was pending. */
  cancelReport(upload: Reporter): boolean {
    return this.#uploads.delete(upload);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #flush(): void {
    this.#timer = undefined;
    const uploads = [...this.#uploads];
    this.#uploads.clear();
    for (const upload of uploads) if (upload.isRunning) upload.reportProgress();
  }
}
