// Responses that a page accepts from its sign-in window, and detection of a closed window.

import { expect } from '@open-wc/testing';
import { runPopup } from '../../src/auth/authorize.ts';
import { createSettings } from '../../src/core/config.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';

const settings = createSettings({ baseUrl: 'https://service.example' });
const round = { state: 'our-state', verifier: 'v', challenge: 'c', url: 'about:blank#round', origin: 'null' };
const data = { type: 'secure-uploader:answer', version: 1, params: 'code=right&state=our-state' };

interface FakeWindow {
  closed: boolean;
  readonly reported: unknown[][];
  readonly went: string[];
}

let frame: HTMLIFrameElement;
let stop: AbortController;
let popup: Window & FakeWindow;
let closedCount = 0;

beforeEach(() => {
  frame = document.createElement('iframe');
  document.body.append(frame);
  stop = new AbortController();
  closedCount = 0;
  const reported: unknown[][] = [];
  const went: string[] = [];
  // The source of a message must be a real window, so the sign-in window is the window of a frame.
  popup = frame.contentWindow as Window & FakeWindow;
  Object.defineProperties(popup, {
    reported: { value: reported },
    went: { value: went },
    postMessage: { value: (...args: unknown[]) => reported.push(args) },
  });
});
afterEach(() => {
  stop.abort();
  frame.remove();
});

const start = (target: object = popup): Promise<unknown> =>
  runPopup(
    target as Window,
    settings,
    round,
    { closedGraceMs: 1500 },
    () => {
      closedCount += 1;
    },
    stop.signal,
  );

const send = (more: { origin?: string; source?: Window | null; data?: unknown } = {}): void =>
  void window.dispatchEvent(
    new MessageEvent('message', { data, origin: location.origin, source: popup, ...more }),
  );

describe('a response by message', () => {
  it('is accepted from the window itself, of this origin, and is acknowledged there and on the channel', async () => {
    const channel = new BroadcastChannel('secure-uploader:our-state');
    const acknowledged = new Promise((resolve) => {
      channel.onmessage = (event) => resolve(event.data);
    });
    const grant = start();
    for (const wrong of [
      { origin: 'https://other.test' },
      { source: window },
      { source: null },
      { data: { ...data, version: 2 } },
      { data: { ...data, params: 'code=wrong&state=other' } },
      { origin: 'https://other.test', source: window },
    ])
      send(wrong);
    await settled();
    expect(popup.reported).to.deep.equal([]);
    send();
    expect(await grant).to.deep.equal({ code: 'right', verifier: 'v', via: 'popup' });
    const ack = { type: 'secure-uploader:ack', version: 1, state: 'our-state' };
    expect(popup.reported).to.deep.equal([[ack, location.origin]]);
    expect(await acknowledged).to.deep.equal(ack);
    send();
    expect(popup.reported).to.have.length(1);
    channel.close();
  });

  it('is not awaited after an abort', async () => {
    const given = rejection(start());
    stop.abort('enough');
    expect(await given).to.equal('enough');
    send();
    expect(popup.reported).to.deep.equal([]);
  });
});

describe('a window', () => {
  const fake = (closed = false) => {
    const went: string[] = [];
    return { closed, went, location: { replace: (url: string) => went.push(url) } };
  };

  it('goes to the sign-in page, unless it is already closed', async () => {
    const open = fake();
    rejection(start(open)).catch(() => undefined);
    const closed = fake(true);
    rejection(start(closed)).catch(() => undefined);
    await settled();
    expect([open.went, closed.went]).to.deep.equal([['about:blank#round'], []]);
  });

  it('counts as closed when it has looked so for a while, and is reported once', async () => {
    const clock = stopClock();
    try {
      const target = fake();
      rejection(start(target)).catch(() => undefined);
      for (let look = 0; look < 5; look += 1) await clock.pass(200);
      target.closed = true;
      await clock.pass(199);
      await clock.pass(1);
      await clock.pass(1499);
      expect(closedCount).to.equal(0);
      await clock.pass(1);
      expect(closedCount).to.equal(1);
      expect(clock.timerCount).to.equal(0);
    } finally {
      clock.restore();
    }
  });

  it('is not watched any more once its response has arrived, or it is aborted', async () => {
    const clock = stopClock();
    try {
      const given = rejection(start(fake()));
      await settled();
      expect(clock.timerCount).to.equal(1);
      stop.abort('enough');
      await given;
      expect(clock.timerCount).to.equal(0);
    } finally {
      clock.restore();
    }
  });
});
