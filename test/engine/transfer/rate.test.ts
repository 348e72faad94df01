// The transfer rate and the time left of the whole list.

import { expect } from '@open-wc/testing';
import { fileOf, sha256 } from '../../support/bytes.ts';
import { type Clock, stopClock } from '../../support/clock.ts';
import { until } from '../../support/collect.ts';
import { createUnfinished, type World, world } from '../../support/world.ts';

let clock: Clock;
beforeEach(() => {
  clock = stopClock({ areTimersStopped: false });
});
afterEach(() => clock.restore());

/** Responds to `count` PUTs at once, `rounds` times. Each PUT takes `ms`. */
async function answerPuts({ service }: World, count: number, ms: number, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const { size } = service.stored;
    await until(() => service.waiting('put').length === count);
    await clock.pass(ms);
    service.answerAll('put').hold('put');
    await until(() => service.stored.size === size + count);
  }
}

describe('the transfer rate of the list', () => {
  it('is the bytes sent divided by the time they took, also with many small files', async () => {
    const engine = world({ concurrency: 6, chunkSize: 'auto' });
    engine.service.answerAll('open', 'presign', 'commit');
    const files = Array.from({ length: 300 }, (_, index) => fileOf(index + 1, 2000, `${index}.bin`));
    let shown: number | undefined;
    engine.uploader.on('upload-completed', () => {
      shown = engine.uploader.snapshot.totals.bytesPerSecond ?? shown;
    });
    await engine.uploader.addFiles(files);
    await answerPuts(engine, 6, 120, files.length / 6);
    await engine.waitForChange('upload-completed', files.length);
    expect(shown).to.be.closeTo((6 * 2000 * 1000) / 120, 2500);
  });

  it('excludes bytes that the service already has', async () => {
    const engine = world();
    const known = fileOf(1, 8000, 'known.bin');
    for (let start = 0; start < known.size; start += 1000)
      engine.service.stored.add(await sha256(known.slice(start, start + 1000)));
    engine.service.answerAll('open', 'presign', 'commit');
    await engine.uploader.addFiles([known, fileOf(2, 40_000, 'new.bin')]);
    await engine.waitForChange('upload-completed');
    await answerPuts(engine, 2, 1000, 10);
    expect(engine.phase('new.bin')).to.equal('uploading');
    expect(engine.uploader.snapshot.totals.bytesPerSecond).to.be.closeTo(2000, 100);
  });
});

describe('the time left of the list', () => {
  it('excludes files that wait for the user', async () => {
    const store = await createUnfinished(fileOf(1, 90_000, 'old.bin'));
    const engine = world({ store });
    await until(() => engine.row('old.bin')?.pauseReason === 'needs-file');
    engine.service.answerAll('open', 'presign', 'commit');
    // The first reading of the snapshot sets the time left, so progress, which is reported later, is not read there.
    let sentBytes = 0;
    engine.uploader.on('upload-progress', (detail) => {
      sentBytes = detail.sentBytes;
    });
    await engine.uploader.addFiles([fileOf(2, 120_000, 'new.bin')]);
    await answerPuts(engine, 2, 500, 20);
    await until(() => sentBytes === 40_000);
    // 80 chunks are left, and two take half a second.
    expect(engine.uploader.snapshot.totals.remainingMs).to.be.closeTo(20_000, 4000);
  });
});

describe('a file that was canceled and is retried', () => {
  it('counts as sent only bytes sent since the retry', async () => {
    const engine = world({ concurrency: 1 });
    engine.service.isForgetful = true;
    engine.service.answerAll('open', 'presign', 'cancel');
    await engine.uploader.addFiles([fileOf(1, 10_000, 'a.bin')]);
    for (let count = 0; count < 8; count += 1) {
      const put = await engine.service.nextRequest('put');
      put.tell(1000);
      put.answer();
    }
    await until(() => engine.row('a.bin')?.sentBytes === 8000);
    await engine.uploader.cancel(engine.id('a.bin'));
    await engine.uploader.retry(engine.id('a.bin'));
    (await engine.service.nextRequest('put')).tell(500);
    await until(() => (engine.row('a.bin')?.sentBytes ?? 0) > 0);
    expect(engine.row('a.bin')).to.include({ sentBytes: 500, storedBytes: 0 });
    expect(engine.uploader.snapshot.totals.sentBytes).to.equal(500);
  });
});
