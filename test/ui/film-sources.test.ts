// Which files become the source of a `<video>`: films only, since players also play lists of URLs and request these.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import { type Bytes, box, bytesOf, integer, join } from '../photos/parts.ts';
import { replace, world } from '../support/world.ts';
import { all, shown } from './support.ts';

const run = crypto.randomUUID();
const urlOf = (name: string): string => `${location.origin}/test-hits/${run}/${name}`;
const listOf = (name: string): string =>
  `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${urlOf(name)}\n#EXT-X-ENDLIST\n`;

const ftyp = (brand = 'isom') => box('ftyp', bytesOf(`${brand}\0\0\0\0${brand}mp42`));
/** A box whose size has eight bytes. */
const largeBox = (type: string, ...content: Uint8Array[]): Bytes => {
  const whole = join(...content);
  return join(integer(1, 4), bytesOf(type), integer(whole.length + 16, 8), whole);
};
const reference = (name: string): Bytes => {
  const address = bytesOf(`${urlOf(name)}\0`);
  const data = join(integer(0, 4), bytesOf('url '), integer(address.length, 4), address);
  return box('rmra', box('rmda', box('rdrf', data)));
};
/** A track whose media are at a URL. */
const elsewhere = (name: string): Bytes => {
  const entry = box('url ', integer(0, 4), bytesOf(`${urlOf(name)}\0`));
  const list = box('dref', integer(0, 4), integer(1, 4), entry);
  return box('trak', box('mdia', box('minf', box('dinf', list))));
};
const head = box('mvhd', new Uint8Array(100));
const utf16 = (text: string): Bytes =>
  join(
    [0xff, 0xfe],
    Array.from(text).flatMap((letter) => [letter.charCodeAt(0), 0]),
  );

/** Files that are no films, by name. */
const NO_FILMS: Readonly<Record<string, readonly BlobPart[]>> = {
  'list.mp4': [listOf('list')],
  'list.m3u8': [listOf('m3u8')],
  'mark.mp4': ['\ufeff', listOf('mark')],
  'utf-16.mp4': [utf16(listOf('utf-16'))],
  'lines.mov': ['\r\n\r\n', listOf('lines')],
  'zeros.mp4': [new Uint8Array(8), listOf('zeros')],
  'tagged.mp4': ['ID3\x04\0\0\0\0\0\0', listOf('tagged')],
  'packets.ts': [`G${'\0'.repeat(187)}`.repeat(3), listOf('packets')],
  'riff.avi': ['RIFF\x40\0\0\0AVI LIST', listOf('riff')],
  'free.mp4': [box('free', bytesOf(listOf('free'))), listOf('free-2')],
  'dash.mp4': [
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>${urlOf('dash')}</BaseURL></MPD>`,
  ],
  'smil.mov': [`SMILtext<smil><body><video src="${urlOf('smil')}"/></body></smil>`],
  'stream.mov': [`RTSPtext\r${urlOf('stream')}`],
  'asx.wmv': [`<asx version="3.0"><entry><ref href="${urlOf('asx')}"/></entry></asx>`],
  'drawing.mp4': [`<svg xmlns="http://www.w3.org/2000/svg"><image href="${urlOf('drawing')}"/></svg>`],
  'page.webm': [`<!doctype html><img src="${urlOf('page')}">`],
  'behind-brands.mp4': [ftyp(), listOf('behind-brands')],
  'behind-movie.mp4': [ftyp(), box('moov', head), listOf('behind-movie')],
  'brands-only.mp4': [ftyp()],
  'media-only.mp4': [ftyp(), box('mdat', bytesOf(listOf('media-only')))],
  'reference.mov': [ftyp('qt  '), box('moov', reference('reference'))],
  'reference-behind-head.mov': [ftyp('qt  '), box('moov', head, reference('reference-behind-head'))],
  'reference-in-large-box.mov': [ftyp('qt  '), largeBox('moov', reference('reference-in-large-box'))],
  'reference-in-second-movie.mp4': [
    ...[ftyp(), box('moov', head), box('moov', reference('reference-in-second-movie'))],
  ],
  'media-elsewhere.mov': [ftyp('qt  '), box('moov', head, elsewhere('media-elsewhere'))],
  'compressed.mov': [ftyp('qt  '), box('moov', box('cmov', bytesOf('zlib')))],
};

/** Records the sources of all films. The browser still gets them. */
function watchSources(): string[] {
  const sources: string[] = [];
  const own = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'src');
  const createObjectURL = URL.createObjectURL.bind(URL);
  replace(URL, 'createObjectURL', (blob: Blob) => {
    if (blob.type.startsWith('video/')) sources.push(`${blob.type} of ${blob.size} bytes`);
    return createObjectURL(blob);
  });
  replace(HTMLMediaElement.prototype, 'src', undefined);
  Object.defineProperty(HTMLMediaElement.prototype, 'src', {
    ...own,
    set(this: HTMLMediaElement, url: string) {
      sources.push('src');
      own?.set?.call(this, url);
    },
  });
  return sources;
}

async function picture(name: string, type: string): Promise<File> {
  const canvas = new OffscreenCanvas(60, 40);
  canvas.getContext('2d')?.fillRect(0, 0, 30, 40);
  const blob = await canvas.convertToBlob({ type: 'image/jpeg' });
  return new File([blob], name, { type });
}
const film = async (name: string, type: string): Promise<File> => {
  const blob = await (await fetch('/test/photos/fixtures/green.webm')).blob();
  return new File([await blob.arrayBuffer()], name, { type });
};
const isPlayable = document.createElement('video').canPlayType('video/webm; codecs=vp8') !== '';

async function create(): Promise<SecureUploader> {
  const properties = { manual: true, ...{ thumbnails: true } };
  return (await world({ element: true, service: 'reference', ...properties })).element;
}
const rowOf = (element: SecureUploader, name: string): HTMLElement | undefined =>
  all(element, '.row').find((row) => row.textContent?.includes(name));
const withCanvas = (element: SecureUploader, name: string) =>
  shown(() => rowOf(element, name)?.querySelector('canvas'));

describe('sources of films', () => {
  for (const type of ['video/mp4', '']) {
    const kind = type || 'no type';

    it(`are not files that are no films, which make no request (${kind})`, async () => {
      const element = await create();
      const sources = watchSources();
      await element.addFiles([
        ...Object.entries(NO_FILMS).map(([name, parts]) => new File([...parts], name, { type })),
        await picture('last.jpg', 'image/jpeg'),
      ]);
      await withCanvas(element, 'last');
      const hits = Object.keys((await (await fetch('/test-hits')).json()) as object);
      expect(hits.filter((path) => path.includes(run))).to.deep.equal([]);
      expect(sources).to.deep.equal([]);
      expect(all(element, 'canvas')).to.have.length(1);
    });

    it(`are films by their content (${kind})`, async () => {
      const element = await create();
      const sources = watchSources();
      await element.addFiles([await film('film.webm', type), await picture('last.jpg', 'image/jpeg')]);
      await withCanvas(element, 'last');
      await shown(() => sources.length === 2);
      if (isPlayable) await withCanvas(element, 'film');
      expect(sources[1]).to.equal('src');
    });
  }
});

describe('a thumbnail', () => {
  it('is shown of a photo whose type is empty, whatever its name is', async () => {
    const element = await create();
    const names = ['photo.jpg', 'IMG_0001', 'photo.heic', 'photo.txt'];
    await element.addFiles(await Promise.all(names.map((name) => picture(name, ''))));
    for (const name of names) await withCanvas(element, name);
    expect(all(element, 'canvas')).to.have.length(names.length);
  });
});
