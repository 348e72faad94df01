// Photos laid out as those of cameras and programs lose their location, and keep picture, date, orientation and colors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import exifr from 'exifr';
import ExifReader from 'exifreader';
import { CAMERAS } from './cameras.ts';
import { tile } from './heic-layout.ts';
import { chunkPicture, chunksOf, colorTags, jpegPicture, placesIn, profileOf } from './layouts.ts';
import { CANVASES, PROGRAMS } from './programs.ts';
import { type Bytes, fixture, has, secretsIn, stripped } from './support.ts';

const kindOf = (name: string): string => name.split('.').pop() ?? '';

/** Returns the bytes of the picture, whatever is around them. */
function pictureOf(name: string, bytes: Bytes): unknown {
  const kind = kindOf(name);
  if (kind === 'jpg') return jpegPicture(bytes);
  if (kind === 'png' || kind === 'webp') return chunkPicture(bytes);
  // The tiles of the picture, which stay where they are.
  return bytes.subarray(Buffer.from(bytes).indexOf(tile)).subarray(0, 2 * tile.length);
}

/** What both readers find. `exifr` reads no GIF and no WebP file, of which it gets the Exif data alone. */
async function read(name: string, bytes: Bytes) {
  const buffer = Buffer.from(bytes);
  const isWebP = kindOf(name) === 'webp';
  const exif = isWebP ? chunksOf(bytes).find(({ type }) => type === 'EXIF')?.content : buffer;
  const input = exif && kindOf(name) !== 'gif' ? Buffer.from(exif) : undefined;
  const gps = input && (await exifr.gps(input).catch(() => undefined));
  const parsed = input && (await exifr.parse(input, { reviveValues: false, translateValues: false }));
  const found = ExifReader.load(buffer, { expanded: true });
  return {
    latitudes: [gps?.latitude, found.gps?.Latitude].map((value) => value?.toFixed(4)),
    dates: [parsed?.DateTimeOriginal, found.exif?.DateTimeOriginal?.description],
    orientations: [parsed?.Orientation, found.exif?.Orientation?.value],
    hasXmp: found.xmp !== undefined,
    hasIptc: found.iptc !== undefined,
    hasImages: 'mpf' in found,
    hasThumbnail: found.Thumbnail !== undefined,
  };
}

/** The other things that a segment or a chunk may have: nothing else is left. */
const KEPT: Readonly<Record<string, RegExp>> = {
  jpg: /^(?:e0 JFIF|e1 Exif|e2 ICC_PROFILE|ee Adobe)/,
  png: /^(?:iCCP|eXIf|gAMA|bKGD|pHYs|sBIT|tIME|IEND|IHDR|PLTE|tRNS|IDAT)$/,
  webp: /^(?:VP8X|ICCP|EXIF|ANIM|ANMF|ALPH|VP8 |VP8L)$/,
};

/** Returns the names of all parts of a photo. */
function partsOf(name: string, bytes: Bytes): string[] {
  const kind = kindOf(name);
  if (kind !== 'jpg') return kind in KEPT ? chunksOf(bytes).map(({ type }) => type) : [];
  const text = Buffer.from(bytes).toString('latin1');
  const head = text.slice(0, text.indexOf('\xff\xda'));
  return [...head.matchAll(/\xff([\xe0-\xef\xfe])..(\w*)/gs)].map(
    ([, marker = '', word]) => `${marker.charCodeAt(0).toString(16)} ${word}`,
  );
}

/** Photos whose location is in XMP or in texts only. */
const WITHOUT_EXIF = new Set(['photoshop-for-web.jpg', 'photoshop.gif']);

for (const [name, before] of Object.entries({ ...CAMERAS, ...PROGRAMS })) {
  test(`${name} loses its location, and keeps picture, date, orientation and colors`, async () => {
    const bytes = before.slice();
    const found = await read(name, before);
    const hasExif = !WITHOUT_EXIF.has(name);
    assert.ok(placesIn(before).length > 0 && secretsIn(before) > 0);
    if (hasExif)
      assert.deepEqual(
        [found.latitudes, found.orientations],
        [
          ['48.8584', '48.8584'],
          [6, 6],
        ],
      );

    const after = await stripped(before, name);
    assert.deepEqual(before, bytes, 'the original is the same');
    assert.deepEqual(placesIn(after), []);
    assert.equal(secretsIn(after), 0);
    assert.deepEqual(await read(name, after), {
      latitudes: [undefined, undefined],
      dates: found.dates,
      orientations: found.orientations,
      ...{ hasXmp: false, hasIptc: false, hasImages: false, hasThumbnail: false },
    });
    if (kindOf(name) === 'gif') assert.deepEqual(after, fixture('magick.gif'));
    else assert.deepEqual(pictureOf(name, after), pictureOf(name, before));
    if (kindOf(name) === 'heic') assert.equal(after.length, before.length);
    const others = partsOf(name, after).filter((part) => !KEPT[kindOf(name)]?.test(part));
    assert.deepEqual(others, []);

    assert.deepEqual(await stripped(after, name), after, 'nothing is left to remove');

    const colors = profileOf(before);
    const colorsAfter = profileOf(after);
    assert.equal(colorsAfter === undefined, colors === undefined);
    if (!colors || !colorsAfter) return;
    assert.ok(has(colors, new TextEncoder().encode('Champ de Mars')));
    assert.deepEqual(placesIn(colorsAfter), []);
    assert.deepEqual(colorTags(colorsAfter), colorTags(colors));
  });
}

for (const name of CANVASES)
  test(`${name}, which has no location, keeps its picture and its colors`, async () => {
    const before = fixture(name);
    const after = await stripped(before, name);
    if (kindOf(name) === 'gif') assert.deepEqual(after, before);
    else assert.deepEqual(pictureOf(name, after), pictureOf(name, before));
    const colors = profileOf(before);
    if (colors) assert.deepEqual(colorTags(profileOf(after) ?? colors.subarray(0, 0)), colorTags(colors));
    assert.deepEqual(await stripped(after, name), after);
  });
