// Reading of responses and of their `Retry-After`.

import { expect } from '@open-wc/testing';
import { exchange, networkError, readDateMs, readRetryAfterMs } from '../../src/service/http.ts';
import { readPauseMs } from '../../src/service/wire.ts';
import { stopClock } from '../support/clock.ts';
import { rejection } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';
import { answerOf } from './answer-of.ts';
import { findReference, forever } from './reference.ts';

describe('a requested delay', () => {
  const date = 'Tue, 03 Feb 2026 10:00:00 GMT';
  const rows: readonly (readonly [string | number | null | undefined, string | null, number | undefined])[] =
    [
      [null, null, undefined],
      [undefined, null, undefined],
      ['', null, undefined],
      ['0', null, 0],
      [0, null, 0],
      [' 3 ', null, 3000],
      ['1.5', null, 1500],
      [2.5, null, 2500],
      ['300', null, 300_000],
      ['301', null, 300_000],
      [-5, null, undefined],
      ['soon', date, undefined],
      ['Tue, 03 Feb 2026 10:00:20 GMT', date, 20_000],
      ['Tue, 03 Feb 2026 09:00:00 GMT', date, 0],
      ['Tue, 03 Feb 2026 11:00:00 GMT', date, 300_000],
      ['Tue, 03 Feb 2026 09:00:00 GMT', null, 0],
      ['Tue, 03 Feb 2026 09:00:00 GMT', 'no date', 0],
    ];
  for (const [value, now, expected] of rows)
    it(`of ${JSON.stringify(value)} is ${expected} ms`, () => {
      // Some browsers parse "-5" as a date in the past, which results in 0 ms.
      if (value === -5) expect(readRetryAfterMs(value, now) ?? 0).to.equal(0);
      else expect(readRetryAfterMs(value, now)).to.equal(expected);
    });

  it('is limited by the caller, and read from the header before the body', () => {
    expect(readRetryAfterMs('3600', null, Number.POSITIVE_INFINITY)).to.equal(3_600_000);
    const body = { retry_after: 7 };
    expect(readPauseMs(answerOf({ body }))).to.equal(7000);
    expect(readPauseMs(answerOf({ body: { retry_after: '7' } }))).to.equal(7000);
    expect(readPauseMs(answerOf({ body, headers: { 'retry-after': '1' } }))).to.equal(1000);
    expect(readPauseMs(answerOf({ body: { retry_after: 3600 } }), 5000)).to.equal(5000);
    expect(readPauseMs(answerOf({ body: { retry_after: [7] } }))).to.equal(undefined);
    expect(readPauseMs(answerOf({}))).to.equal(undefined);
  });

  it('is counted from the date of the response, if it has one', () => {
    expect(readDateMs(date)).to.equal(1_770_112_800_000);
    expect(readDateMs('no date')).to.equal(undefined);
    expect(readDateMs(null)).to.equal(undefined);
  });
});

describe('one request', () => {
  it('has the URL without its query, and distinguishes an empty response from one that is not JSON', async () => {
    const { baseUrl } = await findReference();
    const init = { method: 'POST', headers: new Headers(), credentials: 'same-origin' } as const;
    const url = new URL(`${baseUrl}/auth/token?secret=1`);
    const answer = await exchange(url, init, { body: {}, timeoutMs: 60_000, signal: forever });
    expect(answer).to.include({ status: 400, address: `${baseUrl}/auth/token`, isEmpty: false });
    expect(init.headers.get('content-type')).to.equal('application/json');
    expect(init.headers.get('accept')).to.equal('application/json');
    const { fetch } = globalThis;
    const answers: readonly (readonly [BodyInit | null, unknown, boolean])[] = [
      [null, undefined, true],
      [' \n', undefined, true],
      ['<html>', undefined, false],
      ['{"a":1}', { a: 1 }, false],
      ['"ü"', 'ü', false],
      ['null', null, false],
    ];
    try {
      for (const [body, parsed, isEmpty] of answers) {
        globalThis.fetch = async () => new Response(body);
        const headers = new Headers();
        const options = { body: undefined, timeoutMs: 60_000, signal: forever };
        const read = await exchange(url, { ...init, headers }, options);
        expect([read.body, read.isEmpty], String(body)).to.deep.equal([parsed, isEmpty]);
        expect(headers.has('content-type')).to.equal(false);
      }
      globalThis.fetch = async () => new Response('12345');
      const most = { body: undefined, timeoutMs: 60_000, maxBytes: 5, signal: forever };
      expect((await exchange(url, init, most)).body).to.equal(12_345);
      expect(await rejection(exchange(url, init, { ...most, maxBytes: 4 }))).to.include({
        code: 'bad-response',
        status: 200,
      });
    } finally {
      globalThis.fetch = fetch;
    }
  });

  it('leaves neither a timer nor a listener, with and without a response', async () => {
    const { fetch } = globalThis;
    const clock = stopClock();
    const init = { method: 'POST', headers: new Headers(), credentials: 'same-origin' } as const;
    try {
      for (const answer of [async () => new Response('{}'), () => Promise.reject(new TypeError('no line'))]) {
        globalThis.fetch = answer;
        const { signal, count } = listenersOf(new AbortController().signal);
        const options = { body: {}, timeoutMs: 1000, signal };
        const asked = exchange(new URL('https://api.test'), init, options).catch(() => undefined);
        expect([clock.timerCount, count()]).to.deep.equal([1, 0]);
        await asked;
        expect([clock.timerCount, count()]).to.deep.equal([0, 0]);
      }
    } finally {
      globalThis.fetch = fetch;
      clock.restore();
    }
  });

  it('without a response is classified by whether the browser is offline', () => {
    const cause = new TypeError('Failed to fetch');
    expect(networkError(cause)).to.include({ code: 'network', cause });
    Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => false });
    try {
      expect(networkError(cause)).to.include({ code: 'offline', cause });
    } finally {
      Reflect.deleteProperty(navigator, 'onLine');
    }
  });
});
