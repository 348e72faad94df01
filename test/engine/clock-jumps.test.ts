// During an upload, a user or a time server sets the system clock two hours ahead or back.

import { expect } from '@open-wc/testing';
import { CurrentToken } from '../../src/auth/token.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { Host } from '../../src/core/host.ts';
import { connect } from '../../src/engine/connection.ts';
import { Progress } from '../../src/engine/transfer/progress.ts';
import { isStale } from '../../src/pipeline/presign.ts';
import { closeAll, forever, open } from '../auth/open-session.ts';
import { fileOf } from '../support/bytes.ts';
import { type Clock, jumpClock, stopClock } from '../support/clock.ts';
import { settled, until } from '../support/collect.ts';
import { ScriptedService } from '../support/scripted-service.ts';
import { type World, world } from '../support/world.ts';

const HOUR_MS = 3_600_000;
const CHUNK_COUNT = 5;

const presignedCount = ({ log }: ScriptedService): number =>
  log.reduce((sum, line) => sum + (line.startsWith('presign ') ? Number(line.slice(8)) : 0), 0);

const JUMPS = { ahead: 2 * HOUR_MS, back: -2 * HOUR_MS };

for (const [direction, jumpMs] of Object.entries(JUMPS)) {
  describe(`an upload whose system clock is set two hours ${direction}`, () => {
    let undo: () => void = () => undefined;
    afterEach(() => {
      undo();
    });

    /** Uploads a file of five chunks. The clock jumps during the first PUT. */
    async function uploadOver(
      engine: World,
      afterJump: () => unknown = () => undefined,
      service = engine.service,
    ): Promise<void> {
      service.answerAll('open', 'presign');
      await engine.uploader.addFiles([fileOf(1, 4500, 'a.bin')]);
      await until(() => service.waiting('put').length === 1 && presignedCount(service) === CHUNK_COUNT);
      undo = jumpClock(jumpMs);
      await afterJump();
      service.answerAll();
      await until(() => engine.phase('a.bin') === 'done');
    }

    it('renews no ticket', async () => {
      const engine = world({ concurrency: 1 });
      engine.service.ticketLifeMs = HOUR_MS;
      await uploadOver(engine);
      expect(engine.service.puts).to.have.length(CHUNK_COUNT);
      expect(presignedCount(engine.service)).to.equal(CHUNK_COUNT);
    });

    it('requests no new token from the page', async () => {
      const reasons: string[] = [];
      const getToken = (reason: string): { token: string; expires_in: number } => {
        reasons.push(reason);
        return { token: `token ${reasons.length}`.replace(' ', '-'), expires_in: 3600 };
      };
      const service = new ScriptedService();
      const { presign, commit } = service.calls;
      const engine = world({
        concurrency: 1,
        auth: 'token',
        getToken,
        connect: (...given) => {
          const client = connect(...given);
          const { withToken } = client.auth;
          const calls: typeof service.calls = {
            ...service.calls,
            presign: (session, chunks, signal) => withToken(() => presign(session, chunks, signal), signal),
            commit: (session, proof, signal) => withToken(() => commit(session, proof, signal), signal),
          };
          return { ...client, calls, put: service.put };
        },
      });
      await uploadOver(engine, undefined, service);
      expect(reasons).to.deep.equal(['first']);
    });

    it('waits for the duration of `Retry-After`', async () => {
      const engine = world({ concurrency: 1 });
      const retryAfterMs = 40;
      await uploadOver(engine, async () => {
        const beganMs = performance.now();
        (await engine.service.nextRequest('put')).refuse(
          new UploaderError('rate-limited', 'slow down', { status: 429, retryAfterMs }),
        );
        await until(() => engine.service.waiting('put').length === 1);
        expect(performance.now()).to.be.at.least(beganMs + retryAfterMs);
      });
    });
  });

  describe(`a system clock set two hours ${direction} does not change`, () => {
    let clock: Clock;
    beforeEach(() => {
      clock = stopClock();
    });
    afterEach(() => {
      clock.restore();
      closeAll();
    });

    it('when a ticket expires', async () => {
      const upload = { url: 'https://store.test/', method: 'PUT', headers: {} } as const;
      const receivedAtMs = performance.now();
      const ticket = {
        receipt: 'r',
        upload: { ...upload, receivedAtMs, expiresAtMs: receivedAtMs + 60_000 },
      };
      clock.jump(jumpMs);
      await clock.pass(47_000);
      expect(isStale(ticket)).to.equal(false);
      await clock.pass(2000);
      expect(isStale(ticket)).to.equal(true);
    });

    it('when a token is renewed, and when it expires', async () => {
      const current = new CurrentToken();
      current.keep({ value: 't', lifetimeMs: 100_000, isAssumed: false });
      clock.jump(jumpMs);
      await clock.pass(75_000);
      expect([current.isDue, current.value]).to.deep.equal([false, 't']);
      await clock.pass(8000);
      expect([current.isDue, current.value]).to.deep.equal([true, 't']);
      await clock.pass(19_000);
      expect(current.value).to.equal(undefined);
    });

    it('how long a failed renewal delays the next one', async () => {
      let count = 0;
      const getToken = () => {
        count += 1;
        if (count === 2) throw new Error('refused once');
        return { token: `token-${count}`, expires_at: Date.now() + 100_000 };
      };
      const { session } = open({ getToken });
      const call = (): Promise<unknown> => session.withToken(async (token) => token, forever);
      await call();
      await clock.pass(85_000);
      clock.jump(jumpMs);
      await call();
      await settled();
      await clock.pass(900);
      await call();
      expect(count).to.equal(2);
      await clock.pass(200);
      await call();
      expect(count).to.equal(3);
    });

    it('how long a host is not called', async () => {
      const backoff = new Host().backoff;
      backoff.backOff(5000);
      clock.jump(jumpMs);
      expect(backoff.remainingMs).to.equal(5000);
      await clock.pass(5000);
      expect(backoff.remainingMs).to.equal(0);
    });

    it('the transfer rate and the time left', async () => {
      const chunk = { index: 0, start: 0, sizeBytes: 10_000, hash: 'a' };
      const measure = async (ms: number): Promise<unknown> => {
        const progress = new Progress(chunk.sizeBytes);
        progress.numbers();
        const numbers: unknown[] = [];
        for (const sentBytes of [1000, 2000, 5000]) {
          if (sentBytes === 2000) clock.jump(ms);
          await clock.pass(1000);
          progress.onSent(chunk, sentBytes);
          numbers.push(progress.numbers());
        }
        return numbers;
      };
      const undisturbed = await measure(0);
      expect(await measure(jumpMs)).to.deep.equal(undisturbed);
    });
  });
}
