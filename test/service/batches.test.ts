// Calls of many files in one request: which go together, and what each file gets of the answer.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Answer } from '../../src/service/http.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { answerOf, created, namesUpTo } from './batch-requests.ts';
import { forever } from './reference.ts';

describe('batches', () => {
  it('send the first call alone, and the others together when it has succeeded', async () => {
    const { requests, alone, aloneAnswers, ask, each } = created();
    const first = deferred<Answer>();
    aloneAnswers.set('a', first.promise);
    const asked = ['a', 'b', 'c'].map((name) => ask(name));
    await settled();
    expect([alone, requests.length]).to.deep.equal([['a'], 0]);
    first.resolve(answerOf(201, { name: 'a' }));
    await settled();
    expect(requests.map(({ names }) => names)).to.deep.equal([['b', 'c']]);
    await requests[0]?.answer(each(['b', 'c']));
    expect((await Promise.all(asked)).map(({ body }) => body)).to.deep.equal(
      ['a', 'b', 'c'].map((name) => ({ name })),
    );
    expect(requests[0]?.request).to.include({ method: 'POST', path: '/batch', token: 'token' });
  });

  it('send three at a time alone while they are refused, and the others together when one succeeds', async () => {
    const { alone, aloneAnswers, ask, requests } = created();
    const names = namesUpTo(8);
    const answers = new Map(names.map((name) => [name, deferred<Answer>()]));
    for (const [name, { promise }] of answers) aloneAnswers.set(name, promise);
    const asked = names.map((name) => ask(name));
    await settled();
    expect(alone).to.deep.equal(names.slice(0, 1));
    answers.get('file 0')?.resolve(answerOf(409));
    expect((await asked[0])?.status).to.equal(409);
    await settled();
    expect(alone).to.deep.equal(names.slice(0, 4));
    answers.get('file 2')?.resolve(answerOf(403));
    await settled();
    expect([alone, requests.length]).to.deep.equal([names.slice(0, 5), 0]);
    answers.get('file 3')?.resolve(answerOf(201));
    await settled();
    expect(alone).to.deep.equal(names.slice(0, 5));
    expect(requests.map((request) => request.names)).to.deep.equal([names.slice(5)]);
  });

  const lost = new UploaderError('network', 'no line');
  for (const [what, answer, outcome] of [
    ['a 401', () => Promise.resolve(answerOf(401)), 401],
    ['a 429', () => Promise.resolve(answerOf(429)), 429],
    ['a 500', () => Promise.resolve(answerOf(500)), 500],
    ['a lost connection', () => Promise.reject(lost), lost],
  ] as const)
    it(`give ${what} of the first call to the others that wait with its token, and send the next one alone`, async () => {
      const { requests, alone, aloneAnswers, ask } = created();
      aloneAnswers.set('a', answer());
      const outcomeOf = (name: string, token = 'token'): Promise<unknown> =>
        ask(name, { token }).then(
          ({ status }) => status,
          (error) => error,
        );
      const outcomes = await Promise.all([
        outcomeOf('a'),
        outcomeOf('b'),
        outcomeOf('c', 'new token'),
        outcomeOf('d'),
      ]);
      expect(outcomes).to.deep.equal([outcome, outcome, 201, outcome]);
      expect([alone, requests.length]).to.deep.equal([['a', 'c'], 0]);
      void ask('e');
      await settled();
      expect(requests.map(({ names }) => names)).to.deep.equal([['e']]);
    });

  it('give a 401 of the first call to no other one if the token only lacks a right for it', async () => {
    const { aloneAnswers, ask, requests } = created();
    aloneAnswers.set('a', Promise.resolve(answerOf(401, {}, { 'www-authenticate': 'insufficient_scope' })));
    const [a, b] = ['a', 'b', 'c'].map((name) => ask(name));
    expect([(await a)?.status, (await b)?.status, requests.length]).to.deep.equal([401, 201, 0]);
  });

  it('do not wait for a first call that takes longer than two seconds, or for the next ones', async () => {
    const { alone, aloneAnswers, ask, clock, requests } = created();
    const names = namesUpTo(12);
    for (const name of names) aloneAnswers.set(name, new Promise(() => undefined));
    const slow = deferred<Answer>();
    aloneAnswers.set('file 1', slow.promise);
    for (const name of names) void ask(name);
    await clock.pass(1999);
    expect(alone).to.deep.equal(names.slice(0, 1));
    await clock.pass(1);
    expect(alone).to.deep.equal(names.slice(0, 2));
    for (let seconds = 0; seconds < 30; seconds += 2) await clock.pass(2000);
    // A service that hangs gets no more.
    expect(alone).to.deep.equal(names.slice(0, 5));
    slow.resolve(answerOf(201));
    await settled();
    expect(requests.map((request) => request.names)).to.deep.equal([names.slice(5)]);
  });

  it('take a late failure of a first call for its own, if another one has succeeded meanwhile', async () => {
    const { aloneAnswers, ask, batches, clock, requests } = created();
    const first = deferred<Answer>();
    aloneAnswers.set('a', first.promise);
    for (const name of ['a', 'b', 'c']) void ask(name).catch(() => undefined);
    await clock.pass(2000);
    expect(requests.map(({ names }) => names)).to.deep.equal([['c']]);
    void ask('d');
    first.reject(new UploaderError('timeout', 'too late'));
    await clock.pass(5000);
    expect([requests.map(({ names }) => names), batches.works]).to.deep.equal([[['c'], ['d']], true]);
  });

  it('send calls with another token in another request', async () => {
    const { requests, ask, pass, trust } = created();
    await trust();
    for (const [name, token] of Object.entries({ a: 'one', b: 'two', c: 'one' })) void ask(name, { token });
    await pass();
    expect(requests.map(({ names, request }) => [request.token, ...names])).to.deep.equal([
      ['one', 'a', 'c'],
      ['two', 'b'],
    ]);
  });

  it('give each file its own answer, with the delay that is asked of it', async () => {
    const { requests, ask, trust } = created();
    await trust();
    const asked = ['a', 'b', 'c'].map((name) => ask(name));
    await settled();
    const answers = [
      { status: 201, body: { name: 'a' } },
      { status: 429, body: { debuginfo: 'slowly' }, retry_after: 7 },
      { status: 409 },
    ];
    const headers = {
      date: 'Wed, 02 Dec 2026 01:00:00 GMT',
      'retry-after': '99',
      'x-service-uploadsession': 'secret',
    };
    await requests[0]?.answer(answerOf(200, { answers }, headers));
    const got = await Promise.all(asked);
    expect(got.map(({ status, body, isEmpty }) => ({ status, body, isEmpty }))).to.deep.equal([
      { status: 201, body: { name: 'a' }, isEmpty: false },
      { status: 429, body: { debuginfo: 'slowly' }, isEmpty: false },
      { status: 409, body: undefined, isEmpty: true },
    ]);
    expect(got.map(({ header }) => header('Retry-After'))).to.deep.equal([null, '7', null]);
    expect(got.map(({ header }) => header('Date'))).to.deep.equal(Array(3).fill(headers.date));
    // One session for all files would mix them up.
    expect(got[0]?.header('x-service-uploadsession')).to.equal(null);
  });

  for (const status of [408, 429, 500, 503, 504])
    it(`give the ${status} of a request to each of its files`, async () => {
      const { requests, alone, ask, trust } = created();
      await trust();
      const asked = ['a', 'b'].map((name) => ask(name));
      await settled();
      await requests[0]?.answer(answerOf(status, {}, { 'retry-after': '5' }));
      const got = await Promise.all(asked);
      expect(got.map((each) => [each.status, each.header('Retry-After')])).to.deep.equal(
        Array(2).fill([status, '5']),
      );
      expect(alone).to.deep.equal([]);
    });

  it('fail each file if the request has no response', async () => {
    const { requests, ask, trust } = created();
    await trust();
    const errors = ['a', 'b'].map((name) => rejection(ask(name)));
    await settled();
    await requests[0]?.fail(new UploaderError('timeout', 'too late'));
    expect((await Promise.all(errors)).map((error) => (error as UploaderError).code)).to.deep.equal([
      'timeout',
      'timeout',
    ]);
  });

  for (const [what, body] of Object.entries({
    'fewer answers': { answers: [{ status: 201 }] },
    'more answers': { answers: Array(3).fill({ status: 201 }) },
    'no list': { answers: { 0: { status: 201 }, 1: { status: 201 }, length: 2 } },
    'other JSON': null,
  }))
    it(`send the files of a response with ${what} alone, and end after three in a row`, () =>
      captureWarnings(async () => {
        const { alone, answered, batches, trust } = created();
        await trust();
        for (const names of [
          ['a', 'b'],
          ['c', 'd'],
          ['e', 'f'],
        ]) {
          expect(batches.works).to.equal(true);
          const got = await answered(names, answerOf(200, body));
          expect(got.map(({ status }) => status)).to.deep.equal([201, 201]);
        }
        expect([alone.length, batches.works]).to.deep.equal([6, false]);
      }));

  it('refuse a response that is not JSON: something else than the service may have made it', async () => {
    const { requests, ask, trust } = created();
    await trust();
    const errors = ['a', 'b'].map((name) => rejection(ask(name)));
    await settled();
    await requests[0]?.answer({ ...answerOf(200), body: undefined });
    expect((await Promise.all(errors)).map((error) => (error as UploaderError).code)).to.deep.equal(
      Array(2).fill('bad-response'),
    );
  });

  for (const [status, meaning] of [
    [420, 'too many requests'],
    [499, 'an outage'],
  ] as const)
    it(`read ${status} as ${meaning} if the profile says so, and send the next call alone`, async () => {
      const { alone, answered, ask, pass, trust } = created();
      await trust();
      const got = await answered(['a', 'b'], answerOf(status));
      expect(got.map((answer) => answer.status)).to.deep.equal([status, status]);
      void ask('c');
      await pass();
      expect(alone).to.deep.equal(['c']);
    });

  // The profile says that 498 is a refused token.
  for (const status of [401, 498])
    it(`ask alone after a ${status} of a request whether the token is refused: one call for all files with this token`, async () => {
      const { alone, aloneAnswers, ask, pass, requests, trust } = created();
      await trust();
      aloneAnswers.set('a', Promise.resolve(answerOf(status)));
      const asked = ['a', 'b', 'c'].map((name) => ask(name, { token: 'old' }));
      await settled();
      await requests[0]?.answer(answerOf(status));
      expect((await Promise.all(asked)).map((got) => got.status)).to.deep.equal(Array(3).fill(status));
      expect(alone).to.deep.equal(['a']);
      for (const name of ['b', 'c', 'd']) void ask(name, { token: 'new' });
      await pass();
      expect(alone).to.deep.equal(['a', 'b']);
      expect(requests.slice(1).map(({ names }) => names)).to.deep.equal([['c', 'd']]);
    });

  it('end after three requests with a 401 whose token single calls may use', () =>
    captureWarnings(async (warned) => {
      const { ask, batches, pass, requests, trust } = created();
      await trust();
      const asked = namesUpTo(5).map((name) => ask(name));
      for (let count = 1; batches.gathers; count += 1) {
        await pass();
        expect(requests).to.have.length(count);
        await requests.at(-1)?.answer(answerOf(401));
      }
      expect((await Promise.all(asked)).map((got) => got.status)).to.deep.equal(Array(5).fill(201));
      expect([requests.length, warned.length]).to.deep.equal([3, 1]);
    }));

  for (const [what, own] of Object.entries({
    'no status': {},
    nothing: null,
    'a text as status': { status: '201' },
    'a status that is none': { status: 1 },
    // Only a whole request is refused for its token.
    'a refused token': { status: 401 },
  }))
    it(`send a file alone whose answer has ${what}, and give the others theirs`, async () => {
      const { alone, answered, trust } = created();
      await trust();
      const answers = [{ status: 409 }, own];
      const got = await answered(['a', 'b'], answerOf(200, { answers }));
      expect(got.map(({ status }) => status)).to.deep.equal([409, 201]);
      expect(alone).to.deep.equal(['b']);
    });

  it('ignore a delay that is no number', async () => {
    const { answered, trust } = created();
    await trust();
    const answers = ['5', null, {}].map((retry_after) => ({ status: 429, retry_after }));
    const got = await answered(['a', 'b', 'c'], answerOf(200, { answers }));
    expect(got.map(({ header }) => header('retry-after'))).to.deep.equal([null, null, null]);
  });

  it('leave out a call that is aborted before its request, and end a request when all of its calls are', async () => {
    const { requests, ask, trust } = created();
    await trust();
    const [early, late, other] = [new AbortController(), new AbortController(), new AbortController()];
    const errors = [early, late, other].map(({ signal }, index) => rejection(ask(`${index}`, { signal })));
    early.abort();
    await settled();
    expect(requests.map(({ names }) => names)).to.deep.equal([['1', '2']]);
    late.abort();
    expect(requests[0]?.request.signal.aborted).to.equal(false);
    other.abort();
    expect(requests[0]?.request.signal.aborted).to.equal(true);
    expect((await Promise.all(errors)).map(({ name }) => name)).to.deep.equal(Array(3).fill('AbortError'));
  });

  it('leave out a call whose signal has aborted before', async () => {
    const { alone, ask, requests, trust } = created();
    await trust();
    expect((await rejection(ask('a', { signal: AbortSignal.abort() }))).name).to.equal('AbortError');
    await settled();
    expect([alone, requests.length]).to.deep.equal([[], 0]);
  });

  it('give a call that is aborted after its request its answer, if that is still needed', async () => {
    const { ask, each, requests, trust } = created();
    await trust();
    const controller = new AbortController();
    const asked = ask('a', { signal: controller.signal, sentSignal: forever });
    await settled();
    controller.abort();
    await requests[0]?.answer(each(['a']));
    expect((await asked).body).to.deep.equal({ name: 'a' });
  });

  it('do not send a call alone that was aborted meanwhile', async () => {
    const { alone, ask, requests, trust } = created();
    await trust();
    const controller = new AbortController();
    const asked = rejection(ask('a', { signal: controller.signal, sentSignal: forever }));
    const other = ask('b');
    await settled();
    controller.abort();
    await requests[0]?.answer(answerOf(400));
    expect((await asked).name).to.equal('AbortError');
    expect((await other).status).to.equal(201);
    expect(alone).to.deep.equal(['b']);
  });

  it('do not wait for a first call that is aborted', async () => {
    const { alone, aloneAnswers, ask } = created();
    aloneAnswers.set('a', new Promise(() => undefined));
    const controller = new AbortController();
    void ask('a', { signal: controller.signal, sentSignal: forever });
    const other = ask('b');
    await settled();
    controller.abort();
    expect((await other).status).to.equal(201);
    expect(alone).to.deep.equal(['a', 'b']);
  });
});
