// Removes the location from photos without encoding them again.

import { type Bytes, textOf, viewOf } from './bytes.ts';
import { cleanGif } from './gif.ts';
import { cleanHeic } from './heic.ts';
import { cleanJpeg } from './jpeg.ts';
import { cleanPng } from './png.ts';
import { cleanWebp } from './webp.ts';

/** A photo is read into memory. Greater files of these formats are refused. */
const MAX_BYTES = 2 ** 28;
/** What is read to recognize the format. */
const HEAD_BYTES = 4096;

// Signatures, as regular expressions of bytes. Texts that start with one of them are as good as unknown.
/** Formats whose location can be removed. */
const CLEANERS: readonly (readonly [RegExp, (bytes: Bytes) => Bytes[] | Promise<Bytes[]>])[] = [
  [/^\xff\xd8/, cleanJpeg],
  [/^\x89PNG\r\n/, cleanPng],
  [/^.{4}ftyp(?:hei[cxms]|mif1)/s, (bytes) => [cleanHeic(bytes)]],
  [/^GIF8/, cleanGif],
  [/^RIFF.{4}WEBP/s, cleanWebp],
];
const SVG = /^(?:\xef\xbb\xbf)?\s*(?:<[?!][^>]*>[\s\]>]*)*<svg[\s>]/;
/** What tells a place in a drawing, or may have other images. */
const PLACE = /gps|\bgeo(?!m)|\blat(?:itude)?\b|\blon(?:gitude)?\b|xmpmeta|\bdata:/i;
/** A format without metadata. */
const BITMAP = /^BM.{4}\0{4}/s;
/** Icons and cursors, and files whose content starts as theirs. */
const ICON = /^\0\0[\cA\cB]\0/;
const BITMAP_HEAD_BYTES = 40;
const MAX_ICON_BYTES = 2 ** 24;
/** The end of a TGA file with metadata. It has no signature at its start. */
const TGA = /TRUEVISION-XFILE\.\0$/;
const TGA_END_BYTES = 18;

/** Images, videos and recordings from which the location can't be removed. */
const REFUSED_SIGNATURES = new RegExp(
  // TIFF with DNG, CR2, NEF and ARW; other raw formats; JPEG XR
  '^(?:II[*+U\\x1a]\\0|MM\\0[*+]|II\\xbc|IIR[OS]\\x08|MMOR\\0|\\0MRM|FOVb|FUJIFILMCCD|' +
    // AVI and WAV; AVIF, CR3 and MP4, and its older form without `ftyp`; JPEG 2000; JPEG XL; Photoshop
    'RIF[FX]|RF64|.{4}ftyp|[\\0-\\x08].{3}(?:moov|mdat|moof|wide|free|skip|pnot|styp|jP  |JXL )|' +
    '\\xff[\\nO]|8BPS\\0|' +
    // GIMP, EPS, Paint Shop Pro, Paint.NET, FITS, MNG and JNG, FLIF, BPG
    'gimp xcf|%!PS-Adobe-\\d\\.\\d EPSF|\\xc5\\xd0\\xd3\\xc6|Paint Shop Pro Image File|PDN3|' +
    'SIMPLE  =|[\\x8a\\x8b][MJ]NG|FLIF|BPG\\xfb|' +
    // Matroska, Ogg, FLAC, MP3, MPEG, ASF, FLV, RealMedia, MXF, AIFF, CAF, AMR
    '\\x1aE\\xdf\\xa3|OggS\\0|fLaC|ID3[\\x02-\\x04]|\\0\\0\\x01[\\xb3\\xba]|0&\\xb2u|FLV\\x01|\\.RMF\\0|' +
    '\\x06\\x0e\\+4|FORM.{4}(?:AIF|ILBM)|caff\\0|#!AMR|G.{187}G.{187}G.{187}G|.{4}G.{191}G.{191}G.{191}G)',
  's',
);
const NAMES = new RegExp(
  '\\.(?:jpe?g?|jfif|a?png|gif|hei[cf]s?|hif|avif|webp|tiff?|bmp|ico|svgz?|jxl|jp2|jxr|' +
    'ps[dbp]|pspimage|exr|mpo|ins[pv]|livp|' +
    'xcf|eps[fi]?|tga|pdn|kra|ora|fits|[mj]ng|flif|bpg|dcm|' +
    'dng|cr[23w]|n[er]f|arw|sr[2fw]|raf|raw|rw[2l]|orf|pef|mrw|x3f|3fr|iiq|gpr|' +
    'mp[34]|m4[abv]|mov|qt|3g[ap2]p?|mk[av]|webm|avi|wm[av]|asf|flv|mpe?g|m2ts|vob|og[agv]|opus|mxf|lrv|wav|flac|aac|' +
    'amr|aiff?)$',
  'i',
);
/** TypeScript has the file name extension, and in browsers the type, of MPEG transport streams. */
const TYPESCRIPT = /mp2t|-tts$/;

/** Returns true if the type or the name is that of an image, a video or a recording. */
function isMedia({ type, name = '' }: Blob & { readonly name?: string }, head: string): boolean {
  const isText = TYPESCRIPT.test(type) && !head.includes('\0');
  return NAMES.test(name) || (/^(?:image|video|audio)\//.test(type) && !isText);
}

const bytesOf = async (part: Blob): Promise<Bytes> => new Uint8Array(await part.arrayBuffer());
/** Resolves with the whole file. Its bytes must not be changed. */
export type ReadAll = () => Promise<Bytes>;
const latin1 = (bytes: Bytes): string => new TextDecoder('latin1').decode(bytes);

/** Returns true if all pictures of an icon are bitmaps. PNG files may have metadata. */
function isIcon(bytes: Bytes): boolean {
  const view = viewOf(bytes);
  const count = view.getUint16(4, true);
  const entries = Array.from({ length: count }, (_, index) => 6 + 16 * index);
  return (
    count > 0 &&
    bytes.length >= 6 + 16 * count &&
    entries.every((at) => {
      const [length, start] = [view.getUint32(at + 8, true), view.getUint32(at + 12, true)];
      const isInside = length >= BITMAP_HEAD_BYTES && start + length <= bytes.length;
      return isInside && view.getUint32(start, true) === BITMAP_HEAD_BYTES;
    })
  );
}

/**
 * Resolves with a photo without location and thumbnails, with the same picture and type. Resolves with `file` itself if it is no
 * such photo and has no location, and with 'unsupported' if the location can't be removed from its format, or the photo is
 * malformed. Rejects if the file can't be read. A caller that has read the file passes `read`.
 */
export async function stripLocation(
  file: Blob & { readonly name?: string },
  read: ReadAll = () => bytesOf(file),
): Promise<Blob | 'unsupported'> {
  // The content decides before type and name, which may be wrong.
  const head = textOf(await bytesOf(file.slice(0, HEAD_BYTES)));
  const clean = CLEANERS.find(([signature]) => signature.test(head))?.[1];
  if (clean) return cleanFile(file, read, clean);
  if (SVG.test(head)) return file.size > MAX_BYTES || PLACE.test(latin1(await read())) ? 'unsupported' : file;
  if (REFUSED_SIGNATURES.test(head) || TGA.test(textOf(await bytesOf(file.slice(-TGA_END_BYTES)))))
    return 'unsupported';
  if (ICON.test(head)) return file.size <= MAX_ICON_BYTES && isIcon(await read()) ? file : 'unsupported';
  return !BITMAP.test(head) && isMedia(file, head) ? 'unsupported' : file;
}

async function cleanFile(
  file: Blob,
  read: ReadAll,
  clean: (bytes: Bytes) => Bytes[] | Promise<Bytes[]>,
): Promise<Blob | 'unsupported'> {
  if (file.size > MAX_BYTES) return 'unsupported';
  const bytes = await read();
  try {
    // A copy: the file on the disk may change until it is sent.
    return new Blob(await clean(bytes), { type: file.type });
  } catch {
    return 'unsupported';
  }
}
