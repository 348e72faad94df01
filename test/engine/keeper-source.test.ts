// The script of the file keeper without a service worker: whom it serves. Browsers name the page of each message.

import { expect } from '@open-wc/testing';
import { fileOf } from '../support/bytes.ts';
import { replace } from '../support/world.ts';

type Message = {
  data: object;
  origin: string;
  source: object | null;
  ports: { postMessage(value: unknown): void }[];
  waitUntil(promise: Promise<unknown>): void;
};

/** Runs the script, and returns a function that sends it a message and returns the answers. */
async function startKeeper(): Promise<(data: object, source: object | null) => unknown[]> {
  const listeners: ((event: Message) => void)[] = [];
  const { addEventListener } = globalThis;
  replace(globalThis, 'addEventListener', (type: string, listener: never) => {
    if (type === 'message') listeners.push(listener);
    else addEventListener(type, listener);
  });
  // The worker of a page that has not asked in time.
  replace(globalThis, 'registration' as never, { unregister: async () => undefined });
  await import('../../src/keeper/file-keeper.ts');
  return (data, source) => {
    const answers: unknown[] = [];
    const port = { postMessage: (value: unknown) => answers.push(value) };
    const { origin } = location;
    for (const listener of listeners)
      listener({ data, origin, source, ports: [port], waitUntil: () => undefined });
    return answers;
  };
}

it('the keeper takes files only of pages, and gives them only to pages', async () => {
  const send = await startKeeper();
  const place = { service: 'https://files.example', owner: 'ann' };
  const page = { frameType: 'top-level' };
  const kept = (key: string): object => ({ ...place, key, file: fileOf(1, 10), isPaused: false });
  const ask = {
    id: 'ask',
    ask: { ...place, keys: ['of nobody', 'of a frame', 'of a page'], document: 'next' },
  };
  send({ files: [kept('of a page')] }, page);
  for (const [source, key] of [
    [null, 'of nobody'],
    [{ frameType: 'nested' }, 'of a frame'],
    [{}, 'of a frame'],
  ] as const) {
    send({ files: [kept(key)] }, source);
    expect(send(ask, source), key).to.deep.equal([]);
    send({ drop: true }, source);
  }
  const [files] = send(ask, { frameType: 'auxiliary' }) as { key: string }[][];
  expect(files?.map(({ key }) => key)).to.deep.equal(['of a page']);
  send({ drop: true }, page);
});
