// What calls to the service show about it.

import { expect } from '@open-wc/testing';
import { CallEvidence } from '../../src/auth/evidence.ts';
import { type ErrorCode, UploaderError } from '../../src/core/errors.ts';
import { stopClock } from '../support/clock.ts';
import { deferred, rejection } from '../support/collect.ts';

const error = (code: ErrorCode, status?: number): UploaderError =>
  new UploaderError(code, 'no', status === undefined ? {} : { status });
const outage = error('network');

describe('the calls of a session show', () => {
  /** Returns what is shown after these outcomes, each followed by a time in milliseconds. */
  async function shownAfter(...outcomes: readonly (readonly [outcome: unknown, ms: number])[]) {
    const clock = stopClock();
    try {
      const evidence = new CallEvidence();
      for (const [outcome, ms] of outcomes) {
        if (outcome === 'answer') expect(await evidence.watch(async () => 'result')).to.equal('result');
        else expect(await rejection(evidence.watch(() => Promise.reject(outcome)))).to.equal(outcome);
        await clock.pass(ms);
      }
      return evidence.service();
    } finally {
      clock.restore();
    }
  }

  it('nothing before the first one', async () => {
    expect(await shownAfter()).to.equal('unknown');
  });

  it('that the service responds, for ten seconds', async () => {
    expect(await shownAfter(['answer', 10_000])).to.equal('up');
    expect(await shownAfter(['answer', 10_001])).to.equal('unknown');
    expect(await shownAfter([outage, 0], [outage, 0], ['answer', 0])).to.equal('up');
  });

  it('that it is down after two failures without a response in between, for a minute', async () => {
    expect(await shownAfter(['answer', 0], [outage, 0])).to.equal('unknown');
    expect(await shownAfter([outage, 0], ['answer', 0], [outage, 0])).to.equal('unknown');
    expect(await shownAfter([outage, 300_000], [outage, 60_000])).to.equal('down');
    expect(await shownAfter([outage, 0], [outage, 60_001])).to.equal('unknown');
  });

  it('one failure if they run at the same time, because they may share a connection', async () => {
    const evidence = new CallEvidence();
    const calls = [deferred<void>(), deferred<void>(), deferred<void>()];
    const results = calls.map(({ promise }) => rejection(evidence.watch(() => promise)));
    for (const { reject } of calls) reject(outage);
    await Promise.all(results);
    expect(evidence.service()).to.equal('unknown');
    await rejection(evidence.watch(() => Promise.reject(outage)));
    expect(evidence.service()).to.equal('down');
  });

  it('an outage by these errors', async () => {
    for (const each of [
      error('offline'),
      error('timeout'),
      error('service-failed', 503),
      error('rate-limited', 429),
    ])
      expect(await shownAfter([each, 0], [each, 0]), each.code).to.equal('down');
  });

  it('a response by a refusal, and nothing by a call that was aborted or never made', async () => {
    for (const each of [error('token-rejected', 401), error('forbidden', 403), error('bad-response', 200)])
      expect(await shownAfter([outage, 0], [outage, 0], [each, 0]), each.code).to.equal('up');
    for (const each of [error('bad-config'), new DOMException('', 'AbortError'), undefined])
      expect(await shownAfter([outage, 0], [outage, 0], [each, 0])).to.equal('down');
  });
});
