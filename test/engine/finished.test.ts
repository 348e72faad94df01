// `uploads-finished` in a list with files that the user has paused, canceled or not started: when it is reported, and its counts.

import { expect } from '@open-wc/testing';
import { fileOf, sha256 } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { type World, world } from '../support/world.ts';

interface List {
  readonly engine: World;
  /** Completes the upload of this file. */
  readonly end: (name: string) => Promise<void>;
  /** Gives a command to each of these files, one after the other. */
  readonly pause: (...names: string[]) => Promise<void>;
  readonly resume: (...names: string[]) => Promise<void>;
  readonly cancel: (...names: string[]) => Promise<void>;
  readonly withdraw: (name: string) => Promise<void>;
  /** Waits until nothing happens, and returns what was reported since the last call: done, failed, canceled, waiting. */
  readonly reported: () => Promise<readonly (readonly number[])[]>;
}

/** A list of files that are sent, and whose commits wait until the test ends them. */
async function sending(names: readonly string[], settings = {}): Promise<List> {
  const engine = world({ concurrency: 6, ...settings });
  const { service, uploader } = engine;
  service.answerAll('open', 'presign', 'put', 'cancel');
  const files = names.map((name, at) => fileOf(at + 1, 100, name));
  const commitOf = async (name: string) => {
    const hash = await sha256(files[names.indexOf(name)] as File);
    await until(() => service.waiting('commit').some((request) => hashesOf(request).includes(hash)));
    return service.waiting('commit').find((request) => hashesOf(request).includes(hash));
  };
  const each =
    (command: (id: string) => Promise<void>) =>
    async (...all: string[]): Promise<void> => {
      for (const name of all) await command(engine.id(name));
    };
  let seenCount = 0;
  await uploader.addFiles(files);
  if (!engine.input.manual) await commitOf(names[0] ?? '');
  return {
    engine,
    end: async (name) => {
      (await commitOf(name))?.answer();
      await until(() => engine.phase(name) === 'done');
    },
    pause: each((id) => uploader.pause(id)),
    resume: each((id) => uploader.resume(id)),
    cancel: each((id) => uploader.cancel(id)),
    withdraw: (name) => uploader.undo.withdraw('canceled', [engine.id(name)]),
    reported: async () => {
      for (let round = 0; round < 20; round += 1) await settled();
      const all = engine.details('uploads-finished');
      const latest = all.slice(seenCount);
      seenCount = all.length;
      return latest.map(({ doneCount, failedCount, canceledCount, waitingCount }) => [
        ...[doneCount, failedCount, canceledCount, waitingCount],
      ]);
    },
  };
}

const hashesOf = (request: object): readonly string[] =>
  'hashes' in request ? (request.hashes as readonly string[]) : [];

describe('uploads-finished, after a file is done', () => {
  it('is not reported when the other files are paused, but once when they are done', async () => {
    const { engine, end, reported } = await sending(['a', 'b', 'c']);
    await end('a');
    await engine.uploader.pause();
    expect(await reported()).to.deep.equal([]);
    await engine.uploader.resume();
    await end('b');
    await end('c');
    expect(await reported()).to.deep.equal([[3, 0, 0, 0]]);
  });

  it('is not reported when the others are paused one by one, in whatever order they are resumed', async () => {
    const { end, pause, reported, resume } = await sending(['a', 'b', 'c']);
    await end('a');
    await pause('b', 'c');
    expect(await reported()).to.deep.equal([]);
    await resume('c');
    await pause('c');
    expect(await reported()).to.deep.equal([]);
    await resume('b');
    await end('b');
    expect(await reported()).to.deep.equal([[2, 0, 0, 1]]);
    await resume('c');
    await end('c');
    expect(await reported()).to.deep.equal([[3, 0, 0, 0]]);
  });

  it('is not reported when files that wait for a slot are paused', async () => {
    // Three uploads per slot: the others are queued.
    const names = Array.from({ length: 8 }, (_, at) => `${at}`);
    const { engine, end, reported } = await sending(names, { concurrency: 1 });
    engine.uploader.on('upload-completed', () => {
      expect(engine.phases()).to.include('queued');
      void engine.uploader.pause();
    });
    await end('0');
    expect(await reported()).to.deep.equal([]);
    expect(new Set(engine.phases())).to.deep.equal(new Set(['done', 'paused']));
  });

  it('is not reported when the others are paused in the same task', async () => {
    const { engine, end, reported } = await sending(['a', 'b']);
    engine.uploader.on('upload-completed', () => void engine.uploader.pause());
    await end('a');
    expect(await reported()).to.deep.equal([]);
    expect(engine.phases()).to.deep.equal(['done', 'paused']);
  });

  it('is not reported when the others are paused while the list is suspended', async () => {
    const { engine, end, reported } = await sending(['a', 'b']);
    await end('a');
    await engine.uploader.suspend();
    await engine.uploader.pause();
    engine.uploader.restore();
    expect(await reported()).to.deep.equal([]);
    expect(engine.phases()).to.deep.equal(['done', 'paused']);
  });

  it('is reported when the last running file is canceled, and again when a paused one is removed', async () => {
    const { engine, cancel, end, pause, reported } = await sending(['a', 'b', 'c']);
    await end('a');
    await pause('b');
    await cancel('c');
    expect(await reported()).to.deep.equal([[1, 0, 1, 1]]);
    await engine.uploader.remove(engine.id('b'));
    expect(await reported()).to.deep.equal([[1, 0, 1, 0]]);
  });
});

describe('uploads-finished, with a file that the user paused', () => {
  it('is reported when the other one is done, and again when it is canceled or done', async () => {
    for (const [last, expected] of [
      ['cancel', [1, 0, 1, 0]],
      ['resume', [2, 0, 0, 0]],
    ] as const) {
      const list = await sending(['a', 'b']);
      await list.pause('b');
      expect(await list.reported()).to.deep.equal([]);
      await list.end('a');
      expect(await list.reported(), last).to.deep.equal([[1, 0, 0, 1]]);
      await list[last]('b');
      if (last === 'resume') await list.end('b');
      expect(await list.reported(), last).to.deep.equal([expected]);
    }
  });

  it('is reported once more for each of several that are canceled', async () => {
    const { cancel, end, pause, reported } = await sending(['a', 'b', 'c']);
    await pause('b', 'c');
    await end('a');
    await cancel('b');
    await cancel('c');
    expect(await reported()).to.deep.equal([
      [1, 0, 0, 2],
      [1, 0, 1, 1],
      [1, 0, 2, 0],
    ]);
  });

  it('is not reported again when the file is only resumed and paused', async () => {
    const { end, pause, reported, resume } = await sending(['a', 'b']);
    await pause('b');
    await end('a');
    expect(await reported()).to.deep.equal([[1, 0, 0, 1]]);
    await resume('b');
    await pause('b');
    expect(await reported()).to.deep.equal([]);
  });

  it('is reported when its cancel is undone after the other one is done', async () => {
    const { engine, end, pause, reported, withdraw } = await sending(['a', 'b']);
    await pause('b');
    await withdraw('b');
    await end('a');
    expect(await reported()).to.deep.equal([]);
    await engine.uploader.undo.undo();
    expect(await reported()).to.deep.equal([[1, 0, 0, 1]]);
  });

  it('is not reported when it is paused while the cancel of another one can be undone', async () => {
    const { engine, end, pause, reported, withdraw } = await sending(['a', 'b', 'c']);
    await end('a');
    await withdraw('b');
    await pause('c');
    expect(await reported()).to.deep.equal([]);
    await engine.uploader.undo.complete();
    expect(await reported()).to.deep.equal([[1, 0, 1, 1]]);
  });
});

describe('uploads-finished, with `manual`', () => {
  it('counts files that were not started as waiting, also if they are paused', async () => {
    const { engine, end, pause, reported } = await sending(['a'], { manual: true });
    await engine.uploader.start();
    await engine.uploader.addFiles([fileOf(8, 100, 'b'), fileOf(9, 100, 'c')]);
    await pause('b');
    expect(await reported()).to.deep.equal([]);
    await end('a');
    expect(await reported()).to.deep.equal([[1, 0, 0, 2]]);
    await pause('c');
    expect(await reported()).to.deep.equal([]);
  });
});

it('uploads-finished is not reported for a file that is canceled and retried at once', async () => {
  const { engine, end, reported } = await sending(['a']);
  const canceled = engine.uploader.cancel();
  await engine.uploader.retry(engine.id('a'));
  await canceled;
  await end('a');
  expect(await reported()).to.deep.equal([[1, 0, 0, 0]]);
});

it('uploads-finished is not reported for a file that is canceled, retried and paused at once', async () => {
  const { engine, reported } = await sending(['a']);
  const canceled = engine.uploader.cancel();
  await Promise.all([engine.uploader.retry(engine.id('a')), engine.uploader.pause()]);
  await canceled;
  expect(engine.phase('a')).to.equal('paused');
  expect(await reported()).to.deep.equal([]);
});
