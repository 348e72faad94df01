// A list of thousands of files: commands let other tasks of the page run.

import { expect } from '@open-wc/testing';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { recordKey } from '../../src/engine/resume/same-file.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { isFullSize } from '../support/scope.ts';
import { createUnfinished, type World, world } from '../support/world.ts';

const COUNT = isFullSize ? 10_000 : 2000;

/** Returns how often another task of the page ran during `work`. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  // Simulates a task of the page that schedules itself again.
  const { port1, port2 } = new MessageChannel();
  let isWorking = true;
  let turns = 0;
  port1.onmessage = () => {
    turns += 1;
    if (isWorking) port2.postMessage(undefined);
  };
  port2.postMessage(undefined);
  await slowly(work);
  isWorking = false;
  return turns;
}

/** Runs `work` with a clock that advances by 0.1 ms at each call, so that slices are equally long on every machine. */
async function slowly(work: () => Promise<unknown>): Promise<void> {
  let nowMs = 0;
  Object.assign(performance, { now: () => (nowMs += 0.1) });
  await work().finally(() => Reflect.deleteProperty(performance, 'now'));
}

/** Returns files named `0.bin`, `1.bin` and so on. */
const filesOf = (count: number): File[] =>
  Array.from({ length: count }, (_, at) => new File(['x'], `${at}.bin`));

async function listOf(count: number, settings: SettingsInput = {}): Promise<World> {
  const engine = world({ ...settings });
  await engine.uploader.addFiles(filesOf(count));
  return engine;
}

describe(`a list of ${COUNT} files`, () => {
  it("are added to the list in slices, between which the page's tasks run", async () => {
    const engine = world();
    let toldCount = 0;
    engine.uploader.subscribe(() => {
      toldCount += 1;
    });
    await settled();
    const turns = await turnsDuring(() => engine.uploader.addFiles(filesOf(COUNT)));
    const { snapshot } = engine.uploader;
    expect(snapshot.files).to.have.length(COUNT);
    expect(snapshot.totals).to.include({ fileCount: COUNT, sizeBytes: COUNT });
    // Only the number of slices counts here. The test journey-many-files measures the duration of slices in a real page.
    expect(turns).to.be.at.least(4);
    // Listeners of the list are called once per slice, not once per file.
    expect(toldCount).to.be.at.most(500);
    expect(engine.details('file-added')).to.have.length(COUNT);
  });

  it('stay paused if their element is removed from the page and added again meanwhile', async () => {
    const engine = await listOf(COUNT);
    await slowly(async () => {
      const paused = engine.uploader.pause();
      await engine.uploader.suspend();
      engine.uploader.restore();
      await paused;
    });
    await settled();
    expect(engine.phases().filter((phase) => phase === 'paused')).to.have.length(COUNT);
  });

  it('resume if they were only suspended', async () => {
    const engine = await listOf(COUNT);
    await slowly(async () => {
      const rested = engine.uploader.suspend();
      engine.uploader.restore();
      await rested;
    });
    await until(() => !engine.phases().includes('paused'));
  });

  it('are paused, resumed and canceled together', async () => {
    const engine = await listOf(COUNT, { cancelPath: undefined });
    const turns: number[] = [];
    turns.push(await turnsDuring(() => engine.uploader.pause()));
    expect(new Set(engine.phases())).to.deep.equal(new Set(['paused']));
    turns.push(await turnsDuring(() => engine.uploader.resume()));
    await until(() => engine.service.waiting('open').length > 0);
    turns.push(await turnsDuring(() => engine.uploader.cancel()));
    expect(new Set(engine.phases())).to.deep.equal(new Set(['canceled']));
    turns.push(await turnsDuring(() => engine.uploader.clear()));
    expect(engine.uploader.snapshot.files).to.deep.equal([]);
    expect(Math.min(...turns)).to.be.at.least(4);
  });

  it('obey the last command, also while an earlier one is still being applied', async () => {
    const engine = await listOf(COUNT, { manual: true });
    const { uploader } = engine;
    const [last, gone] = [engine.id(`${COUNT - 1}.bin`), engine.id(`${COUNT - 2}.bin`)];
    await slowly(() => {
      const paused = uploader.pause();
      expect(engine.phase(`${COUNT - 1}.bin`)).to.equal('queued');
      const resumed = uploader.resume(last);
      return Promise.all([
        paused,
        resumed,
        uploader.remove(gone),
        uploader.retry(engine.id(`${COUNT - 3}.bin`)),
      ]);
    });
    expect(engine.phases().filter((phase) => phase === 'paused')).to.have.length(COUNT - 2);
    expect(engine.phases().at(-1)).not.to.equal('paused');
    await slowly(() => Promise.all([uploader.resume(), uploader.pause(), uploader.resume()]));
    expect(engine.phases()).not.to.include('paused');
  });
});

describe('hundreds of uploads of an earlier visit', () => {
  const MANY = 500;

  /** Returns an engine that has listed `MANY` uploads of an earlier visit. `counts` has all lengths of the list until then. */
  async function visit(): Promise<{ engine: World; counts: Set<number> }> {
    const store = await createUnfinished(fileOf(1, 2500, 'a.bin'));
    const { settings } = world({ store }).uploader;
    const [found] = await store.list();
    if (!found) throw new Error('there is a record');
    const records = Array.from({ length: MANY }, (_, at) => {
      const record = { ...found, name: `${at}.bin`, relativePath: `${at}.bin` };
      return { ...record, key: recordKey({ ...settings, ...record }) };
    });
    const counts = new Set<number>();
    let engine: World | undefined;
    await slowly(async () => {
      const saved = new Map(records.map((record) => [record.key, record]));
      const keys: typeof store.keys = async () => [...saved.keys()];
      const list: typeof store.list = async (wanted = []) => wanted.flatMap((key) => saved.get(key) ?? []);
      const visitor = world({ manual: true, store: { ...store, keys, list } });
      engine = visitor;
      // Looks in each task.
      while (!counts.add(visitor.details('file-added').length).has(MANY)) await settled();
    });
    if (!engine) throw new Error('there is an engine');
    return { engine, counts };
  }

  it("are added to the list in slices, between which the page's tasks run", async () => {
    const { engine, counts } = await visit();
    expect(new Set(engine.phases())).to.deep.equal(new Set(['paused']));
    expect(counts.size).to.be.at.least(4);
  });

  it('are not scanned for every added file', async () => {
    const { engine } = await visit();
    const { stringify } = JSON;
    let comparedCount = 0;
    const counting = (...given: Parameters<typeof stringify>): string => {
      comparedCount += 1;
      return stringify(...given);
    };
    Object.assign(JSON, { stringify: counting });
    const files = Array.from({ length: MANY }, (_, at) => new File(['x'], `other ${at}.bin`));
    await engine.uploader.addFiles(files).finally(() => Object.assign(JSON, { stringify }));
    expect(engine.phases()).to.have.length(2 * MANY);
    expect(comparedCount).to.be.at.most(10 * MANY);
  });
});
