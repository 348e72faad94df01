// Small helpers of the core: `contentOf`, shown texts, warnings, channels to other tabs, and listeners.

import { expect } from '@open-wc/testing';
import { openChannel } from '../../src/core/channel.ts';
import { contentOf } from '../../src/core/content.ts';
import { Listeners } from '../../src/core/listeners.ts';
import { shownText } from '../../src/core/names.ts';
import { warnOnConsole, warnOnce, warnOnceHere } from '../../src/core/warn.ts';
import { settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';

describe('contentOf', () => {
  const one = (): number => 1;
  const other = (): number => 1;

  it('is equal for objects of the same content, and for the same functions in them', () => {
    expect(contentOf({ a: [1, { b: 'x' }], one })).to.equal(contentOf({ a: [1, { b: 'x' }], one }));
    expect(contentOf(one)).to.equal(contentOf(one));
  });

  it('differs for another value, name, or function', () => {
    const different = [{ a: 1 }, { a: 2 }, { b: 1 }, { a: '1' }, { a: one }, { a: other }, { a: undefined }];
    expect(new Set(different.map(contentOf)).size).to.equal(different.length);
  });

  it('differs for two instances of a class, whose content is not visible', () => {
    class Adapter {
      readonly #tenant: string;
      constructor(tenant: string) {
        this.#tenant = tenant;
      }
      authorizeUrl(): string {
        return `/${this.#tenant}`;
      }
      toJSON(): object {
        return {};
      }
    }
    const [one, other] = [new Adapter('a'), new Adapter('b')];
    expect(contentOf({ adapter: one })).to.equal(contentOf({ adapter: one }));
    expect(contentOf({ adapter: one })).not.to.equal(contentOf({ adapter: other }));
    expect(contentOf(Object.assign(Object.create(null), { a: 1 }))).to.equal(contentOf({ a: 1 }));
  });
});

describe('a text of a user or of the service', () => {
  it('is shown without characters that change the direction, or that are invisible', () => {
    expect(shownText('invoice\u202efdp.exe')).to.equal('invoicefdp.exe');
    expect(shownText('\u200ea\u200fb\u202ac\u2066d\u2069\u061c')).to.equal('abcd');
    expect(shownText('a\u202e\u200d\u202eb')).to.equal('ab');
    expect(shownText('a\u200bb\u200cc\u200dd\u00ade\ufeff\u{e0041}')).to.equal('abcde');
    expect(shownText('a\0b\x1bc\nd\re\u0085f\u2028g\u2029')).to.equal('abcdefg');
  });

  it('keeps the joiners that its letters need', () => {
    for (const text of ['نامه\u200cها.pdf', 'क्\u200dष', '👩\u200d👧.jpg', 'Grüße – naïve 日本.txt'])
      expect(shownText(text)).to.equal(text);
  });
});

describe('warnings', () => {
  it('are printed once each, while the object that they belong to exists', () => {
    const messages: string[] = [];
    const warn = warnOnce((message) => messages.push(message));
    for (const message of ['one', 'two', 'one']) warn(message);
    expect(messages).to.deep.equal(['one', 'two']);
    warnOnce((message) => messages.push(message))('one');
    expect(messages).to.deep.equal(['one', 'two', 'one']);
  });

  it('go to the console, with the name of the package and the thrown error', () =>
    captureWarnings(async (warnings) => {
      warnOnConsole('message', 'thrown');
      warnOnConsole('message');
      const text = `only here ${crypto.randomUUID()}`;
      warnOnceHere(text);
      warnOnceHere(text);
      expect(warnings).to.deep.equal([
        'secure-uploader: message thrown',
        'secure-uploader: message',
        `secure-uploader: ${text}`,
      ]);
    }));
});

describe('openChannel', () => {
  it('opens a channel of that name, and returns none if the browser refuses it', async () => {
    const name = crypto.randomUUID();
    const [one, other] = [openChannel(name), new BroadcastChannel(name)];
    const received = new Promise((resolve) => {
      other.onmessage = ({ data }) => resolve(data);
    });
    one?.postMessage('hello');
    expect(await received).to.equal('hello');
    one?.close();
    other.close();
    const { BroadcastChannel: real } = globalThis;
    globalThis.BroadcastChannel = class {
      constructor() {
        throw new DOMException('no', 'SecurityError');
      }
    } as unknown as typeof BroadcastChannel;
    try {
      expect(openChannel(name)).to.equal(undefined);
    } finally {
      globalThis.BroadcastChannel = real;
    }
  });
});

describe('listeners', () => {
  it('are called with each value until they are removed, each as often as it was added', () => {
    const listeners = new Listeners<number>();
    const calls: string[] = [];
    const one = (value: number): unknown => calls.push(`one ${value}`);
    const removals = [
      listeners.add(one),
      listeners.add(one),
      listeners.add((value) => calls.push(`two ${value}`)),
    ];
    expect(listeners.size).to.equal(3);
    listeners.tell(1);
    expect(calls.splice(0)).to.deep.equal(['one 1', 'one 1', 'two 1']);
    expect(removals[0]?.()).to.equal(true);
    expect(removals[0]?.()).to.equal(false);
    listeners.tell(2);
    expect(calls).to.deep.equal(['one 2', 'two 2']);
  });

  it('are called once for all calls of a task, and again for the next', async () => {
    const listeners = new Listeners<number>();
    const calls: number[] = [];
    listeners.add((value) => calls.push(value));
    for (let round = 1; round <= 2; round += 1) {
      listeners.tellSoon(round);
      listeners.tellSoon(0);
      expect(calls).to.have.length(round - 1);
      await settled();
      expect(calls).to.have.length(round);
    }
    expect(calls).to.deep.equal([1, 2]);
  });

  it('that throw are reported, and the others are still called', () => {
    const { reportError } = globalThis;
    const reported: unknown[] = [];
    globalThis.reportError = (error) => reported.push(error);
    try {
      const listeners = new Listeners<number>();
      const calls: number[] = [];
      listeners.add(() => {
        throw new Error('a defect of the page');
      });
      listeners.add((value) => calls.push(value));
      listeners.tell(1);
      expect(calls).to.deep.equal([1]);
      expect(reported.map(String)).to.deep.equal(['Error: a defect of the page']);
    } finally {
      globalThis.reportError = reportError;
    }
  });
});
