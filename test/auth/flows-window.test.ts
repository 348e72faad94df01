// Interactive authorization requests: their parameters, and the sign-in window.

import { expect } from '@open-wc/testing';
import type { Flows } from '../../src/auth/flows.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { settled, until } from '../support/collect.ts';
import { answering, create, grantOf, stopFlows } from './scripted-flows.ts';

afterEach(stopFlows);

// Must be the first test of the file: only the first test loads `authorize.ts`, and loading takes longer than `settled()`.
describe('a window whose request is canceled while the code for requests is loaded', () => {
  it('is closed immediately', async () => {
    const { open } = window;
    const opened = { closed: false, close: () => Object.assign(opened, { closed: true }) };
    window.open = () => opened as unknown as Window;
    try {
      const { events, flows, run, stop } = create();
      flows.openPopup();
      run({ type: 'run-popup' });
      stop();
      await settled();
      expect([opened.closed, events]).to.deep.equal([true, []]);
    } finally {
      window.open = open;
    }
  });
});

describe('an authorization request with the user', () => {
  const queryOf = async (flows: Flows): Promise<Record<string, string>> => {
    const { client_id, idp_id, prompt, acr_values } = Object.fromEntries(
      new URL((await flows.begin()).url).searchParams,
    );
    return JSON.parse(JSON.stringify({ client_id, idp_id, prompt, acr_values }));
  };

  it('requests the required authentication level until a token arrives', async () => {
    const clientId = crypto.randomUUID();
    const { events, run, flows } = create({ clientId }, answering({ status: 200, body: { token: 't' } }));
    expect(await queryOf(flows)).to.deep.equal({ client_id: clientId });
    flows.demand('Bearer error="insufficient_user_authentication", acr_values="two"');
    expect(await queryOf(flows)).to.deep.equal({ client_id: clientId, acr_values: 'two' });
    run({ type: 'redeem', grant: grantOf() });
    await until(() => events.length > 0);
    expect(await queryOf(flows)).to.deep.equal({ client_id: clientId });
    flows.unlock();
  });

  it('cannot start without a valid redirect URL or without encryption', async () => {
    expect(create().flows.check()).to.equal(undefined);
    const away = create({ redirectUri: 'https://other.test/back' }).flows;
    expect(away.check()).to.deep.equal({ code: 'bad-config' });
    expect(await away.takeReturn()).to.equal(undefined);
    Object.defineProperty(crypto, 'subtle', { configurable: true, value: undefined });
    try {
      expect(create().flows.check()).to.deep.equal({ code: 'insecure-context' });
    } finally {
      Reflect.deleteProperty(crypto, 'subtle');
    }
  });

  it('is restored on page load, unless its response is unusable', async () => {
    const sessionKey = 'the session';
    const { flows } = create({}, { sessionKey });
    expect(await flows.takeReturn()).to.equal(undefined);
    const key = 'secure-uploader:redirect:nobody';
    const answer = { params: 'code=c&state=nobody', page: 1, answeredAtMs: Date.now() };
    sessionStorage.setItem(key, JSON.stringify({ sessionKey, ...answer }));
    expect(await flows.takeReturn()).to.deep.equal({ type: 'unable', error: { code: 'state-mismatch' } });
    expect(sessionStorage.getItem(key)).to.equal(null);
  });
});

describe('the window', () => {
  const { open } = window;
  const opened: unknown[][] = [];
  const fake = () => ({
    closed: false,
    focused: 0,
    close() {
      this.closed = true;
    },
    focus() {
      this.focused += 1;
    },
    location: { replace: () => undefined },
  });
  let next: ReturnType<typeof fake> | null = null;
  const PLACE = { screenX: 100, screenY: 50, outerWidth: 1481, outerHeight: 980 };
  const own = Object.keys(PLACE).map(
    (name) => [name, Object.getOwnPropertyDescriptor(window, name)] as const,
  );

  beforeEach(() => {
    opened.length = 0;
    next = fake();
    window.open = (...args) => {
      opened.push(args);
      return next as unknown as Window | null;
    };
    for (const [name, value] of Object.entries(PLACE))
      Object.defineProperty(window, name, { configurable: true, value });
  });
  afterEach(() => {
    window.open = open;
    for (const [name, descriptor] of own) if (descriptor) Object.defineProperty(window, name, descriptor);
  });

  it('is opened empty, centered horizontally and in the upper third of the browser', () => {
    const { flows } = create();
    expect(flows.openPopup()).to.equal(true);
    expect(opened).to.deep.equal([
      ['about:blank', '_blank', 'popup,width=480,height=680,left=600.5,top=150'],
    ]);
  });

  it('is opened once at a time, and can be focused while it is open', () => {
    const { flows } = create();
    expect(flows.focusPopup()).to.equal(false);
    const first = next;
    flows.openPopup();
    expect(flows.focusPopup()).to.equal(true);
    expect(first?.focused).to.equal(1);
    next = null;
    expect(flows.openPopup()).to.equal(false);
    expect(first?.closed).to.equal(false);
    next = fake();
    const second = next;
    flows.openPopup();
    expect([first?.closed, second.closed]).to.deep.equal([true, false]);
    second.closed = true;
    expect(flows.focusPopup()).to.equal(false);
    second.closed = false;
    flows.leavePopup();
    expect(flows.focusPopup()).to.equal(false);
  });

  it('uses the identity provider that was pressed last', async () => {
    const { flows } = create();
    const idp = async (): Promise<string | null> =>
      new URL((await flows.begin()).url).searchParams.get('idp_id');
    flows.openPopup('corp');
    expect(await idp()).to.equal('corp');
    flows.openPopup();
    expect(await idp()).to.equal(null);
  });

  it('stays open during its request, and is closed with it unless it belongs to the user', async () => {
    const { flows, run, stop } = create();
    flows.openPopup();
    const kept = next;
    run({ type: 'run-popup' });
    for (let round = 0; round < 20; round += 1) await settled();
    expect(kept?.closed).to.equal(false);
    stop();
    await until(() => kept?.closed === true);
    const other = create();
    next = fake();
    const own = next;
    other.flows.openPopup();
    other.run({ type: 'run-popup' });
    await settled();
    other.flows.leavePopup();
    other.stop();
    for (let round = 0; round < 20; round += 1) await settled();
    expect(own.closed).to.equal(false);
  });

  it('that was never opened is a failure', async () => {
    const { events, run } = create();
    run({ type: 'run-popup' });
    await until(() => events.length > 0);
    expect(events).to.deep.equal([{ type: 'failed', error: { code: 'popup-blocked' } }]);
  });

  it('that looks closed for a while is reported, once', async () => {
    const { events, run, flows } = create({}, { times: { ...AUTH_TIMES, closedGraceMs: 40 } });
    flows.openPopup();
    run({ type: 'run-popup' });
    await until(() => opened.length === 1);
    const closedAtMs = performance.now();
    next?.close();
    await until(() => events.length > 0);
    expect(events).to.deep.equal([{ type: 'closed-reading' }]);
    expect(performance.now() - closedAtMs).to.be.at.least(39);
  });
});
