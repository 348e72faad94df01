// One request: the options of `fetch`, aborts, and the limit for the size of a response.

import { expect } from '@open-wc/testing';
import { resolveUrl } from '../../src/core/addresses.ts';
import { createSend, exchange, isBelow } from '../../src/service/http.ts';
import { fillProfile, meaningOf } from '../../src/service/profile.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';
import { forever } from './reference.ts';

const { fetch } = globalThis;
let asked: { url: string; init: RequestInit }[] = [];

/** Replaces `fetch`: every request gets the response of `answer`. */
function answerAll(answer: (signal: AbortSignal) => Promise<Response>): void {
  asked = [];
  globalThis.fetch = (url, init = {}) => {
    asked.push({ url: String(url), init });
    return answer(init.signal as AbortSignal);
  };
}

/** Returns a promise that never resolves. An abort rejects the promise, as with the browser's `fetch`. */
const silence = (signal: AbortSignal): Promise<Response> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
  });

afterEach(() => {
  globalThis.fetch = fetch;
});

const settings = { baseUrl: 'https://api.test/v1', authHeader: 'Authorization', authScheme: 'Bearer' };
const request = { method: 'POST', path: '/files', token: 't', signal: forever } as const;
const init = { method: 'POST', headers: new Headers(), credentials: 'same-origin' } as const;

describe('a request', () => {
  it('follows no redirect, sends no referrer, and sends cookies only to its own site', async () => {
    answerAll(async () => new Response('{}'));
    await createSend(settings)({ ...request, body: { a: 1 }, headers: { 'x-a': 'b' } });
    const [{ url, init: made }] = asked as [(typeof asked)[number]];
    const { method, credentials, redirect, referrerPolicy, body } = made;
    expect({ url, method, credentials, redirect, referrerPolicy, body }).to.deep.equal({
      url: 'https://api.test/v1/files',
      method: 'POST',
      credentials: 'same-origin',
      redirect: 'manual',
      referrerPolicy: 'no-referrer',
      body: '{"a":1}',
    });
    expect(Object.fromEntries(made.headers as Headers)).to.deep.equal({
      accept: 'application/json',
      authorization: 'Bearer t',
      'content-type': 'application/json',
      'x-a': 'b',
    });
  });

  it('has no body and no content type without content, no authorization without a bearer, and no scheme if none is set', async () => {
    answerAll(async () => new Response('{}'));
    await createSend({ ...settings, authHeader: 'x-token', authScheme: '' })({
      ...request,
      method: 'DELETE',
    });
    await createSend(settings)({ ...request, token: undefined });
    const [first, second] = asked as [(typeof asked)[number], (typeof asked)[number]];
    expect(Object.fromEntries(first.init.headers as Headers)).to.deep.equal({
      accept: 'application/json',
      'x-token': 't',
    });
    expect('body' in first.init).to.equal(false);
    expect((second.init.headers as Headers).has('authorization')).to.equal(false);
  });

  it('is aborted after 30 s, and a millisecond later for each 32 bytes of a long body', async () => {
    const clock = stopClock();
    try {
      for (const [body, lateMs] of [
        [undefined, 30_000],
        ['x'.repeat(3198), 30_100],
      ] as const) {
        answerAll(silence);
        let code = '';
        createSend(settings)({ ...request, body }).catch((error) => {
          code = error.code;
        });
        await clock.pass(lateMs - 1);
        expect(code, `${lateMs} - 1`).to.equal('');
        await clock.pass(1);
        expect(code).to.equal('timeout');
        expect(clock.timerCount).to.equal(0);
      }
    } finally {
      clock.restore();
    }
  });

  it('rejects with the reason of an abort, before it is sent and while it waits', async () => {
    answerAll(silence);
    const reason = new Error('paused');
    const options = { body: undefined, timeoutMs: 60_000 };
    const url = new URL('https://api.test');
    expect(await rejection(exchange(url, init, { ...options, signal: AbortSignal.abort(reason) }))).to.equal(
      reason,
    );
    expect(asked).to.deep.equal([]);
    const stop = new AbortController();
    const waiting = rejection(exchange(url, init, { ...options, signal: stop.signal }));
    await settled();
    stop.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(asked[0]?.init.signal?.reason).to.equal(reason);
  });

  it('is a network error if the network changes', async () => {
    const line = new AbortController();
    answerAll(silence);
    const send = createSend(settings, { connectionChange: () => line.signal });
    const waiting = rejection(send(request));
    await settled();
    line.abort();
    expect(await waiting).to.include({ code: 'network' });
  });
});

describe('a response', () => {
  it('is read up to 1 MiB, and its rest is not loaded', async () => {
    const text = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
    answerAll(async () => new Response(text(2 ** 20)));
    expect((await createSend(settings)(request)).body).to.have.length(2 ** 20 - 2);
    let isCanceled = false;
    const endless = (): ReadableStream =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(2 ** 19)),
        cancel: () => {
          isCanceled = true;
        },
      });
    answerAll(async () => new Response(endless(), { status: 500 }));
    expect(await rejection(createSend(settings)(request))).to.include({ code: 'bad-response', status: 500 });
    expect(isCanceled).to.equal(true);
  });

  it('keeps a character that arrived in two parts', async () => {
    const [...bytes] = new TextEncoder().encode('"ü€"');
    const parts = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    answerAll(async () => new Response(parts, { headers: { 'X-A': 'b' } }));
    const { body, header } = await createSend(settings)(request);
    expect([body, header('x-a'), header('x-b')]).to.deep.equal(['ü€', 'b', null]);
  });
});

describe('the path of a request', () => {
  it('may start with any number of slashes, or be a whole URL', () => {
    for (const path of ['a/b', '/a/b', '//a/b', 'https://api.test/v1/a/b', 'HTTPS://api.test/v1/a/b'])
      expect(resolveUrl('https://api.test/v1', path).href, path).to.equal('https://api.test/v1/a/b');
    expect(() => resolveUrl('https://api.test/v1', 'https://'))
      .to.throw()
      .and.to.include({ code: 'bad-config' });
  });

  it('is decoded through up to four layers of encoding, and no more', () => {
    const encoded = (layers: number): string => {
      let dots = '..';
      for (let layer = 0; layer < layers; layer += 1) dots = encodeURIComponent(dots).replaceAll('.', '%2e');
      return `https://api.test/v1/x/${dots}/y`;
    };
    for (const layers of [2, 3, 4, 5, 6])
      expect(isBelow('https://api.test/v1', new URL(encoded(layers))), `${layers}`).to.equal(false);
    const plain = (layers: number): URL => {
      let name = 'a b';
      for (let layer = 0; layer < layers; layer += 1) name = encodeURIComponent(name);
      return new URL(`https://api.test/v1/${name}`);
    };
    expect(isBelow('https://api.test/v1', plain(4))).to.equal(true);
    expect(isBelow('https://api.test/v1', plain(5))).to.equal(false);
  });

  it('may be the base itself', () => {
    for (const base of ['https://api.test/v1', 'https://api.test/v1/'])
      expect(isBelow(base, new URL('https://api.test/v1'))).to.equal(true);
    expect(isBelow('https://api.test/', new URL('https://api.test/any'))).to.equal(true);
    expect(isBelow('https://api.test/v1', new URL('https://api.test/v10'))).to.equal(false);
    for (const user of ['a@', ':b@', 'a:b@'])
      expect(isBelow('https://api.test/v1', new URL(`https://${user}api.test/v1/x`)), user).to.equal(false);
    expect(isBelow('data:x', new URL('data:x'))).to.equal(false);
  });
});

describe('the meaning of a status', () => {
  const MEANINGS = {
    400: 'refused',
    401: 'token',
    402: 'refused',
    403: 'forbidden',
    404: 'gone',
    405: 'refused',
    408: 'retry',
    409: 'refused',
    410: 'gone',
    413: 'too-large',
    422: 'refused',
    429: 'slow-down',
    499: 'refused',
    500: 'retry',
    501: 'unsupported',
    502: 'retry',
    503: 'slow-down',
    504: 'retry',
    505: 'unsupported',
    507: 'full',
    508: 'unsupported',
    510: 'unsupported',
    511: 'unsupported',
    599: 'retry',
  } as const;
  for (const [status, meaning] of Object.entries(MEANINGS))
    it(`${status} is ${meaning} unless the page sets another`, () => {
      expect(meaningOf(Number(status))).to.equal(meaning);
      const other = meaning === 'retry' ? 'token' : 'retry';
      expect(meaningOf(Number(status), { [Number(status)]: other })).to.equal(other);
    });

  it('and all other open points of the interface have defaults', () => {
    expect(fillProfile({ sendSizes: undefined as never, fileName: 'path' as never })).to.deep.equal({
      missingChunk: 'error',
      hashEncoding: 'hex',
      emptyFile: 'session',
      fileName: 'path',
      sendSizes: false,
      statuses: {},
    });
  });
});
