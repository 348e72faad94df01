// Photos with a location, and two independent readers of Exif data. ImageMagick, cjpeg, exiftool and heif-enc made the photos in
// `fixtures`. Their location is the Champ de Mars, and they have a thumbnail and XMP.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import exifr from 'exifr';
import ExifReader from 'exifreader';
import { stripLocation } from '../../src/photos/strip-location.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

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

export const bytesOf = (text: string): Bytes => Uint8Array.from(text, (character) => character.charCodeAt(0));
export const join = (...parts: (Uint8Array | readonly number[])[]): Bytes =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
export const has = (bytes: Uint8Array, part: Uint8Array): boolean =>
  Buffer.from(bytes).includes(Buffer.from(part));

/** Returns the positions of some bytes. */
export function indexesOf(bytes: Uint8Array, part: readonly number[]): number[] {
  const [buffer, wanted] = [Buffer.from(bytes), Buffer.from(part)];
  const all: number[] = [];
  for (let at = buffer.indexOf(wanted); at >= 0; at = buffer.indexOf(wanted, at + 1)) all.push(at);
  return all;
}

export const integer = (value: number, size: number, isLittle = false): number[] => {
  const bytes = Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256);
  return isLittle ? bytes.reverse() : bytes;
};

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

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly value: (isLittle: boolean) => readonly number[];
}
type Directory = readonly (Entry | { readonly tag: number; readonly directory: Directory })[];

export const text = (tag: number, value: string): Entry => ({
  tag,
  type: 2,
  count: value.length + 1,
  value: () => [...bytesOf(`${value}\0`)],
});
export const short = (tag: number, value: number): Entry => ({
  tag,
  type: 3,
  count: 1,
  value: (isLittle) => integer(value, 2, isLittle),
});
export const blob = (tag: number, value: Uint8Array): Entry => ({
  tag,
  type: 7,
  count: value.length,
  value: () => [...value],
});
export const rational = (tag: number, ...values: number[]): Entry => ({
  tag,
  type: 5,
  count: values.length / 2,
  value: (isLittle) => values.flatMap((value) => integer(value, 4, isLittle)),
});
export const latitude = rational(2, 48, 1, 51, 1, 94203, 3125);

/** Returns Exif data with these directories, of which the second one has the thumbnail. */
export function tiff(isLittle: boolean, first: Directory, second?: Directory): Bytes {
  const bytes: number[] = [...bytesOf(isLittle ? 'II*\0' : 'MM\0*'), ...integer(8, 4, isLittle)];
  const set = (at: number, value: readonly number[]) => bytes.splice(at, value.length, ...value);
  function write(directory: Directory): number {
    const start = bytes.length;
    bytes.push(...integer(directory.length, 2, isLittle), ...new Array(12 * directory.length + 4).fill(0));
    directory.forEach((entry, index) => {
      const isPointer = 'directory' in entry;
      const value = isPointer ? integer(write(entry.directory), 4, isLittle) : entry.value(isLittle);
      const { type, count } = isPointer ? { type: 4, count: 1 } : entry;
      const at = start + 2 + 12 * index;
      set(at, [
        ...integer(entry.tag, 2, isLittle),
        ...integer(type, 2, isLittle),
        ...integer(count, 4, isLittle),
      ]);
      if (value.length > 4) {
        set(at + 8, integer(bytes.length, 4, isLittle));
        bytes.push(...value);
      } else set(at + 8, value);
    });
    return start;
  }
  write(first);
  if (second) set(8 + 2 + 12 * first.length, integer(write(second), 4, isLittle));
  return Uint8Array.from(bytes);
}
