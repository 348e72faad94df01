// When a commit is repeated after a 202, and when it fails.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Calls, CommitAnswer } from '../../src/core/types.ts';
import { commit } from '../../src/pipeline/commit.ts';
import { CommitPoller } from '../../src/pipeline/commit-poller.ts';
import type { RunParts } from '../../src/pipeline/run.ts';
import { UploadSession } from '../../src/pipeline/upload-session.ts';
import { fileOf } from '../support/bytes.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';
import { setUpRun } from '../support/running.ts';
import { ScriptedService } from '../support/scripted-service.ts';

const HOUR_MS = 3_600_000;

describe('an accepted commit', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  /** Starts a commit without chunks. The responses are `answers`, then always 202 without `Retry-After`. */
  function start(answers: CommitAnswer[] = [], acceptedAtMs?: number, poller = new CommitPoller()) {
    const times: number[] = [];
    const events: string[] = [];
    const calls = {
      ...new ScriptedService().calls,
      commit: async (): Promise<CommitAnswer> => {
        times.push(performance.now() / 1000);
        return answers.shift() ?? { missing: [], pending: {} };
      },
    };
    const { parts } = setUpRun(fileOf(1, 0), {
      calls,
      poller,
      retrying: (call) => call(),
      commitDeadlineMs: HOUR_MS,
      onAccepted: () => events.push('accepted'),
      onSession: ({ acceptedAtMs: savedMs }) => savedMs !== acceptedAtMs && events.push('saved'),
    });
    const session = new UploadSession(parts, 1000);
    session.resume(
      { session: { sessionId: 's', header: 'h' }, chunkSizeBytes: 1000, acceptedAtMs },
      new Map(),
    );
    return { events, times, ended: commit(session, [], parts) };
  }

  /** Lets `seconds` pass, one second at a time. */
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) await clock.pass(1000);
  }

  it('is repeated after 2, 4, 8, and then every 15 seconds', async () => {
    const { times } = start();
    await settled();
    await pass(60);
    expect(times).to.deep.equal([0, 2, 6, 14, 29, 44, 59]);
  });

  it('is repeated at most five times a second for all files of a service together', async () => {
    const poller = new CommitPoller();
    const every: CommitAnswer = { missing: [], pending: { retryAfterMs: 0 } };
    const files = Array.from({ length: 100 }, () => start(new Array(1000).fill(every), undefined, poller));
    await settled();
    await pass(60);
    const repeated = files.flatMap(({ times }) => times).filter((atSeconds) => atSeconds >= 20);
    expect(repeated.length).to.be.within(100, 5 * 41);
  });

  it('of 200 files that are complete a second later is repeated within a few seconds, the oldest first', async () => {
    const poller = new CommitPoller();
    const pending = { missing: [], pending: { retryAfterMs: 1000 } };
    const order: number[] = [];
    for (let index = 0; index < 200; index += 1)
      void start([pending, { missing: [] }], undefined, poller).ended.then(() => order.push(index));
    await settled();
    for (let passed = 0; passed < 60; passed += 1) await clock.pass(100);
    expect(order).to.deep.equal(Array.from({ length: 200 }, (_, index) => index));
  });

  it('waits for `Retry-After` however fast other files are complete', async () => {
    const poller = new CommitPoller();
    const soon = { missing: [], pending: { retryAfterMs: 500 } };
    for (let index = 0; index < 20; index += 1) start([soon, { missing: [] }], undefined, poller);
    const { times } = start([{ missing: [], pending: { retryAfterMs: 30_000 } }], undefined, poller);
    await settled();
    await pass(29);
    expect(times).to.deep.equal([0]);
    await pass(1);
    expect(times).to.deep.equal([0, 30]);
  });

  it('is repeated as often after a time in which the browser ran no timers', async () => {
    const poller = new CommitPoller();
    const pending = { missing: [], pending: { retryAfterMs: 1000 } };
    let doneCount = 0;
    for (let index = 0; index < 100; index += 1)
      void start([pending, { missing: [] }], undefined, poller).ended.then(() => {
        doneCount += 1;
      });
    await settled();
    await clock.pass(60_000);
    await clock.pass(0);
    expect(doneCount).to.equal(100);
  });

  it('is repeated after `Retry-After`, and not before half a second', async () => {
    const pending = (retryAfterMs: number): CommitAnswer => ({ missing: [], pending: { retryAfterMs } });
    const { events, times, ended } = start([pending(20_000), pending(0), { missing: [], body: 'done' }]);
    await settled();
    await pass(20);
    expect(times).to.deep.equal([0, 20]);
    await clock.pass(499);
    expect(times).to.have.length(2);
    await clock.pass(1);
    expect(await ended).to.deep.equal({ missing: [], body: 'done' });
    expect(events).to.deep.equal(['saved', 'accepted', 'accepted']);
  });

  it('fails with `timeout` an hour after the first 202, also if that came before a reload', async () => {
    const { events, times, ended } = start([], Date.now() - HOUR_MS + 10_000);
    const failed = rejection<{ code: string }>(ended);
    await settled();
    await pass(10);
    expect((await failed).code).to.equal('timeout');
    expect(times.at(-1)).to.equal(10);
    expect(events.at(-1)).to.equal('saved');
    expect(events.filter((event) => event === 'saved')).to.have.length(1);
  });

  it('has the whole hour if the clock of the device is set meanwhile', async () => {
    const { times } = start();
    await settled();
    await pass(10);
    const { now } = Date;
    try {
      for (const hours of [2, -2]) {
        Date.now = () => now() + hours * HOUR_MS;
        await pass(15);
      }
    } finally {
      Date.now = now;
    }
    expect(times).to.deep.equal([0, 2, 6, 14, 29]);
    await pass(3600 - 40);
    expect(times.at(-1)).to.be.within(3590, 3600);
  });

  it('has the whole hour if the clock of the device was set back since', async () => {
    const { times } = start([], Date.now() + HOUR_MS);
    await settled();
    await pass(14);
    expect(times).to.deep.equal([0, 2, 6, 14]);
  });
});

describe('a commit without a response', () => {
  let clock: Clock;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.restore());

  /** Starts a commit that is repeated after each timeout. The responses are those of `answer`; each commit takes `tookMs`. */
  function start(answer: (count: number) => CommitAnswer, tookMs: number) {
    const times: number[] = [];
    const calls = {
      ...new ScriptedService().calls,
      commit: async (...[, , , options]: Parameters<NonNullable<Calls['commit']>>): Promise<CommitAnswer> => {
        times.push(performance.now());
        await options?.onSend?.();
        await clock.pass(tookMs);
        return answer(times.length);
      },
    };
    const retrying: RunParts['retrying'] = async (call) => {
      for (;;)
        try {
          return await call();
        } catch (error) {
          if (!(error instanceof UploaderError)) throw error;
        }
    };
    const { parts } = setUpRun(fileOf(1, 0), { calls, retrying, commitDeadlineMs: HOUR_MS });
    const session = new UploadSession(parts, 1000);
    session.resume({ session: { sessionId: 's', header: 'h' }, chunkSizeBytes: 1000 }, new Map());
    return { times, ended: commit(session, [], parts) };
  }

  const noResponse = (): never => {
    throw new UploaderError('timeout', 'no response');
  };

  it('is sent once more if its time was over while the machine slept', async () => {
    const { times, ended } = start((count) => (count === 1 ? noResponse() : { missing: [] }), 2 * HOUR_MS);
    expect(await ended).to.deep.equal({ missing: [] });
    expect(times).to.deep.equal([0, 2 * HOUR_MS]);
  });

  it('fails with `timeout` if the one that was sent after its time has no response either', async () => {
    const { times, ended } = start(noResponse, 0.4 * HOUR_MS);
    expect((await rejection<{ code: string }>(ended)).code).to.equal('timeout');
    expect(times.map((ms) => Math.round((ms / HOUR_MS) * 10) / 10)).to.deep.equal([0, 0.4, 0.8, 1.2]);
  });
});
