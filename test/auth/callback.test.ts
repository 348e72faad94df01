// The callback page in a frame: what it does with a response, and when it closes. Redirect mode is tested in test/e2e.

import { expect } from '@open-wc/testing';
import { fixtures } from './scripted.ts';

const CALLBACK = `${fixtures}secure-uploader-callback.html`;
const ACK = 'secure-uploader:ack';

let frame: HTMLIFrameElement;
let state: string;
let channel: BroadcastChannel;

beforeEach(() => {
  state = crypto.randomUUID();
  channel = new BroadcastChannel(`secure-uploader:${state}`);
  frame = document.createElement('iframe');
});
afterEach(() => {
  channel.close();
  frame.remove();
  sessionStorage.clear();
});

/** Opens the callback page with the response `tail`. Resolves with its window, after its script has run. */
async function load(tail: string): Promise<Window & typeof globalThis> {
  frame.src = CALLBACK + tail;
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  return frame.contentWindow as Window & typeof globalThis;
}

const sent = (): Promise<unknown> =>
  new Promise((resolve) => {
    channel.onmessage = ({ data }) => resolve(data);
  });

const messageOf = ({ document }: Window): HTMLElement | null => document.getElementById('message');

describe('the callback page', () => {
  for (const [where, tail] of [
    ['the fragment', (params: string) => `?state=of-the-page#${params}`],
    ['the query', (params: string) => `?${params}#top`],
  ] as const)
    it(`sends a response in ${where} on the channel of its state, whatever the order of its parameters`, async () => {
      for (const params of [`code=c&state=${state}`, `state=${state}&code=c`]) {
        const answer = sent();
        await load(tail(params));
        expect(await answer).to.deep.equal({ type: 'secure-uploader:answer', version: 1, params });
      }
    });

  it('sends the response to the page that embeds it, too, and removes it from its URL', async () => {
    const params = `code=c&state=${state}`;
    const received = new Promise<MessageEvent>((resolve) => {
      const read = (event: MessageEvent): void => {
        if (event.data?.params !== params) return;
        removeEventListener('message', read);
        resolve(event);
      };
      addEventListener('message', read);
    });
    const own = await load(`#${params}`);
    const { data, source } = await received;
    expect(data).to.deep.equal({ type: 'secure-uploader:answer', version: 1, params });
    expect(source).to.equal(own);
    expect(own.location.href).to.equal(CALLBACK);
  });

  it('closes after an acknowledgment of its own origin and state, by message or on the channel', async () => {
    const own = await load(`#code=c&state=${state}`);
    let closedCount = 0;
    own.close = () => {
      closedCount += 1;
    };
    const ack = { type: ACK, version: 1, state };
    const wrong = [null, 'text', { ...ack, type: 'other' }, { ...ack, state: 'other' }];
    own.dispatchEvent(new own.MessageEvent('message', { data: ack, origin: 'https://other.test' }));
    const other = new own.BroadcastChannel(channel.name);
    const byMessage = (data: unknown): void => own.postMessage(data, location.origin);
    const byChannel = (data: unknown): void => channel.postMessage(data);
    for (const [target, send] of [
      [own, byMessage],
      [other, byChannel],
    ] as const) {
      /** Sends messages. Resolves after the callback page has received all of them. */
      const receive = (messages: readonly unknown[]): Promise<void> =>
        new Promise((resolve) => {
          let left = messages.length;
          const count = (): void => {
            left -= 1;
            if (left > 0) return;
            target.removeEventListener('message', count);
            resolve();
          };
          target.addEventListener('message', count);
          for (const data of messages) send(data);
        });
      closedCount = 0;
      await receive(wrong);
      expect(closedCount).to.equal(0);
      await receive([ack]);
      expect(closedCount).to.equal(1);
    }
    other.close();
  });

  it('shows its message at once without a state, and otherwise if no page has closed it', async () => {
    const stateless = await load('?code=c');
    expect(messageOf(stateless)?.hidden).to.equal(false);
    expect(stateless.location.href).to.equal(CALLBACK);

    const own = await load(`#code=c&state=${state}`);
    const message = messageOf(own);
    expect(message?.hidden).to.equal(true);
    const startMs = performance.now();
    await new Promise<void>((resolve) => {
      const observer = new own.MutationObserver(() => resolve());
      observer.observe(message as Node, { attributes: true });
    });
    expect(message?.hidden).to.equal(false);
    expect(performance.now() - startMs).to.be.above(500);
  });

  it('does not leave a frame for the page of a stored request', async () => {
    sessionStorage.setItem(
      `secure-uploader:redirect:${state}`,
      JSON.stringify({ returnTo: `${location.origin}/elsewhere` }),
    );
    const answer = sent();
    const own = await load(`#code=c&state=${state}`);
    await answer;
    expect(own.location.href).to.equal(CALLBACK);
  });
});
