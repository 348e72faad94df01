// The transfer rate and the time left of the whole list.

import { expect } from '@open-wc/testing';
import { fileOf, sha256 } from '../../support/bytes.ts';
import { until } from '../../support/collect.ts';
import { closeEngines, createUnfinished, TestEngine } from '../../support/engine.ts';
import type { Request } from '../../support/scripted-service.ts';

afterEach(closeEngines);

/** Responds to each PUT after `ms`, and reports all bytes of the PUT as sent. */
async function answerPuts({ service }: TestEngine, ms: number): Promise<void> {
  for (;;) {
    const request: Request<'put'> = await service.nextRequest('put');
    setTimeout(() => {
      request.tell(request.body.size);
      request.answer();
    }, ms);
  }
}

describe('the transfer rate of the list', () => {
  it('is the bytes sent divided by the time they took, also with many small files', async () => {
    const engine = new TestEngine({ concurrency: 6, chunkSize: 'auto' });
    engine.service.answerAll('open', 'presign', 'commit');
    // Longer than the evidence that the estimate needs.
    void answerPuts(engine, 120);
    const files = Array.from({ length: 300 }, (_, index) => fileOf(index + 1, 2000, `${index}.bin`));
    const beganMs = performance.now();
    let shown = 0;
    engine.uploader.on('upload-completed', () => {
      shown = engine.uploader.snapshot.totals.bytesPerSecond ?? shown;
    });
    await engine.uploader.addFiles(files);
    await engine.waitForChange('upload-completed', files.length);
    const real = (files.length * 2000 * 1000) / (performance.now() - beganMs);
    expect(shown).to.be.within(real / 3, real * 3);
  });

  it('excludes bytes that the service already has', async () => {
    const engine = new TestEngine();
    const known = fileOf(1, 8000, 'known.bin');
    for (let start = 0; start < known.size; start += 1000)
      engine.service.stored.add(await sha256(known.slice(start, start + 1000)));
    engine.service.answerAll('open', 'presign', 'commit');
    await engine.uploader.addFiles([fileOf(2, 4000, 'new.bin'), known]);
    await engine.waitForChange('upload-completed');
    await until(() => engine.service.waiting('put').length > 0);
    expect(engine.phase('new.bin')).to.equal('uploading');
    expect(engine.uploader.snapshot.totals.bytesPerSecond ?? 0).to.equal(0);
  });
});

describe('the time left of the list', () => {
  it('excludes files that wait for the user', async () => {
    const store = await createUnfinished(fileOf(1, 90_000, 'old.bin'));
    const engine = new TestEngine({}, { store });
    await until(() => engine.row('old.bin')?.pauseReason === 'needs-file');
    engine.service.answerAll('open', 'presign', 'commit');
    void answerPuts(engine, 300);
    await engine.uploader.addFiles([fileOf(2, 120_000, 'new.bin')]);
    await until(() => engine.uploader.snapshot.totals.remainingMs !== undefined);
    const { bytesPerSecond = Number.NaN, remainingMs } = engine.uploader.snapshot.totals;
    const { sizeBytes = Number.NaN, sentBytes = Number.NaN } = engine.row('new.bin') ?? {};
    const expectedMs = ((sizeBytes - sentBytes) / bytesPerSecond) * 1000;
    expect(remainingMs).to.be.within(expectedMs * 0.8, expectedMs * 1.2);
  });
});

describe('a file that was canceled and is retried', () => {
  it('counts as sent only bytes sent since the retry', async () => {
    const engine = new TestEngine({ concurrency: 1 });
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
