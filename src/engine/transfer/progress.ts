// Progress of one upload. `sentBytes` never decreases, and reaches the file size only when the upload is done.

import type { Estimated } from '../../core/totals.ts';
import type { Chunk, ProgressNumbers, StoredChunk } from '../../core/types.ts';

/** Time that the rate of an estimate is smoothed over. Chunks end together, so a shorter time would show waves. */
const ESTIMATE_WINDOW_MS = 15_000;
/** Time at the start that is not measured, because buffers of the system accept bytes faster than the network sends them. */
const BUFFERING_MS = 1000;
const EVIDENCE_MS = 3000;
/** Time without bytes after which there is no estimate. */
const STALLED_MS = 10_000;
/** Time in which the time left does not decrease again after it has increased. */
const HOLD_MS = 5000;
/** Time over which the time left adapts to the measured rate. */
const FOLLOW_MS = 3000;

/** Speed and time left, as users see them: steady, and absent until the rate has been measured. */
export class Estimate {
  #bytes: number | undefined;
  #startedMs = 0;
  #movedMs = Number.NEGATIVE_INFINITY;
  /** The last measurement; its time is `undefined` if the time until the next one does not count. */
  #measuredMs: number | undefined;
  #measuredBytes = 0;
  /** Weighted mean of the rates so far, times `#weight`, which approaches 1. */
  #sum = 0;
  #weight = 0;
  #shownMs: number | undefined;
  #askedMs = 0;
  #heldUntilMs = 0;

  /** Rate in bytes per second; `undefined` until it is measured. */
  get perSecond(): number | undefined {
    return this.#weight > 0 ? Math.max(0, this.#sum / this.#weight) : undefined;
  }

  /** True if bytes were sent in the last 10 seconds. */
  isMoving(nowMs: number): boolean {
    return nowMs - this.#movedMs < STALLED_MS;
  }

  /** Adds a measurement of the bytes sent so far. The number decreases when bytes are lost. */
  add(movedBytes: number, nowMs: number): void {
    if (movedBytes > (this.#bytes ?? movedBytes)) {
      if (!this.isMoving(nowMs)) {
        this.stop();
        this.#startedMs = nowMs;
      }
      this.#movedMs = nowMs;
    }
    this.#bytes = movedBytes;
    if (nowMs - this.#startedMs < BUFFERING_MS) this.skip();
    const elapsedMs = nowMs - (this.#measuredMs ?? nowMs);
    if (this.#measuredMs !== undefined && elapsedMs < 50) return;
    if (elapsedMs > 0) {
      const rate = ((movedBytes - this.#measuredBytes) / elapsedMs) * 1000;
      const kept = Math.exp(-elapsedMs / ESTIMATE_WINDOW_MS);
      this.#sum = this.#sum * kept + rate * (1 - kept);
      this.#weight = this.#weight * kept + 1 - kept;
    }
    this.#measuredMs = nowMs;
    this.#measuredBytes = movedBytes;
  }

  /** Adds a measurement of the bytes sent so far, and returns the estimate for the bytes that are left. */
  of(movedBytes: number, leftBytes: number, nowMs: number): Estimated {
    this.add(movedBytes, nowMs);
    const bytesPerSecond = this.perSecond;
    const isEvident = nowMs - this.#startedMs >= BUFFERING_MS + EVIDENCE_MS;
    if (!bytesPerSecond || !isEvident || !this.isMoving(nowMs)) return {};
    return { bytesPerSecond, remainingMs: this.#steady((leftBytes / bytesPerSecond) * 1000, nowMs) };
  }

  /** Excludes the time until the next measurement. */
  skip(): void {
    this.#measuredMs = undefined;
  }

  stop(): void {
    this.skip();
    this.#sum = 0;
    this.#weight = 0;
    this.#bytes = undefined;
    this.#movedMs = Number.NEGATIVE_INFINITY;
    this.#shownMs = undefined;
    this.#heldUntilMs = 0;
  }

  /** Returns a time that counts down. It rises only if `measuredMs` is 20 % higher, and then holds for `HOLD_MS`. */
  #steady(measuredMs: number, nowMs: number): number {
    const elapsedMs = nowMs - this.#askedMs;
    this.#askedMs = nowMs;
    const before = this.#shownMs;
    if (before === undefined) this.#shownMs = measuredMs;
    else if (measuredMs > before * 1.2 + 1000) {
      this.#shownMs = measuredMs;
      this.#heldUntilMs = nowMs + HOLD_MS;
    } else if (nowMs >= this.#heldUntilMs) {
      const expectedMs = before - elapsedMs;
      const next = expectedMs + (measuredMs - expectedMs) * (1 - Math.exp(-elapsedMs / FOLLOW_MS));
      this.#shownMs = Math.max(0, Math.min(before, next));
    }
    return this.#shownMs ?? 0;
  }
}

export class Progress {
  #sizeBytes: number;
  readonly #estimate = new Estimate();
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

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Starts over if the size is another one. Returns true then. */
  resize(sizeBytes: number): boolean {
    if (sizeBytes === this.#sizeBytes) return false;
    this.#sizeBytes = sizeBytes;
    this.#shownBytes = 0;
    this.beginRun([]);
    return true;
  }

  /**
   * Starts a run, or with `isSamePlan` a new session of a run, in which only the hashes remain. Recorded chunks count as stored,
   * until `onHashed()` finds a different hash. Returns the size of the recorded chunks in bytes.
   */
  beginRun(chunks: readonly Chunk[], isSamePlan = false): number {
    this.#stored.clear();
    this.#inFlight.clear();
    this.#storedBytes = 0;
    if (!isSamePlan) {
      this.#ended.clear();
      this.#skippedBytes = 0;
    }
    this.#unsentBytes = 0;
    this.#hashedBytes = 0;
    this.#estimate.stop();
    for (const chunk of chunks) {
      if (chunk.recorded) this.#add(chunk);
      if (chunk.hash !== undefined) this.#hashedBytes += chunk.sizeBytes;
    }
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

  /** Returns how many more bytes of the chunk were sent since the last call; negative after a failed PUT. */
  onSent(chunk: Chunk, sentBytes: number): number {
    const before = this.#inFlight.get(chunk.index) ?? 0;
    if (sentBytes > 0) this.#inFlight.set(chunk.index, Math.min(sentBytes, chunk.sizeBytes));
    else this.#inFlight.delete(chunk.index);
    return sentBytes - before;
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
    this.#estimate.stop();
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
    return {
      hashedBytes: Math.min(this.#hashedBytes, this.#sizeBytes),
      sentBytes: this.#show(movedBytes),
      storedBytes: this.#storedBytes,
      skippedBytes: this.#skippedBytes,
      ...this.#estimate.of(movedBytes - this.#unsentBytes, Math.max(0, this.#sizeBytes - movedBytes), nowMs),
    };
  }

  /** True if bytes were sent in the last seconds, so that the estimate changes with time. */
  get isMoving(): boolean {
    return this.#estimate.isMoving(performance.now());
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
/** Interval of reports without new bytes, because estimates change with time. */
const BEAT_MS = 1000;

interface Reporter {
  readonly isRunning: boolean;
  readonly progress: { readonly isMoving: boolean };
  reportProgress(): void;
}

/**
 * Limits progress events to ten per second for each upload, and reports all changed uploads together. Repeats the report of an
 * upload every second while its estimate changes.
 */
export class ProgressThrottle {
  readonly #uploads = new Set<Reporter>();
  readonly #moving = new Set<Reporter>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #beat: ReturnType<typeof setTimeout> | undefined;

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
    clearTimeout(this.#beat);
    this.#timer = undefined;
    this.#beat = undefined;
  }

  #flush(): void {
    this.#timer = undefined;
    const uploads = [...this.#uploads].filter((upload) => upload.isRunning);
    this.#uploads.clear();
    for (const upload of uploads) {
      upload.reportProgress();
      if (upload.progress.isMoving) this.#moving.add(upload);
    }
    if (this.#moving.size === 0) return;
    this.#beat ??= setTimeout(() => {
      this.#beat = undefined;
      for (const upload of this.#moving) this.reportSoon(upload);
      this.#moving.clear();
    }, BEAT_MS);
  }
}
