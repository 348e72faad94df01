// What is done with photos, in a worker or in the page: smaller copies, thumbnails, and removing the location.

import type { Bytes } from './bytes.ts';
import { drawImage, fillBehind, givesBackPixels } from './canvas.ts';
import { type FilmType, readFilmType } from './films.ts';
import { readSize, SIGNATURE_BYTES, typeOf } from './image-size.ts';
import { type ReadAll, stripLocation } from './strip-location.ts';

/** A message to the worker. The answer is a `TaskResult`. */
export interface PhotoTask {
  readonly file: File;
  /** Greatest width and height, in pixels. */
  readonly maxEdge: number;
  /** What is wanted: the file without its location, if it is not made smaller; or a thumbnail. */
  readonly wanted: 'photo' | 'without-location' | 'thumbnail';
}

/**
 * `undefined`: the file stays as it is, or there is no thumbnail. `unsupported`: the location cannot be removed. The type of a
 * film: only the page can make a thumbnail of it.
 */
export type TaskResult = Blob | ImageBitmap | FilmType | 'unsupported' | undefined;

/** A larger file is not decoded. */
const MAX_BYTES = 100e6;
const JPEG_QUALITY = 0.85;

/** Calls `onRead` when an image has been read, before it is decoded. */
export async function runTask(
  { file, maxEdge, wanted: resultKind }: PhotoTask,
  onRead: () => void = () => undefined,
): Promise<TaskResult> {
  let bytes: Promise<Bytes> | undefined;
  const read: ReadAll = () => {
    bytes ??= file.arrayBuffer().then((buffer) => {
      onRead();
      return new Uint8Array(buffer);
    });
    return bytes;
  };
  if (resultKind === 'thumbnail') {
    const film = await readFilmType(file);
    return film ?? (await drawScaled(file, read, maxEdge, true))?.canvas.transferToImageBitmap();
  }
  const smallerPhoto = await resize(file, read, maxEdge);
  if (smallerPhoto || resultKind === 'photo') return smallerPhoto;
  const strippedFile = await stripLocation(file, read);
  return strippedFile === file ? undefined : strippedFile;
}

/** Whether the canvases of this worker, or of this page, give back what is drawn. */
let isTruthful: Promise<boolean> | undefined;

/**
 * Resolves with a smaller image; `undefined` if the file is no photo, small enough, animated, would not become smaller, or would
 * become another picture.
 */
async function resize(file: File, read: ReadAll, maxEdge: number): Promise<Blob | undefined> {
  const picture = await drawScaled(file, read, maxEdge, false);
  if (!picture) return undefined;
  const { canvas, context, type } = picture;
  const encode = (outputType: string): Promise<Blob> =>
    canvas.convertToBlob({ type: outputType, quality: JPEG_QUALITY });
  let blob = await encode(type);
  if (blob.type !== type) {
    // Safari cannot write WebP.
    fillBehind(context);
    blob = await encode('image/jpeg');
  }
  return blob.size < file.size ? blob : undefined;
}

async function drawScaled(file: File, read: ReadAll, maxEdge: number, isThumbnail: boolean) {
  if (file.size > MAX_BYTES || maxEdge === Number.POSITIVE_INFINITY) return undefined;
  const type = typeOf(new Uint8Array(await file.slice(0, SIGNATURE_BYTES).arrayBuffer()));
  if (!type) return undefined;
  const bytes = await read();
  const size = readSize(bytes, type);
  if (!size?.isDecoded) return undefined;
  if (!isThumbnail && (size.isAnimated || Math.max(size.width, size.height) <= maxEdge)) return undefined;
  if (!isThumbnail) {
    isTruthful ??= givesBackPixels();
    if (!(await isTruthful)) return undefined;
  }
  // The browser may not know the format, and the file may be broken. The orientation of the camera is applied. Firefox does not
  // recognize the format of a file that was made of several parts, if the first one has a few bytes only.
  const image = await createImageBitmap(new Blob([bytes])).catch(() => undefined);
  if (!image) return undefined;
  const scale = Math.min(1, maxEdge / Math.max(image.width, image.height));
  const edge = (pixels: number): number => Math.max(1, Math.round(pixels * scale));
  const encodedType = type === 'image/heif' ? 'image/jpeg' : type;
  const picture = drawImage(image, edge(image.width), edge(image.height), encodedType === 'image/jpeg');
  return picture && { ...picture, type: encodedType };
}
