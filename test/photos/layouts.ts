// Builds photos as cameras and programs lay them out, with a location in each place that they write. The pictures are small ones of
// 32 by 24 pixels: canvases of Chromium and Firefox (`convertToBlob` with a quality of 0.7), ImageMagick (with `-interlace`,
// `-colorspace CMYK`, `-transparent`), cjpeg (`-restart 1B`, `-scans` with one scan for each color), libvips, cwebp, gif2webp, and
// libheif (`heif-enc -q 40`).
import { inflateSync } from 'node:zlib';
import {
  type Bytes,
  blob,
  box,
  bytesOf,
  type Directory,
  integer,
  join,
  latitude,
  long,
  profile,
  rational,
  segment,
  short,
  text,
  tiff,
} from './parts.ts';
import { fixture } from './support.ts';

/** Returns a text with the location. `where` says in which part of the photo it is. */
export const place = (where: string): string => `Champ de Mars, ${where};`;
export const placeBytes = (where: string): Bytes => bytesOf(place(where));

/** Returns the parts of the photo in which a text with the location is. */
export const placesIn = (bytes: Uint8Array): string[] =>
  Buffer.from(bytes)
    .toString('latin1')
    .match(/Champ de Mars, [^;]{0,60}/g) ?? [];

export const thumbnail = fixture('thumbnail.jpg');

interface ExifOptions {
  readonly isLittle?: boolean;
  readonly make: string;
  readonly model: string;
  readonly software?: string;
  /** The first bytes of the camera's own data. */
  readonly makerNote?: string;
  readonly first?: Directory;
  readonly exif?: Directory;
}

/** Returns Exif data with orientation, date, camera, notes of its maker, location and thumbnail. */
export const exifOf = (given: ExifOptions): Bytes =>
  tiff(
    given.isLittle ?? false,
    [
      text(0x10e, place('description')),
      text(0x10f, given.make),
      text(0x110, given.model),
      short(0x112, 6),
      rational(0x11a, 72, 1),
      rational(0x11b, 72, 1),
      short(0x128, 2),
      ...(given.software ? [text(0x131, given.software)] : []),
      text(0x132, '2024:05:06 07:08:09'),
      ...(given.first ?? []),
      {
        tag: 0x8769,
        directory: [
          rational(0x829a, 1, 60),
          blob(0x9000, bytesOf('0232')),
          text(0x9003, '2024:05:06 07:08:09'),
          text(0x9004, '2024:05:06 07:08:09'),
          blob(0x927c, bytesOf(`${given.makerNote ?? given.make}${place('notes of the maker')}`)),
          blob(0x9286, bytesOf(`ASCII\0\0\0${place('comment of the user')}`)),
          short(0xa001, 1),
          ...(given.exif ?? []),
          text(0xa420, place('number of the image')),
        ],
      },
      {
        tag: 0x8825,
        directory: [
          blob(0, Uint8Array.of(2, 3, 0, 0)),
          text(1, 'N'),
          latitude,
          text(3, 'E'),
          rational(4, 2, 1, 17, 1, 402, 10),
          rational(7, 5, 1, 8, 1, 9, 1),
          blob(0x1b, bytesOf(`ASCII\0\0\0${place('method of the location')}`)),
          text(0x1d, '2024:05:06'),
        ],
      },
    ],
    [short(0x103, 6), { tag: 0x201, bytes: thumbnail }, long(0x202, thumbnail.length)],
  );

/** Returns XMP data. `more` has further properties. */
export const xmpOf = (more = ''): Bytes =>
  bytesOf(
    '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF ' +
      'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ' +
      'xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" ' +
      `exif:GPSLatitude="48,51.5024N" exif:GPSLongitude="2,17.67E" photoshop:City="${place('XMP')}" ${more}/>` +
      '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>',
  );

// Segments of JPEG files.

export const jfif = (density = 72): Bytes =>
  segment(0xe0, bytesOf('JFIF\0\x01\x01\x01'), integer(density, 2), integer(density, 2), [0, 0]);
export const exifSegment = (exif: Bytes): Bytes => segment(0xe1, bytesOf('Exif\0\0'), exif);
export const xmpSegment = (more = ''): Bytes =>
  segment(0xe1, bytesOf('http://ns.adobe.com/xap/1.0/\0'), xmpOf(more));
/** XMP of more than 64 KB has its own segments, with a checksum, the length of all parts, and where this part starts. */
export const extendedXmp = (length = 200): Bytes =>
  segment(
    0xe1,
    bytesOf('http://ns.adobe.com/xmp/extension/\0'),
    bytesOf('0123456789ABCDEF0123456789ABCDEF'),
    integer(length, 4),
    integer(0, 4),
    placeBytes('extended XMP'),
  );
/** A color profile in segments of at most `most` bytes. */
export function profileSegments(icc = profile(place('color profile')), most = 65_519): Bytes {
  const count = Math.ceil(icc.length / most);
  const parts = Array.from({ length: count }, (_, at) =>
    segment(0xe2, bytesOf('ICC_PROFILE\0'), [at + 1, count], icc.subarray(at * most, (at + 1) * most)),
  );
  return join(...parts);
}
export const adobe = (transform = 1): Bytes =>
  segment(0xee, bytesOf('Adobe'), [0, 100, 0, 0, 0, 0, transform]);

/** The list of the images in a file of several ones. */
export const listOfImages = (count: number): Bytes =>
  segment(
    0xe2,
    bytesOf('MPF\0'),
    tiff(false, [
      blob(0xb000, bytesOf('0100')),
      long(0xb001, count),
      blob(0xb002, new Uint8Array(16 * count)),
      text(0xb003, place('list of images')),
    ]),
  );

/** A resource of Photoshop. */
export const resource = (id: number, content: Uint8Array): Bytes =>
  join(
    bytesOf('8BIM'),
    integer(id, 2),
    [0, 0],
    integer(content.length, 4),
    content,
    new Uint8Array(content.length % 2),
  );
export const iptcOf = (city = place('IPTC')): Bytes =>
  join([0x1c, 2, 0, 0, 2, 0, 4], [0x1c, 2, 90], integer(city.length, 2), bytesOf(city));
export const photoshop = (...resources: Bytes[]): Bytes =>
  segment(0xed, bytesOf('Photoshop 3.0\0'), ...resources);

/** A film with a location. */
export const film = join(
  box('ftyp', bytesOf('mp42\0\0\0\0isommp42')),
  box('moov', box('mvhd', new Uint8Array(100)), box('udta', box('\xa9xyz', placeBytes('film')))),
  box('mdat', placeBytes('media of the film')),
);

/** What Samsung's cameras append: blocks, and a list of them. */
export const samsungTrailer = (): Bytes => {
  const blockOf = (type: number, name: string, content: Uint8Array) =>
    join([0, 0], integer(type, 2, true), integer(name.length, 4, true), bytesOf(name), content);
  const blocks = [
    blockOf(0xa01, 'Image_UTC_Data', bytesOf('1714979289000')),
    blockOf(0xa30, 'MotionPhoto_Data', film),
    blockOf(0xba1, 'Original_Path_Hash_Key', placeBytes('trailer')),
  ];
  const list = join(bytesOf('SEFH'), integer(107, 4, true), integer(blocks.length, 4, true));
  return join(...blocks, list, integer(list.length, 4, true), bytesOf('SEFT'));
};

/** Returns segments and scans of a JPEG file, without those of applications, up to the end of the first image. */
export function jpegPicture(bytes: Uint8Array): Bytes {
  const parts: Uint8Array[] = [];
  for (let at = 2; ; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || marker === 0) throw new Error(`no marker at ${at}`);
    if (marker === 0xd9) return join(...parts);
    const end = at + 2 + (bytes[at + 2] ?? 0) * 256 + (bytes[at + 3] ?? 0);
    if ((marker < 0xe0 || marker > 0xef) && marker !== 0xfe) parts.push(bytes.subarray(at, end));
    at = end;
    if (marker !== 0xda) continue;
    while (bytes[at] !== 0xff || bytes[at + 1] === 0 || ((bytes[at + 1] ?? 0) & 0xf8) === 0xd0) at++;
    parts.push(bytes.subarray(end, at));
  }
}

/** Returns a JPEG file with the picture of a fixture. */
export const jpegOf = (name: string, segments: Bytes[], ...after: Uint8Array[]): Bytes =>
  join([0xff, 0xd8], ...segments, jpegPicture(fixture(name)), [0xff, 0xd9], ...after);

/** A second image, as of a preview or a gain map. */
export const secondImage = (...segments: Bytes[]): Bytes => jpegOf('vips.jpg', segments);

interface Part {
  readonly type: string;
  readonly content: Bytes;
}

/** Returns the chunks of a PNG file, or of a WebP file. */
export function chunksOf(bytes: Bytes): Part[] {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isPng = bytes[0] === 0x89;
  const parts: Part[] = [];
  for (let at = isPng ? 8 : 12; at < bytes.length; ) {
    const length = isPng ? data.readUInt32BE(at) : data.readUInt32LE(at + 4);
    const nameAt = isPng ? at + 4 : at;
    const type = data.toString('latin1', nameAt, nameAt + 4);
    parts.push({ type, content: bytes.slice(at + 8, at + 8 + length) });
    at += 8 + length + (isPng ? 4 : length % 2);
  }
  return parts;
}

/** Returns the chunks of the picture in a PNG or WebP file. */
export const chunkPicture = (bytes: Bytes): Part[] =>
  chunksOf(bytes).filter(({ type }) =>
    /IHDR|PLTE|tRNS|IDAT|acTL|fcTL|fdAT|VP8 |VP8L|ALPH|ANIM|ANMF/.test(type),
  );

/** Returns the color profile of a JPEG, PNG, WebP or HEIC file; undefined if it has none. */
export function profileOf(bytes: Bytes): Bytes | undefined {
  const data = Buffer.from(bytes);
  if (data.readUInt16BE(0) === 0xffd8) {
    const parts: Uint8Array[] = [];
    for (let at = 2; data[at + 1] !== 0xda; at += 2 + data.readUInt16BE(at + 2))
      if (data[at + 1] === 0xe2 && data.toString('latin1', at + 4, at + 15) === 'ICC_PROFILE')
        parts.push(data.subarray(at + 18, at + 2 + data.readUInt16BE(at + 2)));
    return parts.length ? join(...parts) : undefined;
  }
  const colors = data.indexOf('colrprof');
  if (colors > 0) return join(data.subarray(colors + 8, colors - 4 + data.readUInt32BE(colors - 4)));
  if (!/^.PNG|^RIFF/s.test(data.toString('latin1', 0, 4))) return undefined;
  const found = chunksOf(bytes).find(({ type }) => /^iCCP|^ICCP/.test(type));
  if (found?.type !== 'iCCP') return found?.content;
  return new Uint8Array(inflateSync(found.content.subarray(found.content.indexOf(0) + 2)));
}

/** Returns the tags of a color profile that colors need, with their values. */
export function colorTags(icc: Bytes): Readonly<Record<string, string>> {
  const data = Buffer.from(icc);
  const tags = Array.from({ length: data.readUInt32BE(128) }, (_, at) => 132 + 12 * at);
  return Object.fromEntries(
    tags
      .map((at) => {
        const start = data.readUInt32BE(at + 4);
        const name = data.toString('latin1', at, at + 4);
        return [name, data.toString('hex', start, start + data.readUInt32BE(at + 8))] as const;
      })
      .filter(([name]) => /XYZ|TRC|wtpt/.test(name)),
  );
}
