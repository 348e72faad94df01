// While files are uploading: the warning before the page is left, the lock of the screen, and the request for persistent storage.

import { expect } from '@open-wc/testing';
import { lockTimes } from '../../src/ui/screen-lock.ts';
import { settled, until } from '../support/collect.ts';
import { fileReaches, replace, type World, type WorldSettings, world } from '../support/world.ts';
import { shown, textFile } from './support.ts';

interface LeaveSettings extends WorldSettings {
  readonly noLeaveWarning?: boolean;
  readonly persistStorage?: boolean;
  readonly wakeLock?: boolean;
}

const create = (settings: LeaveSettings = {}): Promise<World<true>> =>
  world({ element: true, answers: ['open', 'presign'], ...settings });

/** Adds a file, and waits until a chunk of it is sent. */
async function begin(stage: World<true>, name = 'a.txt'): Promise<void> {
  await stage.element.addFiles(textFile(name));
  await fileReaches(stage, name, 'uploading');
  stage.element.requestUpdate();
  await stage.element.updateComplete;
}

/** Leaves the page as far as the browser's warning. Returns true if the browser would show it. */
const warns = (): boolean => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));

/** Log of the screen locks: requested, denied, and released by the element. */
class Screen {
  readonly log: string[] = [];
  /** Tells the page that the system has taken the last lock. */
  take: () => void = () => undefined;
  isVisible = true;
  /** What a request waits for. */
  granted: Promise<unknown> = Promise.resolve();

  constructor() {
    const request = async (type: string): Promise<unknown> => {
      this.log.push(`requested ${type}`);
      await this.granted;
      const sentinel = new EventTarget();
      this.take = () => sentinel.dispatchEvent(new Event('release'));
      return Object.assign(sentinel, { release: async () => this.log.push('released') });
    };
    replace(navigator, 'wakeLock', { request });
    replace(document, 'visibilityState', undefined);
    Object.defineProperty(document, 'visibilityState', {
      get: () => (this.isVisible ? 'visible' : 'hidden'),
      configurable: true,
    });
  }

  show(isVisible: boolean): void {
    this.isVisible = isVisible;
    document.dispatchEvent(new Event('visibilitychange'));
  }

  async reaches(...log: readonly string[]): Promise<void> {
    await until(() => this.log.length >= log.length);
    expect(this.log).to.deep.equal(log);
  }
}

describe('leaving the page', () => {
  it('shows a warning only while files are uploading', async () => {
    const stage = await create();
    const { element, service } = stage;
    expect(warns()).to.equal(false);
    await begin(stage);
    expect(warns()).to.equal(true);
    await element.pause();
    await shown(() => !warns());
    await element.resume();
    await shown(warns);
    service.answerAll();
    await fileReaches(stage, 'a.txt', 'done');
    await shown(() => !warns());
  });

  it('listens only while files are uploading, because Firefox keeps no page with a listener in its back/forward cache', async () => {
    const listeners = new Set<unknown>();
    for (const [name, change] of [
      ['addEventListener', 'add'],
      ['removeEventListener', 'delete'],
    ] as const) {
      const original = window[name];
      replace(window, name, (type: string, listener: EventListener, options?: AddEventListenerOptions) => {
        if (type === 'beforeunload') listeners[change](listener);
        original.call(window, type, listener, options);
      });
    }
    const stage = await create();
    expect(listeners.size).to.equal(0);
    await begin(stage);
    expect(listeners.size).to.equal(1);
    stage.service.answerAll();
    await shown(() => listeners.size === 0);
  });

  it('shows no warning to a listener that leaves the page as soon as the upload is done', async () => {
    const stage = await create();
    await begin(stage);
    const warned: boolean[] = [];
    for (const name of ['upload-completed', 'uploads-finished'])
      stage.element.addEventListener(name, () => warned.push(warns()));
    stage.service.answerAll();
    await shown(() => warned.length === 2);
    expect(warned).to.deep.equal([false, false]);
  });

  it('shows no warning after the element was removed, and one after it is back', async () => {
    const stage = await create();
    await begin(stage);
    const { parentElement } = stage.element;
    stage.element.requestUpdate();
    stage.element.remove();
    expect(warns()).to.equal(false);
    await stage.element.updateComplete;
    expect(warns()).to.equal(false);
    parentElement?.append(stage.element);
    await shown(warns);
  });

  it('shows the warning of one element after another was removed', async () => {
    const [first, second] = [await create(), await create()];
    await begin(first);
    await begin(second);
    first.element.remove();
    expect(warns()).to.equal(true);
    second.element.remove();
    expect(warns()).to.equal(false);
  });

  for (const settings of [{ noLeaveWarning: true }, { keeperUrl: '/file-keeper.js' }] as const)
    it(`shows no warning with ${Object.keys(settings)}`, async () => {
      await begin(await create(settings));
      expect(warns()).to.equal(false);
    });

  /** Clicks on a link with this address, or in it, as a user does. */
  function click(href: string, isPrevented = true): void {
    const link = document.createElement('a');
    link.href = href;
    const inside = link.appendChild(document.createElement('b'));
    document.body.append(link);
    link.addEventListener('click', (event) => isPrevented && event.preventDefault());
    inside.click();
    link.remove();
  }

  for (const href of ['mailto:someone@example.com', ' TEL:123', 'sms:123'])
    it(`shows no warning when a link opens another program: ${href}`, async () => {
      await begin(await create());
      click(href);
      expect(warns()).to.equal(false);
      expect(warns(), 'the next time').to.equal(true);
    });

  it('shows a warning for every other link, and if the page is left later', async () => {
    await begin(await create());
    for (const href of ['/mailto:a', 'https://example.com/?to=mailto:a', '#tel:1', 'download.csv']) {
      click(href);
      expect(warns(), href).to.equal(true);
    }
    click('mailto:someone@example.com');
    const later = new Event('beforeunload', { cancelable: true });
    Object.defineProperty(later, 'timeStamp', { value: performance.now() + 600 });
    expect(window.dispatchEvent(later)).to.equal(false);
  });

  it('shows no warning after no-leave-warning is set', async () => {
    const stage = await create();
    await begin(stage);
    stage.element.noLeaveWarning = true;
    await stage.element.updateComplete;
    expect(warns()).to.equal(false);
  });
});

describe('with wake-lock, the screen', () => {
  it('stays on while files are uploading', async () => {
    const screen = new Screen();
    const stage = await create({ wakeLock: true });
    expect(screen.log).to.deep.equal([]);
    await begin(stage);
    await screen.reaches('requested screen');
    stage.element.requestUpdate();
    await stage.element.updateComplete;
    stage.service.answerAll();
    await screen.reaches('requested screen', 'released');
  });

  it('may turn off after the element was removed', async () => {
    const screen = new Screen();
    const stage = await create({ wakeLock: true });
    await begin(stage);
    await screen.reaches('requested screen');
    stage.element.remove();
    await screen.reaches('requested screen', 'released');
  });

  it('stays on again after the page was hidden, because the browser has released the lock', async () => {
    const screen = new Screen();
    const stage = await create({ wakeLock: true });
    await begin(stage);
    await screen.reaches('requested screen');
    screen.show(false);
    await screen.reaches('requested screen', 'released');
    screen.show(true);
    await screen.reaches('requested screen', 'released', 'requested screen');
    stage.element.remove();
    await screen.reaches('requested screen', 'released', 'requested screen', 'released');
    screen.show(false);
    screen.show(true);
    await screen.reaches('requested screen', 'released', 'requested screen', 'released');
  });

  it('releases a lock that it gets when the upload has already ended', async () => {
    const screen = new Screen();
    let grant = (): void => undefined;
    screen.granted = new Promise<void>((resolve) => {
      grant = resolve;
    });
    const stage = await create({ wakeLock: true });
    await begin(stage);
    await screen.reaches('requested screen');
    stage.element.remove();
    grant();
    await screen.reaches('requested screen', 'released');
  });

  for (const [what, lose] of [
    ['has taken', (screen) => screen.take()],
    ['has denied', () => undefined],
  ] as const satisfies readonly (readonly [string, (screen: Screen) => void])[])
    it(`asks again for a lock that the system ${what}, when the user touches the page and from time to time`, async () => {
      const screen = new Screen();
      if (what === 'has denied') {
        screen.granted = Promise.reject(new DOMException('battery', 'NotAllowedError'));
        screen.granted.catch(() => undefined);
      }
      const stage = await create({ wakeLock: true });
      await begin(stage);
      const asked = (count: number): string[] => Array.from({ length: count }, () => 'requested screen');
      await screen.reaches('requested screen');
      for (const [at, type] of ['pointerdown', 'keydown'].entries()) {
        await settled();
        lose(screen);
        document.body.dispatchEvent(new Event(type, { bubbles: true }));
        await screen.reaches(...asked(at + 2));
      }
      // From time to time.
      replace(lockTimes, 'againMs', 10);
      stage.element.remove();
      const other = await create({ wakeLock: true });
      const { length } = screen.log;
      await begin(other);
      await until(() => screen.log.length > length);
      await settled();
      lose(screen);
      await until(() => screen.log.length > length + 1);
    });

  it('asks once while it has the lock, and not while the page is hidden', async () => {
    replace(lockTimes, 'againMs', 1);
    const screen = new Screen();
    const stage = await create({ wakeLock: true });
    await begin(stage);
    await screen.reaches('requested screen');
    document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    for (let round = 0; round < 20; round += 1) await settled();
    screen.show(false);
    screen.take();
    document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    for (let round = 0; round < 20; round += 1) await settled();
    await screen.reaches('requested screen', 'released');
  });

  it('has no lock without the attribute', async () => {
    const screen = new Screen();
    const stage = await create();
    await begin(stage);
    stage.service.answerAll();
    await fileReaches(stage, 'a.txt', 'done');
    expect(screen.log).to.deep.equal([]);
  });

  for (const [what, wakeLock] of [
    ['denies the lock', { request: () => Promise.reject(new DOMException('', 'NotAllowedError')) }],
    ['has no screen locks', undefined],
  ] as const)
    it(`does not disturb the upload if the browser ${what}`, async () => {
      replace(navigator, 'wakeLock', wakeLock);
      const stage = await create({ wakeLock: true });
      await begin(stage);
      stage.service.answerAll();
      await fileReaches(stage, 'a.txt', 'done');
    });
});

describe('persistent storage', () => {
  /** Counts requests for persistent storage. */
  function countRequests(): () => number {
    let count = 0;
    const persist = async (): Promise<boolean> => {
      count += 1;
      return true;
    };
    replace(navigator, 'storage', { persist });
    return () => count;
  }

  it('is requested once with persist-storage, when the first file is uploading', async () => {
    const count = countRequests();
    const stage = await create({ persistStorage: true });
    expect(count()).to.equal(0);
    await begin(stage);
    expect(count()).to.equal(1);
    stage.service.answerAll();
    await fileReaches(stage, 'a.txt', 'done');
    stage.service.hold('put');
    await begin(stage, 'b.txt');
    expect(count()).to.equal(1);
  });

  for (const settings of [{}, { persistStorage: true, noResume: true }])
    it(`is not requested with ${JSON.stringify(settings)}`, async () => {
      const count = countRequests();
      await begin(await create(settings));
      expect(count()).to.equal(0);
    });

  it('does not disturb the upload if the browser denies it or cannot ask', async () => {
    for (const storage of [{ persist: () => Promise.reject(new TypeError('denied')) }, {}, undefined]) {
      replace(navigator, 'storage', storage);
      const stage = await create({ persistStorage: true });
      await begin(stage);
      stage.service.answerAll();
      await fileReaches(stage, 'a.txt', 'done');
    }
  });
});
