// Many small files that share requests (`batch-path`) with the reference service: each file ends as it would alone.

import { expect } from '@open-wc/testing';
import type { LogEntry } from '../../demo/server/faults.ts';
import { addFault, countFiles, logOf, tokenOf } from '../service/reference.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { newStore, type World, type WorldOptions, world } from '../support/world.ts';

type Engine = World<undefined, 'reference'>;

const BATCHES = { batchPath: '/files/uploadsession/batch', cancelPath: '/files/uploadsession' } as const;
const COUNT = 20;

/** Returns files of one chunk whose names and bytes no other test has. */
function small(count = COUNT): File[] {
  const id = crypto.randomUUID();
  return Array.from({ length: count }, (_, at) => new File([`${id} ${at}`], `${id}-${at}.txt`));
}
const openPage = (options: WorldOptions<undefined, 'reference'> = {}): Promise<Engine> =>
  world({ ...BATCHES, ...options, service: 'reference' });

/** Returns what the service logs from now on, without preflights. */
async function logFromNow(): Promise<() => Promise<readonly LogEntry[]>> {
  const before = (await logOf({})).length;
  return async () => (await logOf({})).slice(before).filter(({ operation }) => operation !== 'preflight');
}
const countOf = (log: readonly LogEntry[], wanted: LogEntry['operation']): number =>
  log.filter(({ operation }) => operation === wanted).length;

const outcomesOf = ({ uploader }: Engine): string[] =>
  uploader.snapshot.files.map(({ error, phase }) => error?.code ?? phase);
const OVER: readonly string[] = ['done', 'failed', 'canceled'];
const areOver = async (engine: Engine): Promise<readonly string[]> => {
  await until(
    () => engine.phases().every((phase) => OVER.includes(phase)),
    () => outcomesOf(engine).join(', '),
  );
  return outcomesOf(engine);
};
const allDone = (count = COUNT): string[] => Array(count).fill('done');

const countStored = (files: readonly File[]): Promise<number> => countFiles(files.map(({ name }) => name));

describe('many small files', () => {
  it('share their requests, and are all on the service', async () => {
    const engine = await openPage();
    const log = await logFromNow();
    const files = small(60);
    await engine.uploader.addFiles(files);
    expect(await areOver(engine)).to.deep.equal(allDone(60));
    const sent = await log();
    expect(countOf(sent, 'put')).to.equal(60);
    // Alone, they have three requests each.
    expect(sent.length - countOf(sent, 'put')).to.be.lessThan(60);
    expect(countOf(sent, 'batch')).to.be.greaterThan(1);
    expect(await countStored(files)).to.equal(60);
    expect(engine.details('upload-completed')).to.have.length(60);
    expect(engine.details('chunk-uploaded')).to.have.length(60);
  });

  it('end as they would alone: a taken name, too large, refused for a while, accepted, a lost chunk, empty', async () => {
    const engine = await openPage();
    const files = [...small(), new File([], `${crypto.randomUUID()}.txt`)];
    // The first file shows that the service works, so that the others go in batches.
    const [, taken, large, late, accepted, lost] = files.map(({ name }) => name) as string[];
    const strike = (fileName: string | undefined, fault: object): Promise<unknown> =>
      addFault({ match: { fileName }, ...fault });
    await strike(taken, { operation: 'session', status: 409 });
    await strike(large, { operation: 'session', status: 413 });
    await strike(late, { operation: 'session', status: 429 });
    await strike(accepted, { operation: 'commit', pending: true });
    await strike(lost, { operation: 'put', storeNothing: true });
    await engine.uploader.addFiles(files);
    const outcomes = await areOver(engine);
    expect(outcomes.toSorted()).to.deep.equal(
      ['file-too-large', 'name-taken', ...allDone(COUNT - 1)].toSorted(),
    );
    expect(engine.row(taken as string)?.error?.code).to.equal('name-taken');
    expect(engine.row(large as string)?.error?.code).to.equal('file-too-large');
    expect(await countStored(files)).to.equal(COUNT - 1);
  });

  it('get one new token when theirs is refused', async () => {
    let tokenCount = 0;
    const getToken = (): Promise<string> => {
      tokenCount += 1;
      return tokenOf('alice');
    };
    const engine = await openPage({ getToken });
    await engine.uploader.addFiles(small(1));
    await areOver(engine);
    // The single request shows that the token is refused, not only the batch.
    for (const operation of ['batch', 'session']) await addFault({ operation, status: 401 });
    await engine.uploader.addFiles(small());
    expect(await areOver(engine)).to.deep.equal(allDone(COUNT + 1));
    expect(tokenCount).to.equal(2);
  });

  it('are uploaded once, although the responses to their first batches are lost', async () => {
    const engine = await openPage();
    const files = small();
    await addFault({ operation: 'batch', cut: 'after-body', times: 3 });
    await engine.uploader.addFiles(files);
    expect(await areOver(engine)).to.deep.equal(allDone());
    expect(await countStored(files)).to.equal(COUNT);
    expect(engine.details('upload-completed')).to.have.length(COUNT);
  });

  it('are uploaded one by one by a service without batches, with one warning', () =>
    captureWarnings(async (warned) => {
      const engine = await openPage({ batchPath: '/files/uploadsession/none' });
      const log = await logFromNow();
      await engine.uploader.addFiles(small());
      expect(await areOver(engine)).to.deep.equal(allDone());
      expect(countOf(await log(), 'session')).to.equal(COUNT);
      expect(warned.filter((line) => line.includes('batch-path'))).to.have.length(1);
    }));

  it('that are canceled while their batch runs leave no session, and the others continue', async () => {
    const engine = await openPage();
    const files = small();
    await engine.uploader.addFiles(small(1));
    await areOver(engine);
    const log = await logFromNow();
    await addFault({ operation: 'batch', delayMs: 500 });
    await engine.uploader.addFiles(files);
    await until(async () => countOf(await log(), 'batch') > 0);
    const { name } = files[0] as File;
    await engine.uploader.cancel(engine.id(name));
    expect(await areOver(engine)).to.deep.equal(['done', 'canceled', ...allDone(COUNT - 1)]);
    await until(async () => countOf(await log(), 'cancel') === 1);
    expect(await countStored(files)).to.equal(COUNT - 1);
  });

  it('that are paused while their batch runs, or before it is sent, continue later', async () => {
    const engine = await openPage();
    await engine.uploader.addFiles(small(1));
    await areOver(engine);
    const log = await logFromNow();
    // Nothing is committed meanwhile.
    await addFault({ operation: 'batch', delayMs: 500, times: 2 });
    const files = small();
    await engine.uploader.addFiles(files);
    // The commit of the first one may begin with the second batch.
    await until(async () => countOf(await log(), 'batch') >= 2);
    await engine.uploader.pause();
    await engine.uploader.resume();
    expect(await areOver(engine)).to.deep.equal(allDone(COUNT + 1));
    expect(await countStored(files)).to.equal(COUNT);
  });

  it('continue in a page that is opened again, with what it saved', async () => {
    const store = newStore();
    const settings = { store, keepFiles: true };
    const first = await openPage(settings);
    const files = small();
    await addFault({ operation: 'put', delayMs: 200, times: 4 });
    await first.uploader.addFiles(files);
    await first.waitForChange('chunk-uploaded');
    await first.uploader.close();
    const second = await openPage(settings);
    await second.uploader.addFiles(
      files.filter(({ name }) => !first.row(name) || first.phase(name) !== 'done'),
    );
    await areOver(second);
    await until(async () => (await countStored(files)) === COUNT);
  });

  it('of two pages end in both', async () => {
    const [one, two] = [await openPage(), await openPage()];
    const [some, others] = [small(), small()];
    await Promise.all([one.uploader.addFiles(some), two.uploader.addFiles(others)]);
    expect([await areOver(one), await areOver(two)]).to.deep.equal([allDone(), allDone()]);
    expect(await countStored([...some, ...others])).to.equal(2 * COUNT);
  });

  it('tell no one their sessions', async () => {
    const engine = await openPage();
    await engine.uploader.addFiles(small(5));
    await areOver(engine);
    // The passport is what `x-service-uploadsession` has.
    const told = JSON.stringify([engine.changes, engine.uploader.snapshot]);
    expect(told).not.to.match(/passport|"session":/);
  });
});
