// Exceptions in effects, steps and listeners of the sign-in state machine.
import { expect } from '@open-wc/testing';
import { createModel, reduce } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel, Effect, FlowEvent, LoginForm } from '../../src/auth/types.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { Machine, type MachineHooks } from '../../src/core/machine.ts';
import { closeAll, forever, open } from './open-session.ts';

afterEach(closeAll);

const first = createModel({
  frames: 'allowed',
  times: AUTH_TIMES,
  isSessionEnough: false,
  signedOut: 'no',
});

type SignIn = Machine<AuthModel, AuthEvent, FlowEvent, Effect>;

function drive(hooks: Partial<MachineHooks<AuthModel, AuthEvent, FlowEvent, Effect>>): {
  machine: SignIn;
  faults: unknown[];
} {
  const faults: unknown[] = [];
  const machine: SignIn = new Machine<AuthModel, AuthEvent, FlowEvent, Effect>(first, {
    reduce,
    facts: () => ({ isAlive: false, isOffline: false }),
    run: () => undefined,
    onFault: (error, { type }) => {
      faults.push(error);
      return type === 'fault' ? undefined : { type: 'fault' };
    },
    ...hooks,
  });
  return { machine, faults };
}

describe('an exception', () => {
  it('in an effect drops the token, requires the user, and leaves the state machine working', () => {
    const effects: string[] = [];
    const { machine, faults } = drive({
      run: ({ type }) => {
        if (type === 'try-silent') throw new Error('defect');
        effects.push(type);
      },
    });
    machine.dispatch({ type: 'need-token', isFromPage: false });
    expect(faults.map(String)).to.deep.equal(['Error: defect']);
    expect([machine.model.state, machine.model.error?.code]).to.deep.equal(['prompt', 'authorize-failed']);
    expect(effects).to.deep.equal(['deadline', 'forget', 'require']);
    machine.dispatch({ type: 'sign-in', via: 'popup' });
    expect(machine.model.state).to.equal('popup');
  });

  it('in every step is reported, and sign-in still ends', () => {
    const { machine, faults } = drive({
      onStep: () => {
        throw new Error('defect');
      },
    });
    machine.dispatch({ type: 'need-token', isFromPage: false });
    expect([machine.model.state, faults.length]).to.deep.equal(['prompt', 2]);
  });

  it('of a listener is reported, and blocks no call', async () => {
    const { reportError } = globalThis;
    const reported: unknown[] = [];
    globalThis.reportError = (error) => reported.push(error);
    try {
      const { session } = open({ getToken: () => 'token' }, {}, undefined, () => {
        throw new Error('defect of the page');
      });
      expect(await session.withToken(async (token) => token, forever)).to.equal('token');
      expect(reported.length).to.be.greaterThan(0);
    } finally {
      globalThis.reportError = reportError;
    }
  });
});

it('a form that throws in every step is reported, and sign-in ends with an error', () => {
  const { reportError } = globalThis;
  const reported: unknown[] = [];
  globalThis.reportError = (error) => reported.push(error);
  try {
    const { session } = open({ auth: 'local' });
    let isBroken = true;
    const onEnter = (): void => {
      if (isBroken) throw new Error('defect of the form');
    };
    session.form(() => ({ rows: {}, run: () => undefined, onEnter }) as unknown as LoginForm);
    session.signIn();
    isBroken = false;
    expect([session.snapshot.state, session.snapshot.error?.code]).to.deep.equal([
      'prompt',
      'authorize-failed',
    ]);
    expect(reported.map(String)).to.deep.equal(Array(2).fill('Error: defect of the form'));
  } finally {
    globalThis.reportError = reportError;
  }
});

describe('a token with an expiry outside the range of dates', () => {
  for (const [what, expiry] of Object.entries({
    'the greatest integer': { expires_at: Number.MAX_SAFE_INTEGER },
    'the greatest long, as text': { expires_at: '9223372036854775807' },
    nanoseconds: { expires_at: Date.now() * 1e6 + 9e14 },
    infinity: { expires_in: Number.POSITIVE_INFINITY },
    'a lifetime of 300,000 years': { expires_in: 1e13 },
    'an end before the epoch': { expires_at: -1e18, expires_in: -5 },
  }))
    it(`is still used: ${what}`, async () => {
      const { session, changes } = open({
        auth: 'token',
        getToken: () => ({ token: 't', ...expiry }) as never,
      });
      expect(await session.withToken(async (token) => token, forever)).to.equal('t');
      expect(changes.at(-1)?.name).to.equal('signed-in');
    });
});
