// A bounded queue: the order of its jobs, their time, and what becomes of jobs that hang or are aborted.

import { expect } from '@open-wc/testing';
import { type Job, Lane, type Place } from '../../src/core/lane.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { type Deferred, deferred, rejection, settled } from '../support/collect.ts';

const forever = new AbortController().signal;

/** Jobs that a test ends, and the names of those that have started. */
function createJobs() {
  const started: string[] = [];
  const ends = new Map<string, Deferred<string>>();
  const signals = new Map<string, AbortSignal>();
  const job =
    (name: string, atStart?: (place: Place) => void): Job<string> =>
    (signal, place) => {
      started.push(name);
      signals.set(name, signal);
      atStart?.(place);
      const end = deferred<string>();
      ends.set(name, end);
      return end.promise;
    };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.resolve(`${name} has ended`);
    await settled();
  };
  const fail = async (name: string): Promise<void> => {
    ends.get(name)?.reject(new Error(`${name} has failed`));
    await settled();
  };
  const reasonOf = (name: string): string =>
    `${signals.get(name)?.reason?.name ?? signals.get(name)?.reason}`;
  return { job, started, end, fail, reasonOf };
}

describe('a lane', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  it('runs as many jobs as it has places, in the order of the calls', async () => {
    const lane = new Lane(2, 1000);
    const { job, started, end, fail } = createJobs();
    const results = ['a', 'b', 'c', 'd'].map((name) => lane.run(job(name), forever));
    const failure = rejection(results[0] as Promise<string>);
    expect(started.join()).to.equal('a,b');
    await end('b');
    expect(started.join()).to.equal('a,b,c');
    await fail('a');
    expect(started.join()).to.equal('a,b,c,d');
    expect(await results[1]).to.equal('b has ended');
    expect((await failure).message).to.equal('a has failed');
  });

  it('gives its place to the next job if the call of a job throws', async () => {
    const lane = new Lane(1, 1000);
    const { job, started } = createJobs();
    const failure = rejection(
      lane.run(() => {
        throw new Error('thrown');
      }, forever),
    );
    void lane.run(job('b'), forever);
    expect((await failure).message).to.equal('thrown');
    await settled();
    expect(started.join()).to.equal('b');
  });

  it('gives each job its whole time, however long it has waited', async () => {
    const lane = new Lane(1, 1000);
    const { job, started, end, reasonOf } = createJobs();
    for (const name of ['a', 'b', 'c']) void lane.run(job(name), forever);
    await clock.pass(900);
    await end('a');
    await clock.pass(900);
    expect([started.join(), reasonOf('b')]).to.deep.equal(['a,b', 'undefined']);
    await clock.pass(100);
    expect([started.join(), reasonOf('b')]).to.deep.equal(['a,b,c', 'TimeoutError']);
  });

  it('starts the next job when the time of one is over, which may then end late', async () => {
    const lane = new Lane(1, 1000);
    const { job, started, end, reasonOf } = createJobs();
    const hangs = lane.run(job('hangs'), forever);
    const next = lane.run(job('next'), forever);
    await clock.pass(1000);
    expect([started.join(), reasonOf('hangs')]).to.deep.equal(['hangs,next', 'TimeoutError']);
    await end('next');
    expect(await next).to.equal('next has ended');
    await end('hangs');
    expect(await hangs).to.equal('hangs has ended');
  });

  it('gives a job more time when the job says so, but not after its time is over', async () => {
    const lane = new Lane(1, 1000);
    const { job, started, reasonOf } = createJobs();
    let renew: Place['renew'] = () => undefined;
    const moving = job('moves', (place) => {
      renew = place.renew;
    });
    void lane.run(moving, forever);
    void lane.run(job('next'), forever);
    await clock.pass(900);
    renew(500);
    await clock.pass(400);
    expect([started.join(), reasonOf('moves')]).to.deep.equal(['moves', 'undefined']);
    await clock.pass(100);
    expect([started.join(), reasonOf('moves')]).to.deep.equal(['moves,next', 'TimeoutError']);
    renew(500);
    expect(clock.timerCount).to.equal(1);
  });

  it('runs at most four jobs for each place at the same time, and one at a time beyond, if all of them hang', async () => {
    const lane = new Lane(2, 1000);
    const { job, started, end } = createJobs();
    const names = Array.from({ length: 40 }, (_, at) => `${at}`);
    for (const name of names) void lane.run(job(name), forever);
    for (const count of [2, 4, 6, 8, 9, 10, 11]) {
      expect(started).to.have.length(count);
      await clock.pass(1000);
    }
    for (let second = 0; second < 50; second += 1) await clock.pass(1000);
    expect(started).to.have.length(32);
    await end('3');
    expect(started).to.have.length(33);
  });

  it('lets others pass the next job of an owner whose job hangs', async () => {
    const lane = new Lane(1, 1000);
    const { job, started, end } = createJobs();
    for (const name of ['a1', 'a2', 'b1', 'a3', 'c1']) void lane.run(job(name), forever, name[0]);
    await clock.pass(1000);
    expect(started.join()).to.equal('a1,b1');
    await end('b1');
    expect(started.join()).to.equal('a1,b1,c1');
    await end('c1');
    expect(started.join()).to.equal('a1,b1,c1');
    await end('a1');
    await end('a2');
    expect(started.join()).to.equal('a1,b1,c1,a2,a3');
  });

  it('gives the place of a job that leaves it to the next one, without a limit, but not to one of the same owner', async () => {
    const lane = new Lane(1, 1000);
    const { job, started, end, reasonOf } = createJobs();
    const names = ['a1', 'a2', 'b', 'c', 'd', 'e', 'f', 'g'];
    const results = names.map((name) =>
      lane.run(
        job(name, ({ leave }) => name !== 'g' && leave()),
        forever,
        name[0],
      ),
    );
    await settled();
    expect(started.join()).to.equal('a1,b,c,d,e,f,g');
    expect(lane.hasLeft).to.equal(true);
    await end('a1');
    expect(await results[0]).to.equal('a1 has ended');
    expect(started.join()).to.equal('a1,b,c,d,e,f,g');
    await clock.pass(1000);
    expect(started.join()).to.equal('a1,b,c,d,e,f,g,a2');
    expect(['b', 'g'].map(reasonOf)).to.deep.equal(['undefined', 'TimeoutError']);
    for (const name of names) await end(name);
    expect([lane.hasLeft, clock.timerCount]).to.deep.equal([false, 0]);
  });

  it('lets a job leave after it was passed over', async () => {
    const lane = new Lane(1, 1000);
    const { job, started } = createJobs();
    const places: Place[] = [];
    const names = Array.from({ length: 17 }, (_, at) => `${at}`);
    for (const name of names)
      void lane.run(
        job(name, (place) => places.push(place)),
        forever,
      );
    for (let second = 0; second < 30; second += 1) await clock.pass(1000);
    expect(started).to.have.length(16);
    places[0]?.leave();
    expect(started).to.have.length(17);
  });

  it('starts more jobs when it gets more places', async () => {
    const lane = new Lane(1, 1000);
    const { job, started } = createJobs();
    for (const name of ['a', 'b', 'c']) void lane.run(job(name), forever);
    lane.width = 2;
    expect(started.join()).to.equal('a,b');
  });

  it('drops a job that is aborted while it waits, and does not start it', async () => {
    const lane = new Lane(1, 1000);
    const { job, started, end } = createJobs();
    void lane.run(job('a'), forever);
    const stop = new AbortController();
    const error = rejection<string>(lane.run(job('b'), stop.signal));
    void lane.run(job('c'), forever);
    stop.abort('stopped');
    expect(await error).to.equal('stopped');
    expect(await rejection(lane.run(job('d'), stop.signal))).to.equal('stopped');
    await end('a');
    expect(started.join()).to.equal('a,c');
  });

  it('starts the next job at once when one is aborted, whether it has a place or not', async () => {
    const lane = new Lane(1, 1000);
    const { job, started, reasonOf } = createJobs();
    const stop = new AbortController();
    const errors = ['a', 'b', 'c', 'd'].map((name) => rejection<string>(lane.run(job(name), stop.signal)));
    await clock.pass(1000);
    await clock.pass(1000);
    for (const name of ['e', 'f']) void lane.run(job(name), forever);
    expect(started.join()).to.equal('a,b,c');
    stop.abort('stopped');
    expect(started.join()).to.equal('a,b,c,e');
    expect(await Promise.all(errors)).to.deep.equal(['stopped', 'stopped', 'stopped', 'stopped']);
    expect(['a', 'b', 'c'].map(reasonOf)).to.deep.equal(['TimeoutError', 'TimeoutError', 'stopped']);
    await clock.pass(1000);
    expect(started.join()).to.equal('a,b,c,e,f');
  });
});
