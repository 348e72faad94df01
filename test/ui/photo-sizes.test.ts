// What a browser decodes: the same pixels without a location, and nothing that is too large or that is no picture.

import { expect } from '@open-wc/testing';
import { runTask } from '../../src/photos/photo-tasks.ts';
import { stripLocation } from '../../src/photos/strip-location.ts';
import { bombsOf, picturesOf } from '../photos/bombs.ts';
import {
  type Bytes,
  blob,
  bytesOf,
  chunk,
  gifBlock,
  integer,
  join,
  latitude,
  profile,
  riff,
  segment,
  short,
  text,
  tiff,
} from '../photos/parts.ts';
import { replace } from '../support/world.ts';

async function fixture(name: string): Promise<Bytes> {
  const response = await fetch(`/test/photos/fixtures/${name}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function deflate(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Resolves with the pixels of a picture; `undefined` if the browser does not show it. */
async function pixelsOf(file: Blob): Promise<string | undefined> {
  // As one part: Firefox does not recognize a picture whose first part has a few bytes only.
  const whole = new Blob([await file.arrayBuffer()]);
  const image = await createImageBitmap(whole).catch(() => undefined);
  if (!image) return undefined;
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0);
  return `${width} x ${height}: ${context.getImageData(0, 0, width, height).data.join()}`;
}

const place = bytesOf('Champ de Mars, 48.8584, 2.2945');
const exif = tiff(true, [
  text(0x10f, 'Acme Inc.'),
  short(0x112, 6),
  { tag: 0x8769, directory: [text(0x9003, '2024:05:06 07:08:09'), blob(0x927c, place)] },
  { tag: 0x8825, directory: [text(1, 'N'), latitude, text(3, 'E')] },
]);
const swapped = profile('Champ de Mars', true);

/** Returns a JPEG file with metadata, and perhaps a color profile. */
const jpeg = (picture: Bytes, icc?: Bytes): Bytes =>
  join(
    picture.subarray(0, 2),
    segment(0xe1, bytesOf('Exif\0\0'), exif),
    segment(0xe1, bytesOf('http://ns.adobe.com/xap/1.0/\0'), place),
    icc ? segment(0xe2, bytesOf('ICC_PROFILE\0\x01\x01'), icc) : [],
    segment(0xed, bytesOf('Photoshop 3.0\0'), place),
    picture.subarray(2),
    place,
  );

/** Returns a copy with bytes in front of the first segment of a kind. */
function before(marker: number, picture: Bytes, ...bytes: number[]): Bytes {
  const at = String.fromCharCode(...picture).indexOf(`\xff${String.fromCharCode(marker)}`);
  return join(picture.subarray(0, at), bytes, picture.subarray(at));
}

const png = (picture: Bytes, ...chunks: Bytes[]): Bytes =>
  join(picture.subarray(0, 33), ...chunks, picture.subarray(33), place);

/** Returns a WebP file with chunks before and behind its picture. */
function webp(picture: Bytes, flags: number, first: Bytes[], ...last: Bytes[]): Bytes {
  const hasCanvas = picture[15] === 'X'.charCodeAt(0);
  const canvas = hasCanvas ? picture.slice(20, 30) : Uint8Array.of(0, 0, 0, 0, 31, 0, 0, 23, 0, 0);
  canvas[0] = (canvas[0] ?? 0) | flags;
  const body = join(
    ...[bytesOf('WEBP'), riff('VP8X', canvas), ...first],
    ...[picture.subarray(hasCanvas ? 30 : 12), ...last],
  );
  return join(bytesOf('RIFF'), integer(body.length, 4, true), body);
}

/** Returns an animated PNG file whose second frame is that of another picture. */
async function movingPng(): Promise<Bytes> {
  const control = (sequence: number) =>
    chunk('fcTL', ...[sequence, 2, 2, 0, 0].map((value) => integer(value, 4)), [0, 1, 0, 10, 0, 0]);
  const frame = (red: number) => deflate(Uint8Array.from([0, red, 0, 0, 0, red, 0, 0, 0, 0, red, red, 0, 0]));
  return join(
    [0x89, ...bytesOf('PNG\r\n\x1a\n')],
    chunk('IHDR', integer(2, 4), integer(2, 4), [8, 2, 0, 0, 0]),
    chunk('acTL', integer(2, 4), integer(0, 4)),
    chunk('tEXt', bytesOf('Comment\0'), place),
    control(0),
    chunk('IDAT', await frame(200)),
    control(1),
    chunk('fdAT', integer(2, 4), await frame(90)),
    chunk('IEND'),
  );
}

async function photos(): Promise<Readonly<Record<string, Bytes>>> {
  const names = 'chromium firefox vips magick-progressive magick-cmyk cjpeg-restart cjpeg-scans'.split(' ');
  const jpegs = await Promise.all(
    names.map(async (name) => [`${name}.jpg`, jpeg(await fixture(`${name}.jpg`))] as const),
  );
  const plain = await fixture('firefox.jpg');
  const gif = await fixture('magick.gif');
  const gifHead = 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1);
  const iccp = chunk('iCCP', bytesOf('Champ de Mars\0\0'), await deflate(swapped));
  const texts = chunk('tEXt', bytesOf('Comment\0'), place);
  const moving = await fixture('gif2webp.webp');
  return {
    ...Object.fromEntries(jpegs),
    'profile.jpg': jpeg(plain, swapped),
    'profile-with-zeros.jpg': jpeg(plain, join(swapped, [0, 0, 0, 0])),
    'profile-progressive.jpg': jpeg(await fixture('magick-progressive.jpg'), swapped),
    'zero-byte.jpg': before(0xdb, jpeg(plain), 0),
    'zero-bytes.jpg': before(0xc0, jpeg(plain), 0, 0),
    'fill-bytes.jpg': before(0xc0, jpeg(plain), 0xff, 0xff, 0xff),
    'empty-marker.jpg': before(0xdb, jpeg(plain), 0xff, 1),
    'restart-marker.jpg': before(0xdb, jpeg(plain), 0xff, 0xd3),
    'short-segment.jpg': before(0xe1, jpeg(plain), 0xff, 0xec, 0, 6, 1, 2, 3, 4, 5, 6),
    'empty-segment.jpg': before(0xdb, jpeg(plain), 0xff, 0xe1, 0, 2),
    'profile.png': png(await fixture('chromium.png'), iccp, texts, chunk('eXIf', exif)),
    'transparent.png': png(await fixture('magick-palette.png'), iccp, texts),
    'firefox.png': png(await fixture('firefox.png'), texts),
    'moving.png': await movingPng(),
    'alpha.webp': webp(await fixture('cwebp-alpha.webp'), 0x28, [riff('ICCP', swapped)], riff('EXIF', exif)),
    'lossless.webp': webp(
      await fixture('cwebp-lossless.webp'),
      0x0c,
      [],
      riff('EXIF', exif),
      riff('XMP ', place),
    ),
    'chromium.webp': webp(await fixture('chromium.webp'), 4, [], riff('XMP ', place)),
    'moving.webp': webp(moving, 4, [], riff('XMP ', place)),
    'moving.gif': join(gif.subarray(0, gifHead), gifBlock(0xfe, place), gif.subarray(gifHead), place),
  };
}

describe('pixels of a photo', () => {
  it('are the same without its location, in each format', async () => {
    const wrong: string[] = [];
    for (const [name, bytes] of Object.entries(await photos())) {
      const file = new File([bytes], name);
      const shown = await pixelsOf(file);
      const stripped = await stripLocation(file);
      if (!shown) wrong.push(`${name} is not shown`);
      else if (stripped === 'unsupported') wrong.push(`${name} is refused`);
      else if ((await stripped.text()).includes('Champ de Mars')) wrong.push(`${name} has a location`);
      else if ((await pixelsOf(stripped)) !== shown) wrong.push(`${name} has other pixels`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('depend on color profile and orientation, which therefore stay', async () => {
    const plain = await fixture('firefox.jpg');
    const shown = await pixelsOf(new Blob([plain]));
    const turned = await pixelsOf(new Blob([jpeg(plain)]));
    const colored = await pixelsOf(new Blob([jpeg(plain, swapped)]));
    expect(new Set([shown, turned, colored]).size).to.equal(3);
  });
});

/** Resolves with the number of pictures that are decoded while `work` runs. */
async function countDecoded(work: () => Promise<unknown>): Promise<number> {
  const { createImageBitmap } = globalThis;
  let count = 0;
  replace(globalThis, 'createImageBitmap', (...given: Parameters<typeof createImageBitmap>) => {
    count += 1;
    return createImageBitmap(...given);
  });
  await work();
  replace(globalThis, 'createImageBitmap', createImageBitmap);
  return count;
}

describe('a decoder', () => {
  const given = async () => {
    const data = await deflate(new Uint8Array((4 * 16 + 1) * 16));
    return {
      edge: 9000,
      avif: await fixture('photo.avif'),
      heic: await fixture('photo.heic'),
      data: () => data,
    };
  };
  const tasks = ['thumbnail', 'photo', 'without-location'] as const;

  it('gets no picture that is too large, has no size, or more than one', async () => {
    const decoded: string[] = [];
    for (const [name, bytes] of Object.entries(bombsOf(await given())))
      for (const wanted of tasks) {
        const file = new File([bytes], name);
        const work = () => runTask({ file, maxEdge: 8, wanted });
        if (await countDecoded(work)) decoded.push(`${name} as ${wanted}`);
      }
    expect(decoded).to.deep.equal([]);
  });

  it('gets pictures of the same kinds with an allowed size', async () => {
    const left: string[] = [];
    for (const [name, bytes] of Object.entries(picturesOf(await given()))) {
      const file = new File([bytes], name);
      const work = () => runTask({ file, maxEdge: 8, wanted: 'thumbnail' });
      if ((await countDecoded(work)) !== 1) left.push(name);
    }
    expect(left).to.deep.equal([]);
  });
});
