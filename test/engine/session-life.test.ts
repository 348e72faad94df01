// The life of a session on the service: what is sent again, what is canceled, and what is never sent a second time.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Session } from '../../src/core/types.ts';
import { fileOf } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { createUnfinished, newStore, type World, world } from '../support/world.ts';

const tooLarge = new UploaderError('upload-refused', 'too large', { status: 413 });
const taken = new UploaderError('name-taken', 'there is one', { status: 409 });
const gone = (debugInfo?: string): UploaderError =>
  new UploaderError('session-expired', 'gone', { status: 404, debugInfo });
const CERTAIN = gone('the session is closed');

/** A service that reserves the name of a file from the request that opens its session until the session is canceled. */
function reserveNames({ service }: World): {
  readonly opened: string[];
  readonly names: Map<string, string>;
} {
  const names = new Map<string, string>();
  const opened: string[] = [];
  void service.serve('open', (request) => {
    opened.push(request.fileName);
    if ([...names.values()].includes(request.fileName)) return request.refuse(taken);
    const header = `header-${opened.length}`;
    names.set(header, request.fileName);
    return request.answer({ sessionId: header, header });
  });
  void service.serve('cancel', ({ session, answer }) => {
    names.delete(session.header);
    answer(undefined);
  });
  return { opened, names };
}

describe('smaller chunks, at a service that reserves names,', () => {
  for (const onConflict of ['fail', 'rename'] as const)
    it(`get their session after the old one is canceled (on-conflict="${onConflict}")`, async () => {
      const engine = world({ onConflict, profile: { minChunkSize: 100 } });
      const { opened } = reserveNames(engine);
      engine.service.answerAll('presign', 'commit');
      void engine.service.serve('put', (put) => (put.body.size > 600 ? put.refuse(tooLarge) : put.answer()));
      await engine.uploader.addFiles([fileOf(1, 5000, 'a.bin')]);
      await until(() => ['done', 'failed'].includes(engine.uploader.snapshot.files[0]?.phase ?? ''));
      expect(engine.uploader.snapshot.files[0]).to.include({ phase: 'done', name: 'a.bin' });
      expect(opened).to.deep.equal(['a.bin', 'a.bin']);
    });

  for (const [title, code, cancelCount] of [
    ['again after an outage', 'network', 2],
    ['once if the service refuses', 'forbidden', 1],
  ] as const)
    it(`get their session after the old one is canceled ${title}`, async () => {
      const engine = world({ profile: { minChunkSize: 100 } });
      const { service } = engine;
      service.answerAll('presign', 'commit');
      void service.serve('put', (put) => (put.body.size > 600 ? put.refuse(tooLarge) : put.answer()));
      await engine.uploader.addFiles([fileOf(1, 5000, 'a.bin')]);
      (await service.nextRequest('open')).answer();
      (await service.nextRequest('cancel')).refuse(new UploaderError(code, 'not canceled'));
      for (let count = 1; count < cancelCount; count += 1) {
        const again = await service.nextRequest('cancel');
        expect(service.count('open')).to.equal(1);
        again.answer();
      }
      service.answerAll('open');
      await engine.waitForChange('upload-completed');
      expect(service.count('cancel')).to.equal(cancelCount);
    });

  it('are what "Retry" sends if their session could not be opened', async () => {
    const store = newStore();
    const engine = world({ store, profile: { minChunkSize: 100 } });
    engine.service.answerAll('presign', 'commit', 'cancel');
    const sizes: number[] = [];
    void engine.service.serve('put', (put) => {
      sizes.push(put.body.size);
      return put.body.size > 600 ? put.refuse(tooLarge) : put.answer();
    });
    await engine.uploader.addFiles([fileOf(1, 5000, 'a.bin')]);
    (await engine.service.nextRequest('open')).answer();
    (await engine.service.nextRequest('open')).refuse(new UploaderError('forbidden', 'no', { status: 403 }));
    await engine.waitForChange('upload-failed');
    expect((await store.list()).map(({ largestChunkBytes }) => largestChunkBytes)).to.deep.equal([500]);
    const before = sizes.length;
    engine.service.answerAll('open');
    await engine.uploader.retry();
    await engine.waitForChange('upload-completed');
    expect(sizes.slice(before)).to.deep.equal(new Array(10).fill(500));
  });

  it('are what the next visit sends if the page was closed before their session was open', async () => {
    const store = newStore();
    const file = fileOf(1, 5000, 'a.bin');
    const first = world({ store, profile: { minChunkSize: 100 } });
    first.service.answerAll('open', 'presign');
    await first.uploader.addFiles([file]);
    first.service.hold('open');
    (await first.service.nextRequest('put')).refuse(tooLarge);
    const { session } = await first.service.nextRequest('cancel');
    await first.uploader.close();
    const engine = world({ store, profile: { minChunkSize: 100 } });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    await engine.uploader.addFiles([file]);
    const canceled = await engine.service.nextRequest('cancel');
    expect(canceled.session.header).to.equal(session.header);
    expect(engine.service.count('open')).to.equal(0);
    canceled.answer();
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.details('upload-completed')[0]?.chunks).to.have.length(10);
  });
});

describe('a session that is lost', () => {
  /** A service whose sessions end after `most` stored chunks. Resolves when the upload is done or has failed. */
  async function uploadWith(most: number, isForgetful: boolean): Promise<World> {
    const engine = world({ batchSize: 1, concurrency: 1 });
    const { service } = engine;
    service.isForgetful = isForgetful;
    service.answerAll('open', 'commit');
    const counts = new Map<string, number>();
    let session: Session | undefined;
    void service.serve('presign', (request) => {
      session = request.session;
      return (counts.get(session.header) ?? 0) < most ? request.answer() : request.refuse(CERTAIN);
    });
    void service.serve('put', (request) => {
      const { header = '' } = session ?? {};
      counts.set(header, (counts.get(header) ?? 0) + 1);
      request.answer();
    });
    await engine.uploader.addFiles([fileOf(1, 20_000, 'a.bin')]);
    await until(() => ['done', 'failed'].includes(engine.phase('a.bin') ?? ''));
    return engine;
  }

  it('again and again ends no upload whose chunks are stored in between', async () => {
    const engine = await uploadWith(5, false);
    expect(engine.phase('a.bin')).to.equal('done');
    expect(engine.service.count('open')).to.be.at.least(4);
    expect(engine.service.puts).to.have.length(20);
  });

  it('again ends an upload that stored only what it had stored before', async () => {
    const engine = await uploadWith(5, true);
    expect(engine.row('a.bin')?.error?.code).to.equal('session-expired');
    expect(engine.service.count('open')).to.equal(2);
  });

  it('is not lost after a 404 without `debuginfo` that ends within the time of three repeats', async () => {
    const engine = world({ batchSize: 1 });
    engine.service.answerAll('open', 'put', 'commit');
    await engine.uploader.addFiles([fileOf(1, 3000, 'a.bin')]);
    (await engine.service.nextRequest('presign')).answer();
    for (let count = 0; count < 3; count += 1) (await engine.service.nextRequest('presign')).refuse(gone());
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
    expect(engine.service.puts).to.have.length(3);
  });

  it('is not lost so soon with `debuginfo` either if it took a chunk lately', async () => {
    const engine = world({ batchSize: 1, concurrency: 1 });
    engine.service.answerAll('open', 'put', 'commit');
    await engine.uploader.addFiles([fileOf(1, 3000, 'a.bin')]);
    (await engine.service.nextRequest('presign')).answer();
    await engine.waitForChange('chunk-uploaded');
    for (let count = 0; count < 3; count += 1) (await engine.service.nextRequest('presign')).refuse(CERTAIN);
    engine.service.answerAll();
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
  });

  it('is shown as a wait while it is asked for', async () => {
    const engine = world({ policy: { attempts: 3, baseMs: 1e6, capMs: 1e6 } });
    engine.service.answerAll('open');
    await engine.uploader.addFiles([fileOf(1, 3000, 'a.bin')]);
    (await engine.service.nextRequest('presign')).refuse(gone());
    await until(() => engine.row('a.bin')?.retryAtMs !== undefined);
    expect(engine.row('a.bin')?.lastError?.code).to.equal('session-expired');
  });

  it('is shown as a wait again when nothing else of the upload moves any more', async () => {
    speedUp(10);
    const engine = world({ batchSize: 1, policy: { attempts: 3, baseMs: 1e6, capMs: 1e6 } });
    engine.service.answerAll('open');
    await engine.uploader.addFiles([fileOf(1, 3000, 'a.bin')]);
    (await engine.service.nextRequest('presign')).answer();
    const put = await engine.service.nextRequest('put');
    (await engine.service.nextRequest('presign')).refuse(gone());
    await until(() => engine.row('a.bin')?.retryAtMs !== undefined);
    put.tell(500);
    await until(() => engine.row('a.bin')?.retryAtMs === undefined);
    put.answer();
    await until(() => engine.row('a.bin')?.retryAtMs !== undefined);
    expect(engine.row('a.bin')?.lastError?.code).to.equal('session-expired');
  });
});

describe('a file of one chunk that another tab is sending', () => {
  it('says so when smaller chunks need its lock', async () => {
    speedUp(10);
    const file = fileOf(1, 900, 'a.bin');
    const store = newStore();
    const other = world({ store, keepFiles: true, answers: ['open', 'presign'] });
    await other.uploader.addFiles([file]);
    await other.service.nextRequest('put');
    const engine = world({ store: newStore(), profile: { minChunkSize: 100 }, answers: ['open', 'presign'] });
    await engine.uploader.addFiles([file]);
    (await engine.service.nextRequest('put')).refuse(tooLarge);
    await until(() => engine.row('a.bin')?.pauseReason === 'other-tab');
    engine.service.answerAll();
    await other.uploader.cancel();
    await engine.waitForChange('upload-completed');
  });
});

describe('a file of one chunk whose smaller chunks another tab has started to send', () => {
  it('continues with what that tab has stored when it is closed, and cancels its own session', async () => {
    const file = fileOf(1, 900, 'a.bin');
    const store = newStore();
    const other = world({ store, chunkSize: 500, answers: ['open', 'presign'] });
    await other.uploader.addFiles([file]);
    (await other.service.nextRequest('put')).answer();
    await until(async () => (await store.list())[0]?.stored.size === 1);
    const engine = world({ store, profile: { minChunkSize: 100 }, answers: ['presign', 'commit'] });
    await engine.uploader.addFiles([file]);
    (await engine.service.nextRequest('open')).answer({ sessionId: 'own', header: 'own' });
    (await engine.service.nextRequest('put')).refuse(tooLarge);
    await until(() => engine.row('a.bin')?.pauseReason === 'other-tab');
    for (const hash of other.service.stored) engine.service.stored.add(hash);
    await other.uploader.close();
    expect((await engine.service.nextRequest('cancel')).session.header).to.equal('own');
    const put = await engine.service.nextRequest('put');
    expect(put.body.size).to.be.oneOf([400, 500]);
    put.answer();
    await engine.waitForChange('upload-completed');
    expect(engine.service.count('open')).to.equal(1);
  });
});

describe('in each state of a session', () => {
  const WAYS: Readonly<Record<string, (engine: World) => Promise<unknown>>> = {
    opening: ({ service }) => service.nextRequest('open'),
    'too-large': async ({ service }) => {
      service.answerAll('open', 'presign');
      (await service.nextRequest('put')).refuse(tooLarge);
      await service.nextRequest('cancel');
    },
    lost: async ({ service }) => {
      (await service.nextRequest('open')).answer();
      await service.refuseAll('presign', gone());
      await service.nextRequest('open');
    },
    unsure: async ({ service }) => {
      service.answerAll('open', 'presign', 'put');
      (await service.nextRequest('commit')).refuse(new UploaderError('network', 'no response'));
      await service.nextRequest('commit');
    },
    accepted: async ({ service }) => {
      service.answerAll('open', 'presign', 'put');
      (await service.nextRequest('commit')).answer({ missing: [], pending: { retryAfterMs: 0 } });
      await service.nextRequest('commit');
    },
  };

  for (const [phase, reach] of Object.entries(WAYS)) {
    it(`${phase}: a sign-out leaves neither a record nor a request`, async () => {
      const store = newStore();
      const engine = world({ store, profile: { minChunkSize: 100 } });
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await reach(engine);
      engine.service.answerAll('cancel');
      await engine.uploader.signOut();
      // An accepted file must stay.
      if (phase === 'accepted') expect(engine.service.count('cancel')).to.equal(0);
      const asked = engine.service.log.filter((line) => line !== 'cancel').length;
      for (let round = 0; round < 20; round += 1) await settled();
      expect(engine.service.log.filter((line) => line !== 'cancel')).to.have.length(asked);
      expect(await store.list()).to.deep.equal([]);
    });

    it(`${phase}: a pause in a listener of the next event, and a resume, complete the file once`, async () => {
      const engine = world({ profile: { minChunkSize: 100 } });
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await reach(engine);
      const id = engine.id('a.bin');
      let isPaused = false;
      engine.uploader.onChange(({ name }) => {
        if (isPaused || name === 'upload-completed') return;
        isPaused = true;
        void engine.uploader.pause(id);
      });
      engine.uploader.configure({ ...engine.input, concurrency: 1 });
      engine.service.answerAll();
      if (!isPaused) void engine.uploader.pause(id);
      await engine.uploader.resume(id);
      await engine.waitForChange('upload-completed');
      for (let round = 0; round < 20; round += 1) await settled();
      expect(engine.details('upload-completed')).to.have.length(1);
      const isCommitted = phase === 'unsure' || phase === 'accepted';
      if (isCommitted)
        expect([engine.service.count('open'), engine.service.puts.length]).to.deep.equal([1, 3]);
    });
  }
});

it('a saved upload of an earlier version continues in its session', async () => {
  const file = fileOf(1, 2500, 'a.bin');
  const engine = world({ store: await createUnfinished(file) });
  await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
  engine.service.answerAll();
  await engine.uploader.addFiles([file]);
  await engine.waitForChange('upload-completed');
  expect(engine.service.count('open')).to.equal(0);
});
