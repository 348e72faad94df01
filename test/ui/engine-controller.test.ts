// Connection of element and engine: events for the page, errors of the settings, and how often the element renders.

import { expect } from '@open-wc/testing';
import { freshFile } from '../support/bytes.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { all, button, shown } from './support.ts';

describe('an event of the element', () => {
  it('has a frozen detail, bubbles, is composed, and can be prevented only if documented', async () => {
    const { element } = await world({ element: true, manual: true });
    const events: CustomEvent[] = [];
    for (const name of ['file-add', 'file-added'] as const)
      element.addEventListener(name, (event) => events.push(event));
    await element.addFiles(freshFile(10, 'a.txt'));
    expect(
      events.map(({ type, bubbles, composed, cancelable, detail }) => [
        type,
        bubbles,
        composed,
        cancelable,
        Object.isFrozen(detail),
        detail.name,
      ]),
    ).to.deep.equal([
      ['file-add', true, true, true, true, 'a.txt'],
      ['file-added', true, true, false, true, 'a.txt'],
    ]);
  });

  it('is dispatched before sign-in leaves the page, with the number of files that would be lost', async () => {
    const redirectUri = new URL('/secure-uploader-callback.html', location.href).href;
    const { element } = await world({
      element: true,
      service: 'reference',
      auth: 'redirect',
      silent: 'off',
      getToken: undefined,
      redirectUri,
      manual: true,
    });
    await element.addFiles([freshFile(10), freshFile(10)]);
    const details: unknown[] = [];
    element.addEventListener('auth-redirect', (event) => {
      event.preventDefault();
      details.push([event.cancelable, event.detail]);
    });
    await element.signIn();
    expect(details).to.deep.equal([[true, { openCount: 2 }]]);
  });
});

describe('the element before its first settings', () => {
  it('has an empty snapshot, and no error of the settings', async () => {
    const { element } = await world({ element: true, service: 'reference', baseUrl: undefined });
    expect(element.snapshot).to.deep.equal({
      files: [],
      rejections: [],
      totals: {
        fileCount: 0,
        doneCount: 0,
        failedCount: 0,
        openCount: 0,
        sizeBytes: 0,
        sentBytes: 0,
        storedBytes: 0,
      },
      auth: { state: 'signed-out', mode: 'auto', required: false },
    });
    expect(element.renderRoot.querySelector('[part=error]')).to.equal(null);
  });

  it('logs invalid settings, once for each error, and shows the error until it is fixed', async () => {
    const reported: string[] = [];
    const { error } = console;
    console.error = (...args: unknown[]) => reported.push(args.join(' '));
    try {
      const { element } = await world({ element: true, service: 'reference', baseUrl: 'ftp://a.test' });
      const isShown = (): boolean => element.renderRoot.querySelector('[part=error]') !== null;
      expect([reported.length, isShown()]).to.deep.equal([1, true]);
      expect(reported[0]).to.match(/^<secure-uploader>: .+/);
      expect((await rejection<Error & { code: string }>(element.start())).code).to.equal('bad-config');
      expect(reported).to.have.length(1);
      element.baseUrl = 'mailto:a@b.test';
      await element.updateComplete;
      expect([reported.length, isShown()]).to.deep.equal([2, true]);
      element.baseUrl = 'https://a.test';
      await element.updateComplete;
      expect([reported.length, isShown()]).to.deep.equal([2, false]);
      element.baseUrl = 'ftp://a.test';
      await element.updateComplete;
      expect(isShown()).to.equal(true);
    } finally {
      console.error = error;
    }
  });
});

describe('a sign-out with invalid settings', () => {
  it('rejects only after all saved data is deleted', async () => {
    const { error } = console;
    const found = deferred<[]>();
    console.error = () => undefined;
    Object.defineProperty(navigator.serviceWorker, 'getRegistrations', {
      configurable: true,
      value: () => found.promise,
    });
    try {
      const { element } = await world({
        element: true,
        service: 'reference',
        baseUrl: 'ftp://a.test',
        keeperUrl: '/file-keeper.js',
      });
      let isOver = false;
      const left = rejection<Error & { code: string }>(element.signOut()).finally(() => {
        isOver = true;
      });
      for (let round = 0; round < 20; round += 1) await settled();
      expect(isOver).to.equal(false);
      found.resolve([]);
      expect((await left).code).to.equal('bad-config');
    } finally {
      Reflect.deleteProperty(navigator.serviceWorker, 'getRegistrations');
      console.error = error;
    }
  });
});

describe('rendering', () => {
  it('follows changes, and not more than ten times a second', async () => {
    const { element } = await world({ element: true, manual: true });
    const timesMs: number[] = [];
    // Only changes of the engine are rendered in animation frames. An announcement may be rendered at any time.
    const { requestAnimationFrame: nextFrame } = globalThis;
    let isInFrame = false;
    globalThis.requestAnimationFrame = (callback) =>
      nextFrame((ms) => {
        isInFrame = true;
        callback(ms);
        isInFrame = false;
      });
    const own = element.requestUpdate.bind(element);
    Object.assign(element, {
      requestUpdate: (...args: []) => {
        if (isInFrame) timesMs.push(performance.now());
        own(...args);
      },
    });
    for (let round = 0; round < 3; round += 1) {
      const before = timesMs.length;
      await element.addFiles([freshFile(10), freshFile(10), freshFile(10)]);
      await settled();
      while (timesMs.length === before) await new Promise(nextFrame);
    }
    globalThis.requestAnimationFrame = nextFrame;
    const gaps = timesMs.slice(1).map((ms, index) => ms - (timesMs[index] ?? 0));
    expect(Math.min(...gaps)).to.be.greaterThan(90);
  });

  it('waits twenty times as long as the last rendering took', async () => {
    const { element } = await world({ element: true, manual: true });
    await element.addFiles([freshFile(10)]);
    await element.updateComplete;
    const waits: (number | undefined)[] = [];
    const { setTimeout: timer } = globalThis;
    const now = performance.now.bind(performance);
    let extraMs = 0;
    performance.now = () => now() + extraMs;
    element.addController({
      hostUpdated: () => {
        extraMs += 1000; // a slow device
      },
    });
    globalThis.setTimeout = ((work: () => void, ms?: number) => {
      waits.push(ms);
      return timer(work, 0);
    }) as typeof setTimeout;
    try {
      const [{ id = '' } = {}] = element.snapshot.files;
      await element.pause(id);
      // The pause and its announcement are rendered, each on its own.
      for (let lastMs = -1; lastMs !== extraMs; ) {
        lastMs = extraMs;
        for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
      }
      waits.length = 0;
      await element.resume(id);
      await settled();
      // Of the twenty seconds, each announcement has taken one. Other timers have ten seconds at most.
      expect(waits.some((ms = 0) => ms > 12_000)).to.equal(true);
    } finally {
      globalThis.setTimeout = timer;
      performance.now = now;
    }
  });

  it('shows added files, and what a button did, at once, also after a slow rendering', async () => {
    const { element } = await world({ element: true, manual: true });
    const now = performance.now.bind(performance);
    let extraMs = 0;
    performance.now = () => now() + extraMs;
    element.addController({
      hostUpdated: () => {
        extraMs += 1_000_000;
      },
    });
    try {
      for (const name of ['a.txt', 'b.txt']) {
        await element.addFiles([freshFile(10, name)]);
        await shown(() => all(element, '.row').length > 0);
      }
      await element.updateComplete;
      expect(all(element, '.row')).to.have.length(2);
      button(element, 'Pause: a.txt').click();
      await shown(() => all(element, '.row.paused')[0]);
    } finally {
      performance.now = now;
    }
  });
});
