// One origin that is silent, and a network that changes all the time: whole uploads.

import { expect } from '@open-wc/testing';
import { connect } from '../../src/engine/connection.ts';
import { answer, sent } from '../service/fake-storage.ts';
import { fileOf } from '../support/bytes.ts';
import { speedUp, stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { ScriptedService } from '../support/scripted-service.ts';
import { world } from '../support/world.ts';

describe('a storage that accepts connections and is silent', () => {
  for (const concurrency of [1, 'auto'] as const)
    it(`holds up no upload to another storage (concurrency ${concurrency})`, async () => {
      speedUp(10);
      const service = new ScriptedService();
      service.answerAll('open', 'presign', 'commit');
      const { presign } = service.calls;
      /** Tickets of the session of `silent.bin` have URLs of another storage. */
      let silentId: string | undefined;
      const calls: typeof service.calls = {
        ...service.calls,
        presign: async (session, chunks, signal) => {
          const tickets = await presign(session, chunks, signal);
          silentId ??= session.sessionId;
          if (session.sessionId !== silentId) return tickets;
          return new Map(
            [...tickets].map(([hash, ticket]) => {
              const { upload } = ticket;
              const url = upload?.url.replace('store.test', 'silent.test');
              return [hash, upload && url ? { ...ticket, upload: { ...upload, url } } : ticket];
            }),
          );
        },
      };
      const engine = world({
        concurrency,
        connect: (...given) => ({
          ...connect(...given),
          calls,
          put: (upload, body, options) =>
            upload.url.includes('silent.test')
              ? new Promise((_resolve, reject) => {
                  options.signal.addEventListener('abort', () => reject(options.signal.reason));
                  silentCount += 1;
                })
              : service.put(upload, body, options),
        }),
      });
      let silentCount = 0;
      await engine.uploader.addFiles([fileOf(1, 12_000, 'silent.bin')]);
      await until(() => silentCount > 0);
      service.answerAll('put');
      await engine.uploader.addFiles([fileOf(2, 500, 'small.bin'), fileOf(3, 2500, 'large.bin')]);
      await engine.waitForChange('upload-completed', 2);
      expect(engine.phase('silent.bin')).to.equal('uploading');
    });
});

describe('a network that changes more often than a chunk is sent', () => {
  it('does not end a PUT that moves', async () => {
    const service = new ScriptedService();
    service.answerAll('open', 'presign', 'commit');
    const engine = world({
      concurrency: 1,
      connect: (...given) => ({ ...connect(...given), calls: service.calls }),
    });
    await engine.uploader.addFiles([fileOf(1, 900, 'a.bin')]);
    await until(() => sent.requests.length > 0);
    const [xhr] = sent.requests as [XMLHttpRequest];
    const clock = stopClock({ areTimersStopped: false });
    try {
      for (let second = 1; second <= 60; second += 1) {
        await clock.pass(1000);
        xhr.upload.dispatchEvent(new ProgressEvent('progress', { loaded: second }));
        for (const name of ['offline', 'online']) globalThis.dispatchEvent(new Event(name));
        await settled();
      }
    } finally {
      clock.restore();
    }
    const responseURL = sent.opened[1] as string;
    service.stored.add(new URL(responseURL).pathname.slice(1));
    answer(xhr, 200, { responseURL });
    xhr.dispatchEvent(new ProgressEvent('load'));
    await engine.waitForChange('upload-completed');
    expect(sent.requests).to.have.length(1);
  });

  it('is noticed if the PUT does not move: it is sent again, and halved after four cuts', async () => {
    const service = new ScriptedService();
    service.answerAll('open', 'presign', 'commit', 'cancel');
    const engine = world({
      concurrency: 1,
      profile: { minChunkSize: 1 },
      connect: (...given) => ({ ...connect(...given), calls: service.calls }),
    });
    await engine.uploader.addFiles([fileOf(1, 900, 'a.bin')]);
    const sizes = (): number[] => sent.bodies.map((body) => (body as Blob).size);
    for (let count = 1; sizes().at(-1) !== 450; count += 1) {
      await until(() => sent.requests.length >= count);
      sent.requests.at(-1)?.upload.dispatchEvent(new ProgressEvent('progress', { loaded: 10 }));
      const undo = stopClock({ areTimersStopped: false });
      await undo.pass(3000);
      globalThis.dispatchEvent(new Event('online'));
      undo.restore();
      await until(() => sent.requests.length > count);
    }
    expect(sizes()).to.deep.equal([900, 900, 900, 900, 450]);
  });
});
