// As soon as `close()` or `suspend()` of an uploader resolves, another uploader can take its uploads.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { createUnfinished, halfWay, newStore, SERVICE_URL, type World, world } from '../support/world.ts';

/** Engines with an upload. The name of the upload's lock contains `SERVICE_URL`. */
const UPLOADS = {
  'an upload that runs': () => halfWay(),
  'an upload that waits, and has its file saved': async () => {
    const engine = world({ keepFiles: true, manual: true });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    return engine;
  },
};

/**
 * Delays the release of locks whose names contain `part` until `gate` resolves. Returns a function that ends the delay for new
 * locks.
 */
function releaseAfter(part: string, gate: Promise<void>): () => void {
  const { locks } = navigator;
  const request = locks.request.bind(locks);
  const slow = (name: string, options: LockOptions, onGranted: LockGrantedCallback<unknown>) =>
    request(name, options, async (lock) => {
      const result = await onGranted(lock);
      if (lock && name.includes(part)) await gate;
      return result;
    });
  locks.request = slow as typeof locks.request;
  return () => {
    locks.request = request;
  };
}

/** Returns the names of held locks that contain `part`. */
async function heldLocks(part: string): Promise<string[]> {
  const { held } = await navigator.locks.query();
  return (held ?? []).map(({ name }) => String(name)).filter((name) => name.includes(part));
}

type End = (engine: World) => Promise<unknown>;
const ends: readonly (readonly [string, End])[] = [
  ['close()', ({ uploader }) => uploader.close()],
  ['suspend()', ({ uploader }) => uploader.suspend()],
  [
    'close() right after cancel()',
    ({ uploader }) => {
      void uploader.cancel();
      return uploader.close();
    },
  ],
  [
    'close() right after remove()',
    (engine) => {
      void engine.uploader.remove(engine.id('a.bin'));
      return engine.uploader.close();
    },
  ],
];

for (const [what, end] of ends) {
  for (const [whose, begin] of Object.entries(UPLOADS)) {
    it(`${what} resolves only after the lock of ${whose} is released`, async () => {
      const part = SERVICE_URL;
      const gate = deferred();
      const undo = releaseAfter(part, gate.promise);
      try {
        const engine = await begin();
        engine.service.answerAll('cancel');
        await until(async () => (await heldLocks(part)).length === 1);
        let isOver = false;
        const over = end(engine).then(() => {
          isOver = true;
        });
        for (let round = 0; round < 20; round += 1) await settled();
        expect(isOver).to.equal(false);
        gate.resolve();
        await over;
        expect(await heldLocks(part)).to.deep.equal([]);
      } finally {
        gate.resolve();
        undo();
      }
    });
  }
}

it('close() directly before another uploader adds the same file never reports the file as active in another tab', async () => {
  const file = fileOf(1, 2500, 'a.bin');
  for (let round = 0; round < 10; round += 1) {
    const engine = world();
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([file]);
    await engine.service.nextRequest('put');
    await engine.uploader.close();
    expect(engine.details('upload-paused')).to.deep.equal([]);
  }
});

for (const [what, end] of ends.slice(0, 2)) {
  it(`${what} while the saved uploads are read adds none of them to the list`, async () => {
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
    const [asked, mayList] = [deferred(), deferred()];
    const list: typeof store.list = async () => {
      asked.resolve();
      await mayList.promise;
      return store.list();
    };
    const engine = world({ store: { ...store, list } });
    await asked.promise;
    await end(engine);
    mayList.resolve();
    await store.list();
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.phases()).to.deep.equal([]);
  });
}

it('close() stops the timer after which an upload no longer counts as active', async () => {
  const { setTimeout, clearTimeout } = globalThis;
  const timers = new Set<unknown>();
  globalThis.setTimeout = ((run: () => void, ms = 0) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    if (ms > 400 && ms <= 1000) timers.add(timer);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = ((timer: number) => {
    timers.delete(timer);
    clearTimeout(timer);
  }) as typeof clearTimeout;
  try {
    const { service, uploader } = world({ concurrency: 1 });
    service.answerAll('open', 'presign');
    await uploader.addFiles(['a', 'b', 'c'].map((name, seed) => fileOf(seed, 4500, name)));
    await until(() => timers.size > 0);
    await uploader.close();
    expect(timers.size).to.equal(0);
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
  }
});

it('suspend() ends even if the list is restored before it has', async () => {
  const engine = await halfWay();
  const suspended = engine.uploader.suspend();
  engine.uploader.restore();
  await engine.waitForChange('upload-resumed');
  await suspended;
  await until(() => engine.phase('a.bin') === 'uploading');
});

const isUnlocked = (): Promise<void> => until(async () => (await heldLocks(SERVICE_URL)).length === 0);

for (const call of ['find', 'save'] as const)
  it(`suspend() leaves the lock of a file that is added meanwhile, even if ${call}() of the store fails`, async () => {
    const store = newStore();
    const tried = deferred();
    const fail = async (): Promise<never> => {
      tried.resolve();
      throw new UploaderError('store-full', 'no space');
    };
    const options = { store: { ...store, [call]: fail }, warn: () => undefined };
    const { uploader } = world({ keepFiles: true, ...options });
    const suspended = uploader.suspend();
    await uploader.addFiles([fileOf(1, 10, 'a.bin')]);
    await tried.promise;
    await suspended;
    await isUnlocked();
  });

it('suspend() leaves the lock of an upload that is withdrawn afterwards, also after undo', async () => {
  const store = newStore();
  const engine = world({ keepFiles: true, manual: true, store });
  await engine.uploader.addFiles([fileOf(1, 10, 'a.bin')]);
  const isSaved = async (): Promise<boolean> => (await store.list()).some(({ file }) => file);
  await until(isSaved);
  await engine.uploader.suspend();
  const ids = [engine.id('a.bin')];
  await engine.uploader.undo.withdraw('canceled', ids);
  await until(async () => !(await isSaved()));
  await isUnlocked();
  await engine.uploader.undo.undo();
  await until(isSaved);
  await isUnlocked();
});
