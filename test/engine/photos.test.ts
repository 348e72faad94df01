// `image-max-edge` and `strip-location`: the bytes that are sent for photos, and which files stay as they are or are refused.

import { expect } from '@open-wc/testing';
import { typeOf } from '../../src/photos/image-size.ts';
import { runTask } from '../../src/photos/photo-tasks.ts';
import { PhotoLane } from '../../src/photos/photos.ts';
import { crcOf } from '../../src/photos/png.ts';
import { fileOf } from '../support/bytes.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { type World, world } from '../support/world.ts';

/** Returns a picture of which the left half is red, the right half is blue, and the top quarter is black. */
async function picture(type: string, width: number, height: number): Promise<Blob> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  const fill = (color: string, ...rect: [number, number, number, number]): void => {
    context.fillStyle = color;
    context.fillRect(...rect);
  };
  fill('#f00', 0, 0, width / 2, height);
  fill('#00f', width / 2, 0, width / 2, height);
  fill('#000', 0, 0, width, height / 4);
  return canvas.convertToBlob({ type, quality: 0.95 });
}

/** Returns an Exif segment with an orientation and a position: 48° north. */
function exif(orientation: number): Uint8Array<ArrayBuffer> {
  const tiff = new DataView(new ArrayBuffer(96));
  const entry = (at: number, ...[tag, type, count, value]: [number, number, number, number]): void => {
    tiff.setUint16(at, tag);
    tiff.setUint16(at + 2, type);
    tiff.setUint32(at + 4, count);
    if (type === 3) tiff.setUint16(at + 8, value);
    else tiff.setUint32(at + 8, value);
  };
  tiff.setUint32(0, 0x4d4d002a);
  tiff.setUint32(4, 8);
  tiff.setUint16(8, 2);
  entry(10, 0x0112, 3, 1, orientation);
  entry(22, 0x8825, 4, 1, 38);
  tiff.setUint16(38, 1);
  entry(40, 2, 5, 3, 56);
  for (const [index, value] of [48, 1, 51, 1, 30, 1].entries()) tiff.setUint32(56 + 4 * index, value);
  const name = [0x45, 0x78, 0x69, 0x66, 0, 0];
  return new Uint8Array([0xff, 0xe1, 0, 2 + 6 + 96, ...name, ...new Uint8Array(tiff.buffer)]);
}

async function photo(width: number, height: number, orientation = 1, name = 'photo.jpg'): Promise<File> {
  const jpeg = await picture('image/jpeg', width, height);
  const parts = [jpeg.slice(0, 2), exif(orientation), jpeg.slice(2)];
  return new File(parts, name, { type: 'image/jpeg', lastModified: 1_700_000_000_000 });
}

const isSet = async (blob: Blob, ...wanted: number[]): Promise<boolean> =>
  new Uint8Array(await blob.arrayBuffer()).join().includes(wanted.join());
const hasExif = (blob: Blob): Promise<boolean> => isSet(blob, 0x45, 0x78, 0x69, 0x66);
/** The seconds and minutes of the position. */
const hasPosition = (blob: Blob): Promise<boolean> => isSet(blob, 51, 0, 0, 0, 1, 0, 0, 0, 30);

interface Shown {
  readonly width: number;
  readonly height: number;
  readonly colorAt: (x: number, y: number) => string;
}

const looksOf = (
  { width, height, colorAt }: Shown,
  ...points: readonly (readonly [x: number, y: number])[]
): readonly (number | string)[] => [width, height, ...points.map((point) => colorAt(...point))];

async function show(blob: Blob): Promise<Shown> {
  const image = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0);
  const colorAt = (x: number, y: number): string => {
    const [red = 0, green = 0, blue = 0] = context.getImageData(x * image.width, y * image.height, 1, 1).data;
    return [red, green, blue].map((part) => (part > 128 ? 'f' : '0')).join('');
  };
  return { width: image.width, height: image.height, colorAt };
}

/** Uploads a file. Resolves with the engine, and with what was sent for the file. */
async function upload(file: File, settings: object): Promise<{ engine: World; sent: Blob }> {
  const engine = world({ chunkSize: '64MB', ...settings });
  engine.service.answerAll('presign', 'commit', 'open');
  await engine.uploader.addFiles([file]);
  const put = await engine.service.nextRequest('put');
  put.answer();
  await engine.waitForChange('upload-completed');
  return { engine, sent: put.body };
}

/** Makes a photo smaller in this page. */
async function withoutLimit(task: Parameters<typeof runTask>[0]): Promise<Blob> {
  // A small picture may become larger in another format.
  Object.defineProperty(task.file, 'size', { value: 1e6 });
  return (await runTask(task)) as Blob;
}

describe('image-max-edge', () => {
  it('sends a smaller copy of a photo, without its metadata', async () => {
    const { engine, sent } = await upload(await photo(1200, 800), { imageMaxEdge: 600 });
    const shown = await show(sent);
    const looks = looksOf(shown, [0.2, 0.8], [0.8, 0.8], [0.5, 0.1]);
    expect(looks).to.deep.equal([600, 400, 'f00', '00f', '000']);
    expect(await hasExif(sent)).to.equal(false);
    expect(engine.row('photo.jpg')).to.include({ phase: 'done', sizeBytes: sent.size });
  });

  it('turns the photo as the camera says', async () => {
    const { sent } = await upload(await photo(1200, 800, 6), { imageMaxEdge: '600' });
    const shown = await show(sent);
    // The top of the picture is now at its right, and its left at the top.
    const looks = looksOf(shown, [0.9, 0.5], [0.3, 0.2], [0.3, 0.8]);
    expect(looks).to.deep.equal([400, 600, '000', 'f00', '00f']);
  });

  it('keeps the format and the transparency of PNG, and the type of a file without a type', async () => {
    const drawn = new OffscreenCanvas(400, 100);
    const context = drawn.getContext('2d') as OffscreenCanvasRenderingContext2D;
    for (let x = 0; x < 400; x += 2) context.fillRect(x, x % 100, 1, 20);
    const png = await drawn.convertToBlob();
    const { engine, sent } = await upload(new File([png], 'drawing'), { imageMaxEdge: 100 });
    const image = await createImageBitmap(new Blob([sent], { type: 'image/png' }));
    expect([image.width, image.height]).to.deep.equal([100, 25]);
    expect(await isSet(sent, 0x89, 0x50, 0x4e, 0x47)).to.equal(true);
    expect(engine.uploader.snapshot.files[0]?.name).to.equal('drawing.png');
  });

  it('leaves smaller photos, other files, and photos that would become larger as they are', async () => {
    const small = await photo(600, 400);
    const png = await picture('image/png', 64, 64);
    for (const file of [
      small,
      new File([png], 'tiny.png'),
      fileOf(1, 5000, 'text.jpg'),
      new File(['%PDF-1.7'], 'a.pdf'),
      new File([(await photo(600, 400)).slice(0, 700)], 'half.jpg'),
    ]) {
      const { sent } = await upload(file, { imageMaxEdge: file === small ? 600 : 63 });
      expect(sent.size, file.name).to.equal(file.size);
    }
  });

  it('makes JPEG of a format that the browser cannot write, with white behind it', async () => {
    const { convertToBlob } = OffscreenCanvas.prototype;
    OffscreenCanvas.prototype.convertToBlob = function (options) {
      return convertToBlob.call(this, options?.type === 'image/webp' ? {} : options);
    };
    try {
      const drawn = new OffscreenCanvas(400, 100);
      (drawn.getContext('2d') as OffscreenCanvasRenderingContext2D).fillRect(0, 0, 200, 100);
      const webp = await convertToBlob.call(drawn, { type: 'image/webp', quality: 1 });
      // Safari cannot write it, so it has no such file here.
      const head = new Uint8Array(await webp.slice(0, 16).arrayBuffer());
      const type = typeOf(head) ?? 'image/webp';
      const task = { file: new File([webp], 'a.webp', { type }), maxEdge: 100, wanted: 'photo' } as const;
      const made = await withoutLimit(task);
      if (webp.type === 'image/webp') expect(made.type).to.equal('image/jpeg');
      expect((await show(made)).colorAt(0.9, 0.5)).to.equal(webp.type === 'image/webp' ? 'fff' : '000');
    } finally {
      OffscreenCanvas.prototype.convertToBlob = convertToBlob;
    }
  });

  it('makes JPEG of AVIF, if the browser can show it, also with strip-location', async () => {
    const avif = await (await fetch('/test/photos/fixtures/photo.avif')).blob();
    const isShown = await show(avif).then(
      () => true,
      () => false,
    );
    // With an empty box, so that the copy is smaller.
    const empty = [new Uint8Array([0, 0, 0x13, 0x90]), 'free', new Uint8Array(5000)];
    const file = new File([avif, ...empty], 'photo.avif', { type: 'image/avif' });
    const engine = world({ imageMaxEdge: 32, stripLocation: true });
    engine.service.answerAll();
    await engine.uploader.addFiles([file]);
    await until(() => ['done', 'failed'].includes(engine.phases()[0] ?? ''));
    const [row] = engine.uploader.snapshot.files;
    expect([row?.name, row?.error?.code]).to.deep.equal(
      isShown ? ['photo.jpg', undefined] : ['photo.avif', 'location-not-removed'],
    );
  });

  it('keeps WebP where the browser can write it', async () => {
    const webp = await picture('image/webp', 300, 200);
    const file = new File([webp, new Uint8Array(5000)], 'a.webp', { type: webp.type });
    const { engine, sent } = await upload(file, { imageMaxEdge: 100 });
    const type = typeOf(new Uint8Array(await sent.arrayBuffer()));
    expect(type).to.equal(webp.type);
    expect((await show(sent)).width).to.equal(100);
    expect(engine.phases()).to.deep.equal(['done']);
  });

  it('never decodes a picture of 900 megapixels, nor animations', async () => {
    const png = new Uint8Array(await (await picture('image/png', 640, 640)).arrayBuffer());
    const large = png.slice();
    const view = new DataView(large.buffer);
    view.setUint32(16, 30_000);
    view.setUint32(20, 30_000);
    view.setInt32(29, crcOf(large.subarray(12, 29)));
    const control = new Uint8Array([0x61, 0x63, 0x54, 0x4c, 0, 0, 0, 1, 0, 0, 0, 0]);
    const chunk = new Uint8Array([0, 0, 0, 8, ...control, 0, 0, 0, 0]);
    new DataView(chunk.buffer).setInt32(16, crcOf(control));
    const animated = new Blob([png.slice(0, 33), chunk, png.slice(33)]);
    const decoded: number[] = [];
    const { createImageBitmap } = globalThis;
    globalThis.createImageBitmap = (async (blob: Blob) => {
      decoded.push(blob.size);
      return createImageBitmap(blob);
    }) as typeof createImageBitmap;
    try {
      for (const parts of [large, await animated.arrayBuffer(), png]) {
        const file = new File([parts], 'a.png');
        await runTask({ file, maxEdge: 100, wanted: 'photo' });
      }
    } finally {
      globalThis.createImageBitmap = createImageBitmap;
    }
    // Not the pictures with which the browser itself is tested.
    const sizes = decoded.filter((size) => [png.length, animated.size].includes(size));
    expect(sizes).to.deep.equal([png.length]);
  });
});

describe('strip-location', () => {
  it('removes the location, and changes no pixel and no orientation', async () => {
    const file = await photo(300, 200, 6);
    expect(await hasPosition(file)).to.equal(true);
    const { sent } = await upload(file, { stripLocation: true });
    expect([await hasPosition(sent), await hasExif(sent)]).to.deep.equal([false, true]);
    const [before, after] = await Promise.all(
      [file, sent].map(async (each) => show(new Blob([await each.arrayBuffer()]))),
    );
    expect([after?.width, after?.height]).to.deep.equal([200, 300]);
    const points = Array.from({ length: 100 }, (_, at) => [((at * 7) % 100) / 100, at / 100] as const);
    expect(points.map((point) => after?.colorAt(...point))).to.deep.equal(
      points.map((point) => before?.colorAt(...point)),
    );
  });

  it('refuses a file from which it cannot remove the location, and sends nothing', async () => {
    const webp = new File(['RIFF\x20\0\0\0WEBPVP8X'], 'photo.jpg', { type: 'image/jpeg' });
    const video = new File(['\0\0\0\x18ftypqt  '], 'film.mov');
    const engine = world({ stripLocation: true });
    engine.service.answerAll();
    await engine.uploader.addFiles([webp, video, fileOf(3, 100, 'text.txt')]);
    await engine.waitForChange('upload-failed', 2);
    await engine.waitForChange('upload-completed');
    for (const name of ['photo.jpg', 'film.mov'])
      expect(engine.row(name)?.error).to.deep.equal({ code: 'location-not-removed', retryable: false });
    expect(engine.service.count('open')).to.equal(1);
  });

  it('does not fail a file that can no longer be read, which needs its file again', async () => {
    const file = await photo(300, 200);
    const gone = (): Promise<never> => Promise.reject(new DOMException('changed', 'NotReadableError'));
    const slice = (): Blob => Object.assign(new Blob(), { arrayBuffer: gone });
    const lost = Object.assign(new File(['x'], 'lost.jpg'), { slice, arrayBuffer: gone });
    const transformFile = async (): Promise<File> => {
      await lost.arrayBuffer();
      return file;
    };
    const engine = world({ stripLocation: true, transformFile });
    await engine.uploader.addFiles([lost]);
    await until(() => engine.row('lost.jpg')?.pauseReason === 'needs-file');
    expect(engine.row('lost.jpg')?.warning).to.equal('file-unreadable');
  });

  it('is applied to what transformFile returns', async () => {
    const file = await photo(300, 200);
    const { sent } = await upload(fileOf(1, 100, 'any.txt'), {
      stripLocation: true,
      transformFile: () => file,
    });
    expect([await hasPosition(file), await hasPosition(sent)]).to.deep.equal([true, false]);
  });
});

/** A worker that answers when the test says so. */
class FakeWorker {
  static readonly all: FakeWorker[] = [];
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: ((event: unknown) => void) | undefined;
  isTerminated = false;
  readonly tasks: unknown[] = [];
  constructor() {
    FakeWorker.all.push(this);
    queueMicrotask(() => this.onmessage?.({ data: 'ready' }));
  }
  postMessage(task: unknown): void {
    this.tasks.push(task);
  }
  terminate(): void {
    this.isTerminated = true;
  }
}

describe('the worker of photos', () => {
  const { Worker } = globalThis;
  const parts = { loadTasks: () => import('../../src/photos/photo-tasks.ts') };
  const { signal } = new AbortController();
  const task = { file: new File(['x'], 'a.jpg'), maxEdge: 100, wanted: 'photo' } as const;
  const fake = (): PhotoLane => {
    FakeWorker.all.length = 0;
    globalThis.Worker = FakeWorker as unknown as typeof Worker;
    return new PhotoLane(parts);
  };
  const started = (count: number): Promise<void> => until(() => FakeWorker.all.length === count);
  const counts = (): readonly (readonly [number, boolean])[] =>
    FakeWorker.all.map(({ isTerminated, tasks }) => [tasks.length, isTerminated]);
  afterEach(() => {
    globalThis.Worker = Worker;
  });

  it('may be blocked by a policy: photos are then prepared in the page', async () => {
    globalThis.Worker = class {
      constructor() {
        throw new DOMException('policy', 'SecurityError');
      }
    } as unknown as typeof Worker;
    const file = await photo(300, 200);
    const made = await new PhotoLane(parts).run({ ...task, file }, signal);
    expect((await show(made as Blob)).width).to.equal(100);
  });

  it('gets one task at a time', async () => {
    const lane = fake();
    const results = [lane.run(task, signal), lane.run(task, signal)];
    await until(() => FakeWorker.all[0]?.tasks.length === 1);
    await settled();
    expect(counts()).to.deep.equal([[1, false]]);
    FakeWorker.all[0]?.onmessage?.({ data: { result: undefined } });
    expect(await results[0]).to.equal(undefined);
    await until(() => FakeWorker.all[0]?.tasks.length === 2);
    FakeWorker.all[0]?.onmessage?.({ data: { error: 'no memory' } });
    expect((await rejection(results[1] as Promise<unknown>)).message).to.equal('no memory');
  });

  it('is replaced after a task that is canceled, and after a crash', async () => {
    const lane = fake();
    const stop = new AbortController();
    const canceled = lane.run(task, stop.signal).catch((reason: unknown) => reason);
    await until(() => FakeWorker.all[0]?.tasks.length === 1);
    stop.abort('canceled');
    expect(await canceled).to.equal('canceled');
    const crashed = lane.run(task, signal).catch(() => 'crashed');
    await started(2);
    await until(() => FakeWorker.all[1]?.tasks.length === 1);
    FakeWorker.all[1]?.onerror?.(new Event('error'));
    expect(await crashed).to.equal('crashed');
    const last = lane.run(task, signal);
    await started(3);
    await until(() => FakeWorker.all[2]?.tasks.length === 1);
    FakeWorker.all[2]?.onmessage?.({ data: { result: undefined } });
    await last;
    expect(counts()).to.deep.equal([
      [1, true],
      [1, true],
      [1, false],
    ]);
  });
});
