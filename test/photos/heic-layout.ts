// Builds HEIC photos as cameras do: tiles of which the picture is made, a thumbnail, a gain map, Exif data and XMP.
import { type Bytes, box, bytesOf, integer, join, profile } from './parts.ts';
import { fixture } from './support.ts';

const source = fixture('heif.heic');
/** Returns a box of the fixture. */
export function boxAt(type: string): Bytes {
  const at = Buffer.from(source).indexOf(type) - 4;
  return source.slice(at, at + Buffer.from(source).readUInt32BE(at));
}
/** The only tile of the fixture. */
export const tile = boxAt('mdat').slice(8);

export interface Item {
  readonly type: string;
  readonly name?: string;
  readonly content: Uint8Array;
  /** Numbers of the properties, from 1. */
  readonly properties?: readonly number[];
  /** Other items that this one refers to. */
  readonly references?: Readonly<Record<string, readonly number[]>>;
  readonly isInMeta?: boolean;
}

interface HeicOptions {
  readonly brands: string;
  /** The name of the handler, which most cameras leave empty. */
  readonly handler?: string;
  readonly exif: Uint8Array;
  readonly xmp: Uint8Array;
  /** The text in the color profile. */
  readonly mark: string;
  /** Boxes behind the picture. */
  readonly after?: readonly Bytes[];
  readonly names?: string;
}

export const full = (type: string, version: number, ...content: (Uint8Array | readonly number[])[]): Bytes =>
  box(type, [version, 0, 0, 0], ...content);
export const size = (width: number, height: number): Bytes =>
  full('ispe', 0, integer(width, 4), integer(height, 4));

/** Returns a HEIC file whose picture has two tiles. Items have numbers from 1; the picture is the third one. */
export function heicOf(given: HeicOptions): Bytes {
  const name = given.names ?? '';
  const properties = [
    boxAt('hvcC'),
    size(64, 64),
    box('colr', bytesOf('prof'), profile(given.mark)),
    size(100, 64),
    full('pixi', 0, [3, 8, 8, 8]),
    box('irot', [3]),
    full('auxC', 0, bytesOf('urn:com:apple:photo:2020:aux:hdrgainmap\0')),
  ];
  const grid = [0, 0, 0, 1, ...integer(100, 2), ...integer(64, 2)];
  const items: readonly Item[] = [
    { type: 'hvc1', name, content: tile, properties: [1, 2, 3] },
    { type: 'hvc1', name, content: tile, properties: [1, 2, 3] },
    {
      ...{ type: 'grid', name, content: Uint8Array.from(grid), properties: [3, 4, 5, 6], isInMeta: true },
      references: { dimg: [1, 2] },
    },
    { type: 'hvc1', name, content: tile, properties: [1, 2], references: { thmb: [3] } },
    {
      type: 'Exif',
      name,
      content: join(integer(6, 4), bytesOf('Exif\0\0'), given.exif),
      references: { cdsc: [3] },
    },
    {
      ...{ type: 'mime', name: `${name}\0application/rdf+xml`, content: given.xmp },
      references: { cdsc: [3] },
    },
    { type: 'hvc1', name, content: tile, properties: [1, 2, 7], references: { auxl: [3] } },
  ];
  return heifOf({ ...given, properties, items, primaryId: 3 });
}

interface HeifOptions {
  readonly brands: string;
  readonly handler?: string;
  readonly properties: readonly Bytes[];
  readonly items: readonly Item[];
  readonly primaryId: number;
  readonly after?: readonly Bytes[];
}

/** Returns a HEIC file with these items, whose numbers start at 1. */
export function heifOf(given: HeifOptions): Bytes {
  const { items, properties } = given;
  const ftyp = box('ftyp', bytesOf(`heic\0\0\0\0${given.brands}`));
  const infos = items.map((item, at) =>
    full('infe', 2, integer(at + 1, 2), [0, 0], bytesOf(`${item.type}${item.name ?? ''}\0`)),
  );
  const references = items.flatMap((item, at) =>
    Object.entries(item.references ?? {}).map(([type, to]) =>
      box(type, integer(at + 1, 2), integer(to.length, 2), ...to.map((id) => integer(id, 2))),
    ),
  );
  const uses = items.flatMap(({ properties: numbers = [] }, at) =>
    numbers.length ? [[...integer(at + 1, 2), numbers.length, ...numbers]] : [],
  );
  const metaOf = (mediaAt: number): Bytes => {
    let next = mediaAt;
    let nextInMeta = 0;
    const places = items.map(({ content, isInMeta }, at) => {
      const start = isInMeta ? nextInMeta : next;
      if (isInMeta) nextInMeta += content.length;
      else next += content.length;
      const head = [...integer(at + 1, 2), ...integer(isInMeta ? 1 : 0, 2), 0, 0, ...integer(1, 2)];
      return [...head, ...integer(start, 4), ...integer(content.length, 4)];
    });
    return full(
      'meta',
      0,
      full(
        'hdlr',
        0,
        integer(0, 4),
        bytesOf('pict'),
        new Uint8Array(12),
        bytesOf(`${given.handler ?? ''}\0`),
      ),
      box('dinf', full('dref', 0, integer(1, 4), box('url ', [0, 0, 0, 1]))),
      full('pitm', 0, integer(given.primaryId, 2)),
      full('iinf', 0, integer(items.length, 2), ...infos),
      full('iref', 0, ...references),
      box('iprp', box('ipco', ...properties), full('ipma', 0, integer(uses.length, 4), ...uses)),
      box('idat', ...items.filter(({ isInMeta }) => isInMeta).map(({ content }) => content)),
      full('iloc', 1, [0x44, 0], integer(items.length, 2), ...places),
    );
  };
  const mediaAt = ftyp.length + metaOf(0).length + 8;
  const media = items.filter(({ isInMeta }) => !isInMeta).map(({ content }) => content);
  return join(ftyp, metaOf(mediaAt), box('mdat', ...media), ...(given.after ?? []));
}
