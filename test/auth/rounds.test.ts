// Authorization requests: pages that can't start one, messages that are accepted as responses, and the lock of all tabs.
import { expect } from '@open-wc/testing';
import { runPopup, trySilent } from '../../src/auth/authorize.ts';
import { createTransaction } from '../../src/auth/pkce.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { createSettings } from '../../src/core/config.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { closeAll, failuresOf, forever, open } from './open-session.ts';
import { granted, openSilent } from './scripted.ts';

afterEach(closeAll);

const settings = createSettings({ baseUrl: 'https://service.example' });

describe('a page without encryption', () => {
  before(() => Object.defineProperty(crypto, 'subtle', { configurable: true, value: undefined }));
  after(() => Reflect.deleteProperty(crypto, 'subtle'));

  it('opens no window, and reports why', () => {
    const own = window.open;
    let count = 0;
    window.open = () => {
      count += 1;
      return null;
    };
    try {
      const { session, changes } = open({ auth: 'popup' });
      session.signIn();
      expect(failuresOf(changes)).to.deep.equal(['insecure-context']);
      expect(count).to.equal(0);
    } finally {
      window.open = own;
    }
  });

  it('starts no authorization request', async () => {
    const round = createTransaction(settings, 'https://page.example/callback.html');
    expect(await rejection(round)).to.include({ code: 'insecure-context' });
  });
});

describe('a silent authorization request', () => {
  it('runs in a hidden frame that cannot navigate the page, and that is removed afterwards', async () => {
    const stop = new AbortController();
    const silent = trySilent(settings, 'https://page.example/callback.html', stop.signal);
    const frames = (): NodeListOf<HTMLIFrameElement> => document.querySelectorAll('iframe[sandbox]');
    await until(() => frames().length === 1);
    const [frame] = frames();
    expect(frame?.style.display).to.equal('none');
    expect(frame?.getAttribute('sandbox')).to.equal('allow-scripts allow-same-origin');
    const { origin, pathname, searchParams } = new URL(frame?.src ?? '');
    expect([origin, pathname, searchParams.get('prompt')]).to.deep.equal([
      'https://service.example',
      '/authorize',
      'none',
    ]);
    stop.abort('enough');
    expect(await silent.catch((reason: unknown) => reason)).to.equal('enough');
    expect(frames().length).to.equal(0);
  });
});

describe('a forged response to a silent authorization request', () => {
  for (const [from, origin, isOfFrame] of [
    ['another window', location.origin, false],
    ['another origin', 'https://evil.example', true],
    ['a frame without an origin', 'null', true],
  ] as const)
    it(`is ignored if it is from ${from}, even with the right state`, async () => {
      const stop = new AbortController();
      const silent = trySilent(settings, 'https://page.example/callback.html', stop.signal);
      const frameOf = () => document.querySelector<HTMLIFrameElement>('iframe[sandbox]');
      await until(() => frameOf() !== null);
      const state = new URL(frameOf()?.src ?? '').searchParams.get('state');
      const data = { type: 'secure-uploader:answer', version: 1, params: `code=forged&state=${state}` };
      const source = isOfFrame ? (frameOf()?.contentWindow ?? null) : window;
      window.dispatchEvent(new MessageEvent('message', { origin, source, data }));
      await settled();
      stop.abort('still waiting');
      expect(await silent.catch((reason: unknown) => reason)).to.equal('still waiting');
    });
});

describe('the lock of all tabs', () => {
  it('is free if sign-in ends before its code has loaded', async () => {
    const { session } = openSilent([granted()], { clientId: 'lock-of-all-tabs' });
    const stop = new AbortController();
    const waiting = session.withToken(async () => undefined, stop.signal).catch(() => undefined);
    session.cancel();
    expect(session.snapshot.state).to.equal('prompt');
    await import('../../src/auth/authorize.ts');
    for (let count = 0; count < 5; count++) await settled();
    stop.abort();
    await waiting;
    const { held, pending } = await navigator.locks.query();
    const names = [...(held ?? []), ...(pending ?? [])].map(({ name }) => name);
    expect(names.filter((name) => name?.includes('lock-of-all-tabs'))).to.deep.equal([]);
  });
});

describe('an authorization request', () => {
  it('accepts from its channel only messages of a callback page of this version', async () => {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const channel = new BroadcastChannel('secure-uploader:our-state');
    const round = { state: 'our-state', verifier: 'v', challenge: 'c', url: 'about:blank', origin: 'null' };
    const popup = frame.contentWindow as Window;
    const grant = runPopup(popup, settings, round, AUTH_TIMES, () => undefined, forever);
    const answer = { type: 'secure-uploader:answer', version: 1, params: 'code=right&state=our-state' };
    const wrong = { ...answer, params: 'code=wrong&state=our-state' };
    for (const data of [
      { ...wrong, type: 'secure-uploader:ack' },
      { ...wrong, type: undefined },
      { ...wrong, version: 2 },
      { ...wrong, params: 'code=wrong&state=theirs' },
      wrong.params,
      null,
      answer,
    ])
      channel.postMessage(data);
    expect(await grant).to.deep.equal({ code: 'right', verifier: 'v', via: 'popup' });
    channel.close();
    frame.remove();
  });
});
