// The script of the file keeper without a service worker: whom it serves, and until when. Browsers name the page of each message.

import { expect } from '@open-wc/testing';
import { fileOf } from '../support/bytes.ts';
import { jumpClock } from '../support/clock.ts';

type Message = {
  data: object;
  origin: string;
  source: object | null;
  ports: { postMessage(value: unknown): void }[];
  waitUntil(promise: Promise<unknown>): void;
};

const listeners: ((event: Message) => void)[] = [];

/** Sends the script a message, and returns the answers. */
function send(data: object, source: object | null): unknown[] {
  const answers: unknown[] = [];
  const port = { postMessage: (value: unknown) => answers.push(value) };
  const { origin } = location;
  for (const listener of listeners)
    listener({ data, origin, source, ports: [port], waitUntil: () => undefined });
  return answers;
}

const service = 'https://files.example';
const page = { frameType: 'top-level' };
const kept = (key: string, owner = 'ann'): object => ({
  ...{ service, owner, key },
  ...{ file: fileOf(1, 10), isPaused: false },
});
const askFor = (owner: string, ...keys: string[]): object => ({ service, owner, keys, document: 'next' });
/** Asks as a page of `owner`. Returns the keys of the files in the answer. */
const ask = (id: string, owner: string, ...keys: string[]): string[] => {
  const [files] = send({ id, ask: askFor(owner, ...keys) }, page) as { key: string }[][];
  return (files ?? []).map(({ key }) => key);
};

before(async () => {
  const { addEventListener } = globalThis;
  const listen = (type: string, listener: never): void => {
    if (type === 'message') listeners.push(listener);
    else addEventListener(type, listener);
  };
  Object.assign(globalThis, { addEventListener: listen });
  try {
    await import('../../src/engine/resume/keeper/file-keeper.ts');
  } finally {
    Reflect.deleteProperty(globalThis, 'addEventListener');
  }
});

// Stops the timer of the script, which would unregister a worker.
afterEach(() => send({ got: 'none' }, page));

it('the keeper takes files only of pages, and gives them only to pages', () => {
  const toAll = { id: 'ask', ask: askFor('ann', 'of nobody', 'of a frame', 'of a page') };
  send({ files: [kept('of a page')] }, page);
  for (const [source, key] of [
    [null, 'of nobody'],
    [{ frameType: 'nested' }, 'of a frame'],
    [{}, 'of a frame'],
  ] as const) {
    send({ files: [kept(key)] }, source);
    expect(send(toAll, source), key).to.deep.equal([]);
  }
  send({ drop: true }, null);
  const [files] = send(toAll, { frameType: 'auxiliary' }) as { key: string }[][];
  expect(files?.map(({ key }) => key)).to.deep.equal(['of a page']);
  send({ drop: true }, page);
  for (const frameType of ['nested', 'top-level', 'none']) {
    send({ files: [kept('of a page')] }, page);
    // As a message of a frame, this drops, and nothing else.
    const both = { drop: true, ...toAll, files: [kept('of a frame')] };
    expect(send(frameType === 'nested' ? both : { drop: true }, { frameType })).to.deep.equal([]);
    expect(send(toAll, page), `after a sign-out in a page of the type ${frameType}`).to.deep.equal([[]]);
  }
  send({ drop: true }, page);
});

for (const [when, message] of [
  ['another owner asks', { id: 'other', ask: askFor('bob', 'two') }],
  ['a page of another owner is left', { files: [kept('two', 'bob')] }],
  ['the user signs out', { drop: true }],
] as const)
  it(`the keeper drops the files of an answer that did not arrive when ${when}`, () => {
    send({ files: [kept('one')] }, page);
    expect(ask('lost', 'ann', 'one')).to.deep.equal(['one']);
    send(message, page);
    send({ files: [], unanswered: ['lost'] }, page);
    expect(ask('again', 'ann', 'one')).to.deep.equal([]);
    send({ drop: true }, page);
  });

it('the keeper keeps the files of an answer that did not arrive when the same owner or another service asks', () => {
  send({ files: [kept('one')] }, page);
  expect(ask('lost', 'ann', 'one')).to.deep.equal(['one']);
  send({ id: 'same', ask: askFor('ann', 'two') }, page);
  send({ id: 'unnamed', ask: askFor('', 'two') }, page);
  send({ id: 'other', ask: { ...askFor('bob', 'two'), service: 'https://other.example' } }, page);
  send({ files: [], unanswered: ['lost'] }, page);
  expect(ask('again', 'ann', 'one')).to.deep.equal(['one']);
  send({ drop: true }, page);
});

it('the keeper gives nothing after its time, even if its timer did not run because the device slept', () => {
  for (const [sleptMs, keys] of [
    [49_000, ['one']],
    [51_000, []],
  ] as const) {
    send({ files: [kept('one')] }, page);
    const undo = jumpClock(sleptMs);
    try {
      expect(ask(`after ${sleptMs}`, 'ann', 'one')).to.deep.equal(keys);
    } finally {
      undo();
    }
    send({ drop: true }, page);
  }
});
