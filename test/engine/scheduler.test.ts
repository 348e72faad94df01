// Which uploads run if files are slow to read or prioritized, and the transfer rate, which excludes the time without uploads.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { FileSnapshot } from '../../src/core/types.ts';
import { moveEntry } from '../../src/engine/scheduler.ts';
import { addFault } from '../service/reference.ts';
import { fileOf, freshFile } from '../support/bytes.ts';
import { speedUp, stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import type { Request } from '../support/scripted-service.ts';
import { gatedWorker, slowWorker } from '../support/slow-worker.ts';
import { newStore, world } from '../support/world.ts';

/** Waits until the engine has finished all work that needs no network, timer or worker. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await settled();
}

describe('many files', () => {
  it('start in several tasks, at most four in each', async () => {
    const engine = world({ concurrency: 6 });
    const startedCount = (): number => engine.phases().filter((phase) => phase !== 'queued').length;
    const counts: number[] = [];
    const { MessageChannel } = globalThis;
    globalThis.MessageChannel = class extends MessageChannel {
      constructor() {
        super();
        // Before the listener of `nextTask()`.
        this.port1.addEventListener('message', () => counts.push(startedCount()));
      }
    };
    try {
      await engine.uploader.addFiles(Array.from({ length: 30 }, (_, seed) => fileOf(seed, 900, `${seed}`)));
      await settle();
    } finally {
      globalThis.MessageChannel = MessageChannel;
    }
    const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0));
    expect(counts.at(-1)).to.equal(18);
    expect(Math.max(...steps)).to.equal(4);
  });
});

describe('a large file whose bytes do not arrive', () => {
  it('does not stop the files behind it from being uploaded', async () => {
    speedUp(10);
    const engine = world({ ...slowWorker() });
    engine.service.answerAll();
    const small = Array.from({ length: 8 }, (_, index) => fileOf(index + 2, 10, `${index}.bin`));
    await engine.uploader.addFiles([fileOf(1, 40_000, 'slow.bin'), ...small]);
    await engine.waitForChange('upload-completed', small.length);
    expect(engine.phase('slow.bin')).not.to.equal('done');
  });

  it('does not count after a second without activity, and no file that waits does', async () => {
    const clock = stopClock();
    try {
      const { service, uploader } = world({ ...slowWorker(), concurrency: 1 });
      const small = Array.from({ length: 16 }, (_, index) => fileOf(index + 2, 10, `${index}.bin`));
      const added = uploader.addFiles([fileOf(1, 40_000, 'slow.bin'), ...small]);
      await Promise.all([added, settle()]);
      for (const [ms, expected] of [
        [999, 1],
        // With one slot, three files may be active.
        [1, 4],
        [999, 4],
        // The service does not respond to them, either.
        [1, 7],
        [1000, 10],
        // Four times as many may run.
        [1000, 12],
        [3000, 12],
      ] as const) {
        await clock.pass(ms);
        await settle();
        expect(service.count('open'), `${ms}`).to.equal(expected);
      }
    } finally {
      clock.restore();
    }
  });

  it('counts while it waits for a slot', async () => {
    const clock = stopClock();
    try {
      const { service, uploader } = world({ concurrency: 1, answers: ['open', 'presign'] });
      const files = ['a', 'b'].map((name, seed) => fileOf(seed, 4500, name));
      await Promise.all([uploader.addFiles(files), settle()]);
      const put = await service.nextRequest('put');
      for (let step = 1; step <= 40; step += 1) {
        put.tell(step);
        await clock.pass(100);
        await settle();
      }
      expect(service.count('open')).to.equal(1);
    } finally {
      clock.restore();
    }
  });
});

describe('files of a drive that is gone', () => {
  it('do not stop the files behind them from being uploaded', async () => {
    speedUp(10);
    const engine = world({ ...slowWorker(), concurrency: 6 });
    engine.service.answerAll();
    const gone = Array.from({ length: 60 }, (_, index) => fileOf(index, 200, `gone-${index}.jpg`));
    const local = Array.from({ length: 10 }, (_, index) => fileOf(index, 100, `local-${index}.pdf`));
    await engine.uploader.addFiles([...gone, ...local]);
    await engine.waitForChange('upload-completed', local.length);
    expect(engine.phases().filter((phase) => phase === 'done')).to.have.length(local.length);
  });

  it('do not stop them, either, if they are more than may run while they wait', async () => {
    speedUp(10);
    const engine = world({ ...slowWorker(), concurrency: 1 });
    engine.service.answerAll();
    const gone = Array.from({ length: 20 }, (_, index) => fileOf(index, 200, `gone-${index}.jpg`));
    await engine.uploader.addFiles([...gone, fileOf(99, 50, 'local.pdf')]);
    await engine.waitForChange('upload-completed');
    const waiting = engine.uploader.snapshot.files.filter(({ pauseReason }) => pauseReason === 'slow-file');
    expect(waiting.length).to.be.within(8, 20);
  });

  it('say that they wait for the file, and continue when its bytes arrive, also before `transformFile`', async () => {
    for (const settings of [{}, { transformFile: (file: File) => file }]) {
      const { workerUrl, gate } = gatedWorker(0);
      const engine = world({ workerUrl, ...settings });
      engine.service.answerAll();
      // The worker must have started before the clock stops.
      await engine.uploader.addFiles([fileOf(1, 0, 'empty.bin')]);
      await engine.waitForChange('upload-completed');
      const clock = stopClock();
      try {
        await engine.uploader.addFiles([fileOf(1, 900, 'cloud.bin')]);
        await until(async () => {
          await clock.pass(500);
          return engine.row('cloud.bin')?.pauseReason === 'slow-file';
        });
        expect(performance.now()).to.be.greaterThan(10_000);
        expect(engine.row('cloud.bin')?.phase).to.equal('paused');
      } finally {
        clock.restore();
      }
      gate.open();
      await engine.waitForChange('upload-completed', 2);
      expect(engine.changeNames('cloud.bin')).to.include.members(['upload-paused', 'upload-resumed']);
      expect(engine.details('upload-paused').map(({ reason }) => reason)).to.deep.equal(['slow-file']);
    }
  });
});

describe('as many failing files as may run at once', () => {
  it('do not stop the files behind them from being uploaded', async () => {
    speedUp(10);
    const bad = Array.from({ length: 3 }, () => freshFile(100));
    for (const { name } of bad)
      await addFault({ operation: 'put', status: 503, times: 10_000, match: { fileName: name } });
    const policy = { baseMs: 300, capMs: 600 };
    const { uploader } = await world({ service: 'reference', concurrency: 1, policy });
    const good = Array.from({ length: 5 }, () => freshFile(100));
    await uploader.addFiles([...bad, ...good]);
    const doneCount = (): number => uploader.snapshot.files.filter(({ phase }) => phase === 'done').length;
    await until(() => doneCount() === good.length);
  });

  it('let others start while they wait, four times as many at most', async () => {
    const clock = stopClock();
    try {
      const { service, uploader } = world({ concurrency: 2, policy: { baseMs: 1e6, capMs: 1e6 } });
      const files = Array.from({ length: 30 }, (_, index) => fileOf(index + 2, 10, `${index}.bin`));
      await Promise.all([uploader.addFiles(files), settle()]);
      for (const expected of [6, 12, 18, 24, 24]) {
        for (const request of service.waiting('open'))
          request.refuse(new UploaderError('service-failed', 'down', { status: 503 }));
        const started = (): readonly FileSnapshot[] =>
          uploader.snapshot.files.filter(({ phase }) => phase !== 'queued');
        await until(() => started().every(({ retryAtMs }) => retryAtMs !== undefined));
        expect(started()).to.have.length(expected);
        await clock.pass(1000);
        await settle();
      }
    } finally {
      clock.restore();
    }
  });
});

describe('a large file whose requests fail', () => {
  for (const operation of ['session', 'chunks'] as const)
    it(`does not stop the files behind it from being uploaded (${operation})`, async () => {
      speedUp(10);
      const large = freshFile(40 * 65_536);
      await addFault({ operation, status: 500, times: 10_000, match: { fileName: large.name } });
      const { uploader } = await world({ service: 'reference', policy: { baseMs: 300, capMs: 600 } });
      const small = Array.from({ length: 20 }, () => freshFile(100));
      await uploader.addFiles([large, ...small]);
      const doneCount = (): number => uploader.snapshot.files.filter(({ phase }) => phase === 'done').length;
      await until(() => doneCount() === small.length);
      expect(uploader.snapshot.files[0]?.phase).not.to.equal('done');
    });
});

describe('empty files', () => {
  it('start as many at once as files of one chunk', async () => {
    const clock = stopClock();
    try {
      const { service, uploader } = world({ concurrency: 1 });
      const files = ['a', 'b', 'c', 'd', 'e'].map((name) => fileOf(1, 0, name));
      await Promise.all([uploader.addFiles(files), settle()]);
      expect(service.waiting('open')).to.have.length(3);
    } finally {
      clock.restore();
    }
  });
});

describe('a file that is prioritized', () => {
  it('starts at once, although as many files run as the slots allow', async () => {
    const clock = stopClock();
    try {
      const engine = world({ concurrency: 1 });
      const { service, uploader } = engine;
      const added = uploader.addFiles(['a', 'b', 'c', 'd'].map((name, seed) => fileOf(seed, 900, name)));
      await Promise.all([added, settle()]);
      expect(service.waiting('open')).to.have.length(3);
      await uploader.prioritize(engine.id('d'));
      await settle();
      expect(service.waiting('open')).to.have.length(4);
    } finally {
      clock.restore();
    }
  });
});

describe('a file of one chunk', () => {
  it('leaves no record while it is sent, and asks for its chunk alone', async () => {
    const store = newStore();
    const { service, uploader } = world({ store });
    service.answerAll('open');
    await uploader.addFiles([fileOf(1, 900, 'small.bin'), fileOf(2, 4500, 'large.bin')]);
    const requests = [await service.nextRequest('presign'), await service.nextRequest('presign')];
    expect(requests.map(({ hashes }) => hashes.length)).to.include(1);
    for (const request of requests) request.answer();
    await service.nextRequest('put');
    await until(async () => (await store.list()).length > 0);
    expect((await store.list()).map(({ name }) => name)).to.deep.equal(['large.bin']);
  });
});

describe('a file that is retried', () => {
  it('starts before the files behind it in the list', async () => {
    // With the clock stopped, no further file starts because the slots are idle.
    const clock = stopClock();
    try {
      const { service, uploader } = world({ concurrency: 1 });
      service.answerAll('presign', 'put', 'commit');
      const files = ['a', 'b', 'c', 'd'].map((name, seed) => fileOf(seed, 4500, name));
      await Promise.all([uploader.addFiles(files), settle()]);
      const opened: string[] = [];
      const next = async (): Promise<Request<'open'>> => {
        const request = await service.nextRequest('open');
        opened.push(request.fileName);
        return request;
      };
      (await next()).refuse(new UploaderError('forbidden', 'no'));
      const second = await next();
      await uploader.retry(uploader.snapshot.files[0]?.id);
      second.answer();
      await next();
      expect(opened).to.deep.equal(['a', 'b', 'a']);
    } finally {
      clock.restore();
    }
  });
});

describe('prioritized files', () => {
  it('start one at a time, however many they are', async () => {
    const engine = world();
    const files = Array.from({ length: 60 }, (_, index) => fileOf(index + 1, 10, `${index}.bin`));
    await engine.uploader.addFiles(files);
    const opening = async (): Promise<number> => {
      for (let round = 0; round < 60; round += 1) await settled();
      return engine.service.waiting('open').length;
    };
    await until(() => engine.service.waiting('open').length > 0);
    const before = await opening();
    for (const { id } of engine.uploader.snapshot.files) await engine.uploader.prioritize(id);
    expect(await opening()).to.be.at.most(before + 1);
  });
});

describe('the rate of all uploads', () => {
  it('excludes the time in which no upload ran', async () => {
    // Only simulated time counts. Progress is reported by timers.
    const clock = stopClock({ areTimersStopped: false });
    try {
      const engine = world({ concurrency: 1 });
      engine.service.answerAll('open', 'presign');
      /** Uploads a file of five chunks, one chunk in two seconds. Returns the rate after the fourth chunk. */
      const uploadSlowly = async (seed: number, name: string): Promise<number | undefined> => {
        await engine.uploader.addFiles([fileOf(seed, 5000, name)]);
        for (const storedBytes of [1000, 2000, 3000, 4000]) {
          const put = await engine.service.nextRequest('put');
          await clock.pass(2000);
          put.answer();
          await until(() => engine.row(name)?.storedBytes === storedBytes);
        }
        const { bytesPerSecond } = engine.uploader.snapshot.totals;
        (await engine.service.nextRequest('put')).answer();
        (await engine.service.nextRequest('commit')).answer();
        await until(() => engine.phase(name) === 'done');
        return bytesPerSecond;
      };
      expect(await uploadSlowly(1, 'a.bin')).to.be.within(375, 550);
      // After ten seconds, the estimate would start again.
      await clock.pass(9000);
      expect(await uploadSlowly(2, 'b.bin')).to.be.within(375, 550);
    } finally {
      clock.restore();
    }
  });
});

describe('an entry that is moved', () => {
  const after = (id: string, beforeId?: string): string => {
    const entries = new Map(['a', 'b', 'c'].map((name) => [name, name]));
    moveEntry(entries, id, beforeId);
    return [...entries.keys()].join('');
  };
  for (const [id, beforeId, expected] of [
    ['c', 'a', 'cab'],
    ['a', 'c', 'bac'],
    ['b', 'b', 'abc'],
    ['a', undefined, 'bca'],
    ['a', 'nobody', 'bca'],
    ['nobody', 'a', 'abc'],
  ] as const)
    it(`${id} before ${beforeId} results in ${expected}`, () =>
      expect(after(id, beforeId)).to.equal(expected));
});
