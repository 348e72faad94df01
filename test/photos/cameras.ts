// Photos as cameras, phones and drones lay them out.
import { heicOf } from './heic-layout.ts';
import {
  exifOf,
  exifSegment,
  extendedXmp,
  film,
  jpegOf,
  listOfImages,
  place,
  placeBytes,
  profileSegments,
  samsungTrailer,
  secondImage,
  xmpOf,
  xmpSegment,
} from './layouts.ts';
import { blob, box, bytesOf, integer, join, segment, short, text } from './parts.ts';

const apple = { make: 'Apple', model: 'iPhone 15 Pro', software: '17.4.1' };
const appleExif = exifOf({
  ...apple,
  makerNote: 'Apple iOS\0\0\x01MM\0',
  first: [text(0x13c, 'iPhone 15 Pro')],
  exif: [
    text(0x9011, '+02:00'),
    short(0xa402, 0),
    text(0xa434, 'iPhone 15 Pro back triple camera 6.765mm f/1.78'),
  ],
});
const gainMap = secondImage(
  xmpSegment('xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:GainMapMax="2.3"'),
  segment(0xe2, bytesOf('urn:iso:std:iso:ts:21496:-1\0'), placeBytes('gain map')),
);
const pixel = { make: 'Google', model: 'Pixel 8', software: 'HDR+ 1.0.600', makerNote: 'HDRP\x03' };
const directory =
  'xmlns:Container="http://ns.google.com/photos/1.0/container/" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"';
/** Data that some cameras put into the first directory for printers. */
const printer = blob(0xc4a5, join(bytesOf('PrintIM\x000300\0'), placeBytes('data for printers')));

export const CAMERAS = {
  'iphone.jpg': jpegOf(
    'vips.jpg',
    [exifSegment(appleExif), xmpSegment(), listOfImages(2), profileSegments()],
    gainMap,
  ),
  'iphone.heic': heicOf({
    brands: 'mif1MiHBMiHEMiPrmiafheictmap',
    exif: appleExif,
    xmp: xmpOf('xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" HDRGainMap:HDRGainMapVersion="65536"'),
    mark: place('color profile'),
  }),
  'samsung.heic': heicOf({
    brands: 'mif1heic',
    handler: place('name of the handler'),
    names: place('name of an item'),
    exif: exifOf({ make: 'samsung', model: 'SM-S921B', isLittle: true }),
    xmp: xmpOf(),
    mark: place('color profile'),
    after: [box('mpvd', film), box('sefd', samsungTrailer())],
  }),
  'pixel-ultra-hdr.jpg': jpegOf(
    'firefox.jpg',
    [
      exifSegment(exifOf(pixel)),
      xmpSegment(directory),
      profileSegments(),
      segment(0xe2, bytesOf('urn:iso:std:iso:ts:21496:-1\0'), [0, 0, 0, 0]),
      listOfImages(2),
    ],
    gainMap,
  ),
  'pixel-motion-photo.jpg': jpegOf(
    'firefox.jpg',
    [
      exifSegment(exifOf(pixel)),
      xmpSegment('xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:MotionPhoto="1"'),
      extendedXmp(),
      profileSegments(),
    ],
    film,
  ),
  'samsung.jpg': jpegOf(
    'cjpeg-restart.jpg',
    [
      exifSegment(
        exifOf({ make: 'samsung', model: 'SM-G991B', isLittle: true, makerNote: '\x07\0\x01\0\x07\0' }),
      ),
      segment(0xe4, placeBytes('tables of the camera')),
      segment(0xe5, bytesOf('ssuniqueid\0'), placeBytes('number of the camera')),
    ],
    samsungTrailer(),
  ),
  'canon.jpg': jpegOf('vips.jpg', [
    segment(0xe0, bytesOf('II\x1a\0\0\0HEAPJPGM'), placeBytes('CIFF')),
    exifSegment(exifOf({ make: 'Canon', model: 'Canon EOS R6', isLittle: true, makerNote: '\x2d\0\x01\0' })),
    xmpSegment('xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="0"'),
    segment(0xe2, bytesOf('FPXR\0'), placeBytes('FlashPix')),
  ]),
  'nikon.jpg': jpegOf(
    'magick-progressive.jpg',
    [
      exifSegment(
        exifOf({ make: 'NIKON CORPORATION', model: 'NIKON Z 6_2', makerNote: 'Nikon\0\x02\x11\0\0MM\0*' }),
      ),
      xmpSegment(),
      listOfImages(3),
    ],
    secondImage(exifSegment(exifOf({ make: 'NIKON', model: 'preview' }))),
    new Uint8Array(64),
    secondImage(),
  ),
  'sony.jpg': jpegOf(
    'vips.jpg',
    [
      exifSegment(
        exifOf({
          ...{ make: 'SONY', model: 'ILCE-7M4', isLittle: true, makerNote: 'SONY DSC \0\0\0' },
          first: [printer],
        }),
      ),
      listOfImages(2),
    ],
    new Uint8Array(40),
    secondImage(exifSegment(exifOf({ make: 'SONY', model: 'preview' }))),
  ),
  'fujifilm.jpg': jpegOf('cjpeg-scans.jpg', [
    exifSegment(
      exifOf({
        ...{ make: 'FUJIFILM', model: 'X-T5', isLittle: true, makerNote: 'FUJIFILM\x0c\0\0\0' },
        first: [printer, text(0x8298, 'Ada Lovelace')],
      }),
    ),
    segment(0xe2, bytesOf('FPXR\0\0\x01'), placeBytes('FlashPix')),
    segment(0xe2, bytesOf('FPXR\0\0\x02'), placeBytes('second FlashPix')),
  ]),
  'dji.jpg': jpegOf(
    'cjpeg-restart.jpg',
    [
      exifSegment(exifOf({ make: 'DJI', model: 'FC3582', makerNote: 'DJI\0' })),
      xmpSegment(
        `xmlns:drone-dji="http://www.dji.com/drone-dji/1.0/" drone-dji:GpsLatitude="${place('drone')}"`,
      ),
      segment(0xe3, placeBytes('temperatures')),
      segment(0xe4, placeBytes('second temperatures')),
      segment(0xe7, bytesOf('DJI-DBG\0'), placeBytes('log of the flight')),
      listOfImages(2),
    ],
    secondImage(),
  ),
  'gopro.jpg': jpegOf('vips.jpg', [
    exifSegment(exifOf({ make: 'GoPro', model: 'HERO11 Black', makerNote: 'GoPro' })),
    segment(
      0xe6,
      bytesOf('GoPro\0DEVC'),
      ...[[0, 1], integer(40, 2), bytesOf('GPSU'), placeBytes('telemetry')],
    ),
    xmpSegment('xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" GPano:PoseHeadingDegrees="350.0"'),
  ]),
  'insta360.jpg': jpegOf(
    'firefox.jpg',
    [exifSegment(exifOf({ make: 'Arashi Vision', model: 'Insta360 X3', isLittle: true }))],
    placeBytes('telemetry behind the picture'),
    bytesOf('8db42d694ccc418790edff439fe026bf'),
  ),
};
