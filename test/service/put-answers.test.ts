// Meaning of each response of a storage, and reports of progress. The tests set the responses.

import { expect } from '@open-wc/testing';
import type { Profile } from '../../src/core/config.ts';
import type { UploaderError } from '../../src/core/errors.ts';
import type { TicketUpload } from '../../src/core/types.ts';
import { createPut } from '../../src/service/put.ts';
import { stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';
import { forever } from './reference.ts';

const url = 'https://storage.test/object?signature=1';
const NOW_MS = 60_000;

interface Said {
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expiresAtMs?: number;
  readonly statuses?: Profile['putStatuses'];
  readonly responseURL?: string;
}

const { open, send, setRequestHeader } = XMLHttpRequest.prototype;
let requests: XMLHttpRequest[] = [];
let opened: unknown[] = [];
let headersSent: string[][] = [];
let bodies: unknown[] = [];

beforeEach(() => {
  requests = [];
  opened = [];
  headersSent = [];
  bodies = [];
  XMLHttpRequest.prototype.open = function (this: XMLHttpRequest, ...args: unknown[]) {
    opened = args;
    open.apply(this, args as Parameters<typeof open>);
  } as typeof open;
  XMLHttpRequest.prototype.setRequestHeader = function (this: XMLHttpRequest, name, value) {
    headersSent.push([name, value]);
    setRequestHeader.call(this, name, value);
  };
  XMLHttpRequest.prototype.send = function (this: XMLHttpRequest, body) {
    requests.push(this);
    bodies.push(body);
  };
});
afterEach(() => {
  Object.assign(XMLHttpRequest.prototype, { open, send, setRequestHeader });
  Reflect.deleteProperty(performance, 'now');
});

/** Sets the response of `xhr`. */
function answer(
  xhr: XMLHttpRequest,
  status: number,
  { text = '', headers = {}, responseURL = url }: Said,
): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const values: Record<string, unknown> = {
    status,
    responseURL,
    responseText: text,
    getAllResponseHeaders: () => lines.join(''),
    getResponseHeader: (name: string) => headers[name] ?? null,
  };
  for (const [name, value] of Object.entries(values)) Object.defineProperty(xhr, name, { value });
}

const uploadOf = (more: Partial<TicketUpload> = {}): TicketUpload => ({
  url,
  method: 'PUT',
  headers: {},
  ...more,
});

async function codeOf(status: number, said: Said = {}): Promise<string | [string, unknown]> {
  const { expiresAtMs, statuses } = said;
  const put = createPut({ baseUrl: 'https://api.test', ...(statuses && { statuses }) });
  const upload = uploadOf(expiresAtMs === undefined ? {} : { expiresAtMs });
  const sent = put(upload, new Blob(['1']), { signal: forever }).then(
    () => 'stored',
    (error: UploaderError): [string, unknown] | string => {
      expect(error.status).to.equal(status);
      return error.retryAfterMs === undefined ? error.code : [error.code, error.retryAfterMs];
    },
  );
  const xhr = requests.at(-1) as XMLHttpRequest;
  answer(xhr, status, said);
  xhr.dispatchEvent(new ProgressEvent('load'));
  return sent;
}

describe('a response of the storage', () => {
  for (const [status, code] of [
    [199, 'upload-refused'],
    [200, 'stored'],
    [201, 'stored'],
    [299, 'stored'],
    [300, 'upload-refused'],
    [400, 'upload-refused'],
    [403, 'upload-refused'],
    [407, 'upload-refused'],
    [408, 'service-failed'],
    [409, 'upload-refused'],
    [410, 'upload-refused'],
    [422, 'upload-refused'],
    [428, 'upload-refused'],
    [429, 'rate-limited'],
    [430, 'upload-refused'],
    [499, 'upload-refused'],
    [500, 'service-failed'],
    [501, 'bad-response'],
    [502, 'service-failed'],
    [503, 'rate-limited'],
    [504, 'service-failed'],
    [505, 'bad-response'],
    [507, 'service-full'],
    [508, 'bad-response'],
    [510, 'bad-response'],
    [511, 'bad-response'],
    [599, 'service-failed'],
  ] as const)
    it(`with status ${status} means ${code}`, async () => {
      expect(await codeOf(status)).to.equal(code);
    });

  it('is classified by the page, for each status', async () => {
    const meanings = {
      stored: 'stored',
      'slow-down': 'rate-limited',
      full: 'service-full',
      retry: 'service-failed',
      refused: 'upload-refused',
    };
    for (const status of [200, 400, 408, 429, 500, 503])
      for (const [meaning, code] of Object.entries(meanings)) {
        const statuses = { [status]: meaning } as Profile['putStatuses'];
        expect(await codeOf(status, { statuses } as Said), `${status} ${meaning}`).to.equal(code);
      }
  });

  it('from another URL is no success', async () => {
    expect(await codeOf(200, { responseURL: 'https://other.test/object' })).to.equal('upload-refused');
    expect(await codeOf(500, { responseURL: '' })).to.equal('upload-refused');
  });

  it('to an expired URL says so, from its last millisecond', async () => {
    Object.assign(performance, { now: () => NOW_MS });
    for (const [expiresAtMs, code] of [
      [NOW_MS - 1, 'ticket-expired'],
      [NOW_MS, 'ticket-expired'],
      [NOW_MS + 1, 'upload-refused'],
    ] as const) {
      expect(await codeOf(403, { expiresAtMs }), `${expiresAtMs - NOW_MS}`).to.equal(code);
      expect(await codeOf(410, { expiresAtMs }), `${expiresAtMs - NOW_MS}`).to.equal(code);
      expect(await codeOf(404, { expiresAtMs })).to.equal('upload-refused');
    }
  });

  it('with a hash mismatch says so, in the words of any storage', async () => {
    for (const text of [
      '<Code>XAmzContentSHA256Mismatch</Code>',
      '<Code>BadDigest</Code>',
      'the bytes have another hash',
      'wrong checksum',
      'other hash',
      'hash mismatch',
      'checksum: does not match',
    ]) {
      expect(await codeOf(400, { text }), text).to.equal('hash-mismatch');
      expect(await codeOf(422, { text }), text).to.equal('hash-mismatch');
      expect(await codeOf(409, { text }), text).to.equal('upload-refused');
    }
    for (const text of ['', 'hash', 'mismatch'])
      expect(await codeOf(400, { text }), text).to.equal('upload-refused');
  });

  it('has a delay if the page may read it', async () => {
    const date = 'Tue, 03 Feb 2026 10:00:00 GMT';
    for (const status of [429, 503]) {
      expect(await codeOf(status, { headers: { 'retry-after': '2' } })).to.deep.equal(['rate-limited', 2000]);
      expect(await codeOf(status, { headers: { 'retry-after': '0' } })).to.deep.equal(['rate-limited', 0]);
      const headers = { 'retry-after': 'Tue, 03 Feb 2026 10:00:07 GMT', date };
      expect(await codeOf(status, { headers })).to.deep.equal(['rate-limited', 7000]);
    }
    expect(await codeOf(500, { headers: { 'retry-after': '2' } })).to.equal('service-failed');
  });

  it('is not read beyond a limit', async () => {
    for (const [loaded, isOver] of [
      [65_536, false],
      [65_537, true],
    ] as const)
      for (const [status, expected] of [
        [200, 'stored'],
        [500, 'service-failed'],
      ] as const) {
        let result = 'nothing yet';
        const put = createPut({ baseUrl: 'https://api.test' });
        put(uploadOf(), new Blob(['1']), { signal: forever }).then(
          () => {
            result = 'stored';
          },
          ({ code }: UploaderError) => {
            result = code;
          },
        );
        const xhr = requests.at(-1) as XMLHttpRequest;
        answer(xhr, status, {});
        xhr.dispatchEvent(new ProgressEvent('progress', { loaded }));
        await settled();
        expect(result, `${loaded} ${status}`).to.equal(isOver ? expected : 'nothing yet');
        xhr.dispatchEvent(new ProgressEvent('load'));
      }
  });
});

describe('a request to the storage', () => {
  const start = (body = new Blob(['123']), more: object = {}, upload = uploadOf()) => {
    const result = { code: '', progress: [] as number[], multiplexed: 0 };
    const put = createPut({ baseUrl: 'https://api.test', ...more });
    const onProgress = (sentBytes: number): void => void result.progress.push(sentBytes);
    const onMultiplexed = (): void => {
      result.multiplexed += 1;
    };
    const run = (): XMLHttpRequest => {
      put(upload, body, { signal: forever, onProgress, onMultiplexed }).then(
        () => {
          result.code = 'stored';
        },
        ({ code }: UploaderError) => {
          result.code = code;
        },
      );
      return requests.at(-1) as XMLHttpRequest;
    };
    return { xhr: run(), result, again: run };
  };
  const progress = (xhr: XMLHttpRequest, loaded: number): void =>
    void xhr.upload.dispatchEvent(new ProgressEvent('progress', { loaded }));

  it('is sent as its ticket says, without cookies and without a content type of its own', () => {
    const body = new Blob(['123'], { type: 'text/plain' });
    const { xhr } = start(body, {}, uploadOf({ method: 'POST', headers: { 'x-a': '1', 'x-b': '2' } }));
    expect(opened).to.deep.equal(['POST', url]);
    expect(headersSent).to.deep.equal([
      ['x-a', '1'],
      ['x-b', '2'],
    ]);
    expect(xhr.withCredentials).to.equal(false);
    const [sent] = bodies as [Blob];
    expect([sent.type, sent.size]).to.deep.equal(['', 3]);
    const plain = new Blob(['1']);
    start(plain);
    expect(bodies.at(-1)).to.equal(plain);
  });

  it('reports its progress, never more than the bytes of the chunk, and nothing after its end', async () => {
    const { xhr, result } = start();
    for (const loaded of [1, 3, 4]) progress(xhr, loaded);
    answer(xhr, 200, {});
    xhr.dispatchEvent(new ProgressEvent('load'));
    progress(xhr, 2);
    await settled();
    expect(result.progress).to.deep.equal([1, 3, 3]);
    expect(result.code).to.equal('stored');
  });

  it('that ends without a response is a network error', async () => {
    for (const type of ['error', 'abort']) {
      const { xhr, result } = start();
      xhr.dispatchEvent(new ProgressEvent(type));
      await until(() => result.code !== '');
      expect(result.code).to.equal('network');
    }
  });

  it('reports once that its storage multiplexes requests over one connection', async () => {
    const { getEntriesByName } = performance;
    let nextHopProtocol = 'http/1.1';
    let asked: unknown[] = [];
    performance.getEntriesByName = ((...args: unknown[]) => {
      asked = args;
      return [{ nextHopProtocol }];
    }) as unknown as typeof getEntriesByName;
    try {
      const { again, result, ...first } = start();
      const load = async (xhr: XMLHttpRequest): Promise<number> => {
        answer(xhr, 200, {});
        xhr.dispatchEvent(new ProgressEvent('load'));
        await settled();
        return result.multiplexed;
      };
      expect(await load(first.xhr)).to.equal(0);
      expect(asked).to.deep.equal([url, 'resource']);
      for (const none of ['', 'h1', 'quic']) {
        nextHopProtocol = none;
        expect(await load(again()), none).to.equal(0);
      }
      nextHopProtocol = 'h2';
      expect(await load(again())).to.equal(1);
      nextHopProtocol = '';
      expect(await load(again())).to.equal(2);
      nextHopProtocol = 'h3';
      const other = start();
      answer(other.xhr, 200, {});
      other.xhr.dispatchEvent(new ProgressEvent('load'));
      await settled();
      expect(other.result.multiplexed).to.equal(1);
    } finally {
      performance.getEntriesByName = getEntriesByName;
    }
  });

  it('is aborted after 30 s without progress, four times that before the first byte and twice for the response', async () => {
    const clock = stopClock();
    try {
      const overAfter = async (ms: number, act: (xhr: XMLHttpRequest) => void): Promise<void> => {
        const { xhr, result } = start();
        await clock.pass(100_000);
        act(xhr);
        // At 120 s, the first deadline passes. Only then is the timer of the next deadline set.
        await clock.pass(20_000);
        await clock.pass(ms - 20_001);
        expect(result.code, `${ms} - 1`).to.equal('');
        await clock.pass(1);
        expect(result.code, `${ms}`).to.equal('upload-stalled');
        expect(clock.timerCount).to.equal(0);
      };
      await overAfter(30_000, (xhr) => progress(xhr, 1));
      await overAfter(60_000, (xhr) => xhr.upload.dispatchEvent(new ProgressEvent('load')));
      await overAfter(30_000, (xhr) => xhr.dispatchEvent(new ProgressEvent('progress', { loaded: 1 })));
      const { result } = start();
      await clock.pass(119_999);
      expect(result.code).to.equal('');
      await clock.pass(1);
      expect(result.code).to.equal('upload-stalled');
    } finally {
      clock.restore();
    }
  });

  it('is ended with the reason of an abort', async () => {
    const { abort } = XMLHttpRequest.prototype;
    const aborted: unknown[] = [];
    XMLHttpRequest.prototype.abort = function (this: XMLHttpRequest) {
      aborted.push(this);
    };
    try {
      const stop = new AbortController();
      const put = createPut({ baseUrl: 'https://api.test' });
      const sent = put(uploadOf(), new Blob(['1']), { signal: stop.signal }).catch((error: unknown) => error);
      expect(aborted).to.deep.equal([]);
      const reason = new Error('paused');
      stop.abort(reason);
      expect(await sent).to.equal(reason);
      expect(aborted).to.deep.equal([requests.at(-1)]);
    } finally {
      XMLHttpRequest.prototype.abort = abort;
    }
  });

  it('leaves no timer and no listener', async () => {
    const clock = stopClock();
    try {
      const { signal, count } = listenersOf(new AbortController().signal);
      const sent = createPut({ baseUrl: 'https://api.test' })(uploadOf(), new Blob(['1']), { signal });
      expect([clock.timerCount, count()]).to.deep.equal([1, 1]);
      const xhr = requests.at(-1) as XMLHttpRequest;
      answer(xhr, 200, {});
      xhr.dispatchEvent(new ProgressEvent('load'));
      await sent;
      await settled();
      expect([clock.timerCount, count()]).to.deep.equal([0, 0]);
    } finally {
      clock.restore();
    }
  });
});
