// One PUT: what is sent, its progress, how long it may be silent, and what a change of the network does. The tests set the
// responses.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import { createPut, type PutOptions } from '../../src/service/put.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { listenersOf } from '../support/listeners.ts';
import { answer, sent, uploadOf, url } from './fake-storage.ts';
import { forever } from './reference.ts';

type StartOptions = Partial<PutOptions> & {
  readonly host?: Host;
  readonly connectionChange?: () => AbortSignal;
};

describe('a request to the storage', () => {
  const start = (body = new Blob(['123']), more: StartOptions = {}, upload = uploadOf()) => {
    const result = { code: '', progress: [] as number[] };
    const { connectionChange, host, ...options } = more;
    const put = createPut({ baseUrl: 'https://api.test', ...options });
    const onProgress = (sentBytes: number): void => void result.progress.push(sentBytes);
    const run = (): XMLHttpRequest => {
      put(upload, body, {
        signal: forever,
        onProgress,
        ...(host && { host }),
        ...(connectionChange && { connectionChange }),
      }).then(
        () => {
          result.code = 'stored';
        },
        ({ code }: UploaderError) => {
          result.code = code;
        },
      );
      return sent.requests.at(-1) as XMLHttpRequest;
    };
    return { xhr: run(), result, again: run };
  };
  const progress = (xhr: XMLHttpRequest, loaded: number): void =>
    void xhr.upload.dispatchEvent(new ProgressEvent('progress', { loaded }));

  it('is sent as its ticket says, without cookies and without a content type of its own', () => {
    const body = new Blob(['123'], { type: 'text/plain' });
    const { xhr } = start(body, {}, uploadOf({ method: 'POST', headers: { 'x-a': '1', 'x-b': '2' } }));
    expect(sent.opened).to.deep.equal(['POST', url]);
    expect(sent.headers).to.deep.equal([
      ['x-a', '1'],
      ['x-b', '2'],
    ]);
    expect(xhr.withCredentials).to.equal(false);
    const [first] = sent.bodies as [Blob];
    expect([first.type, first.size]).to.deep.equal(['', 3]);
    const plain = new Blob(['1']);
    start(plain);
    expect(sent.bodies.at(-1)).to.equal(plain);
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

  it('notices that its storage multiplexes requests over one connection', async () => {
    const { PerformanceObserver: Observer } = globalThis;
    let records: { readonly name: string; readonly nextHopProtocol: string }[] = [];
    const observed: unknown[] = [];
    let openCount = 0;
    globalThis.PerformanceObserver = class {
      observe(options: unknown): void {
        observed.push(options);
        openCount += 1;
      }
      takeRecords = () => records;
      disconnect(): void {
        openCount -= 1;
      }
    } as unknown as typeof PerformanceObserver;
    try {
      const load = async (host: Host, name: string, nextHopProtocol: string): Promise<boolean> => {
        records = [{ name, nextHopProtocol }];
        const { xhr } = start(undefined, { host });
        answer(xhr, 200, {});
        xhr.dispatchEvent(new ProgressEvent('load'));
        await settled();
        return host.isMultiplexed;
      };
      const host = new Host();
      for (const none of ['http/1.1', '', 'h1', 'quic'])
        expect(await load(host, url, none), none).to.equal(false);
      expect(await load(host, `${url}&other`, 'h2')).to.equal(false);
      expect(await load(host, url, 'h2')).to.equal(true);
      expect(observed).to.deep.equal(Array(6).fill({ type: 'resource' }));
      // It is known now.
      expect(await load(host, url, '')).to.equal(true);
      expect(observed).to.have.length(6);
      expect(await load(new Host(), url, 'h3')).to.equal(true);
      expect(openCount).to.equal(0);
    } finally {
      globalThis.PerformanceObserver = Observer;
    }
  });

  describe('when connections may be dead', () => {
    let clock: Clock;
    let change = new AbortController();
    const changeNow = async (): Promise<void> => {
      const aborted = change;
      change = new AbortController();
      aborted.abort();
      await settled();
    };
    beforeEach(() => {
      clock = stopClock();
    });
    afterEach(() => clock.restore());
    const startPut = () => start(undefined, { connectionChange: () => change.signal });

    it('ends as a network error if it had no sign of life for two seconds', async () => {
      const { xhr, result } = startPut();
      progress(xhr, 1);
      await clock.pass(2001);
      await changeNow();
      expect(result.code).to.equal('network');
      expect(clock.timerCount).to.equal(0);
    });

    it('continues if it moves, and has its next sign of life in five seconds, however often it happens', async () => {
      const { xhr, result } = startPut();
      for (let round = 0; round < 5; round += 1) {
        progress(xhr, 1);
        await clock.pass(2000);
        await changeNow();
        await clock.pass(4999);
        expect(result.code).to.equal('');
      }
      progress(xhr, 2);
      // The usual time applies again.
      await clock.pass(29_999);
      expect(result.code).to.equal('');
      answer(xhr, 200, {});
      xhr.dispatchEvent(new ProgressEvent('load'));
      await settled();
      expect(result.code).to.equal('stored');
    });

    it('ends as a network error if it then has no sign of life', async () => {
      const { xhr, result } = startPut();
      progress(xhr, 1);
      await changeNow();
      await clock.pass(4999);
      expect(result.code).to.equal('');
      await clock.pass(1);
      expect(result.code).to.equal('network');
    });

    it('ends at once if the device slept', async () => {
      const { xhr, result } = startPut();
      progress(xhr, 1);
      clock.jump(90_000);
      await changeNow();
      expect(result.code).to.equal('network');
    });
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

  it('is aborted in time if a byte was sent long before the first deadline, also after long silences', async () => {
    const host = new Host();
    host.onStored(3, { firstByteMs: 150_000, answerMs: 0 });
    for (const given of [{}, { host }]) {
      const clock = stopClock();
      try {
        const { xhr, result } = start(undefined, given);
        await clock.pass(1000);
        progress(xhr, 1);
        await settled();
        await clock.pass(29_999);
        expect(result.code).to.equal('');
        await clock.pass(1);
        expect(result.code).to.equal('upload-stalled');
      } finally {
        clock.restore();
      }
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
      const ended = put(uploadOf(), new Blob(['1']), { signal: stop.signal }).catch(
        (error: unknown) => error,
      );
      expect(aborted).to.deep.equal([]);
      const reason = new Error('paused');
      stop.abort(reason);
      expect(await ended).to.equal(reason);
      expect(aborted).to.deep.equal([sent.requests.at(-1)]);
    } finally {
      XMLHttpRequest.prototype.abort = abort;
    }
  });

  it('leaves no timer and no listener', async () => {
    const clock = stopClock();
    try {
      const { signal, count } = listenersOf(new AbortController().signal);
      const ended = createPut({ baseUrl: 'https://api.test' })(uploadOf(), new Blob(['1']), { signal });
      expect([clock.timerCount, count()]).to.deep.equal([1, 1]);
      const xhr = sent.requests.at(-1) as XMLHttpRequest;
      answer(xhr, 200, {});
      xhr.dispatchEvent(new ProgressEvent('load'));
      await ended;
      await settled();
      expect([clock.timerCount, count()]).to.deep.equal([0, 0]);
    } finally {
      clock.restore();
    }
  });
});
