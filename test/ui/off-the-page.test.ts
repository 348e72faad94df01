// Resources that an element releases when it is removed from the page, permanently or temporarily.

import { expect } from '@open-wc/testing';
import { tokenOf } from '../service/reference.ts';
import { speedUp } from '../support/clock.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { nextEvent, textFile } from './support.ts';

/** Records in `held` what the page retains: global listeners with a signal, channels, and timers of one second or longer. */
function watchPage() {
  const held = new Set<object>();
  const undo: (() => void)[] = [];
  const patch = <T extends object, K extends keyof T>(target: T, name: K, value: T[K]): void => {
    const before = target[name];
    target[name] = value;
    undo.push(() => {
      target[name] = before;
    });
  };
  const { addEventListener } = EventTarget.prototype;
  patch(EventTarget.prototype, 'addEventListener', function add(this: EventTarget, type, listener, options) {
    const signal = typeof options === 'object' ? options.signal : undefined;
    const isGlobal = [window, document, (navigator as { connection?: EventTarget }).connection].includes(
      this as Window,
    );
    if (isGlobal && signal && !signal.aborted) {
      const entry = { type };
      held.add(entry);
      addEventListener.call(signal, 'abort', () => held.delete(entry));
    }
    addEventListener.call(this, type, listener, options);
  });
  const Channel = globalThis.BroadcastChannel;
  patch(
    globalThis,
    'BroadcastChannel',
    class extends Channel {
      constructor(name: string) {
        super(name);
        held.add(this);
      }
      override close(): void {
        held.delete(this);
        super.close();
      }
    },
  );
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const timers = new Map<unknown, object>();
  patch(globalThis, 'setTimeout', ((run: () => void, ms = 0, ...args: unknown[]) => {
    const timer = start(
      () => {
        held.delete(timers.get(timer) ?? {});
        run();
      },
      ms,
      ...args,
    );
    timers.set(timer, { ms });
    if (ms >= 1000) held.add(timers.get(timer) as object);
    return timer;
  }) as typeof setTimeout);
  patch(globalThis, 'clearTimeout', ((timer: number) => {
    held.delete(timers.get(timer) ?? {});
    stop(timer);
  }) as typeof clearTimeout);
  const end = (): void => {
    for (const each of undo) each();
  };
  return { held, end };
}

describe('an element that is removed from the page', () => {
  it('permanently leaves no listener, no channel and no timer', async () => {
    speedUp(10);
    const page = watchPage();
    try {
      const { element } = await world({ element: true, service: 'reference' });
      const done = nextEvent(element, 'uploads-finished');
      await element.addFiles([textFile('one.txt')]);
      await done;
      expect(page.held.size).to.be.greaterThan(3);
      element.remove();
      await until(() => page.held.size === 0);
    } finally {
      page.end();
    }
  });

  it('accepts files, and uploads them once it is added again, with a new sign-in', async () => {
    speedUp(10);
    const page = watchPage();
    try {
      let askedCount = 0;
      const token = await tokenOf('alice');
      const { element } = await world({
        element: true,
        service: 'reference',
        getToken: () => {
          askedCount += 1;
          return token;
        },
      });
      const parent = element.parentElement;
      const first = nextEvent(element, 'uploads-finished');
      await element.addFiles([textFile('first.txt')]);
      await first;
      element.remove();
      await until(() => page.held.size === 0);
      await element.addFiles([textFile('off.txt')]);
      element.accept = 'text/plain';
      await element.updateComplete;
      await until(() => page.held.size === 0);
      expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['done', 'queued']);
      const second = nextEvent(element, 'uploads-finished');
      parent?.append(element);
      await second;
      expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['done', 'done']);
      expect(askedCount).to.equal(2);
      expect(element.snapshot.auth.state).to.equal('signed-in');
    } finally {
      page.end();
    }
  });
});
