// `image-max-edge` and `strip-location` while the browser says that it is offline, rightly or not.

import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { LatePhotos, type PhotoCode } from '../../src/engine/late-photos.ts';
import { fileOf } from '../support/bytes.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { world } from '../support/world.ts';

const setNavigator = (name: 'onLine' | 'userAgent', value: unknown): void => {
  Object.defineProperty(navigator, name, { configurable: true, value });
};
const goOnline = (): void => {
  Reflect.deleteProperty(navigator, 'onLine');
  window.dispatchEvent(new Event('online'));
};

let clock: Clock | undefined;
/** Stops the clock, and lets the browser say that it is offline. */
function goOffline(): Clock {
  clock ??= stopClock();
  setNavigator('onLine', false);
  return clock;
}

afterEach(() => {
  clock?.restore();
  clock = undefined;
  for (const name of ['onLine', 'userAgent']) Reflect.deleteProperty(navigator, name);
});

describe('a file that may be a photo, in a browser that is wrong about being offline,', () => {
  it('waits half a minute for the code, says why, and never waits again', async () => {
    setNavigator('userAgent', 'Chrome');
    const { pass } = goOffline();
    const engine = world({ imageMaxEdge: 100 });
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 500, 'report.pdf')]);
    await until(() => engine.phase('report.pdf') === 'paused');
    expect(engine.row('report.pdf')?.pauseReason).to.equal('offline');
    await pass(29_000);
    expect(engine.phase('report.pdf')).to.equal('paused');
    await pass(1000);
    await engine.waitForChange('upload-completed');
    expect(engine.changeNames('report.pdf').filter((name) => /paused|resumed/.test(name))).to.deep.equal([
      'upload-paused',
      'upload-resumed',
    ]);
    await engine.uploader.addFiles([fileOf(2, 500, 'table.csv')]);
    await engine.waitForChange('upload-completed', 2);
    expect(engine.details('upload-paused')).to.have.length(1);
  });
});

describe('the code for photos', () => {
  const settings = createSettings({ baseUrl: 'https://a.test', imageMaxEdge: 100 });
  const file = fileOf(1, 100, 'a.jpg');
  const { signal } = new AbortController();

  /** Loads code that fails `failures` times, `photos` or the `tasks` that the page needs without a worker. */
  function load({ photos = 0, tasks }: { readonly photos?: number; readonly tasks?: number }) {
    const sent: string[] = [];
    const counts = { photos: 0, tasks: 0 };
    const fail = (name: keyof typeof counts, failures: number): void => {
      counts[name] += 1;
      if (counts[name] <= failures) throw new TypeError('Failed to fetch');
    };
    const code: PhotoCode = {
      photos: async () => {
        fail('photos', photos);
        return {
          preparePhoto: async (photo, _maxEdge, _strips, { loadTasks }) => {
            if (tasks !== undefined) await loadTasks();
            return photo;
          },
        };
      },
      tasks: async () => {
        fail('tasks', tasks ?? 0);
        return { runTask: async () => undefined };
      },
    };
    const late = new LatePhotos(code);
    const stop = new AbortController();
    const made = late.prepare(file, settings, stop.signal, ({ type }) => sent.push(type));
    return {
      made,
      sent,
      counts,
      stop,
      again: () => late.prepare(file, settings, signal, ({ type }) => sent.push(type)),
    };
  }

  for (const part of ['photos', 'tasks'] as const)
    it(`is loaded again until the browser is online, and fails no photo before (${part})`, async () => {
      setNavigator('userAgent', 'Chrome');
      const { pass } = goOffline();
      const { made, sent, counts, again } = load({ [part]: 2 });
      await settled();
      for (let round = 0; round < 3 && sent.at(-1) !== 'online'; round += 1) await pass(30_000);
      expect(await made).to.equal(file);
      expect(counts[part]).to.equal(3);
      expect(sent.at(-1)).to.equal('online');
      const before = sent.length;
      expect(await again()).to.equal(file);
      expect(sent).to.have.length(before);
    });

  it('fails the photo if it cannot be loaded while the browser is online', async () => {
    const online = load({ photos: 9 });
    expect((await rejection(online.made)).message).to.equal('Failed to fetch');
    expect([online.counts.photos, online.sent]).to.deep.equal([1, []]);
    goOffline();
    const offline = load({ photos: 9 });
    await until(() => offline.sent.length === 1);
    goOnline();
    expect((await rejection(offline.made)).message).to.equal('Failed to fetch');
    expect(offline.sent).to.deep.equal(['offline']);
  });

  it('is not loaded while Firefox is offline, because it would remember the failure', async () => {
    setNavigator('userAgent', 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0');
    const { pass } = goOffline();
    const { made, sent, counts } = load({ photos: 0 });
    for (let round = 0; round < 4; round += 1) await pass(30_000);
    expect([counts.photos, new Set(sent)]).to.deep.equal([0, new Set(['offline'])]);
    goOnline();
    expect(await made).to.equal(file);
    expect(sent.at(-1)).to.equal('online');
  });

  it('is no longer waited for when the upload is paused or canceled', async () => {
    goOffline();
    const { made, sent, stop } = load({});
    await until(() => sent.length === 1);
    stop.abort('canceled');
    expect(await rejection(made)).to.equal('canceled');
  });
});
