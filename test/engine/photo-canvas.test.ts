// Browsers that protect against fingerprinting give back other pixels than were drawn. No such picture may be sent.

import { expect } from '@open-wc/testing';
import { PhotoLane } from '../../src/photos/photos.ts';
import { world } from '../support/world.ts';

/**
 * Returns a script after which every read of a canvas has other pixels, without an error. `change` changes four bytes for each
 * pixel; `isWhole` is false if only the encoded picture is changed.
 */
const falsify = (change: string, isWhole = true): string => `
  const change = ${change};
  const { getImageData } = OffscreenCanvasRenderingContext2D.prototype;
  const { convertToBlob } = OffscreenCanvas.prototype;
  const read = (context, ...rect) => {
    const image = getImageData.apply(context, rect);
    for (let at = 0; at < image.data.length; at += 4) change(image.data, at);
    return image;
  };
  if (${isWhole})
    OffscreenCanvasRenderingContext2D.prototype.getImageData = function (...rect) {
      return read(this, ...rect);
    };
  OffscreenCanvas.prototype.convertToBlob = function (...given) {
    const copy = new OffscreenCanvas(this.width, this.height);
    copy.getContext('2d').putImageData(read(this.getContext('2d'), 0, 0, this.width, this.height), 0, 0);
    return convertToBlob.apply(copy, given);
  };
`;
const RANDOM = '(data, at) => { for (let i = at; i < at + 3; i += 1) data[i] = Math.random() * 256; }';

/** Protections, and whether a photo is made smaller all the same. */
const PROTECTIONS: Readonly<Record<string, { readonly script: string; readonly isSmaller: boolean }>> = {
  'no protection': { script: '', isSmaller: true },
  'random pixels': { script: falsify(RANDOM), isSmaller: false },
  'random pixels in what is encoded': { script: falsify(RANDOM, false), isSmaller: false },
  'white pixels': { script: falsify('(data, at) => data.fill(255, at, at + 4)'), isSmaller: false },
  'one wrong channel in a few pixels': {
    script: falsify('(data, at) => { if (at % 1200 === 0) data[at + 2] ^= 64; }'),
    isSmaller: false,
  },
  'pixels that are transparent': { script: falsify('(data, at) => { data[at + 3] = 0; }'), isSmaller: false },
  'one or two steps in a few pixels': {
    script: falsify('(data, at) => { if (at % 120 === 0) data[at] ^= 1 + (at % 2); }'),
    isSmaller: true,
  },
};

/** Returns a photo of four colors. */
async function photo(): Promise<File> {
  const canvas = new OffscreenCanvas(600, 400);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  for (const [at, color] of ['#c01010', '#10c010', '#1010c0', '#808080'].entries()) {
    context.fillStyle = color;
    context.fillRect((at % 2) * 300, (at >> 1) * 200, 300, 200);
  }
  for (let x = 0; x < 600; x += 3) context.fillRect(x, (x * 7) % 400, 2, 2);
  const jpeg = await canvas.convertToBlob({ type: 'image/jpeg', quality: 1 });
  return new File([jpeg], 'photo.jpg', { type: 'image/jpeg' });
}

const { getImageData } = OffscreenCanvasRenderingContext2D.prototype;
const { convertToBlob } = OffscreenCanvas.prototype;

/** Resolves with the width of a picture. Fails unless it has the four colors of the photo. */
async function widthOf(blob: Blob): Promise<number> {
  // As one part: Firefox does not recognize a picture whose first part has a few bytes only.
  const image = await createImageBitmap(new Blob([await blob.arrayBuffer()]));
  const context = new OffscreenCanvas(60, 40).getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0, 60, 40);
  const colors = Array.from({ length: 4 }, (_, at) => {
    const { data } = getImageData.call(context, 15 + 30 * (at % 2), 10 + 20 * (at >> 1), 1, 1);
    return [...data.slice(0, 3)].map((value) => Math.round(value / 64)).join('');
  });
  expect(colors).to.deep.equal(['300', '030', '003', '222']);
  return image.width;
}

const scriptUrl = (text: string): string =>
  URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
const { Worker } = globalThis;

/** Starts workers of photos with a protection. */
const protectedWorker = (script: string): typeof Worker =>
  class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      const isPhotos = options?.name === 'secure-uploader-photos';
      super(isPhotos ? scriptUrl(`${script}; await import(${JSON.stringify(url)});`) : url, options);
    }
  };

afterEach(() => {
  globalThis.Worker = Worker;
  OffscreenCanvasRenderingContext2D.prototype.getImageData = getImageData;
  OffscreenCanvas.prototype.convertToBlob = convertToBlob;
});

describe('a canvas that gives back', () => {
  for (const [what, { script, isSmaller }] of Object.entries(PROTECTIONS)) {
    const expected = isSmaller ? 'a smaller photo' : 'the original';
    const end = async (file: File, lane: PhotoLane): Promise<void> => {
      const copy = await lane.run({ file, maxEdge: 200, wanted: 'photo' });
      expect(copy instanceof Blob).to.equal(isSmaller);
      if (copy instanceof Blob) expect(await widthOf(copy)).to.equal(200);
      const stripped = await lane.run({ file, maxEdge: 200, wanted: 'without-location' });
      expect(await widthOf((stripped ?? file) as Blob)).to.equal(isSmaller ? 200 : 600);
      const thumbnail = await lane.run({ file, maxEdge: 96, wanted: 'thumbnail' });
      expect((thumbnail as ImageBitmap).width).to.equal(96);
    };

    it(`${what} in the worker sends ${expected}, and thumbnails are there`, async () => {
      globalThis.Worker = protectedWorker(script);
      const loadTasks = (): never => {
        throw new Error('the worker did not start');
      };
      await end(await photo(), new PhotoLane({ loadTasks }));
    });

    it(`${what} in the page, without a worker, sends ${expected}`, async () => {
      const file = await photo();
      await import(scriptUrl(script));
      // The query makes it another module, which tests the canvas again.
      const tasks = `/src/photos/photo-tasks.ts?${crypto.randomUUID()}`;
      const lane = new PhotoLane({
        startWorker: () => Promise.reject(new Error('no worker here')),
        loadTasks: () => import(tasks) as Promise<typeof import('../../src/photos/photo-tasks.ts')>,
      });
      await end(file, lane);
    });
  }

  it('random pixels does not fail the upload', async () => {
    globalThis.Worker = protectedWorker(falsify(RANDOM));
    const file = await photo();
    const engine = world({ imageMaxEdge: 200, stripLocation: true, chunkSize: '64MB' });
    engine.service.answerAll('open', 'presign', 'commit');
    await engine.uploader.addFiles([file]);
    const put = await engine.service.nextRequest('put');
    expect(await widthOf(put.body)).to.equal(600);
    put.answer();
    await engine.waitForChange('upload-completed');
  });
});
