// The progress of one file, whatever happens to its chunks.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { UploaderError } from '../../../src/core/errors.ts';
import type { StoredChunk } from '../../../src/core/types.ts';
import { Estimate, Progress } from '../../../src/engine/transfer/progress.ts';
import { plan } from '../../../src/pipeline/plan.ts';
import { fileOf } from '../../support/bytes.ts';
import { settled } from '../../support/collect.ts';
import { firstSeed } from '../../support/scope.ts';
import { world } from '../../support/world.ts';

const CHUNK = 100;
type Step = readonly ['sent' | 'stored' | 'skipped' | 'failed' | 'again', number, number];

const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step[0]>('sent', 'stored', 'skipped', 'failed', 'again'),
    fc.nat(9),
    fc.integer({ min: 1, max: 200 }),
  ),
  { maxLength: 60 },
);

describe('the bar of a file', () => {
  it('never decreases and is never full before the file is done, in any order of events', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 1000 }), (script, sizeBytes) => {
        const progress = new Progress(sizeBytes);
        const chunks = plan(sizeBytes, CHUNK);
        progress.beginRun(chunks);
        let shown = 0;
        for (const [nowMs, [what, at, bytes]] of script.entries()) {
          const chunk = chunks[at % chunks.length] as StoredChunk;
          if (what === 'sent') progress.onSent(chunk, bytes);
          if (what === 'failed') progress.onSent(chunk, 0);
          if (what === 'stored') progress.onStored(chunk);
          if (what === 'skipped') progress.onStored({ ...chunk, skipped: true });
          if (what === 'again') progress.beginRun(chunks);
          const { sentBytes, storedBytes, skippedBytes } = progress.numbers(nowMs * 100);
          expect(skippedBytes).to.be.within(0, sizeBytes);
          expect(sentBytes).to.be.at.least(shown);
          expect(sentBytes).to.be.lessThan(sizeBytes);
          expect(storedBytes).to.be.within(0, sizeBytes);
          shown = sentBytes;
        }
        progress.finish();
        expect(progress.numbers(1e6).sentBytes).to.equal(sizeBytes);
      }),
    );
  });

  it('counts chunks stored on an earlier visit from the start, until the bytes turn out to be different', () => {
    const progress = new Progress(200);
    const chunks = plan(200, CHUNK, new Map([[0, { hash: 'h', receipt: 'r' }]]));
    expect(progress.beginRun(chunks)).to.equal(100);
    expect(progress.numbers(0)).to.include({ storedBytes: 100, sentBytes: 100 });
    const [, recorded] = chunks;
    progress.onHashed({ ...(recorded as StoredChunk), hash: 'other' });
    expect(progress.numbers(0)).to.include({ storedBytes: 0, sentBytes: 100, hashedBytes: 100 });
  });

  it('shows nothing before the first run, and nothing of a run that was restarted', () => {
    const nothing = { hashedBytes: 0, sentBytes: 0, storedBytes: 0, skippedBytes: 0 };
    const progress = new Progress(200);
    expect(progress.putBytes).to.equal(0);
    expect(progress.numbers(0)).to.deep.equal(nothing);
    const [first, second] = plan(200, CHUNK) as [StoredChunk, StoredChunk];
    expect(progress.beginRun([first, second])).to.equal(0);
    expect(progress.numbers(1000)).to.deep.equal(nothing);
    progress.onHashed(first);
    progress.onStored({ ...first, skipped: true });
    progress.onSent(second, 1);
    expect(progress.numbers(1500)).to.include({ sentBytes: 101, skippedBytes: 100, hashedBytes: 100 });
    expect(progress.beginRun([first, second])).to.equal(0);
    // Only `sentBytes`, which the progress bar shows, is unchanged.
    expect(progress.numbers(2000)).to.deep.equal({ ...nothing, sentBytes: 101 });
    expect(progress.onSent(second, 1)).to.equal(1);
    progress.onStored(first);
    expect(progress.numbers(3000)).to.include({ storedBytes: 100, skippedBytes: 0 });
    progress.restart();
    expect(progress.numbers(4000)).to.deep.equal(nothing);
  });

  it('starts again in another session of a run, but hashes stay valid, and nothing that was sent counts as skipped', () => {
    const progress = new Progress(200);
    const [first, second] = plan(200, CHUNK) as [StoredChunk, StoredChunk];
    progress.beginRun([first, second]);
    progress.onStored(first);
    progress.beginRun([{ ...first, hash: 'h' }, second], true);
    expect(progress.numbers(0)).to.include({ storedBytes: 0, sentBytes: 0, hashedBytes: 100 });
    progress.onStored({ ...first, skipped: true });
    progress.onStored({ ...second, skipped: true });
    expect(progress.numbers(1000)).to.include({ storedBytes: 200, skippedBytes: 100 });
  });

  it('counts a chunk again if its bytes differ from those stored on an earlier visit', () => {
    const progress = new Progress(200);
    const recorded = plan(200, CHUNK, new Map([[0, { hash: 'h', receipt: 'r' }]])) as StoredChunk[];
    progress.beginRun(recorded);
    const [first] = plan(200, CHUNK) as [StoredChunk];
    progress.onHashed(first);
    expect(progress.numbers(0).storedBytes).to.equal(0);
    progress.onStored(first);
    expect(progress.numbers(1000)).to.include({ storedBytes: 100 });
  });

  it('counts as sent only what was transmitted, and nothing twice for its rate', () => {
    const progress = new Progress(300);
    const [first, second, third] = plan(300, CHUNK) as [StoredChunk, StoredChunk, StoredChunk];
    progress.beginRun([first, second, third]);
    progress.numbers(0);
    progress.onStored(first);
    progress.numbers(1000);
    progress.onStored(second);
    // The session was lost. In the next session, the service already has both chunks.
    progress.onStored({ ...first, skipped: true });
    progress.onStored({ ...second, skipped: true });
    progress.onStored({ ...third, skipped: true });
    expect(progress.putBytes).to.equal(200);
    const { bytesPerSecond, ...numbers } = progress.numbers(6000);
    expect(bytesPerSecond).to.be.closeTo(20, 0.001);
    expect(numbers).to.include({ storedBytes: 300, remainingMs: 0 });
  });

  it('shows the progress of another tab, and keeps it when that tab is closed', () => {
    const progress = new Progress(200);
    progress.beginRun(plan(200, CHUNK));
    const reported = { sentBytes: 120, storedBytes: 100 };
    expect(progress.showRemote(reported)).to.deep.equal(reported);
    expect(progress.showRemote({ sentBytes: 50 })).to.deep.equal({ sentBytes: 120 });
    expect(progress.numbers(0)).to.include({ sentBytes: 120, storedBytes: 0 });
    expect(progress.showRemote({ sentBytes: 200 })).to.deep.equal({ sentBytes: 199 });
  });

  it('drops unfinished chunks and the rate when a run ends early', () => {
    const progress = new Progress(1000);
    const [first, second] = plan(1000, CHUNK) as [StoredChunk, StoredChunk];
    progress.beginRun([first, second]);
    progress.numbers(0);
    progress.onStored(first);
    progress.numbers(1000);
    progress.onSent(second, 60);
    const { bytesPerSecond, sentBytes } = progress.numbers(6000);
    expect(sentBytes).to.equal(160);
    expect(bytesPerSecond).to.be.closeTo(12, 0.001);
    progress.endRun();
    expect(progress.numbers(7000)).to.deep.equal({
      ...{ hashedBytes: 0, sentBytes: 160, storedBytes: 100, skippedBytes: 0 },
    });
    expect(progress.onSent(second, 60)).to.equal(60);
  });

  it('counts hashed, unfinished and stored bytes exactly', () => {
    const progress = new Progress(200);
    const chunks = plan(200, CHUNK) as StoredChunk[];
    progress.beginRun(chunks);
    const [first, second] = chunks as [StoredChunk, StoredChunk];
    progress.onHashed(first);
    progress.onSent(first, 40);
    expect(progress.numbers(0)).to.include({ hashedBytes: 100, sentBytes: 40, storedBytes: 0 });
    progress.onStored(first);
    progress.onHashed(second);
    progress.onSent(second, 30);
    expect(progress.numbers(1000)).to.include({ hashedBytes: 200, sentBytes: 130, storedBytes: 100 });
  });

  it('estimates the time left by the rate, after three seconds of evidence', () => {
    const progress = new Progress(1000);
    const chunks = plan(1000, CHUNK) as StoredChunk[];
    progress.beginRun(chunks);
    expect(progress.numbers(0).remainingMs).to.equal(undefined);
    for (const [at, chunk] of chunks.slice(0, 9).entries()) {
      progress.onStored(chunk);
      const { bytesPerSecond, remainingMs } = progress.numbers((at + 1) * 1000);
      if (at < 4) {
        expect([bytesPerSecond, remainingMs]).to.deep.equal([undefined, undefined]);
        continue;
      }
      expect(bytesPerSecond).to.be.closeTo(CHUNK, 0.001);
      expect(remainingMs).to.be.closeTo((9 - at) * 1000, 0.001);
    }
  });

  it('counts a chunk as either skipped or sent, however often it is stored', () => {
    const progress = new Progress(200);
    const [first, second] = plan(200, CHUNK) as [StoredChunk, StoredChunk];
    progress.beginRun([first, second]);
    progress.onStored(first);
    progress.onStored({ ...second, skipped: true });
    // The session was lost. In the next session, the service has the first chunk, but not the second.
    progress.onStored({ ...first, skipped: true });
    expect(progress.numbers(0).skippedBytes).to.equal(CHUNK);
    progress.onStored(second);
    expect(progress.numbers(0).skippedBytes).to.equal(0);
    expect(progress.putBytes).to.equal(200);
  });

  it('computes its rate from transmitted bytes, not from those that the service already has', () => {
    const progress = new Progress(1e6);
    const chunks = plan(1e6, CHUNK) as StoredChunk[];
    progress.beginRun(chunks);
    progress.numbers(0);
    for (const chunk of chunks.slice(0, 9000)) progress.onStored({ ...chunk, skipped: true });
    progress.onStored(chunks[9000] as StoredChunk);
    progress.numbers(1000);
    for (const chunk of chunks.slice(9001, 9006)) progress.onStored(chunk);
    const { bytesPerSecond, remainingMs } = progress.numbers(6000);
    expect(bytesPerSecond).to.be.closeTo(CHUNK, 0.001);
    expect(remainingMs).to.be.closeTo(994_000, 0.001);
  });

  it('counts new bytes, and never a negative number', () => {
    const progress = new Progress(CHUNK);
    const [chunk] = plan(CHUNK, CHUNK);
    expect([40, 70, 0, 30].map((bytes) => progress.onSent(chunk as StoredChunk, bytes))).to.deep.equal([
      40, 30, -70, 30,
    ]);
  });
});

describe('the rate', () => {
  /** Returns an estimate whose first second, which is not measured, is over. 1000 bytes were sent. */
  function estimateOf(): Estimate {
    const estimate = new Estimate();
    estimate.add(0, 1);
    estimate.add(1000, 1);
    estimate.add(1000, 1000);
    return estimate;
  }

  it('is unknown at first, then follows the transmitted bytes smoothly', () => {
    const rate = estimateOf();
    expect(rate.perSecond).to.equal(undefined);
    for (let second = 2; second <= 20; second += 1) rate.add(second * 1000, second * 1000);
    expect(rate.perSecond).to.be.closeTo(1000, 1);
    rate.add(30_000, 21_000);
    expect(rate.perSecond).to.be.within(1001, 9999);
    rate.stop();
    expect(rate.perSecond).to.equal(undefined);
  });

  it('is measured over at least 50 ms, and smoothed over 15 seconds', () => {
    const rate = estimateOf();
    rate.add(1500, 1049);
    expect(rate.perSecond).to.equal(undefined);
    rate.add(1500, 1050);
    expect(rate.perSecond).to.be.closeTo(10_000, 0.001);
    rate.add(2500, 2050);
    // A rate has the weight of its time, which decreases to 1/e in 15 seconds.
    const [before, now] = [(1 - Math.exp(-0.05 / 15)) * Math.exp(-1 / 15), 1 - Math.exp(-1 / 15)];
    expect(rate.perSecond).to.be.closeTo((10_000 * before + 1000 * now) / (before + now), 0.001);
  });

  it('does not count bytes that were lost, and excludes what happens after a skip', () => {
    const rate = estimateOf();
    rate.add(2000, 2000);
    expect(rate.perSecond).to.be.closeTo(1000, 0.001);
    for (let second = 3; second <= 200; second += 1) rate.add(second % 2 ? 1000 : 2000, second * 1000);
    expect(rate.perSecond).to.be.below(200);
    rate.add(0, 201_000);
    expect(rate.perSecond).to.equal(0);
    rate.skip();
    rate.add(900_000, 202_000);
    for (let second = 203; second <= 400; second += 1)
      rate.add(900_000 + (second - 202) * 1000, second * 1000);
    expect(rate.perSecond).to.be.closeTo(1000, 1);
  });

  it('treats an unchanged total as a stalled connection', () => {
    const rate = estimateOf();
    rate.add(1000, 2000);
    expect(rate.perSecond).to.equal(0);
  });
});

describe('the progress of an upload', () => {
  type Move = 'tell' | 'answer' | 'refuse' | 'pause' | 'wait';
  const moves = fc.array(fc.constantFrom<Move>('tell', 'answer', 'refuse', 'pause', 'wait'), {
    maxLength: 25,
  });

  it('never decreases, and is full only when the file is completed, whatever happens during the upload', async () => {
    await fc.assert(
      fc.asyncProperty(moves, fc.integer({ min: 1, max: 5500 }), async (script, sizeBytes) => {
        const engine = world({ noResume: true, policy: { attempts: 1e6, baseMs: 0, capMs: 0 } });
        engine.service.answerAll('open', 'presign', 'cancel');
        await engine.uploader.addFiles([fileOf(sizeBytes, sizeBytes, 'a.bin')]);
        for (const step of script) {
          const [request] = engine.service.waiting();
          if (step === 'pause') {
            await engine.uploader.pause();
            await engine.uploader.resume();
          } else if (step === 'wait' || !request) await settled();
          else if (step === 'tell' && 'tell' in request) request.tell(Math.ceil(request.body.size / 2));
          else if (step === 'answer') (await engine.service.nextRequest(request.kind)).answer();
          else if (step === 'refuse')
            (await engine.service.nextRequest(request.kind)).refuse(new UploaderError('network', ''));
        }
        engine.service.answerAll();
        await engine.waitForChange('upload-completed');
        const shown = engine.changes.filter(
          ({ name }) => name === 'upload-progress' || name === 'upload-completed',
        );
        let sentBytes = 0;
        for (const [at, change] of shown.entries()) {
          if (change.name !== 'upload-progress') continue;
          const { detail } = change;
          expect(detail.sentBytes).to.be.at.least(sentBytes);
          expect(detail.sentBytes).to.be.at.most(sizeBytes);
          expect(detail.storedBytes).to.be.within(0, sizeBytes);
          expect(detail.hashedBytes).to.be.within(0, sizeBytes);
          if (detail.sentBytes === sizeBytes) expect(shown[at + 1]?.name).to.equal('upload-completed');
          sentBytes = detail.sentBytes;
        }
        expect(engine.row('a.bin')).to.include({ sentBytes: sizeBytes, storedBytes: sizeBytes });
        await engine.uploader.close();
      }),
      { numRuns: 25, seed: firstSeed },
    );
  });

  it('adds up all uploads that are not canceled', async () => {
    const engine = world();
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 1000, 'a.bin'), fileOf(2, 2000, 'b.bin')]);
    await engine.waitForChange('uploads-finished');
    engine.service.hold('open');
    await engine.uploader.addFiles([fileOf(3, 5000, 'c.bin'), fileOf(4, 700, 'd.bin')]);
    await engine.uploader.cancel(engine.id('d.bin'));
    expect(engine.uploader.snapshot.totals).to.include({
      fileCount: 4,
      doneCount: 2,
      failedCount: 0,
      openCount: 1,
      sizeBytes: 8000,
      sentBytes: 3000,
      storedBytes: 3000,
    });
  });
});
