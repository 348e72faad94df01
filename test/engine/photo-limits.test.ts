// A photo that cannot be decoded or read in time: how it ends, and that no other photo waits for it.

import { expect } from '@open-wc/testing';
import { PhotoLane } from '../../src/photos/photos.ts';
import { fileOf } from '../support/bytes.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { world } from '../support/world.ts';

/**
 * Put before the script of the worker: a picture that ends with `stuck` is never decoded, and one that ends with `slow!` late. A
 * file named `dead` cannot be read to its end, and nothing of one named `gone`.
 */
const TROUBLE = `
  const { createImageBitmap } = globalThis;
  globalThis.createImageBitmap = async (blob, ...rest) => {
    const end = await blob.slice(-5).text();
    if (end === 'stuck') await new Promise(() => undefined);
    if (end === 'slow!') await new Promise((resolve) => setTimeout(resolve, 100));
    return createImageBitmap(blob, ...rest);
  };
  const { arrayBuffer, slice } = Blob.prototype;
  const never = () => new Promise(() => undefined);
  Blob.prototype.arrayBuffer = function () {
    return /^(dead|gone)/.test(this.name) ? never() : arrayBuffer.call(this);
  };
  Blob.prototype.slice = function (...range) {
    const part = slice.apply(this, range);
    return /^gone/.test(this.name) ? Object.assign(part, { arrayBuffer: never }) : part;
  };
`;

const { Worker } = globalThis;

/** A worker of photos with trouble. Other workers are as they are. */
class TroubledWorker extends Worker {
  static startedCount = 0;
  constructor(url: string | URL, options?: WorkerOptions) {
    const isPhotos = options?.name === 'secure-uploader-photos';
    const script = `${TROUBLE}; await import(${JSON.stringify(url)});`;
    TroubledWorker.startedCount += Number(isPhotos);
    super(isPhotos ? URL.createObjectURL(new Blob([script], { type: 'text/javascript' })) : url, options);
  }
}

async function photo(name: string, end = ''): Promise<File> {
  const canvas = new OffscreenCanvas(300, 200);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  for (let x = 0; x < 300; x += 2) context.fillRect(x, x % 190, 1, 9);
  const jpeg = await canvas.convertToBlob({ type: 'image/jpeg', quality: 1 });
  // Each file has other bytes, so that each is sent.
  return new File([jpeg, crypto.randomUUID(), end], `${name}.jpg`, { type: 'image/jpeg' });
}

interface Outcome {
  readonly end: string;
  readonly isSmaller: boolean;
}

/** Uploads files. Resolves with how each ended. */
async function endsOf(
  files: readonly File[],
  settings: object,
  times = {},
): Promise<Record<string, Outcome>> {
  const engine = world({
    chunkSize: '64MB',
    ...settings,
    times: { photoMs: limitMs, transformMs: 300, ...times },
  });
  engine.service.answerAll();
  await engine.uploader.addFiles(files);
  const hasEnded = ({ phase }: { readonly phase: string }) => ['done', 'failed', 'paused'].includes(phase);
  await until(() => engine.uploader.snapshot.files.every(hasEnded));
  return Object.fromEntries(
    engine.uploader.snapshot.files.map(({ name, phase, error, warning, pauseReason, sizeBytes }) => [
      name,
      {
        end: [phase, pauseReason, warning ?? error?.code].filter(Boolean).join(' '),
        isSmaller: sizeBytes < (files.find((file) => file.name === name)?.size ?? 0),
      },
    ]),
  );
}

/** Limit of the tests for a photo: several times as long as a good one takes on this machine now. */
let limitMs = 0;

const SMALLER = { end: 'done', isSmaller: true };

describe('a photo with image-max-edge', () => {
  beforeEach(async () => {
    globalThis.Worker = TroubledWorker;
    const startedMs = performance.now();
    await endsOf([await photo('good')], { imageMaxEdge: 64 }, { photoMs: 60_000 });
    limitMs = Math.max(1000, 5 * (performance.now() - startedMs));
  });
  afterEach(() => {
    globalThis.Worker = Worker;
  });

  it('that is never decoded is sent as it is, and the others behind it are made smaller', async () => {
    const files = [
      await photo('bad', 'stuck'),
      await photo('worse', 'stuck'),
      await photo('b'),
      await photo('c'),
    ];
    expect(await endsOf(files, { imageMaxEdge: 64 })).to.deep.equal({
      'bad.jpg': { end: 'done', isSmaller: false },
      'worse.jpg': { end: 'done', isSmaller: false },
      'b.jpg': SMALLER,
      'c.jpg': SMALLER,
    });
  });

  it('and strip-location that is never decoded is refused', async () => {
    const files = [await photo('bad', 'stuck'), await photo('b')];
    expect(await endsOf(files, { imageMaxEdge: 64, stripLocation: true })).to.deep.equal({
      'bad.jpg': { end: 'failed location-not-removed', isSmaller: false },
      'b.jpg': SMALLER,
    });
  });

  it('whose bytes do not arrive needs its file again, with strip-location too', async () => {
    const unreadable = { end: 'paused needs-file file-unreadable', isSmaller: false };
    const files = [await photo('dead'), fileOf(1, 900, 'gone.pdf'), await photo('b')];
    expect(await endsOf(files, { imageMaxEdge: 64 })).to.deep.equal({
      'dead.jpg': unreadable,
      'gone.pdf': unreadable,
      'b.jpg': SMALLER,
    });
    const [dead, , good] = files as [File, File, File];
    expect(await endsOf([dead, good], { imageMaxEdge: 64, stripLocation: true })).to.deep.equal({
      'dead.jpg': unreadable,
      'b.jpg': SMALLER,
    });
  });

  it('may wait for others for any time', async () => {
    const files = await Promise.all(Array.from('abcdefgh', (name) => photo(name, 'slow!')));
    const ends = await endsOf(files, { imageMaxEdge: 64 }, { photoMs: 60_000 });
    expect(Object.values(ends)).to.deep.equal(files.map(() => SMALLER));
  });

  it('is paused and canceled at once, also while it waits for its turn', async () => {
    const engine = world({ imageMaxEdge: 64 });
    engine.service.answerAll();
    await engine.uploader.addFiles([await photo('bad', 'stuck'), await photo('b'), await photo('c')]);
    await until(() => engine.phases().join() === 'hashing,hashing,hashing');
    await engine.uploader.pause(engine.id('b.jpg'));
    await engine.uploader.cancel(engine.id('bad.jpg'));
    await engine.waitForChange('upload-completed');
    expect(engine.phases()).to.deep.equal(['canceled', 'paused', 'done']);
  });
});

describe('a photo that is canceled while it hangs', () => {
  it('costs its own worker, and not those of later photos', async () => {
    globalThis.Worker = TroubledWorker;
    TroubledWorker.startedCount = 0;
    const clock = stopClock();
    try {
      const loadTasks = () => import('../../src/photos/photo-tasks.ts');
      const lane = new PhotoLane({ loadTasks });
      const taskOf = (file: File) => ({ file, maxEdge: 64, wanted: 'photo' }) as const;
      const good = taskOf(await photo('good'));
      await lane.run(good);
      const stop = new AbortController();
      const stuck = lane.run(taskOf(await photo('bad', 'stuck')), stop.signal, 1000);
      await settled();
      stop.abort('canceled');
      expect(await rejection(stuck)).to.equal('canceled');
      await lane.run(good);
      await clock.pass(3000);
      await lane.run(good);
      expect(TroubledWorker.startedCount).to.equal(2);
    } finally {
      clock.restore();
      globalThis.Worker = Worker;
    }
  });
});

describe('without a worker, a task that never ends', () => {
  const parts = {
    startWorker: (): Promise<Worker> => Promise.reject(new Error('no worker here')),
    loadTasks: async () => ({
      runTask: ({ file }: { readonly file: File }, onRead?: () => void) => {
        if (file.name !== 'dead.jpg') onRead?.();
        return file.name === 'good.jpg' ? Promise.resolve(file) : new Promise<never>(() => undefined);
      },
    }),
  };
  const task = (name: string, wanted: 'photo' | 'without-location' | 'thumbnail' = 'photo') =>
    ({ file: new File(['x'], name), maxEdge: 100, wanted }) as const;
  const { signal } = new AbortController();

  it('ends when its own time is over, and the next one begins', async () => {
    const lane = new PhotoLane(parts);
    const results = await Promise.all([
      lane.run(task('stuck.jpg'), signal, 50),
      lane.run(task('stuck.jpg', 'thumbnail'), signal, 50),
      lane.run(task('stuck.jpg', 'without-location'), signal, 50),
      lane.run(task('dead.jpg'), signal, 50),
      lane.run(task('good.jpg'), signal),
    ]);
    expect(results.map((result) => (result instanceof Blob ? 'made' : result))).to.deep.equal([
      undefined,
      undefined,
      'unsupported',
      'unreadable',
      'made',
    ]);
  });

  it('is canceled at once, as is one that waits for its turn', async () => {
    const lane = new PhotoLane(parts);
    const stop = new AbortController();
    const stuck = lane.run(task('stuck.jpg'), stop.signal);
    const waits = new AbortController();
    const waiting = lane.run(task('good.jpg'), waits.signal);
    const last = lane.run(task('good.jpg'), signal);
    waits.abort('not wanted');
    expect(await rejection(waiting)).to.equal('not wanted');
    stop.abort('stopped');
    expect(await rejection(stuck)).to.equal('stopped');
    expect(await last).to.be.instanceOf(File);
  });
});
