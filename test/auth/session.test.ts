// The sign-in session that uploaders share: tokens from the page, waiting calls, and renewal of refused tokens.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { sleep } from '../../src/core/wait.ts';
import { skipTime, stopClock } from '../support/clock.ts';
import { settled } from '../support/collect.ts';
import { closeAll, forever, namesOf, noPost, open, refused } from './open-session.ts';
import { granted, openSilent, signInReaches } from './scripted.ts';

afterEach(closeAll);

describe('a page that has a token', () => {
  it('is asked once for all waiting calls', async () => {
    let calls = 0;
    const { session, changes } = open({
      getToken: async (reason) => {
        calls += 1;
        return `${reason}-token`;
      },
    });
    const tokens = await Promise.all([1, 2, 3].map(() => session.withToken(async (token) => token, forever)));
    expect(tokens).to.deep.equal(['first-token', 'first-token', 'first-token']);
    expect(calls).to.equal(1);
    expect(namesOf(changes)).to.deep.equal(['auth-changed', 'auth-changed', 'signed-in']);
    expect(session.snapshot).to.deep.equal({ state: 'signed-in', mode: 'auto', required: false });
    expect(Object.isFrozen(session.snapshot)).to.equal(true);
  });

  it('sees the new state in the snapshot when a change is reported', async () => {
    const seen: string[] = [];
    const { session } = open({ getToken: async () => 'token' }, {}, noPost, ({ name }) => {
      seen.push(`${name}: ${session.snapshot.state}`);
    });
    await session.withToken(async () => undefined, forever);
    await session.signOut();
    expect(seen).to.deep.equal([
      'auth-changed: asking-host',
      'auth-changed: signed-in',
      'signed-in: signed-in',
      'auth-changed: signed-out',
      'signed-out: signed-out',
    ]);
  });

  it('may respond to auth-required synchronously, once', async () => {
    let second: unknown;
    const { session } = open({}, {}, noPost, (change) => {
      if (change.name !== 'auth-required') return;
      change.detail.respondWith(Promise.resolve({ token: 'answered', expires_at: Date.now() + 900_000 }));
      try {
        change.detail.respondWith('again');
      } catch (error) {
        second = error;
      }
    });
    expect(await session.withToken(async (token) => token, forever)).to.equal('answered');
    expect((second as DOMException).name).to.equal('InvalidStateError');
  });

  it('is asked again with the reason when its token was refused, and the call is repeated', async () => {
    const reasons: string[] = [];
    const { session } = open({
      getToken: (reason) => {
        reasons.push(reason);
        return `token-${reasons.length}`;
      },
    });
    const seen: (string | undefined)[] = [];
    await session.withToken(async (token) => {
      seen.push(token);
      if (seen.length === 1) throw refused();
    }, forever);
    expect(seen).to.deep.equal(['token-1', 'token-2']);
    expect(reasons).to.deep.equal(['first', 'rejected']);
  });

  it('is notified of a failure, and waits for "Try again" without losing its position', async () => {
    let calls = 0;
    const { session, next } = open({
      auth: 'token',
      getToken: async () => {
        calls += 1;
        if (calls === 1) throw new DOMException('the page is signed out', 'NotAllowedError');
        return 'token';
      },
    });
    const failed = next('auth-failed');
    const waiting = session.withToken(async (token) => token, forever);
    expect((await failed).code).to.equal('host-token-failed');
    expect(session.snapshot).to.deep.include({ state: 'prompt', required: true });
    session.signIn();
    expect(await waiting).to.equal('token');
  });

  it('and has none fails immediately', async () => {
    const { session, next } = open({ auth: 'token' });
    const failed = next('auth-failed');
    const stop = new AbortController();
    const waiting = session.withToken(async () => 'never', stop.signal);
    expect((await failed).code).to.equal('host-token-failed');
    stop.abort();
    expect(await waiting.catch(() => 'aborted')).to.equal('aborted');
    expect(session.snapshot.required).to.equal(false);
  });
});

describe('a call with a token', () => {
  it('is made without one, and without an event, in mode none', async () => {
    const { session, changes } = open({ auth: 'none' });
    expect(await session.withToken(async (token) => token, forever)).to.equal(undefined);
    session.signIn();
    expect(changes).to.deep.equal([]);
  });

  it('is repeated immediately with the newer token when the older one is refused late', async () => {
    let calls = 0;
    const { session } = open({ getToken: () => `token-${++calls}` });
    let refuse = (): void => undefined;
    const seen: (string | undefined)[] = [];
    const late = session.withToken((token) => {
      seen.push(token);
      if (seen.length > 1) return Promise.resolve('done');
      return new Promise<string>((_resolve, reject) => {
        refuse = () => reject(refused());
      });
    }, forever);
    let isFirst = true;
    await session.withToken(async () => {
      if (isFirst) {
        isFirst = false;
        throw refused();
      }
    }, forever);
    refuse();
    expect(await late).to.equal('done');
    expect(seen).to.deep.equal(['token-1', 'token-2']);
    expect(calls).to.equal(2);
  });

  it('ends in token-rejected when a new token is refused too', async () => {
    let calls = 0;
    const { session } = open({ getToken: () => `token-${++calls}` });
    const error = await session.withToken(() => Promise.reject(refused()), forever).catch((error) => error);
    expect([error.code, error.status, calls]).to.deep.equal(['token-rejected', 401, 2]);
  });

  it('is not repeated with one new token after another: after a few refused ones the user is required', async () => {
    let count = 0;
    const { session } = open({ getToken: () => `token-${++count}` }, { renewalGapMs: 1, renewalLimit: 3 });
    const stop = new AbortController();
    const call = (): Promise<unknown> =>
      session.withToken(() => Promise.reject(refused()), stop.signal).catch(() => undefined);
    const many = async (): Promise<void> => {
      while (count < 20 && !stop.signal.aborted) await call();
    };
    await Promise.race([signInReaches({ session }, 'prompt'), many()]);
    stop.abort();
    expect([session.snapshot.state, count]).to.deep.equal(['prompt', 4]);
  });

  it('waits between renewals, with one timer for all calls, and renews nothing once no call waits', async () => {
    const clock = stopClock();
    try {
      let count = 0;
      const { session } = open({ getToken: () => `token-${++count}` }, { renewalGapMs: 1000 });
      const stop = new AbortController();
      /** Makes a call that refuses the token `unwanted`. */
      const call = (unwanted?: string): Promise<unknown> =>
        session.withToken(async (token) => {
          if (token === unwanted) throw refused();
          return token;
        }, stop.signal);
      expect(await call('token-1')).to.equal('token-2');
      const first = call('token-2').catch(() => 'aborted');
      await settled();
      const { timerCount } = clock;
      const others = [call(), call()].map((other) => other.catch(() => 'aborted'));
      await settled();
      expect([clock.timerCount, count]).to.deep.equal([timerCount, 2]);
      stop.abort();
      expect(await Promise.all([first, ...others])).to.deep.equal(['aborted', 'aborted', 'aborted']);
      await clock.pass(1000);
      expect(count).to.equal(2);
      expect(await session.withToken(async (token) => token, forever)).to.equal('token-3');
    } finally {
      clock.restore();
    }
  });

  it('that needs a stronger sign-in requires the user, and the next sign-in requests what the service demanded', async () => {
    const input = { clientId: crypto.randomUUID() };
    const { session } = openSilent([granted()], input, { silentMs: 1e8 });
    const wwwAuthenticate = 'Bearer error="insufficient_user_authentication", acr_values="two"';
    const stop = new AbortController();
    const cause = { wwwAuthenticate };
    session
      .withToken(() => {
        throw new UploaderError('token-rejected', 'refused', { status: 401, cause });
      }, stop.signal)
      .catch(() => undefined);
    await signInReaches({ session }, 'prompt');
    const ownOpen = window.open;
    try {
      const went = new Promise<string>((resolve) => {
        const popup = { closed: false, close: () => undefined, location: { replace: resolve } };
        window.open = () => popup as unknown as Window;
      });
      session.signIn();
      expect(new URL(await went).searchParams.get('acr_values')).to.equal('two');
    } finally {
      window.open = ownOpen;
      stop.abort();
    }
  });

  it('keeps its token when the response is 403, and renews nothing', async () => {
    let calls = 0;
    const { session } = open({ getToken: () => `token-${++calls}` });
    const forbidden = new UploaderError('forbidden', 'no', { status: 403 });
    expect(
      await session.withToken(() => Promise.reject(forbidden), forever).catch((error) => error),
    ).to.equal(forbidden);
    expect(await session.withToken(async (token) => token, forever)).to.equal('token-1');
    expect(calls).to.equal(1);
  });

  it('waits for the one renewal when the token has expired', async () => {
    let calls = 0;
    const getToken = (): { token: string; expires_at: number } => {
      calls += 1;
      return { token: `token-${calls}`, expires_at: Date.now() + (calls === 1 ? 6000 : 900_000) };
    };
    const { session } = open({ getToken });
    await session.withToken(async () => undefined, forever);
    const undo = skipTime(5900);
    try {
      const tokens = await Promise.all(
        [1, 2, 3].map(() => session.withToken(async (token) => token, forever)),
      );
      expect(tokens).to.deep.equal(['token-2', 'token-2', 'token-2']);
    } finally {
      undo();
    }
    expect(calls).to.equal(2);
  });
});

describe('a shared session', () => {
  it('is shared by all that use the same service in the same way', async () => {
    let calls = 0;
    const getToken = (): string => `token-${++calls}`;
    const input = { baseUrl: 'https://shared.example', getToken };
    const [one, two] = [open(input), open(input)];
    await one.session.withToken(async () => undefined, forever);
    expect(await two.session.withToken(async (token) => token, forever)).to.equal('token-1');
    expect(namesOf(two.changes)).to.deep.equal(namesOf(one.changes));
    const other = open({ ...input, clientId: 'another' });
    expect(other.session.snapshot.state).to.equal('signed-out');
  });

  it('is separate for another owner', async () => {
    let calls = 0;
    const input = { baseUrl: 'https://shared-by-two.example', getToken: () => `token-${++calls}` };
    const tokenFor = (owner: string): Promise<string | undefined> =>
      open({ ...input, owner }).session.withToken(async (token) => token, forever);
    expect(await tokenFor('alice')).to.equal('token-1');
    expect(await tokenFor('bob')).to.equal('token-2');
    expect(await tokenFor('alice')).to.equal('token-1');
  });

  it('has a separate token for another owner, in every sign-in mode', async () => {
    const baseUrl = 'https://owners.example';
    const tokenFor = (owner: string): Promise<string | undefined> =>
      openSilent([granted({ token: `token-of-${owner}` })], { baseUrl, owner }).session.withToken(
        async (token) => token,
        forever,
      );
    expect([await tokenFor('ann'), await tokenFor('bob')]).to.deep.equal(['token-of-ann', 'token-of-bob']);
  });

  it('stays open when one of two users of it leaves, and ends when the last one has left', async () => {
    let calls = 0;
    const input = { baseUrl: 'https://shared-again.example', getToken: () => `token-${++calls}` };
    const [one, two] = [open(input), open(input)];
    await one.session.withToken(async () => undefined, forever);
    one.session.close();
    // After `close`, a session ends in a later task.
    await sleep(0, forever);
    expect(two.session.snapshot.state).to.equal('signed-in');
    two.session.close();
    const moved = open(input);
    await sleep(0, forever);
    expect(moved.session.snapshot.state, 'put back in the same task').to.equal('signed-in');
    const ended = new Promise<void>((resolve) => moved.session.subscribe(resolve));
    moved.session.close();
    await ended;
    expect(open(input).session.snapshot.state).to.equal('signed-out');
  });

  it('has no token after it has ended', async () => {
    let calls = 0;
    const { session } = open({ getToken: () => `token-${++calls}` });
    await session.withToken(async () => undefined, forever);
    const ended = new Promise<void>((resolve) => session.subscribe(resolve));
    session.close();
    await ended;
    expect(await session.withToken(async (token) => token, forever)).to.equal('token-2');
  });

  /** Opens a session, changes the user of the page from Alice to Bob, and starts a call that refuses Alice's token. */
  async function changePerson(sameUserField?: string) {
    let person = 'alice';
    const getToken = () => ({ token: `token-of-${person}`, id: person });
    const authOptions = sameUserField === undefined ? {} : { sameUserField };
    const opened = open({ getToken, authOptions });
    await opened.session.withToken(async () => undefined, forever);
    person = 'bob';
    const stop = new AbortController();
    const call = opened.session.withToken(async (token) => {
      if (token === 'token-of-alice') throw refused();
      return token;
    }, stop.signal);
    return { ...opened, call, stop };
  }

  it('rejects the token of another user, requires the user, and drops the token immediately', async () => {
    const { session, next, call, stop } = await changePerson();
    call.catch(() => undefined);
    expect((await next('auth-failed')).code).to.equal('access-denied');
    expect(session.snapshot.state).to.equal('prompt');
    stop.abort();
    await session.signOut();
    session.allow();
    expect(await session.withToken(async (token) => token, forever)).to.equal('token-of-bob');
  });

  it('uses a valid token no longer if its renewal returns a token of another user', async () => {
    let id = 'alice';
    const getToken = () => ({ token: `token-of-${id}`, id, expires_in: 100 });
    const { session, next } = open({ getToken });
    const call = (signal: AbortSignal): Promise<unknown> => session.withToken(async (token) => token, signal);
    expect(await call(forever)).to.equal('token-of-alice');
    id = 'bob';
    const undo = skipTime(85_000);
    try {
      const failed = next('auth-failed');
      expect(await call(forever)).to.equal('token-of-alice');
      expect((await failed).code).to.equal('access-denied');
      const stop = new AbortController();
      const late = call(stop.signal).catch(() => 'aborted');
      await settled();
      stop.abort();
      expect(await late).to.equal('aborted');
    } finally {
      undo();
    }
  });

  it('accepts it if the page sets that no field identifies the user of a token', async () => {
    const { call } = await changePerson('');
    expect(await call).to.equal('token-of-bob');
  });

  it('exposes no secret', async () => {
    const { session, changes } = open({ getToken: () => 'secret-token' });
    await session.withToken(async () => undefined, forever);
    const seen =
      JSON.stringify(session) + String(session) + JSON.stringify(changes) + JSON.stringify(session.snapshot);
    expect(seen).not.to.contain('secret-token');
  });
});
