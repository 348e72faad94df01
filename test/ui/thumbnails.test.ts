// Thumbnails in the list: which files get one, when, and what it costs.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import { crcOf } from '../../src/photos/png.ts';
import { Thumbnails } from '../../src/photos/thumbnails.ts';
import { stopClock } from '../support/clock.ts';
import { deferred, quietFor, settled, until } from '../support/collect.ts';
import { signOutElsewhere } from '../support/other-page.ts';
import { replace, world } from '../support/world.ts';
import { all, one, shown, textFile } from './support.ts';

/** Returns a PNG file of one color. */
async function picture(name: string, color = '#f00', width = 300, height = 200): Promise<File> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.fillStyle = color;
  context.fillRect(0, 0, width, height);
  return new File([await canvas.convertToBlob()], name, { type: 'image/png' });
}

async function create(settings = {}): Promise<SecureUploader> {
  const properties = { manual: true, ...settings, ...{ thumbnails: true } };
  return (await world({ element: true, service: 'reference', ...properties })).element;
}
const rowOf = (element: SecureUploader, name: string): HTMLElement =>
  all(element, '.row').find((row) => row.textContent?.includes(name)) as HTMLElement;

function colorOf(canvas: HTMLCanvasElement): string {
  const copy = new OffscreenCanvas(1, 1).getContext('2d') as OffscreenCanvasRenderingContext2D;
  copy.drawImage(canvas, 0, 0, 1, 1);
  return copy.getImageData(0, 0, 1, 1).data.join();
}

describe('thumbnails', () => {
  it('are shown in the rows of images, at most 96 pixels wide and high, in place of the letters', async () => {
    const element = await create();
    await element.addFiles([
      await picture('red.png'),
      await picture('high.png', '#0f0', 200, 300),
      textFile('notes.txt'),
    ]);
    const canvas = await shown(() => element.renderRoot.querySelector('canvas'));
    expect([canvas.width, canvas.height]).to.deep.equal([96, 64]);
    expect(colorOf(canvas)).to.equal('255,0,0,255');
    expect(rowOf(element, 'red').querySelector('.badge')?.textContent?.trim()).to.equal('');
    expect(one(element, '.badge[part=file-icon]').getAttribute('aria-hidden')).to.equal('true');
    await shown(() => rowOf(element, 'high').querySelector('canvas'));
    const letters = rowOf(element, 'notes').querySelector('.badge') as HTMLElement;
    expect(letters.textContent).to.equal('TXT');
    const { width, height } = letters.getBoundingClientRect();
    for (const each of all(element, 'canvas')) {
      const box = each.getBoundingClientRect();
      expect([box.width, box.height]).to.deep.equal([width, height]);
    }
  });

  it('are not made of broken files, drawings with scripts, and pictures of 900 megapixels', async () => {
    const png = new Uint8Array(await (await picture('a.png')).arrayBuffer());
    const view = new DataView(png.buffer);
    view.setUint32(16, 30_000);
    view.setUint32(20, 30_000);
    view.setInt32(29, crcOf(png.subarray(12, 29)));
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" onload="window.wasRun = true"><script>window.wasRun = true</script></svg>';
    const element = await create();
    await element.addFiles([
      new File([png], 'bomb.png', { type: 'image/png' }),
      new File([svg], 'script.svg', { type: 'image/svg+xml' }),
      new File(['x'], 'broken.jpg', { type: 'image/jpeg' }),
      new File(['x'], 'broken.mp4', { type: 'video/mp4' }),
      await picture('good.png'),
    ]);
    await shown(() => rowOf(element, 'good').querySelector('canvas'));
    expect(all(element, 'canvas')).to.have.length(1);
    expect(all(element, '.badge').map(({ textContent }) => textContent?.trim())).to.include.members([
      'PNG',
      'SVG',
      'JPG',
      'MP4',
    ]);
    expect('wasRun' in window).to.equal(false);
  });

  it('show a frame of a video, if the browser can play it', async () => {
    const webm = await (await fetch('/test/photos/fixtures/green.webm')).blob();
    const isPlayable = document.createElement('video').canPlayType('video/webm; codecs=vp8') !== '';
    const element = await create();
    await element.addFiles([
      new File([webm], 'film.webm', { type: 'video/webm' }),
      // The content decides.
      new File([webm], 'wrong.avi', { type: 'video/x-msvideo' }),
      await picture('last.png'),
    ]);
    await shown(() => rowOf(element, 'last').querySelector('canvas'));
    for (const name of ['film', 'wrong']) {
      if (isPlayable) await shown(() => rowOf(element, name).querySelector('canvas'));
      else expect(rowOf(element, name).querySelector('canvas') === null).to.equal(true);
    }
    if (!isPlayable) return;
    // Browsers convert the colors of videos differently.
    const [red = 0, green = 0, blue = 0] = colorOf(one<HTMLCanvasElement>(element, 'canvas'))
      .split(',')
      .map(Number);
    expect(green - Math.max(red, blue)).to.be.greaterThan(100);
  });

  it('make no request, whatever a file says that it is', async () => {
    const run = crypto.randomUUID();
    const webm = await (await fetch('/test/photos/fixtures/green.webm')).blob();
    const isPlayable = document.createElement('video').canPlayType('video/webm; codecs=vp8') !== '';
    const listOf = (name: string, tag = '#EXTM3U'): string =>
      `${tag}\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${location.origin}/test-hits/${run}/${name}\n#EXT-X-ENDLIST\n`;
    const url = (name: string): string => `${location.origin}/test-hits/${run}/${name}`;
    const dash = `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><BaseURL>${url('dash')}</BaseURL></MPD>`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url('svg')}" width="9" height="9"/></svg>`;
    const ftyp = '\0\0\0\x18ftypisom\0\0\0\0isommp42';
    const box = (type: string, content: string): string =>
      `${String.fromCharCode(0, 0, 0, 8 + content.length)}${type}${content}`;
    /** A QuickTime film that consists of the URL of another one. */
    const reference = (name: string, brand: string): string[] => {
      const address = `${url(name)}\0`;
      const data = `\0\0\0\0url \0\0\0${String.fromCharCode(address.length)}${address}`;
      return [
        box('ftyp', `${brand}\0\0\0\0${brand}`),
        box('moov', box('rmra', box('rmda', box('rdrf', data)))),
      ];
    };
    const contents: Readonly<Record<string, readonly BlobPart[]>> = {
      'list.mp4': [listOf('list')],
      'list.webm': [listOf('webm')],
      'mark.mp4': ['\ufeff', listOf('mark')],
      'space.mp4': [' \r\n\t', listOf('space')],
      'dash.mp4': [dash],
      'list.png': [listOf('png')],
      'svg.png': [svg],
      'svg.mp4': [svg],
      'after.mp4': [ftyp, listOf('after')],
      'size.mp4': [listOf('size', '#EXTftypisom')],
      'matroska.mkv': [new Uint8Array([0x1a, 0x45, 0xdf, 0xa3]), listOf('matroska')],
      'ogg.ogv': ['OggS\0', listOf('ogg')],
      'reference.mov': reference('reference', 'qt  '),
      'reference.mp4': reference('isom', 'isom'),
      'short.mp4': [ftyp.slice(0, 8)],
      'shorter.mp4': ['\0'],
      'empty.mp4': [],
    };
    const element = await create();
    await element.addFiles([
      ...Object.entries(contents).map(
        ([name, parts]) =>
          new File([...parts], name, { type: name.endsWith('png') ? 'image/png' : 'video/mp4' }),
      ),
      await picture('last.png'),
      new File([webm], 'last.webm', { type: 'video/webm' }),
    ]);
    await shown(() => rowOf(element, 'last.png').querySelector('canvas'));
    // Films are shown in the order of the rows.
    if (isPlayable) await shown(() => rowOf(element, 'last.webm').querySelector('canvas'));
    const hits = Object.keys((await (await fetch('/test-hits')).json()) as object);
    expect(hits.filter((path) => path.includes(run))).to.deep.equal([]);
    expect(all(element, 'canvas')).to.have.length(isPlayable ? 2 : 1);
  });

  it('are kept for 300 files at most', async () => {
    const file = await picture('blue.png', '#00f', 8, 8);
    const ready: number[] = [];
    const thumbnails = new Thumbnails({
      loadTasks: () => import('../../src/photos/photo-tasks.ts'),
      fileOf: () => file,
      onReady: () => ready.push(1),
      whenIdle: (work) => work(),
    });
    const ids = Array.from({ length: 301 }, (_, at) => `file ${at}`);
    for (const id of ids) thumbnails.of(id);
    await until(() => ready.length === ids.length);
    expect([thumbnails.of('file 1') !== undefined, thumbnails.of('file 0')]).to.deep.equal([true, undefined]);
  });

  it('are made of the next files, if one is never decoded', async () => {
    const image = await createImageBitmap(await picture('red.png'));
    const tasks: string[] = [];
    const thumbnails = new Thumbnails({
      startWorker: () => Promise.reject(new Error('no worker here')),
      loadTasks: async () => ({
        runTask: ({ file }) => {
          tasks.push(file.name);
          return file.name === 'good.png' ? Promise.resolve(image) : new Promise(() => undefined);
        },
      }),
      fileOf: (name) => new File(['x'], name, { type: 'image/png' }),
      onReady: () => undefined,
      whenIdle: (work) => work(),
    });
    const clock = stopClock();
    try {
      thumbnails.of('bad.png');
      thumbnails.of('good.png');
      await until(() => tasks.length === 1);
      await clock.pass(120_000);
      await until(() => thumbnails.of('good.png') !== undefined);
    } finally {
      clock.restore();
    }
    expect(tasks).to.deep.equal(['bad.png', 'good.png']);
  });

  it('of images do not wait for a film that is never shown, and films of rows that left the screen end', async () => {
    const image = await createImageBitmap(await picture('red.png'));
    const shownUrls: string[] = [];
    replace(HTMLVideoElement.prototype, 'load', () => undefined);
    replace(URL, 'createObjectURL', (blob: Blob) => shownUrls.push(`${blob.type} shown`) && 'blob:none');
    replace(URL, 'revokeObjectURL', () => shownUrls.push('revoked'));
    const thumbnails = new Thumbnails({
      startWorker: () => Promise.reject(new Error('no worker here')),
      loadTasks: async () => ({
        runTask: async ({ file }) => (file.name === 'good.png' ? image : 'video/mp4'),
      }),
      fileOf: (name) => new File(['x'], name, { type: name === 'good.png' ? 'image/png' : 'video/mp4' }),
      onReady: () => undefined,
      whenIdle: (work) => work(),
    });
    // No film is ever loaded.
    replace(HTMLVideoElement.prototype, 'src', '');
    const clock = stopClock();
    try {
      for (const name of ['bad.mp4', 'worse.mp4', 'good.png']) thumbnails.of(name);
      await until(() => thumbnails.of('good.png') !== undefined);
      expect(shownUrls).to.deep.equal(['video/mp4 shown']);
      // A rendering without the first film.
      thumbnails.of('worse.mp4');
      await settled();
      expect(shownUrls).to.deep.equal(['video/mp4 shown', 'video/mp4 shown', 'revoked']);
      await clock.pass(10_000);
      expect(shownUrls.slice(3)).to.deep.equal(['revoked']);
    } finally {
      clock.restore();
    }
  });

  it('leave with their row, also if they are made meanwhile', async () => {
    const file = await picture('blue.png', '#00f', 8, 8);
    const listed = new Set(['first', 'second']);
    let readyCount = 0;
    const reading = deferred<ImageBitmap>();
    const thumbnails = new Thumbnails({
      startWorker: () => Promise.reject(new Error('no worker here')),
      loadTasks: async () => ({
        runTask: () => (readyCount === 0 ? createImageBitmap(file) : reading.promise),
      }),
      fileOf: (id) => (listed.has(id) ? file : undefined),
      onReady: () => (readyCount += 1),
      whenIdle: (work) => work(),
    });
    thumbnails.of('first');
    await until(() => thumbnails.of('first') !== undefined);
    thumbnails.of('second');
    await settled();
    listed.clear();
    for (const id of ['first', 'second']) thumbnails.forget(id);
    const late = await createImageBitmap(file);
    reading.resolve(late);
    await until(quietFor(50, () => readyCount));
    expect(late.width, 'its memory is free').to.equal(0);
    expect([thumbnails.of('first'), thumbnails.of('second'), readyCount]).to.deep.equal([
      undefined,
      undefined,
      1,
    ]);
  });

  describe('of films', () => {
    const listed = new Set<string>();
    let reading = deferred<'video/mp4'>();
    let drawing = deferred<ImageBitmap>();
    let drawCount = 0;
    let thumbnails: Thumbnails;
    beforeEach(() => {
      listed.clear();
      listed.add('film.mp4');
      [reading, drawing, drawCount] = [deferred(), deferred(), 0];
      // Each film has loaded, and is at its frame.
      replace(HTMLVideoElement.prototype, 'src', '');
      replace(HTMLVideoElement.prototype, 'duration', 2);
      replace(HTMLVideoElement.prototype, 'currentTime', 0);
      replace(HTMLVideoElement.prototype, 'load', () => undefined);
      replace(HTMLVideoElement.prototype, 'addEventListener', (type: string, run: () => void) => {
        if (type !== 'error') queueMicrotask(run);
      });
      replace(globalThis, 'createImageBitmap' as never, () => {
        drawCount += 1;
        return drawing.promise;
      });
      thumbnails = new Thumbnails({
        startWorker: () => Promise.reject(new Error('no worker here')),
        loadTasks: async () => ({ runTask: () => reading.promise }),
        fileOf: (name) => (listed.has(name) ? new File(['x'], name, { type: 'video/mp4' }) : undefined),
        onReady: () => undefined,
        whenIdle: (work) => work(),
      });
      thumbnails.of('film.mp4');
    });
    const leave = (): void => {
      listed.clear();
      thumbnails.forget('film.mp4');
    };

    it('leave with their row while the browser draws the frame, whose memory is then free', async () => {
      const canvas = new OffscreenCanvas(8, 8);
      canvas.getContext('2d');
      const late = canvas.transferToImageBitmap();
      reading.resolve('video/mp4');
      await until(() => drawCount === 1);
      leave();
      drawing.resolve(late);
      await until(() => late.width === 0);
      expect(thumbnails.of('film.mp4')).to.equal(undefined);
    });

    it('leave with their row while their content is read, and are then not decoded', async () => {
      let urlCount = 0;
      replace(URL, 'createObjectURL', () => {
        urlCount += 1;
        return 'blob:none';
      });
      await settled();
      leave();
      reading.resolve('video/mp4');
      await until(quietFor(50, () => urlCount));
      expect([urlCount, drawCount]).to.deep.equal([0, 0]);
    });
  });

  for (const [when, act] of [
    ['the user signs out', (element: SecureUploader) => element.signOut()],
    ['the user signs out in another tab', async () => signOutElsewhere()],
    ['another owner is named', async (element: SecureUploader) => element.setAttribute('owner', 'bob')],
    ['the files are removed', (element: SecureUploader) => element.cancel().then(() => element.clear())],
  ] as const)
    it(`are forgotten when ${when}`, async () => {
      const forgotten: string[] = [];
      const { forget } = Thumbnails.prototype;
      replace(Thumbnails.prototype, 'forget', function note(this: Thumbnails, id: string) {
        forgotten.push(id);
        forget.call(this, id);
      });
      const element = await create({ owner: 'ann' });
      await element.addFiles([await picture('red.png'), await picture('blue.png', '#00f')]);
      await shown(() => all(element, 'canvas').length === 2);
      const ids = element.snapshot.files.map(({ id }) => id);
      await act(element);
      // Elements of earlier tests, which are not in the page any more, forget theirs, too.
      await until(() => ids.every((id) => forgotten.includes(id)));
    });

  it('are made of the visible rows only', async () => {
    const element = await create();
    const files = await Promise.all(
      Array.from({ length: 200 }, (_, at) => picture(`${at}.png`, '#00f', 20, 20)),
    );
    await element.addFiles(files);
    // Not `until`, which would leave the page no idle time.
    await shown(() => all(element, 'canvas').length > 5);
    await shown(() => all(element, 'canvas').length === all(element, '.row').length);
    expect(all(element, '.row').length).to.be.lessThan(100);
  });

  it('stay in the row while its file is uploaded, and after', async () => {
    const element = await create({ manual: false });
    await element.addFiles([await picture('red.png')]);
    const canvas = await shown(() => element.renderRoot.querySelector('canvas'));
    const row = await shown(() => element.renderRoot.querySelector('.row.done'));
    expect(row.contains(canvas)).to.equal(true);
    expect(row.querySelector('.mark')).not.to.equal(null);
  });

  it('are not loaded without the attribute', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    await element.addFiles([await picture('red.png')]);
    await shown(() => element.renderRoot.querySelector('.row'));
    await until(quietFor(100, () => performance.getEntriesByType('resource').length));
    expect(all(element, 'canvas')).to.have.length(0);
  });
});
