// Service connections: shared by uploads with different settings, closed when unused, each with its own running chunks. Also files
// that are being added while the settings, the owner or the page change.

import { expect } from '@open-wc/testing';
import { connect } from '../../src/engine/connection.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { ScriptedService } from '../support/scripted-service.ts';
import { createUnfinished, newStore, world } from '../support/world.ts';

const small = (count: number, name: string): File[] =>
  Array.from({ length: count }, (_, at) => new File([`${name} ${at}`], `${name}-${at}.bin`));

/** Runs `work` with a clock that advances by 0.1 ms at each call, so that the work takes many tasks. */
async function slowly(work: () => Promise<unknown>): Promise<void> {
  let nowMs = 0;
  Object.assign(performance, { now: () => (nowMs += 0.1) });
  await work().finally(() => Reflect.deleteProperty(performance, 'now'));
}

describe('a service', () => {
  it('is shared by uploads to different folders, and is closed when no settings and no uploads use it', async () => {
    const service = new ScriptedService().answerAll();
    let openCount = 0;
    let madeCount = 0;
    const engine = world({
      connect: (...given) => {
        const client = connect(...given);
        openCount += 1;
        madeCount += 1;
        const close = (): void => {
          openCount -= 1;
          client.close();
        };
        return { ...client, calls: service.calls, put: service.put, close };
      },
    });
    for (let at = 0; at < 5; at += 1) {
      engine.uploader.configure({ ...engine.input, parentId: `folder-${at}`, chunkSize: 1000 + at });
      await engine.uploader.addFiles([fileOf(at + 1, 10, `${at}.bin`)]);
      await engine.waitForChange('upload-completed', at + 1);
    }
    expect(madeCount).to.equal(1);
    engine.uploader.configure({ ...engine.input, baseUrl: 'https://two.test' });
    await engine.uploader.clear();
    expect([madeCount, openCount]).to.deep.equal([2, 1]);
    await engine.uploader.close();
    expect(openCount).to.equal(0);
  });
});

describe('files that are being added', () => {
  it('are not shown to the next owner', async () => {
    const engine = world({ owner: 'ann', manual: true });
    await slowly(async () => {
      const adding = engine.uploader.addFiles(small(2000, 'ann'));
      await settled();
      engine.uploader.configure({ ...engine.input, owner: 'bob' });
      await adding;
    });
    await settled();
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
  });

  it('are not uploaded after a sign-out', async () => {
    const engine = world();
    engine.service.answerAll('cancel');
    await slowly(async () => {
      const adding = engine.uploader.addFiles(small(2000, 'ann'));
      await settled();
      await engine.uploader.signOut();
      await adding;
    });
    await settled();
    expect(engine.phases().filter((phase) => phase !== 'canceled')).to.deep.equal([]);
  });

  it('are uploaded if the element was removed from the page and added again meanwhile', async () => {
    const service = new ScriptedService().answerAll();
    let closedCalls = 0;
    const engine = world({
      chunkSize: 'auto',
      concurrency: 'auto',
      connect: (...given) => {
        const client = connect(...given);
        let isClosed = false;
        const openSession: typeof service.calls.openSession = (...asked) => {
          if (isClosed) closedCalls += 1;
          return service.calls.openSession(...asked);
        };
        const close = (): void => {
          isClosed = true;
          client.close();
        };
        return { ...client, calls: { ...service.calls, openSession }, put: service.put, close };
      },
    });
    const files = small(300, 'a');
    await slowly(async () => {
      const adding = engine.uploader.addFiles(files);
      await settled();
      await engine.uploader.suspend();
      engine.uploader.restore();
      await adding;
    });
    await engine.waitForChange('upload-completed', files.length);
    expect(closedCalls).to.equal(0);
  });
});

describe('an upload of an earlier visit', () => {
  it('is removed without asking a user to sign in', async () => {
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
    let askedCount = 0;
    const getToken = (): Promise<string> => {
      askedCount += 1;
      return new Promise(() => undefined);
    };
    const engine = world({ auth: 'token', getToken, store, connect });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    await engine.uploader.remove(engine.id('a.bin'));
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
    expect(askedCount).to.equal(0);
  });

  it('is not added to a list that was suspended or closed in the same task', async () => {
    const { BroadcastChannel: Real } = globalThis;
    let openCount = 0;
    class Counted extends Real {
      constructor(name: string) {
        super(name);
        openCount += 1;
      }
      override close(): void {
        openCount -= 1;
        super.close();
      }
    }
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
    globalThis.BroadcastChannel = Counted;
    try {
      for (const end of ['suspend', 'close'] as const) {
        const engine = world({ store });
        await engine.uploader[end]();
        for (let round = 0; round < 50; round += 1) await settled();
        expect(engine.uploader.snapshot.files, end).to.deep.equal([]);
        expect(openCount, `channels after ${end}`).to.equal(0);
      }
    } finally {
      globalThis.BroadcastChannel = Real;
    }
  });
});

describe('a suspended list', () => {
  it('stays as it is when the page comes back from the back/forward cache', async () => {
    const store = newStore();
    const warned: string[] = [];
    const warn = (text: string): number => warned.push(text);
    const engine = world({ keeperUrl: '/no-such-keeper.js', manual: true, store, warn });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await until(() => warned.length > 0);
    await engine.uploader.suspend();
    await createUnfinished(fileOf(2, 2500, 'b.bin'), { store });
    globalThis.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    for (let round = 0; round < 50; round += 1) await settled();
    expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.bin']);
    engine.uploader.restore();
    await until(() => engine.row('b.bin') !== undefined);
  });
});

describe('a file that was added after a sign-out', () => {
  for (const how of ['allowSignIn', 'signIn'] as const)
    it(`is uploaded after ${how}(), also if the page has set the owner meanwhile`, async () => {
      const service = new ScriptedService().answerAll();
      const { openSession } = service.calls;
      const engine = world({
        auth: 'token',
        getToken: () => 'token',
        connect: (...given) => {
          const client = connect(...given);
          const calls = {
            ...service.calls,
            openSession: (...[input, signal]: Parameters<typeof openSession>) =>
              client.auth.withToken(() => openSession(input, signal), signal),
          };
          return { ...client, calls, put: service.put };
        },
      });
      await engine.uploader.signOut();
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await until(() => engine.row('a.bin')?.pauseReason === 'signed-out');
      engine.uploader.configure({ ...engine.input, owner: 'ann' });
      await settled();
      engine.uploader[how]();
      await until(() => engine.phase('a.bin') === 'done');
    });
});
