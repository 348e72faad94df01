// Photos as programs save them: editors, browsers, messengers and scanners.
import { deflateSync } from 'node:zlib';
import {
  adobe,
  chunksOf,
  exifOf,
  exifSegment,
  extendedXmp,
  iptcOf,
  jfif,
  jpegOf,
  photoshop,
  place,
  placeBytes,
  profileSegments,
  resource,
  samsungTrailer,
  thumbnail,
  xmpOf,
  xmpSegment,
} from './layouts.ts';
import {
  type Bytes,
  blob,
  bytesOf,
  chunk,
  gifBlock,
  integer,
  join,
  profile,
  riff,
  segment,
} from './parts.ts';
import { fixture } from './support.ts';

const kept = (name: string, pattern: RegExp) =>
  chunksOf(fixture(name)).filter(({ type }) => pattern.test(type));

/** Returns a PNG file with the picture of a fixture, and chunks before and behind it. */
function pngOf(name: string, before: Bytes[], behind: Bytes[], ...after: Uint8Array[]): Bytes {
  const [head, ...picture] = kept(name, /IHDR|PLTE|tRNS|IDAT/).map(({ type, content }) =>
    chunk(type, content),
  );
  const signature = fixture(name).subarray(0, 8);
  return join(signature, head ?? [], ...before, ...picture, ...behind, chunk('IEND'), ...after);
}
const profileChunk = (name = place('name of the profile')): Bytes =>
  chunk('iCCP', bytesOf(`${name}\0\0`), deflateSync(profile(place('color profile'))));
/** Exif data as ImageMagick and older programs write it into PNG files: as hexadecimal text. */
const rawProfile = (exif: Bytes): Bytes => {
  const hex = Buffer.from(join(bytesOf('Exif\0\0'), exif)).toString('hex');
  return chunk('zTXt', bytesOf('Raw profile type exif\0\0'), deflateSync(`\nexif\n ${exif.length}\n${hex}`));
};

/** Returns a WebP file with the picture of a fixture. `flags` say what it has besides. */
function webpOf(name: string, flags: number, before: Bytes[], behind: Bytes[]): Bytes {
  const [canvas] = kept(name, /VP8X/);
  const picture = kept(name, /VP8 |VP8L|ALPH|ANIM|ANMF/).map(({ type, content }) => riff(type, content));
  const head =
    canvas?.content ?? Uint8Array.from([0, 0, 0, 0, ...integer(31, 3, true), ...integer(23, 3, true)]);
  const body = join(
    riff('VP8X', [(head[0] ?? 0) | flags], head.subarray(1)),
    ...[...before, ...picture, ...behind],
  );
  return join(bytesOf('RIFF'), integer(body.length + 4, 4, true), bytesOf('WEBP'), body);
}

/** Returns the animated GIF with blocks after its head. */
function gifOf(...blocks: Bytes[]): Bytes {
  const gif = fixture('magick.gif');
  const end = 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1);
  return join(gif.subarray(0, end), ...blocks, gif.subarray(end));
}
/** XMP in a GIF file is one block, and ends with a list of bytes on which readers of blocks find the end. */
const xmpBlock = join(
  [0x21, 0xff, 11],
  bytesOf('XMP DataXMP'),
  xmpOf(),
  [1],
  Uint8Array.from({ length: 256 }, (_, at) => 255 - at),
  [0],
);

const edited = (software: string) =>
  exifOf({ make: 'Canon', model: 'Canon EOS 5D Mark IV', software, first: [] });
const sony = exifOf({ make: 'Sony', model: 'XQ-DQ54', isLittle: true });

export const PROGRAMS = {
  'photoshop.jpg': jpegOf('magick-cmyk.jpg', [
    jfif(300),
    exifSegment(edited('Adobe Photoshop 25.5 (Windows)')),
    photoshop(
      resource(0x404, iptcOf()),
      resource(0x40c, join(new Uint8Array(28), thumbnail)),
      resource(0x424, xmpOf()),
      resource(0x41e, placeBytes('list of URLs')),
    ),
    photoshop(resource(0x422, placeBytes('second part of the resources'))),
    xmpSegment('xmlns:stEvt="http://ns.adobe.com/xap/1.0/sType/ResourceEvent#"'),
    profileSegments(undefined, 300),
    adobe(2),
  ]),
  'photoshop-for-web.jpg': jpegOf('chromium.jpg', [
    jfif(),
    segment(0xec, bytesOf('Ducky'), [0, 1, 0, 4, 0, 0, 0, 60], [0, 2], placeBytes('comment of Ducky')),
    xmpSegment(),
    adobe(),
  ]),
  'lightroom.jpg': jpegOf('firefox.jpg', [
    exifSegment(edited('Adobe Photoshop Lightroom Classic 13.2 (Macintosh)')),
    photoshop(resource(0x404, iptcOf()), resource(0x425, new Uint8Array(16))),
    xmpSegment('xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/" crs:Version="16.2"'),
    extendedXmp(),
    profileSegments(),
    adobe(),
  ]),
  'gimp.jpg': jpegOf('magick-progressive.jpg', [
    jfif(300),
    exifSegment(edited('GIMP 2.10.34')),
    xmpSegment('xmlns:GIMP="http://www.gimp.org/xmp/" GIMP:Version="2.10.34"'),
    profileSegments(),
    segment(0xfe, placeBytes('comment')),
  ]),
  'windows-paint.jpg': jpegOf('vips.jpg', [
    jfif(96),
    exifSegment(
      exifOf({
        ...{ make: 'HTC', model: 'One', isLittle: true },
        first: [blob(0x9c9c, placeBytes('comment of Windows')), blob(0xea1c, new Uint8Array(512))],
        exif: [blob(0xea1c, new Uint8Array(2048))],
      }),
    ),
    xmpSegment('xmlns:MicrosoftPhoto="http://ns.microsoft.com/photo/1.0/"'),
  ]),
  'whatsapp.jpg': jpegOf('magick-progressive.jpg', [
    jfif(),
    profileSegments(),
    photoshop(resource(0x404, iptcOf(place('FBMD0a000a72')))),
    exifSegment(exifOf({ make: 'motorola', model: 'moto g84' })),
  ]),
  'scanner.jpg': jpegOf('cjpeg-scans.jpg', [
    jfif(300),
    exifSegment(exifOf({ make: 'EPSON', model: 'Perfection V600', software: 'EPSON Scan', isLittle: true })),
    segment(0xfe, bytesOf('LEAD Technologies Inc. V1.01\0'), placeBytes('comment of the scanner')),
    segment(0xfe, placeBytes('second comment')),
  ]),
  'imagemagick.png': pngOf(
    'magick-palette.png',
    [
      chunk('gAMA', integer(45455, 4)),
      chunk('bKGD', [0]),
      chunk('pHYs', integer(2835, 4), integer(2835, 4), [1]),
    ],
    [
      chunk('eXIf', edited('ImageMagick 7.1.1')),
      rawProfile(edited('ImageMagick 6.9')),
      chunk('tIME', integer(2024, 2), [5, 6, 7, 8, 9]),
      chunk('tEXt', bytesOf('date:create\0'), placeBytes('text')),
      chunk('iTXt', bytesOf('XML:com.adobe.xmp\0\0\0\0\0'), xmpOf()),
    ],
  ),
  'android-screenshot.png': pngOf(
    'chromium.png',
    [
      profileChunk(),
      chunk('sBIT', [8, 8, 8, 8]),
      chunk('iTXt', bytesOf('XML:com.adobe.xmp\0\0\0\0\0'), xmpOf()),
      chunk('eXIf', sony),
    ],
    [chunk('tEXt', bytesOf('Source\0'), placeBytes('address of the page'))],
    samsungTrailer(),
  ),
  'cwebp.webp': webpOf(
    'cwebp-alpha.webp',
    0x2c,
    [riff('ICCP', profile(place('color profile')))],
    [riff('EXIF', sony), riff('XMP ', xmpOf())],
  ),
  'chromium-canvas.webp': webpOf(
    'chromium.webp',
    0x0c,
    [riff('ICCP', profile(place('color profile')))],
    [riff('EXIF', sony), riff('XMP ', xmpOf()), riff('UNKN', placeBytes('unknown chunk'))],
  ),
  'messenger.webp': webpOf('cwebp-lossless.webp', 0x08, [], [riff('EXIF', sony)]),
  'sticker.webp': webpOf('gif2webp.webp', 0x0c, [], [riff('EXIF', sony), riff('XMP ', xmpOf())]),
  'photoshop.gif': gifOf(
    xmpBlock,
    gifBlock(0xfe, placeBytes('comment')),
    gifBlock(0xff, bytesOf('ICCRGBG1012'), profile(place('color profile'))),
    gifBlock(0x01, new Uint8Array(12), placeBytes('plain text')),
  ),
};

/** Pictures without a location. Chromium writes a color profile, and Firefox a chunk of its own. */
export const CANVASES = [
  'firefox.jpg',
  'chromium.jpg',
  'chromium.png',
  'firefox.png',
  'cwebp-lossless.webp',
  'magick.gif',
];
