// Reading of responses to credentials and challenges: many spellings are accepted, but only known words mean success.
import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import {
  normalize,
  type Reading,
  readHints,
  readMethods,
  readResponse,
  type Step,
} from '../../src/auth/challenge.ts';
import { firstSeed } from '../support/scope.ts';

const nowMs = Date.parse('2030-06-01T12:00:00Z');
const read = (step: Step, status: number, body: unknown): Reading =>
  readResponse(step, status, body, { nowMs, canUsePasskey: true });
const meaning = (reading: Reading): string => ('error' in reading ? reading.error.code : reading.type);
const login = (body: object, status = 200): string => meaning(read('login', status, body));

const ESTABLISHED = 'ok success established';
const GOING_ON = 'authorize none';
const STRICTER = {
  'credentials-rejected': 'denied invalidcredentials',
  'account-locked': 'locked',
  'step-unsupported': 'redirect enroll passwordexpired changepassword constructor tostring',
};

const anyStep = fc.constantFrom<Step>('login', 'start', 'answer', 'poll');

describe('the words of a response', () => {
  it('are the same however they are spelled', () => {
    for (const word of ['MFA_REQUIRED', 'mfa-required', 'mfaRequired', ' Mfa Required ']) {
      expect(normalize(word)).to.equal('mfarequired');
    }
    expect(normalize(7)).to.equal('');
  });

  it('mean signed in only if they are in the tables', () => {
    for (const status of ESTABLISHED.split(' ')) expect(login({ status }), status).to.equal('established');
    for (const next_step of GOING_ON.split(' '))
      expect(login({ next_step }), next_step).to.equal('established');
    for (const status of ['ok', 'perhaps', undefined])
      expect(login({ status, next_step: 'dance' }), status).to.equal('step-unsupported');
    expect(login({ status: 'perhaps', next_step: 'authorize' })).to.equal('step-unsupported');
  });

  it('never mean signed in beside an unknown word, a challenge or an error status', () => {
    const good = ESTABLISHED.split(' ');
    const goodNext = [...good, ...GOING_ON.split(' ')];
    const noise = fc.oneof(fc.string(), fc.constantFrom(undefined, 'dance', 'MFA_REQUIRED', 'locked'));
    const word = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...goodNext) }, noise);
    const answers = fc.record(
      {
        status: word,
        next_step: word,
        error: word,
        code: noise,
        challenge_token: noise,
        available_methods: fc.oneof(fc.constantFrom([], ['totp'], ['retina']), fc.anything()),
      },
      { requiredKeys: [] },
    );
    let count = 0;
    fc.assert(
      fc.property(anyStep, fc.constantFrom(200, 200, 200, 401, 503), answers, (step, httpStatus, answer) => {
        if (read(step, httpStatus, answer).type !== 'established') return;
        count += 1;
        const { status, next_step, error, challenge_token, available_methods } = answer;
        const [next = '', ...said] = [next_step, status, error].map(normalize);
        expect(httpStatus).to.be.lessThan(400);
        expect(next + said.join('')).not.to.equal('');
        expect(['', ...good]).to.include.members(said);
        expect(['', ...goodNext]).to.include(next);
        expect(challenge_token || undefined).to.equal(undefined);
        expect(Array.isArray(available_methods) && available_methods.length > 0).to.equal(false);
      }),
      { numRuns: 5000, seed: firstSeed },
    );
    expect(count, 'some mean signed in').to.be.greaterThan(100);
  });

  it('have the stricter meaning if two contradict each other', () => {
    const strict = Object.entries(STRICTER).flatMap(([code, words]) =>
      words.split(' ').map((word) => [code, word] as const),
    );
    const established = fc.constantFrom(...ESTABLISHED.split(' '));
    fc.assert(
      fc.property(established, fc.constantFrom(...strict), fc.boolean(), (ok, [code, word], isFirst) => {
        expect(login(isFirst ? { status: word, error: ok } : { status: ok, error: word })).to.equal(code);
      }),
    );
    fc.assert(
      fc.property(established, fc.string({ minLength: 1 }), (status, challenge_token) => {
        expect(login({ status, challenge_token, available_methods: ['totp'] })).to.equal('challenged');
        expect(login({ status, challenge_token })).to.equal('step-unsupported');
      }),
    );
    for (const status of [400, 401, 403, 404, 422, 500, 502]) {
      expect(login({ status: 'ok' }, status), String(status)).not.to.equal('established');
    }
  });

  it('never throw and never mean signed in, whatever the service sends', () => {
    const anyStatus = fc.integer({ min: 200, max: 599 });
    fc.assert(
      fc.property(anyStep, anyStatus, fc.anything(), (step, status, body) => {
        expect(read(step, status, body).type).not.to.equal('established');
      }),
      { numRuns: 2000, seed: firstSeed },
    );
    for (const body of [undefined, null, '', 'ok', 7, [], ['ok'], '<html>']) {
      expect(meaning(read('login', 200, body))).to.equal('bad-response');
    }
    expect(login({ status: 1, next_step: 2, challenge_token: 3, available_methods: 4 })).to.equal(
      'step-unsupported',
    );
    expect(login({})).to.equal('step-unsupported');
  });

  it('mean that a code was sent if the response to a start only names the challenge', () => {
    for (const body of [{ status: 'challenge' }, { next_step: 'challenge' }])
      expect(meaning(read('start', 200, body)), JSON.stringify(body)).to.equal('started');
  });

  it('report what went wrong, step by step', () => {
    expect(login({ status: 'denied', error: 'invalid_credentials' }, 401)).to.equal('credentials-rejected');
    expect(login({}, 401)).to.equal('credentials-rejected');
    expect(login({ status: 'locked' }, 401)).to.equal('account-locked');
    expect(login({ status: 'password_expired', next_step: 'change_password' })).to.equal('step-unsupported');
    expect(login({ status: 'perhaps', next_step: 'juggle' })).to.equal('step-unsupported');
    expect(login({}, 500)).to.equal('service-failed');
    const wrong = { status: 'challenge', error: 'invalid_code', challenge_token: 'next' };
    expect(read('answer', 401, wrong)).to.deep.include({ type: 'wrong', token: 'next' });
    expect(meaning(read('answer', 400, { error: 'nope' }))).to.equal('service-failed');
    expect(meaning(read('answer', 410, {}))).to.equal('expired');
    expect(meaning(read('poll', 200, { status: 'expired' }))).to.equal('expired');
    expect(read('poll', 200, { status: 'slow_down', challenge_token: 'n' })).to.deep.include({
      type: 'pending',
      isSlower: true,
    });
    expect(read('poll', 200, { status: 'waiting' })).to.deep.include({
      type: 'pending',
      isSlower: false,
    });
    expect(meaning(read('poll', 200, { status: 'denied', challenge_token: 'n' }))).to.equal('denied');
    expect(meaning(read('start', 200, { status: 'waiting', challenge_token: 'n' }))).to.equal('started');
  });
});

describe('the methods of a response', () => {
  const families = (list: unknown): string[] => readMethods(list, true).map(({ family }) => family);

  it('are recognized by their names, as words and as objects', () => {
    for (const family of ['totp', 'email', 'sms', 'push', 'passkey', 'recovery', 'code']) {
      for (const entry of [family, family.toUpperCase(), { id: 'x1', type: family }, { type: family }])
        expect(families([entry]), JSON.stringify(entry)).to.deep.equal([family]);
      expect(readMethods([{ type: family, label: 'Mine', hint: '•42' }], true)[0]).to.deep.include({
        label: 'Mine',
        hint: '•42',
      });
    }
  });

  it('have texts without control and format characters', () => {
    const [method] = readMethods([{ type: 'sms', label: 'My\u202e phone\n', hint: '\u2066•42\u200f' }], true);
    expect(method).to.deep.include({ label: 'My phone', hint: '•42' });
    const challenge = { delivery: '\u202e•42\0', number: '\u200e42' };
    expect(readHints({ challenge }, nowMs)).to.deep.equal({ delivery: '•42', number: '42' });
  });

  it('are started by a separate call, except those whose code exists already', () => {
    const started = ['passkey', 'push', 'totp', 'email', 'sms', 'recovery', 'code'].filter(
      (family) => readMethods([family], true)[0]?.needsStart,
    );
    expect(started).to.deep.equal(['passkey', 'push', 'email', 'sms']);
  });

  it('are offered in one order, and unsupported ones are not offered', () => {
    expect(families(['recovery', 'sms', 'email', 'totp', 'push', 'passkey'])).to.deep.equal([
      'passkey',
      'push',
      'totp',
      'email',
      'sms',
      'recovery',
    ]);
    expect(families(['retina', 'totp', 7, null, {}])).to.deep.equal(['totp']);
    expect(readMethods(['passkey'], false)).to.deep.equal([]);
    expect(login({ challenge_token: 't', available_methods: ['retina'] })).to.equal('method-unsupported');
  });

  it('are started immediately if there is one, or the service names one', () => {
    const challenged = (available_methods: unknown[], next_step: string) =>
      (
        read('login', 200, { status: 'challenge', challenge_token: 't', available_methods, next_step }) as {
          method?: { id: string };
        }
      ).method?.id;
    expect(challenged(['sms'], 'choose')).to.equal('sms');
    expect(challenged(['sms', 'totp'], 'totp')).to.equal('totp');
    expect(challenged(['sms', 'totp'], 'choose')).to.equal(undefined);
  });
});

describe('the challenge of a response', () => {
  it('is read in all its parts, and invalid ones are ignored', () => {
    const challenge = {
      expires_in: 300,
      delivery: 'a•••@example.com',
      code_length: 6,
      code_kind: 'numeric',
      resend_after: 30,
      poll_after: 4,
      attempts_left: 3,
      number: 42,
      public_key: { challenge: 'x' },
    };
    expect(readHints({ challenge }, nowMs)).to.deep.equal({
      delivery: 'a•••@example.com',
      codeLength: 6,
      codeKind: 'numeric',
      attemptsLeft: 3,
      number: '42',
      resendAtMs: nowMs + 30_000,
      pollMs: 4000,
      expiresAtMs: nowMs + 300_000,
      publicKey: { challenge: 'x' },
    });
    for (const poll_after of [0, 0.01, '0'])
      expect(readHints({ challenge: { poll_after } }, nowMs).pollMs).to.equal(1000);
    const junk = {
      expires_at: 'soon',
      delivery: 7,
      code_length: -1,
      code_kind: 'runes',
      resend_after: 'x',
      attempts_left: {},
      number: [],
    };
    expect(readHints({ challenge: junk }, nowMs)).to.deep.equal({});
    expect(readHints({ challenge: 'none' }, nowMs)).to.deep.equal({});
  });
});
