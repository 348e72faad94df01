// How long a failed request is repeated: outages, errors of one request, and the limits of a page.

import { expect } from '@open-wc/testing';
import { type ErrorCode, UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import { type RetryHooks, retrying } from '../../src/core/retries.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';

const forever = new AbortController().signal;

describe('how long a request is retried', () => {
  const { warn } = console;
  let clock: ReturnType<typeof stopClock>;
  let warnings: string[];
  beforeEach(() => {
    clock = stopClock();
    warnings = [];
    console.warn = (line: string) => warnings.push(line);
  });
  afterEach(() => {
    clock.restore();
    console.warn = warn;
  });

  /** A request that fails with `error` until `error` is `undefined`. */
  function start(code: ErrorCode | undefined, hooks: Partial<RetryHooks> = {}, status?: number) {
    const request = {
      code,
      calls: 0,
      outcome: undefined as string | undefined,
      backoff: hooks.backoff ?? new Host().backoff,
    };
    retrying(
      async () => {
        request.calls += 1;
        if (request.code) throw new UploaderError(request.code, 'test', status ? { status } : {});
      },
      { policy: {}, signal: forever, ...hooks, backoff: request.backoff },
    ).then(
      () => {
        request.outcome = 'succeeded';
      },
      (error: UploaderError) => {
        request.outcome = error.code;
      },
    );
    return request;
  }
  const pass = async (minutes: number, eachStep: () => void = () => undefined): Promise<void> => {
    for (let step = 0; step < minutes * 2; step += 1) {
      eachStep();
      await clock.pass(30_000);
    }
  };

  for (const code of ['network', 'timeout', 'service-failed', 'rate-limited', 'upload-stalled'] as const)
    it(`an outage (${code}) has no limit, and the upload continues when it ends`, async () => {
      const request = start(code);
      await pass(600);
      expect(request.outcome).to.equal(undefined);
      expect(request.calls).to.be.within(1200, 1400);
      request.code = undefined;
      await pass(0.5);
      expect(request.outcome).to.equal('succeeded');
    });

  for (const code of ['bad-response', 'service-full', 'hash-mismatch', 'ticket-expired'] as const)
    it(`a response that is no outage (${code}) ends it after eight attempts`, async () => {
      const request = start(code);
      await pass(10);
      expect([request.outcome, request.calls]).to.deep.equal([code, 8]);
    });

  it('errors that are no outage have eight attempts, however long an outage was before', async () => {
    const request = start('network');
    await pass(30);
    const before = request.calls;
    request.code = 'bad-response';
    await pass(10);
    expect([request.outcome, request.calls]).to.deep.equal(['bad-response', before + 8]);
  });

  for (const [code, policy] of [
    ['network', { attempts: 8 }],
    ['bad-response', {}],
  ] as const)
    it(`limited attempts (${code}) are not used sooner while the origin is down`, async () => {
      const { random } = Math;
      Math.random = () => 1;
      try {
        const request = start(code, { policy });
        await settled();
        for (let second = 0; second < 90; second += 1) {
          request.backoff.onFailure(new UploaderError('network', 'another request'));
          await clock.pass(1000);
        }
        // Delays of 1, 2, 4, 8, 16, 30 and 30 s.
        expect([request.calls, request.outcome]).to.deep.equal([7, undefined]);
        await clock.pass(2000);
        expect([request.calls, request.outcome]).to.deep.equal([8, code]);
      } finally {
        Math.random = random;
      }
    });

  it('a page may set more than eight attempts', async () => {
    const request = start('bad-response', { policy: { attempts: 20 } });
    await pass(20);
    expect([request.outcome, request.calls]).to.deep.equal(['bad-response', 20]);
  });

  it('five minutes, if other requests to the origin succeed meanwhile', async () => {
    const request = start('network');
    const succeed = (): void => request.backoff.onSuccess();
    await pass(4.5, succeed);
    expect(request.outcome).to.equal(undefined);
    await pass(1, succeed);
    expect(request.outcome).to.equal('network');
  });

  it('at least eight attempts, if each attempt takes minutes', async () => {
    const request = start('upload-stalled', { policy: { baseMs: 120_000, capMs: 120_000 } });
    await settled();
    for (let attempt = 2; attempt <= 8; attempt += 1) {
      expect(request.outcome).to.equal(undefined);
      request.backoff.onSuccess();
      await clock.pass(120_000);
    }
    expect([request.outcome, request.calls]).to.deep.equal(['upload-stalled', 8]);
  });

  it('the time of an outage does not count, even if other requests succeed first after it', async () => {
    const request = start('network');
    await pass(60);
    request.backoff.onSuccess();
    await pass(4);
    expect(request.outcome).to.equal(undefined);
    await pass(4, () => request.backoff.onSuccess());
    expect(request.outcome).to.equal(undefined);
    await pass(1, () => request.backoff.onSuccess());
    expect(request.outcome).to.equal('network');
  });

  it('time during which the device slept does not count', async () => {
    const request = start('network', { policy: { maxMs: 300_000 } });
    await settled();
    request.backoff.onSuccess();
    await clock.pass(8 * 3_600_000);
    expect(request.outcome).to.equal(undefined);
  });

  it('time of long attempts counts in full, but never more than a quarter of an hour each', async () => {
    /** Starts a request whose attempts take so long. Resolves with the time after which it has failed, in minutes. */
    const minutesUntilFailed = async (attemptMinutes: number): Promise<number> => {
      let isOver = false;
      const attempt = async (): Promise<void> => {
        await new Promise<void>((resolve) => setTimeout(resolve, attemptMinutes * 60_000));
        throw new UploaderError('timeout', 'test');
      };
      const policy = { maxMs: 3_600_000, baseMs: 0, capMs: 0 };
      retrying(attempt, { policy, backoff: new Host().backoff, signal: forever }).catch(() => {
        isOver = true;
      });
      await settled();
      const beganMs = performance.now();
      while (!isOver) {
        await clock.pass(attemptMinutes * 60_000);
        // Gaps between requests.
        for (let gap = 0; gap < 9; gap += 1) await clock.pass(0);
      }
      return (performance.now() - beganMs) / 60_000;
    };
    // The first attempt does not count.
    expect(await minutesUntilFailed(10)).to.equal(70);
    // The device slept meanwhile.
    expect(await minutesUntilFailed(480)).to.equal(5 * 480);
  });

  it('time of an attempt in which the device slept counts two minutes', async () => {
    const change = new AbortController();
    const attempts = [0, 480];
    const request = rejection<UploaderError>(
      retrying(
        async () => {
          const minutes = attempts.shift();
          if (minutes === undefined) return 'stored';
          await new Promise<void>((resolve) => setTimeout(resolve, minutes * 60_000));
          if (minutes > 0) change.abort();
          throw new UploaderError('network', 'test');
        },
        {
          policy: { maxMs: 600_000, baseMs: 0, capMs: 0 },
          backoff: new Host().backoff,
          signal: forever,
          connectionChange: () => change.signal,
        },
      ).then((result) => Promise.reject(new UploaderError('bad-config', `${result}`))),
    );
    for (let step = 0; step < 20; step += 1) {
      await settled();
      await clock.pass(step === 9 ? 480 * 60_000 : 0);
    }
    expect((await request).message).to.equal('stored');
  });

  it('a limit applies to every error', async () => {
    const request = start('network', { policy: { maxMs: 120_000 } });
    await pass(1.5);
    expect(request.outcome).to.equal(undefined);
    await pass(1);
    expect(request.outcome).to.equal('network');
  });

  it('the first success after an outage ends the delays of the others', async () => {
    const backoff = new Host().backoff;
    const requests = [start('network', { backoff }), start('network', { backoff })];
    await pass(5);
    for (const request of requests) request.code = undefined;
    const calls = requests.map((request) => request.calls);
    backoff.onSuccess();
    await settled();
    expect(requests.map((request) => request.outcome)).to.deep.equal(['succeeded', 'succeeded']);
    expect(requests.map((request) => request.calls)).to.deep.equal(calls.map((count) => count + 1));
  });

  it('a success after less than five seconds of failures ends no delay', async () => {
    const backoff = new Host().backoff;
    const request = start('network', { backoff, policy: { baseMs: 10_000 } });
    await settled();
    await clock.pass(4999);
    backoff.onSuccess();
    await settled();
    expect(request.calls).to.equal(1);
    backoff.onFailure(new UploaderError('network', 'no line'));
    await clock.pass(4000);
    backoff.onFailure(new UploaderError('network', 'no line'));
    await clock.pass(1000);
    expect(request.calls).to.equal(1);
    backoff.onSuccess();
    await settled();
    expect(request.calls).to.equal(2);
  });

  it('the console does not name an error before the eighth attempt', async () => {
    const own = (): number => warnings.filter((line) => line.includes('(597)')).length;
    const request = start('service-failed', { policy: { baseMs: 1000, capMs: 1000 } }, 597);
    await settled();
    for (let attempt = 1; attempt < 7; attempt += 1) await clock.pass(1000);
    expect([request.calls, own()]).to.deep.equal([7, 0]);
    await clock.pass(1000);
    expect([request.calls, own()]).to.deep.equal([8, 1]);
  });

  it('the console names an error once, after eight attempts', async () => {
    for (const status of [598, 598, 599]) {
      start('service-failed', {}, status);
      await pass(30);
    }
    const own = warnings.filter((line) => /\(59[89]\)/.test(line));
    expect(own).to.have.length(2);
    expect(own[0]).to.match(/keep failing \(598\).*retry-minutes/);
  });
});
