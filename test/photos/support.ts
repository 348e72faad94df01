// Photos with a location, and two independent readers of Exif data. ImageMagick, cjpeg, exiftool and heif-enc made the photos in
// `fixtures`. Their location is the Champ de Mars, and they have a thumbnail and XMP.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import exifr from 'exifr';
import ExifReader from 'exifreader';
import { stripLocation } from '../../src/photos/strip-location.ts';
import { type Bytes, bytesOf, integer } from './parts.ts';

export {
  type Bytes,
  blob,
  bytesOf,
  integer,
  join,
  latitude,
  rational,
  short,
  text,
  tiff,
} from './parts.ts';

export const fixture = (name: string): Bytes =>
  new Uint8Array(readFileSync(new URL(`fixtures/${name}`, import.meta.url)));

export const littleEndian = fixture('little-endian.jpg');
export const progressive = fixture('progressive.jpg');
export const png = fixture('photo.png');
export const heic = fixture('photo.heic');

/** What `heif-info -d` prints for the extents of the picture, the Exif data and the thumbnail's tile. */
export const HEIC_PICTURE = [819, 819 + 447] as const;
export const HEIC_EXIF = [1266, 1266 + 1052] as const;
export const HEIC_TILE = [5336, 5336 + 152] as const;

export const has = (bytes: Uint8Array, part: Uint8Array): boolean =>
  Buffer.from(bytes).includes(Buffer.from(part));

/** Returns the positions of some bytes. */
export function indexesOf(bytes: Uint8Array, part: readonly number[]): number[] {
  const [buffer, wanted] = [Buffer.from(bytes), Buffer.from(part)];
  const all: number[] = [];
  for (let at = buffer.indexOf(wanted); at >= 0; at = buffer.indexOf(wanted, at + 1)) all.push(at);
  return all;
}

/** The seconds of the latitude, 94203/3125, in both byte orders, and its text in XMP. */
const COORDINATES = [
  ...[false, true].map((isLittle) =>
    Uint8Array.from([...integer(94203, 4, isLittle), ...integer(3125, 4, isLittle)]),
  ),
  bytesOf('48,51.50'),
];
/** Also bytes from the middle of the thumbnail. */
const SECRETS = [...COORDINATES, bytesOf('Champ de Mars'), fixture('thumbnail.jpg').slice(200, 260)];

export const showsCoordinates = (bytes: Uint8Array): boolean =>
  COORDINATES.some((secret) => has(bytes, secret));
export const secretsIn = (bytes: Uint8Array): number => SECRETS.filter((secret) => has(bytes, secret)).length;

export const strip = (bytes: Bytes, name = '', type = ''): Promise<Blob | 'unsupported'> =>
  stripLocation(new File([bytes], name, { type }));

/** Returns the bytes of a photo without location. Fails if the photo was refused. */
export async function stripped(bytes: Bytes, name = '', type = ''): Promise<Bytes> {
  const result = await strip(bytes, name, type);
  assert.ok(result !== 'unsupported');
  assert.equal(result.type, type);
  return new Uint8Array(await result.arrayBuffer());
}

/** What both readers find in a photo. `exifr` reads no HEIC file of heif-enc, so it gets the Exif data alone. */
export async function readTwice(bytes: Bytes) {
  const buffer = Buffer.from(bytes);
  const isHeic = buffer.includes('ftyp');
  const start = Buffer.from(bytes).indexOf('II*\0');
  const input = isHeic ? buffer.subarray(start, HEIC_EXIF[1]) : buffer;
  const gps = await exifr.gps(input).catch(() => undefined);
  const parsed = await exifr.parse(input, { reviveValues: false, translateValues: false });
  const { exif, gps: place, Thumbnail, xmp } = ExifReader.load(buffer, { expanded: true });
  return {
    latitudes: [gps?.latitude, place?.Latitude],
    dates: [parsed?.DateTimeOriginal, exif?.DateTimeOriginal?.description],
    orientations: [parsed?.Orientation, exif?.Orientation?.value],
    thumbnails: [(await exifr.thumbnail(input))?.length, Thumbnail?.image?.byteLength],
    hasXmp: xmp !== undefined,
  };
}

/** Asserts that both readers find the location before, and only the orientation and the date after. */
export async function assertClean(before: Bytes, after: Bytes): Promise<void> {
  assert.ok(secretsIn(before) >= 4);
  const { latitudes, thumbnails, hasXmp } = await readTwice(before);
  assert.deepEqual(latitudes, [48.8583736, 48.8583736]);
  assert.equal(thumbnails[1], 398);
  assert.ok(hasXmp);
  assert.deepEqual(await readTwice(after), {
    latitudes: [undefined, undefined],
    dates: ['2024:05:06 07:08:09', '2024:05:06 07:08:09'],
    orientations: [6, 6],
    thumbnails: [undefined, undefined],
    hasXmp: false,
  });
  assert.equal(secretsIn(after), 0);
}
