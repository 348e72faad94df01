// The sign-in table: in each state, each event has the expected result or changes nothing.
import { expect } from '@open-wc/testing';
import { challengeRows } from '../../src/auth/challenge.ts';
import { canSignIn, reduce as reduceBare } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel, Method } from '../../src/auth/types.ts';
import type { AuthState } from '../../src/core/types.ts';
import { itIsDocumented } from '../core/documented.ts';
import { at, challenge, EVENTS, generation, PLACES, push, signInStates, sms, totp } from './sign-in-table.ts';

const reduce = (model: AuthModel, event: AuthEvent) => reduceBare(model, event, challengeRows);
const { grant } = EVENTS.code as Extract<AuthEvent, { readonly type: 'code' }>;
const tell = ({ model, effects }: ReturnType<typeof reduce>): string =>
  [model.state, model.error?.code ?? '-', ...effects.map(({ type }) => type)].join(' ');

describe('the sign-in table', () => {
  itIsDocumented('/docs/sign-in-states.md', signInStates());

  it('ends a sign-in in the same way in each state', () => {
    for (const where of PLACES) {
      const endsAs = (type: 'sign-out' | 'disconnected' | 'other-user' | 'fault', result: string): void => {
        expect(tell(reduce(at(where), EVENTS[type])), `${where} / ${type}`).to.equal(result);
      };
      endsAs('sign-out', 'signed-out - forget');
      endsAs('disconnected', 'signed-out -');
      endsAs('other-user', 'prompt access-denied drop require');
      endsAs('fault', 'prompt authorize-failed forget require');
    }
  });

  it('starts a new generation with each state that it enters, unless a window or the page may still respond', () => {
    for (const where of PLACES) {
      for (const event of Object.values(EVENTS)) {
        const model = at(where);
        const { model: next } = reduce(model, event);
        if (next.state === model.state && (next.background ?? model.background) === model.background)
          continue;
        const isSame = next.state === 'popup-lost' || (where === 'asking-host' && event.type === 'elapsed');
        const expected = isSame ? generation : generation + 1;
        expect(next.generation, `${where} / ${event.type}`).to.equal(expected);
      }
    }
  });
});

describe('the decisions of the sign-in table', () => {
  it('ask the page first if the page provides tokens', () => {
    const event: AuthEvent = { type: 'need-token', isFromPage: true };
    expect(tell(reduce(at('signed-out'), event))).to.equal('asking-host - deadline ask-page');
    expect(tell(reduce(at('signed-out', { signedOut: 'before' }), event))).to.equal(
      'asking-host - deadline ask-page',
    );
    expect(tell(reduce(at('signed-out', { signedOut: 'now' }), event))).to.equal('prompt - require');
    const { model } = reduce(at('signed-out', { signedOut: 'now' }), EVENTS.allowed);
    expect(tell(reduce(model, event))).to.equal('asking-host - deadline ask-page');
  });

  it('go directly to the user if no silent attempt can work, and after the user signed out', () => {
    const event = EVENTS['need-token'];
    expect(tell(reduce(at('signed-out', { frames: 'off' }), event))).to.equal('prompt - require');
    for (const signedOut of ['now', 'before'] as const)
      expect(tell(reduce(at('signed-out', { signedOut }), event))).to.equal('prompt - require');
  });

  it('show no error when the first silent attempt finds no signed-in user', () => {
    const event: AuthEvent = { type: 'failed', generation, error: { code: 'sign-in-required' } };
    const { model } = reduce(at('silent'), event);
    expect([model.state, model.error, model.frames]).to.deep.equal(['prompt', undefined, 'allowed']);
  });

  it('do not use the hidden frame again if it does not see a session that was just created', () => {
    const event: AuthEvent = { type: 'failed', generation, error: { code: 'sign-in-required' } };
    const established = reduce(at('verify'), EVENTS.established).model;
    const spent = reduce(at('exchange', { frames: 'expected' }), EVENTS['code-spent']).model;
    for (const [before, code] of [
      [established, 'sign-in-required'],
      [spent, 'network'],
    ] as const) {
      const { model } = reduce(before, { ...event, generation: before.generation } as AuthEvent);
      expect([model.state, model.error?.code, model.frames]).to.deep.equal(['prompt', code, 'blind']);
    }
  });

  it('use the hidden frame again after a temporary error, if it has worked since the last sign-in, or the token lives', () => {
    for (const type of ['failed', 'deadline'] as const)
      for (const [where, patch, before, after] of [
        ['silent', {}, 'allowed', 'allowed'],
        ['silent', {}, 'expected', 'blind'],
        ['renewing-silent', {}, 'allowed', 'allowed'],
        ['renewing-silent', {}, 'expected', 'expected'],
        ['renewing-silent', { isAlive: false }, 'expected', 'expected'],
        ['renewing-silent', { isAlive: false, isEarly: false }, 'expected', 'blind'],
      ] as const)
        expect(reduce(at(where, { ...patch, frames: before }), EVENTS[type]).model.frames, where).to.equal(
          after,
        );
    const noSession = { type: 'failed', generation, error: { code: 'sign-in-required' } } as AuthEvent;
    expect(reduce(at('renewing-silent', { frames: 'expected' }), noSession).model.frames).to.equal('blind');
  });

  it('use the hidden frame once more after each sign-in, unless the browser or the settings forbid it', () => {
    for (const [before, after] of [
      ['blind', 'expected'],
      ['allowed', 'expected'],
      ['off', 'off'],
    ] as const)
      for (const [where, event] of [
        ['popup', EVENTS.code],
        ['signed-out', EVENTS.returned],
      ] as const)
        expect(reduce(at(where, { frames: before }), event).model.frames, where).to.equal(after);
    const works = { ...EVENTS.code, grant: { ...grant, via: 'silent' } } as AuthEvent;
    expect(reduce(at('silent', { frames: 'expected' }), works).model.frames).to.equal('allowed');
  });

  it('show a blocked window as such and offer to try again', () => {
    const event: AuthEvent = { type: 'sign-in', via: 'popup', isBlocked: true };
    expect(tell(reduce(at('prompt'), event))).to.equal('prompt popup-blocked require');
  });

  it('request another code immediately when one was spent, then after delays, and in the end require the user', () => {
    expect(tell(reduce(at('exchange', { waitedMs: 2000 }), EVENTS['code-spent']))).to.equal(
      'cooling network cool',
    );
    const spent = at('exchange', { waitedMs: 299_500 });
    expect(tell(reduce(spent, EVENTS['code-spent']))).to.equal('prompt network require');
    const malformed: AuthEvent = { ...EVENTS['code-spent'], error: { code: 'token-malformed' } } as AuthEvent;
    expect(tell(reduce(at('exchange', { waitedMs: 2000 }), malformed))).to.equal(
      'prompt token-malformed require',
    );
    const blind = at('exchange', { frames: 'blind' });
    expect(tell(reduce(blind, EVENTS['code-spent']))).to.equal('prompt network require');
  });

  it('wait for the network when offline, and continue automatically', () => {
    const offline = { isOffline: true };
    const moves = [
      reduce(at('signed-out', offline), EVENTS['need-token']),
      reduce(at('silent', offline), EVENTS.deadline),
      reduce(at('silent', offline), EVENTS.failed),
      reduce(at('exchange', offline), EVENTS['code-spent']),
      reduce(at('exchange', { ...offline, waitedMs: 5000 }), {
        ...EVENTS['code-spent'],
        error: { code: 'offline' },
      } as AuthEvent),
      reduce(at('renewing-silent', { ...offline, isAlive: false, isEarly: false }), EVENTS.deadline),
    ];
    for (const move of moves) {
      expect(tell(move)).to.equal('cooling offline cool');
      const back: AuthEvent = { type: 'elapsed', generation: move.model.generation };
      // Browsers may be wrong about being offline.
      for (const isOffline of [false, true]) {
        const { model } = reduce({ ...move.model, isOffline }, back);
        expect([model.state, model.frames]).to.deep.equal(['silent-early', 'allowed']);
      }
    }
    const alive = reduce(at('renewing-silent', offline), EVENTS.deadline);
    expect([tell(alive), alive.model.frames]).to.deep.equal(['signed-in -', 'allowed']);
  });

  it('ask the user after the second frame that does not respond, with the error before it if there is no session', () => {
    const cause = { code: 'network' } as const;
    const second = reduce(at('silent-early', { cause }), EVENTS.deadline);
    expect([tell(second), second.model.cause]).to.deep.equal(['silent - deadline try-silent', cause]);
    const late = { ...EVENTS.deadline, generation: second.model.generation } as AuthEvent;
    expect(tell(reduce(second.model, late))).to.equal('prompt silent-timeout require');
    const noSession = { type: 'failed', generation, error: { code: 'sign-in-required' } } as AuthEvent;
    expect(tell(reduce(at('silent-early', { cause }), noSession))).to.equal('prompt network require');
    expect(tell(reduce(at('silent-early', { cause, isOffline: true }), EVENTS.deadline))).to.equal(
      'cooling offline cool',
    );
  });

  it('end if the browser is wrong about being offline', () => {
    /** Returns the states that follow, if each silent attempt and each exchange ends with `answer`. */
    const statesAfter = (
      answer: Partial<Record<'silent' | 'silent-early' | 'exchange', AuthEvent>>,
    ): string[] => {
      const states: string[] = [];
      let model = { ...at('signed-out'), isOffline: true };
      const step = (event: AuthEvent): void => {
        model = {
          ...reduce(model, { ...event, generation: model.generation } as AuthEvent).model,
          isOffline: true,
        };
        states.push(`${model.state} ${model.error?.code ?? '-'}`);
      };
      step({ type: 'need-token' } as AuthEvent);
      for (let count = 0; count < 40 && model.state !== 'prompt'; count += 1)
        step(
          model.state === 'cooling' ? EVENTS.elapsed : (answer[model.state as 'silent-early'] as AuthEvent),
        );
      return states;
    };
    const noSession = { type: 'failed', generation, error: { code: 'sign-in-required' } } as AuthEvent;
    expect(statesAfter({ 'silent-early': noSession })).to.deep.equal([
      'cooling offline',
      'silent-early -',
      'prompt -',
    ]);
    const { code, 'code-spent': spent } = EVENTS;
    const states = statesAfter({ silent: code, 'silent-early': code, exchange: spent });
    expect(states.at(-1)).to.equal('prompt network');
  });

  it('let the user sign in while the browser says that it is offline', () => {
    const offline = at('cooling', { error: { code: 'offline' } });
    expect(canSignIn(offline)).to.equal(true);
    expect(tell(reduce(offline, EVENTS['sign-in']))).to.equal('popup - deadline run-popup');
    const busy = at('cooling', { error: { code: 'rate-limited' } });
    expect(canSignIn(busy)).to.equal(false);
    expect(reduce(busy, EVENTS['sign-in']).model).to.equal(busy);
  });

  it("request no code if only the service's own session is needed", () => {
    const model = at('verify', { isSessionEnough: true });
    expect(tell(reduce(model, EVENTS.established))).to.equal('signed-in -');
  });

  it('send a code again at most once, and only after a short delay', () => {
    const twice = reduce(at('exchange', { waitedMs: 1000 }), EVENTS['rate-limited']).model;
    expect(twice.cooledFrom).to.equal('silent');
    const long = reduce(at('exchange'), { type: 'rate-limited', generation, waitMs: 31_000 }).model;
    expect(long.cooledFrom).to.equal('silent');
    const elapsed: AuthEvent = { type: 'elapsed', generation: long.generation };
    expect(tell(reduce(long, elapsed))).to.equal('silent - deadline try-silent');
    const longest = reduce(at('exchange'), { type: 'rate-limited', generation, waitMs: 30_000 }).model;
    expect(longest.cooledFrom).to.equal('exchange');
  });

  it('require the user when consecutive delays become too long', () => {
    const model = at('exchange', { waitedMs: 299_500 });
    expect(tell(reduce(model, EVENTS['rate-limited']))).to.equal('prompt rate-limited require');
    const longest = at('exchange', { waitedMs: 299_000 });
    expect(tell(reduce(longest, EVENTS['rate-limited']))).to.equal('cooling rate-limited cool');
  });

  it('require the user immediately if the service requests a longer delay, and respect the delay in the background', () => {
    const hour: AuthEvent = { type: 'rate-limited', generation, waitMs: 3_600_000 };
    expect(tell(reduce(at('exchange'), hour))).to.equal('prompt rate-limited require');
    const held = reduce(at('renewing-exchange', { nowMs: 5 }), hour);
    expect([tell(held), held.model.renewableAtMs]).to.deep.equal(['signed-in -', 3_600_005]);
  });

  it('return after a delay to the step that was refused', () => {
    const back = (cooledFrom: AuthState): string =>
      tell(reduce(at('cooling', { cooledFrom, challenge, error: { code: 'rate-limited' } }), EVENTS.elapsed));
    expect(back('login')).to.equal('prompt rate-limited require');
    expect(back('start')).to.equal('choose rate-limited deadline');
    expect(back('verify')).to.equal('answer rate-limited deadline');
    expect(back('wait')).to.equal('wait - deadline poll');
  });

  it('require the user when a renewal fails and the token has expired, and show nothing while it is valid', () => {
    const ended = { isAlive: false, isEarly: false } as const;
    for (const where of ['renewing-host', 'renewing-silent', 'renewing-exchange'] as const) {
      const type = where === 'renewing-host' ? 'refused' : 'failed';
      const failed: AuthEvent = { type, generation, error: { code: 'host-token-failed' } };
      const dead = reduce(at(where, { ...ended, reason: 'expired' }), failed);
      expect(dead.model.state, where).to.equal('prompt');
      expect(dead.effects, where).to.deep.equal([{ type: 'require', reason: 'expired' }]);
    }
    const cooling = reduce(at('renewing-exchange', ended), EVENTS['rate-limited']);
    expect(tell(cooling)).to.equal('cooling rate-limited cool');
    const away = reduce(at('renewing-host', ended), EVENTS.failed);
    expect(tell(away)).to.equal('cooling network cool');
  });

  it('do not renew if only the user could, until the token has expired', () => {
    const model = at('signed-in', { frames: 'blind' });
    expect(reduce(model, EVENTS['renew-due']).effects).to.deep.equal([]);
    const dead = { ...model, isAlive: false };
    expect(tell(reduce(dead, EVENTS['renew-due']))).to.equal('prompt - require');
  });

  it('start a method only if there is something to start, and wait if the response comes from elsewhere', () => {
    const challenged = (method: Method): AuthEvent => {
      return { type: 'challenged', generation, methods: [method], method, hints: {} };
    };
    expect(tell(reduce(at('login'), challenged(totp)))).to.equal('answer - deadline');
    expect(tell(reduce(at('login'), challenged(sms)))).to.equal('start - deadline start');
    const waiting = at('start', { challenge: { methods: [push], method: push } });
    expect(tell(reduce(waiting, EVENTS.started))).to.equal('wait - deadline poll');
  });

  it('reset the count of delays and the sign-out flag once the user signs in or a token arrives', () => {
    const tired = { waitedMs: 5, fruitless: 3, signedOut: 'now' } as const;
    const signIn = (via: 'popup' | 'redirect' | 'page' | 'form'): AuthEvent => ({ type: 'sign-in', via });
    const moves: readonly (readonly [AuthModel, AuthEvent])[] = [
      [at('prompt', tired), signIn('popup')],
      [at('prompt', tired), signIn('redirect')],
      [at('prompt', tired), signIn('page')],
      [at('prompt', tired), signIn('form')],
      [at('prompt', tired), EVENTS['submit-login']],
      [at('exchange', tired), EVENTS.token],
      [at('asking-host', tired), EVENTS['page-token']],
    ];
    for (const [model, event] of moves)
      expect(reduce(model, event).model, JSON.stringify(event)).to.include({
        waitedMs: 0,
        fruitless: 0,
        signedOut: 'no',
      });
  });

  it('hold no secret, whatever happened', () => {
    let model = at('popup');
    for (const event of [EVENTS.code, EVENTS.token]) {
      model = reduce(model, { ...event, generation: model.generation } as AuthEvent).model;
      expect(JSON.stringify(model)).not.to.match(/opaque|verifier/);
    }
    expect(model.state).to.equal('signed-in');
  });
});
