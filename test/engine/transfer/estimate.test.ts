// Speed and time left, on simulated connections with a simulated clock.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { Estimate } from '../../../src/engine/transfer/progress.ts';
import { runs } from '../../support/scope.ts';

const MB = 1_000_000;
const STEP_MS = 100;

/** A connection that is shared by `slots` PUTs. Each PUT hands over `bufferBytes` more than have arrived. */
interface Line {
  readonly sizeBytes: number;
  readonly chunkBytes: number;
  readonly slots: number;
  readonly bufferBytes: number;
  /** Bytes per second at a time. */
  readonly rateAt: (ms: number) => number;
}

interface Look {
  readonly atMs: number;
  readonly sentBytes: number;
  readonly arrivedBytes: number;
  readonly bytesPerSecond?: number | undefined;
  readonly remainingMs?: number | undefined;
}

/** Uploads a file over `line`, and returns what the estimate says every 100 ms. */
function upload({ sizeBytes, chunkBytes, slots, bufferBytes, rateAt }: Line): Look[] {
  const estimate = new Estimate();
  const looks: Look[] = [];
  let waitingBytes = sizeBytes;
  let storedBytes = 0;
  let lanes: { readonly size: number; readonly arrived: number }[] = [];
  const move = (ms: number): void => {
    while (lanes.length < slots && waitingBytes > 0) {
      const size = Math.min(chunkBytes, waitingBytes);
      waitingBytes -= size;
      lanes.push({ size, arrived: 0 });
    }
    const perMs = rateAt(looks.length * STEP_MS) / 1000 / lanes.length;
    const untilStoredMs = Math.min(...lanes.map(({ size, arrived }) => (size - arrived) / perMs));
    const nowMs = Math.min(ms, untilStoredMs);
    const next = lanes.map(({ size, arrived }) => ({ size, arrived: arrived + perMs * nowMs }));
    lanes = next.filter(({ size, arrived }) => arrived < size - 0.001);
    storedBytes = sizeBytes - waitingBytes - lanes.reduce((sum, { size }) => sum + size, 0);
    if (ms > nowMs && storedBytes < sizeBytes) move(ms - nowMs);
  };
  for (let atMs = 0; storedBytes < sizeBytes; atMs += STEP_MS) {
    const inFlight = lanes.reduce((sum, lane) => sum + Math.min(lane.size, lane.arrived + bufferBytes), 0);
    const arrived = lanes.reduce((sum, lane) => sum + lane.arrived, 0);
    const sentBytes = storedBytes + inFlight;
    const estimated = estimate.of(sentBytes, sizeBytes - sentBytes, atMs);
    looks.push({ atMs, sentBytes, arrivedBytes: storedBytes + arrived, ...estimated });
    move(STEP_MS);
  }
  return looks;
}

/** Asserts that no increase is followed by a decrease within five seconds. */
function expectCalm(looks: readonly Look[]): void {
  let raisedMs = Number.NEGATIVE_INFINITY;
  let before: number | undefined;
  for (const { atMs, remainingMs } of looks) {
    if (before !== undefined && remainingMs !== undefined) {
      if (remainingMs > before) raisedMs = atMs;
      else if (remainingMs < before) expect(atMs - raisedMs, `decrease at ${atMs}`).to.be.at.least(5000);
    }
    if (remainingMs === undefined) raisedMs = Number.NEGATIVE_INFINITY;
    before = remainingMs;
  }
}

const steady = fc
  .record({
    rate: fc.integer({ min: 100_000, max: 20 * MB }),
    seconds: fc.integer({ min: 30, max: 900 }),
    chunkBytes: fc.integer({ min: 1 * MB, max: 10 * MB }),
    slots: fc.integer({ min: 1, max: 6 }),
    bufferBytes: fc.integer({ min: 0, max: 200_000 }),
  })
  .map(({ rate, seconds, bufferBytes, ...line }) => ({
    ...line,
    sizeBytes: rate * seconds,
    // Buffers of the system grow with the rate: together half a second here.
    bufferBytes: Math.min(bufferBytes, rate / 2 / line.slots),
    rateAt: () => rate,
  }));

describe('the estimate on a steady connection', () => {
  it('differs from the truth by less than 30 % from 20 % of the file on', () => {
    fc.assert(
      fc.property(steady, (line) => {
        for (const { sentBytes, arrivedBytes, remainingMs } of upload(line)) {
          if (sentBytes < line.sizeBytes * 0.2) continue;
          const trueMs = ((line.sizeBytes - arrivedBytes) / line.rateAt()) * 1000;
          // Below ten seconds, users see "a few seconds".
          if (trueMs < 10_000) break;
          expect(remainingMs).to.be.within(trueMs * 0.7, trueMs * 1.3);
        }
      }),
      runs(150),
    );
  });

  it('never increases and then decreases within five seconds', () => {
    fc.assert(
      fc.property(steady, (line) => expectCalm(upload(line))),
      runs(150),
    );
  });

  it('is missing until three seconds have been measured', () => {
    const line = { sizeBytes: 60 * MB, chunkBytes: 5 * MB, slots: 2, bufferBytes: 0, rateAt: () => MB };
    const looks = upload(line);
    const first = looks.find(({ remainingMs }) => remainingMs !== undefined);
    expect(first?.atMs).to.be.within(4000, 4300);
    expect(first?.bytesPerSecond).to.be.closeTo(MB, 1);
    expect(looks.slice(0, 10).every(({ bytesPerSecond }) => bytesPerSecond === undefined)).to.equal(true);
  });
});

describe('the estimate on an unsteady connection', () => {
  const changing = fc.record({
    sizeBytes: fc.integer({ min: 20 * MB, max: 200 * MB }),
    chunkBytes: fc.integer({ min: 1 * MB, max: 10 * MB }),
    slots: fc.integer({ min: 1, max: 6 }),
    bufferBytes: fc.integer({ min: 0, max: 4 * MB }),
    rateAt: fc
      .array(fc.integer({ min: 200_000, max: 10 * MB }), { minLength: 3, maxLength: 12 })
      .map((rates) => (ms: number) => rates[Math.floor(ms / 7000) % rates.length] ?? MB),
  });

  it('does not change back and forth, either', () => {
    fc.assert(
      fc.property(changing, (line) => expectCalm(upload(line))),
      runs(150),
    );
  });

  it('follows a connection that becomes four times slower within 30 seconds', () => {
    const rateAt = (ms: number): number => (ms < 20_000 ? 4 * MB : MB);
    const line = { sizeBytes: 200 * MB, chunkBytes: 5 * MB, slots: 3, bufferBytes: 0, rateAt };
    const look = upload(line).find(({ atMs }) => atMs === 50_000);
    const trueMs = ((line.sizeBytes - (look?.arrivedBytes ?? 0)) / MB) * 1000;
    expect(look?.remainingMs).to.be.within(trueMs * 0.7, trueMs * 1.3);
  });

  it('shows a lower speed each second while nothing moves, and nothing after ten seconds', () => {
    const estimate = new Estimate();
    for (let ms = 0; ms <= 8000; ms += STEP_MS) estimate.of(ms * 1000, 1e9 - ms * 1000, ms);
    const stalled = Array.from(
      { length: 12 },
      (_, second) => estimate.of(8e6, 992e6, 8000 + second * 1000).bytesPerSecond ?? 0,
    );
    expect(stalled.slice(0, 10).every((speed, at) => speed > (stalled[at + 1] ?? 0))).to.equal(true);
    expect(stalled.slice(10)).to.deep.equal([0, 0]);
    expect(estimate.isMoving(17_999)).to.equal(true);
    expect(estimate.isMoving(18_000)).to.equal(false);
  });

  it('starts again after a long interruption', () => {
    const estimate = new Estimate();
    for (let ms = 0; ms <= 8000; ms += STEP_MS) estimate.of(ms * 1000, 1e9, ms);
    estimate.of(8e6, 1e9, 60_000);
    for (let ms = 0; ms < 4000; ms += STEP_MS)
      expect(estimate.of(8e6 + (ms + 1) * 100, 1e9, 60_000 + ms)).to.deep.equal({});
    const { bytesPerSecond } = estimate.of(8e6 + 410_000, 1e9, 64_100);
    expect(bytesPerSecond).to.be.closeTo(100_000, 5000);
  });
});
