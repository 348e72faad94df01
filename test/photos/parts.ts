// Parts of which photos are made: integers, Exif data, color profiles, and the segments, chunks, blocks and boxes of the formats.
// Tests in pages use them, too.

export type Bytes = Uint8Array<ArrayBuffer>;

export const bytesOf = (text: string): Bytes => Uint8Array.from(text, (character) => character.charCodeAt(0));
export function join(...parts: (Uint8Array | readonly number[])[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export const integer = (value: number, size: number, isLittle = false): number[] => {
  const bytes = Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256);
  return isLittle ? bytes.reverse() : bytes;
};

type Content = Uint8Array | readonly number[];

/** Returns a segment of a JPEG file. */
export function segment(marker: number, ...content: Content[]): Bytes {
  const whole = join(...content);
  return join([0xff, marker], integer(whole.length + 2, 2), whole);
}

/** Returns a chunk of a WebP file. */
export function riff(type: string, ...content: Content[]): Bytes {
  const whole = join(...content);
  return join(bytesOf(type), integer(whole.length, 4, true), whole, new Uint8Array(whole.length % 2));
}

/** Returns a block of a GIF file, with its content in parts of 255 bytes. */
export function gifBlock(label: number, first: Content, content: Content = []): Bytes {
  const parts: Content[] = [[0x21, label, first.length], first];
  for (let at = 0; at < content.length; at += 255) {
    const part = content.slice(at, at + 255);
    parts.push([part.length], part);
  }
  return join(...parts, [0]);
}

/** Returns a box of a HEIC file. */
export function box(type: string, ...content: Content[]): Bytes {
  const whole = join(...content);
  return join(integer(whole.length + 8, 4), bytesOf(type), whole);
}

function crcOf(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

/** Returns a chunk of a PNG file. */
export function chunk(type: string, ...content: Content[]): Bytes {
  const named = join(bytesOf(type), ...content);
  return join(integer(named.length - 4, 4), named, integer(crcOf(named), 4));
}

/** The colors of sRGB, of which a profile may exchange two: then, each pixel that is shown has another color. */
const PRIMARIES = {
  r: [0.4361, 0.2225, 0.0139],
  g: [0.3851, 0.7169, 0.0971],
  b: [0.1431, 0.0606, 0.7141],
};
const fixed = (value: number): number[] => integer(Math.round(value * 65536), 4);

/** Returns an ICC profile. `mark` is in all its texts. With `isSwapped`, red and green are exchanged. */
export function profile(mark: string, isSwapped = false): Bytes {
  const xyz = (values: readonly number[]) => join(bytesOf('XYZ \0\0\0\0'), values.flatMap(fixed));
  const text = join(bytesOf(`text\0\0\0\0${mark}\0`));
  const description = join(
    bytesOf('desc\0\0\0\0'),
    integer(mark.length + 1, 4),
    bytesOf(`${mark}\0`),
    new Uint8Array(78),
  );
  const { r, g, b } = PRIMARIES;
  const curve = join(bytesOf('curv\0\0\0\0'), integer(1, 4), [2, 0x33]);
  const tags: readonly (readonly [string, Bytes])[] = [
    ['desc', description],
    ['cprt', text],
    ['dmnd', description],
    ['dmdd', description],
    ['targ', text],
    ['wtpt', xyz([0.9642, 1, 0.8249])],
    ['rXYZ', xyz(isSwapped ? g : r)],
    ['gXYZ', xyz(isSwapped ? r : g)],
    ['bXYZ', xyz(b)],
    // The last ones are of Apple, and are the same bytes as the curves that all browsers need.
    ...['rTRC', 'gTRC', 'bTRC', 'aarg', 'aagg', 'aabg'].map((name) => [name, curve] as const),
  ];
  const list: number[] = integer(tags.length, 4);
  const values = new Map<Bytes, number>();
  let at = 128 + 4 + 12 * tags.length;
  for (const [name, value] of tags) {
    const start = values.get(value) ?? at;
    list.push(...bytesOf(name), ...integer(start, 4), ...integer(value.length, 4));
    if (values.has(value)) continue;
    values.set(value, at);
    at += (value.length + 3) & ~3;
  }
  const head = new Uint8Array(128);
  for (const [start, bytes] of [
    [0, integer(at, 4)],
    [8, [2, 0x10]],
    [12, bytesOf('mntrRGB XYZ ')],
    [36, bytesOf('acsp')],
    [68, [0.9642, 1, 0.8249].flatMap(fixed)],
  ] as const)
    head.set(bytes, start);
  const padded = [...values.keys()].map((value) => join(value, new Uint8Array(-value.length & 3)));
  return join(head, list, ...padded);
}

export interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly value: (isLittle: boolean) => readonly number[];
}
/** An entry is a value, or points to another directory or to bytes. */
export type Directory = readonly (
  | Entry
  | { readonly tag: number; readonly directory: Directory }
  | { readonly tag: number; readonly bytes: Uint8Array }
)[];

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
export const long = (tag: number, value: number): Entry => ({
  tag,
  type: 4,
  count: 1,
  value: (isLittle) => integer(value, 4, isLittle),
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
  function put(content: Uint8Array): number {
    bytes.push(...content);
    return bytes.length - content.length;
  }
  function write(directory: Directory): number {
    const start = bytes.length;
    bytes.push(...integer(directory.length, 2, isLittle), ...new Array(12 * directory.length + 4).fill(0));
    directory.forEach((entry, index) => {
      const isValue = 'value' in entry;
      const value = isValue
        ? entry.value(isLittle)
        : integer('bytes' in entry ? put(entry.bytes) : write(entry.directory), 4, isLittle);
      const { type, count } = isValue ? entry : { type: 4, count: 1 };
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
