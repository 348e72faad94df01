// Batches that fail as a whole: their files are sent alone, or in smaller batches, and in the end without batches.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Answer } from '../../src/service/http.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { answerOf, created, namesUpTo } from './batch-requests.ts';
import { forever } from './reference.ts';

describe('batches', () => {
  for (const status of [404, 405, 501])
    it(`end after a ${status}, with one warning`, () =>
      captureWarnings(async (warned) => {
        const { alone, answered, ask, batches, requests, trust } = created();
        await trust();
        expect(batches.gathers).to.equal(true);
        const got = await answered(['a', 'b'], answerOf(status));
        expect(got.map((answer) => answer.status)).to.deep.equal([201, 201]);
        await ask('c');
        expect([alone, requests.length, batches.gathers]).to.deep.equal([['a', 'b', 'c'], 1, false]);
        expect(warned).to.have.length(1);
        expect(warned[0]).to.contain('batch-path').and.to.contain('https://service.test/batch');
      }));

  for (const status of [400, 403, 409, 422])
    it(`send the files of a ${status} alone, because one may have caused it, and end after three in a row`, () =>
      captureWarnings(async (warned) => {
        const { alone, answered, batches, each, trust } = created();
        await trust();
        const refuse = async (name: string): Promise<void> => {
          const got = await answered([name, 'other'], answerOf(status));
          expect(got.map((answer) => answer.status)).to.deep.equal([201, 201]);
        };
        await refuse('strange');
        await refuse('strange again');
        await answered(['a', 'b'], each(['a', 'b']));
        for (const name of ['1', '2']) await refuse(name);
        expect([batches.gathers, warned.length]).to.deep.equal([true, 0]);
        await refuse('3');
        expect([batches.gathers, warned.length]).to.deep.equal([false, 1]);
        expect(alone).to.have.length(10);
      }));

  it('end if the answer to the first call has something that no answer in a batch has', () =>
    captureWarnings(async (warned) => {
      const { alone, aloneAnswers, ask, batches, requests } = created();
      aloneAnswers.set('a', Promise.resolve(answerOf(201, {}, { session: 'in a header' })));
      await Promise.all(['a', 'b', 'c'].map((name) => ask(name)));
      expect([alone, requests.length, batches.gathers]).to.deep.equal([['a', 'b', 'c'], 0, false]);
      expect(warned).to.have.length(1);
    }));

  it('send the files of a request that is too large alone, and half as many in the next ones', async () => {
    const { alone, answered, ask, pass, requests, trust } = created();
    await trust();
    await answered(['a', 'b', 'c', 'd'], answerOf(413));
    expect(alone).to.deep.equal(['a', 'b', 'c', 'd']);
    for (const name of ['e', 'f', 'g']) void ask(name);
    await pass();
    expect(requests.slice(1).map(({ names }) => names)).to.deep.equal([['e', 'f'], ['g']]);
  });

  const failures: readonly (readonly [
    string,
    (request: {
      readonly answer: (answer: Answer) => unknown;
      readonly fail: (error: Error) => unknown;
    }) => unknown,
  ])[] = [
    ['a 500', ({ answer }) => answer(answerOf(500))],
    ['a timeout', ({ fail }) => fail(new UploaderError('timeout', 'too late'))],
    ['a lost connection', ({ fail }) => fail(new UploaderError('network', 'no line'))],
    ['a page instead of answers', ({ answer }) => answer({ ...answerOf(200), body: undefined })],
  ];
  for (const [what, fail] of failures) {
    it(`have half as many files after ${what}, when a single call has succeeded`, async () => {
      const { alone, ask, each, pass, requests, trust } = created();
      await trust();
      const names = namesUpTo(9);
      const failed = Promise.allSettled(names.map((name) => ask(name)));
      await settled();
      if (requests[0]) await fail(requests[0]);
      await failed;
      for (const name of names) void ask(name);
      await pass();
      expect(alone).to.deep.equal(['file 0']);
      expect(requests.slice(1).map((request) => request.names.length)).to.deep.equal([5, 3]);
      await requests[1]?.answer(each(names.slice(1, 6)));
      for (const name of namesUpTo(20)) void ask(name);
      await pass();
      // Each one that succeeds makes the next one larger.
      expect(requests.at(-1)?.names).to.have.length(9);
    });

    it(`end after three in a row with ${what}, while single calls succeed`, () =>
      captureWarnings(async (warned) => {
        const { answered, ask, batches, each, pass, requests, trust } = created();
        await trust();
        const failOnce = async (): Promise<void> => {
          const before = requests.length;
          const failed = Promise.allSettled(['a', 'b', 'c'].map((name) => ask(name)));
          await pass();
          for (const request of requests.slice(before)) await fail(request);
          await failed;
        };
        await failOnce();
        await failOnce();
        await ask('alone');
        await answered(['d', 'e'], each(['d', 'e']));
        await failOnce();
        await failOnce();
        expect([batches.gathers, warned.length]).to.deep.equal([true, 0]);
        await failOnce();
        expect([batches.gathers, warned.length]).to.deep.equal([false, 1]);
        expect((await ask('f')).status).to.equal(201);
      }));
  }

  /** Refuses a batch, so that its files go alone. `answers` has what each of them waits for. */
  const sendingAlone = async () => {
    const { aloneAnswers, requests, ask, trust, ...others } = created();
    await trust();
    const names = namesUpTo(20);
    const answers = new Map(names.map((name) => [name, deferred<Answer>()]));
    for (const [name, { promise }] of answers) aloneAnswers.set(name, promise);
    const controllers = names.map(() => new AbortController());
    const all = names.map((name, at) =>
      ask(name, { signal: controllers[at]?.signal as AbortSignal, sentSignal: forever }),
    );
    for (const each of all) each.catch(() => undefined);
    await settled();
    await requests[0]?.answer(answerOf(400));
    await settled();
    return { ...others, all, answers, ask, controllers, names, requests };
  };

  it('send few files alone at the same time after a request that was refused', async () => {
    const { all, alone, answers, names } = await sendingAlone();
    expect(alone).to.deep.equal(names.slice(0, 3));
    answers.get(names[1] as string)?.resolve(answerOf(201, { name: names[1] }));
    expect((await all[1])?.status).to.equal(201);
    await settled();
    expect(alone).to.deep.equal(names.slice(0, 4));
    answers.get(names[0] as string)?.reject(new UploaderError('network', 'no line'));
    expect((await rejection<UploaderError>(all[0] as Promise<Answer>)).code).to.equal('network');
    for (const name of names) answers.get(name)?.resolve(answerOf(201, { name }));
    await Promise.allSettled(all);
    expect(alone).to.deep.equal(names);
  });

  it('let no file that goes alone wait for one that is slow, or send one that is no longer needed', async () => {
    const { all, alone, answers, clock, controllers, names } = await sendingAlone();
    controllers[3]?.abort('canceled');
    expect(await rejection(all[3] as Promise<Answer>)).to.equal('canceled');
    await clock.pass(2000);
    expect(alone).to.deep.equal([...names.slice(0, 3), ...names.slice(4, 7)]);
    answers.get(names[0] as string)?.resolve(answerOf(201, { name: 'slow' }));
    expect((await all[0])?.body).to.deep.equal({ name: 'slow' });
  });

  it('give a call that has gone alone its answer, although its file was paused', async () => {
    const { all, answers, controllers, names } = await sendingAlone();
    controllers[0]?.abort('paused');
    answers.get(names[0] as string)?.resolve(answerOf(201, { name: 'late' }));
    expect((await all[0])?.body).to.deep.equal({ name: 'late' });
  });

  for (const [what, fail] of failures)
    it(`send a file alone after two with ${what}: it may be the reason`, async () => {
      const { alone, ask, batches, each, pass, requests, trust } = created();
      await trust();
      const { signal } = new AbortController();
      for (const other of ['a', 'b']) {
        const failed = Promise.allSettled([ask('strange', { signal }), ask(other)]);
        await pass();
        await fail(requests.at(-1) as (typeof requests)[number]);
        await failed;
        await ask('shows that the service works');
      }
      alone.length = 0;
      const others = ['a', 'b'].map((name) => ask(name));
      expect((await ask('strange', { signal })).status).to.equal(201);
      await pass();
      expect([alone, requests.at(-1)?.names]).to.deep.equal([['strange'], ['a', 'b']]);
      await requests.at(-1)?.answer(each(['a', 'b']));
      await Promise.all(others);
      expect(batches.works).to.equal(true);
    });

  for (const status of [429, 503])
    it(`have half as many files after a ${status}, until one is answered`, async () => {
      const { alone, answered, ask, each, pass, requests, trust } = created();
      await trust();
      const names = namesUpTo(9);
      await answered(names.slice(1), answerOf(status));
      for (const name of names) void ask(name);
      await pass();
      expect(alone).to.deep.equal(['file 0']);
      expect(requests.slice(1).map((request) => request.names.length)).to.deep.equal([4, 4]);
      await requests[1]?.answer(each(names.slice(1, 5)));
      for (const name of namesUpTo(20)) void ask(name);
      await pass();
      expect(requests.at(-1)?.names.length).to.equal(8);
    });

  for (const status of [429, 503])
    it(`end if even those of one file have a ${status}, while single calls succeed`, () =>
      captureWarnings(async (warned) => {
        const { ask, batches, pass, requests, trust } = created();
        await trust();
        const sizes: number[] = [];
        while (batches.gathers) {
          const asked = namesUpTo(5).map((name) => ask(name));
          await pass();
          for (const { names, answer } of requests.splice(0)) {
            sizes.push(names.length);
            await answer(answerOf(status));
          }
          expect(sizes.length).to.be.lessThan(20);
          await pass();
          await Promise.all(asked);
        }
        expect(sizes.slice(0, 3)).to.deep.equal([5, 3, 1]);
        expect(warned).to.have.length(1);
        expect((await ask('a')).status).to.equal(201);
      }));

  it('count two that one lost connection carried as one', () =>
    captureWarnings(async (warned) => {
      const { ask, batches, pass, requests, trust } = created();
      await trust();
      for (let round = 0; round < 2; round += 1) {
        const before = requests.length;
        const failed = Promise.allSettled(namesUpTo(round === 0 ? 128 : 60).map((name) => ask(name)));
        await pass();
        const running = requests.slice(before);
        expect(running).to.have.length(2);
        for (const request of running) void request.fail(new UploaderError('network', 'no line'));
        await failed;
      }
      expect([batches.gathers, warned.length]).to.deep.equal([true, 0]);
    }));

  it('continue after an offline browser', async () => {
    const { alone, ask, pass, requests, trust } = created();
    await trust();
    const failed = rejection(ask('a'));
    await settled();
    await requests[0]?.fail(new UploaderError('offline', 'no line'));
    await failed;
    void ask('a');
    await pass();
    expect([alone, requests.length]).to.deep.equal([[], 2]);
  });
});
