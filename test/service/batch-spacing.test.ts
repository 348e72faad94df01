// When requests for many files start: so late that calls share them, and so early that no file waits for a slow one.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { answerOf, created, namesUpTo } from './batch-requests.ts';

/** Creates batches of a service that works. `starts` has the times of the requests, with the number of their files. */
async function spaced() {
  const { clock, requests, ...others } = created();
  await others.trust();
  const starts: [number, number][] = [];
  const note = (): void => {
    for (const { names } of requests.slice(starts.length)) starts.push([performance.now(), names.length]);
  };
  /** Lets time pass in small steps, and asks for a file in each step. */
  const askFor = async (ms: number, stepMs = 50): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      void others.ask(`at ${performance.now()}`).catch(() => undefined);
      await settled();
      note();
      await clock.pass(stepMs);
      note();
    }
  };
  return { ...others, askFor, clock, note, requests, starts };
}

describe('batches that follow each other', () => {
  it('start 200 ms apart, with what has gathered, and at once after a rest', async () => {
    const { ask, clock, each, requests } = await spaced();
    void ask('a');
    await settled();
    await requests[0]?.answer(each(['a']));
    void ask('b');
    await clock.pass(199);
    void ask('c');
    await settled();
    expect(requests).to.have.length(1);
    await clock.pass(1);
    expect(requests[1]?.names).to.deep.equal(['b', 'c']);
    await requests[1]?.answer(each(['b', 'c']));
    await clock.pass(200);
    expect(requests).to.have.length(2);
    void ask('d');
    await settled();
    expect(requests[2]?.names).to.deep.equal(['d']);
  });

  it('start at once if they are full, and what is left waits', async () => {
    const { ask, clock, each, requests } = await spaced();
    const names = namesUpTo(150);
    const asked = names.map((name) => ask(name));
    await settled();
    expect(requests.map((request) => request.names.length)).to.deep.equal([64, 64]);
    await requests[1]?.answer(each(names.slice(64, 128)));
    await requests[0]?.answer(each(names.slice(0, 64)));
    expect(requests).to.have.length(2);
    await clock.pass(200);
    expect(requests[2]?.names).to.deep.equal(names.slice(128));
    await requests[2]?.answer(each(names.slice(128)));
    expect((await Promise.all(asked)).map(({ body }) => (body as { name: string }).name)).to.deep.equal(
      names,
    );
  });

  it('start at once when the last file that fits has come', async () => {
    const { ask, requests } = await spaced();
    void ask('a');
    await settled();
    for (const name of namesUpTo(63)) void ask(name);
    await settled();
    expect(requests).to.have.length(1);
    void ask('the 64th');
    await settled();
    expect(requests.map(({ names }) => names.length)).to.deep.equal([1, 64]);
  });

  it('to a slow service become fewer and larger, while its answers are missing', async () => {
    const { askFor, starts } = await spaced();
    await askFor(15_000);
    expect(starts).to.deep.equal([
      [0, 1],
      [400, 7],
      [1200, 16],
      [2800, 32],
      // Full.
      [5950, 64],
      [9150, 64],
      [12_350, 64],
    ]);
  });

  it('wait for no request that hangs', async () => {
    const { askFor, requests, starts } = await spaced();
    await askFor(50);
    await askFor(5000, 500);
    expect(starts.length).to.be.greaterThan(3);
    expect(requests[0]?.request.signal.aborted).to.equal(false);
  });

  it('start when one that was slow has been answered, if 200 ms have passed', async () => {
    const { ask, clock, each, requests } = await spaced();
    void ask('a');
    await settled();
    void ask('b');
    await clock.pass(300);
    expect(requests).to.have.length(1);
    await requests[0]?.answer(each(['a']));
    expect(requests).to.have.length(2);
  });

  it('are not many because one has failed and made them small', async () => {
    const { ask, clock, each, requests } = await spaced();
    const failed = ['a', 'b', 'c'].map((name) => ask(name).catch(() => undefined));
    await settled();
    await requests[0]?.fail(new UploaderError('network', 'no line'));
    await Promise.all(failed);
    const names = namesUpTo(60);
    for (const name of names) void ask(name);
    await clock.pass(200);
    expect(requests.slice(1).map((request) => request.names.length)).to.deep.equal([2]);
    await requests[1]?.answer(each(names.slice(1, 3)));
    await clock.pass(200);
    expect(requests.slice(1).map((request) => request.names.length)).to.deep.equal([2, 6]);
  });

  it('are not many because one has failed, although full ones wait', async () => {
    const { answered, ask, clock, requests } = await spaced();
    await answered(['a', 'b', 'c'], answerOf(429));
    for (const name of namesUpTo(200)) void ask(name);
    await clock.pass(200);
    expect(requests.slice(1).map(({ names }) => names.length)).to.deep.equal([2]);
  });

  it('are not many if the service takes only few files', async () => {
    const { answered, ask, clock, requests } = await spaced();
    await answered(namesUpTo(8), answerOf(413));
    await answered(namesUpTo(4), answerOf(413));
    for (const name of namesUpTo(200)) void ask(name);
    await clock.pass(200);
    expect(requests.slice(2).map(({ names }) => names.length)).to.deep.equal([2]);
  });

  it('do not become larger because an older one was too large, or has failed', async () => {
    const { ask, clock, requests } = await spaced();
    for (const name of namesUpTo(128)) void ask(name).catch(() => undefined);
    await settled();
    await requests[1]?.answer(answerOf(413));
    for (const name of namesUpTo(32)) void ask(name);
    await clock.pass(1000);
    await requests.at(-1)?.answer(answerOf(413));
    await requests[0]?.answer(answerOf(413));
    for (const name of namesUpTo(200)) void ask(name);
    const { length } = requests;
    await clock.pass(1000);
    expect(requests.slice(length).map(({ names }) => names.length)).to.deep.equal([16]);
  });

  it('take no timer with them when all calls are aborted, and leave the next ones theirs', async () => {
    const { ask, clock, each, requests } = await spaced();
    const controller = new AbortController();
    void ask('a');
    await settled();
    await requests[0]?.answer(each(['a']));
    const [one, other] = ['b', 'c'].map((name) => ask(name, { signal: controller.signal }).catch(String));
    await settled();
    expect(clock.timerCount).to.equal(1);
    controller.abort('closed');
    expect(await Promise.all([one, other])).to.deep.equal(['closed', 'closed']);
    expect(clock.timerCount).to.equal(0);
    void ask('d');
    await clock.pass(200);
    expect(requests[1]?.names).to.deep.equal(['d']);
  });

  it('keep the timer of calls that stay', async () => {
    const { ask, clock, each, requests } = await spaced();
    const controller = new AbortController();
    void ask('a');
    await settled();
    await requests[0]?.answer(each(['a']));
    void ask('b', { signal: controller.signal }).catch(() => undefined);
    void ask('c');
    await settled();
    controller.abort('paused');
    await clock.pass(200);
    expect(requests[1]?.names).to.deep.equal(['c']);
  });

  it('do not wait when the service turns out to have none', () =>
    captureWarnings(async () => {
      const { ask, clock, requests } = await spaced();
      const first = ask('a');
      await settled();
      const waiting = ask('b');
      await settled();
      await requests[0]?.answer(answerOf(404));
      expect([(await first).status, (await waiting).status]).to.deep.equal([201, 201]);
      expect(clock.timerCount).to.equal(0);
    }));
});
