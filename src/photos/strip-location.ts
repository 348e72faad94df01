// Removes the location from photos without encoding them again.

import { textOf } from './bytes.ts';
import { cleanHeic } from './heic.ts';
import { cleanJpeg } from './jpeg.ts';
import { cleanPng } from './png.ts';

/** A photo is read into memory. Greater files of these formats are refused. */
const MAX_BYTES = 2 ** 28;
/** What is read to recognize the format. */
const HEAD_BYTES = 4096;

// Signatures, as regular expressions of bytes. Texts that start with one of them are as good as unknown.
const JPEG = /^\xff\xd8\xff/;
const PNG = /^\x89PNG\r\n/;
const HEIC = /^.{4}ftyp(?:hei[cxms]|mif1)/s;
const GIF = /^GIF8/;
const SVG = /^(?:\xef\xbb\xbf)?\s*(?:<[?!][^>]*>[\s\]>]*)*<svg[\s>]/;
/** BMP, ICO and CUR: formats without metadata. */
const BARE = /^BM.{4}\0{4}|^\0\0[\cA\cB]\0/s;

/** Images, videos and recordings from which the location can't be removed. */
const REFUSED = new RegExp(
  // TIFF with DNG, CR2, NEF and ARW; other raw formats; JPEG XR
  '^(?:II[*+U\\x1a]\\0|MM\\0[*+]|II\\xbc|IIR[OS]\\x08|MMOR\\0|\\0MRM|FOVb|FUJIFILMCCD|' +
    // WebP, AVI and WAV; AVIF, CR3 and MP4, and its older form without `ftyp`; JPEG 2000; JPEG XL; Photoshop
    'RIF[FX]|RF64|.{4}ftyp|[\\0-\\x08].{3}(?:moov|mdat|moof|wide|free|skip|pnot|styp|jP  |JXL )|\\xff[\\nO]|8BPS\\0|' +
    // Matroska, Ogg, FLAC, MP3, MPEG, ASF, FLV, RealMedia, MXF, AIFF, CAF, AMR
    '\\x1aE\\xdf\\xa3|OggS\\0|fLaC|ID3[\\x02-\\x04]|\\0\\0\\x01[\\xb3\\xba]|0&\\xb2u|FLV\\x01|\\.RMF\\0|\\x06\\x0e\\+4|' +
    'FORM.{4}(?:AIF|ILBM)|caff\\0|#!AMR|G.{187}G.{187}G.{187}G|.{4}G.{191}G.{191}G.{191}G)',
  's',
);
const NAMES = new RegExp(
  '\\.(?:jpe?g?|jfif|a?png|gif|hei[cf]s?|hif|avif|webp|tiff?|bmp|ico|svgz?|jxl|jp2|jxr|psd|exr|mpo|ins[pv]|livp|' +
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

/** For formats that have metadata sometimes, returns what such a file contains. */
const metadataOf = (head: string): RegExp | undefined =>
  GIF.test(head)
    ? /XMP DataXMP/
    : SVG.test(head)
      ? /gps|\bgeo(?!m)|\blat(?:itude)?\b|\blon(?:gitude)?\b|xmpmeta|\bdata:/i
      : undefined;

const cleanerOf = (head: string) =>
  JPEG.test(head)
    ? cleanJpeg
    : PNG.test(head)
      ? cleanPng
      : HEIC.test(head)
        ? (bytes: Uint8Array<ArrayBuffer>) => [cleanHeic(bytes)]
        : undefined;

const bytesOf = async (part: Blob): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await part.arrayBuffer());

/**
 * Resolves with a photo without location and thumbnails, with the same picture and type. Resolves with `file` itself if it is no
 * such photo and has no location, and with 'unsupported' if the location can't be removed from its format, or the photo is
 * malformed. Rejects if the file can't be read.
 */
export async function stripLocation(file: Blob & { readonly name?: string }): Promise<Blob | 'unsupported'> {
  // The content decides before type and name, which may be wrong.
  const head = textOf(await bytesOf(file.slice(0, HEAD_BYTES)));
  const clean = cleanerOf(head);
  const metadata = metadataOf(head);
  if (!clean && !metadata)
    return REFUSED.test(head) || (!BARE.test(head) && isMedia(file, head)) ? 'unsupported' : file;
  if (file.size > MAX_BYTES) return 'unsupported';
  const bytes = await bytesOf(file);
  if (!clean) return metadata?.test(new TextDecoder('latin1').decode(bytes)) ? 'unsupported' : file;
  try {
    // A copy: the file on the disk may change until it is sent.
    return new Blob(clean(bytes), { type: file.type });
  } catch {
    return 'unsupported';
  }
}
