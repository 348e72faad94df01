// Thumbnails of images and videos in the list. Loaded on demand.

import type { FileId } from '../core/types.ts';
import { abortable, whenIdle } from '../core/wait.ts';
import { PhotoLane, type PhotoParts } from './photos.ts';

export { workerText } from './photos.ts';

/** Width and height of a thumbnail, in pixels: 40 CSS pixels on most screens. */
const EDGE = 96;
/** The most thumbnails in memory, 36 kB each. */
const MOST = 300;
/** Longest time for a frame of a film, in milliseconds. */
const FRAME_MS = 10_000;

export interface ThumbnailParts extends PhotoParts {
  /** Returns the file of an upload, if the page has it. */
  readonly fileOf: (id: FileId) => File | undefined;
  /** Called when a thumbnail is ready. */
  readonly onReady: () => void;
  /** Calls `work` when the page has nothing else to do. Tests replace this function. */
  readonly whenIdle?: (work: () => void) => unknown;
}

/** Makes thumbnails of the rows that are rendered, one at a time, while the page is idle. */
export class Thumbnails {
  readonly #parts: ThumbnailParts;
  readonly #lane: PhotoLane;
  /** Thumbnails by file, the oldest first; `undefined` if a file has none. */
  readonly #known = new Map<FileId, HTMLCanvasElement | undefined>();
  /** Files of the current rendering that have none yet, from top to bottom. */
  #wanted = new Set<FileId>();
  #rendering = new Set<FileId>();
  #isRunning = false;

  constructor(parts: ThumbnailParts) {
    this.#parts = parts;
    this.#lane = new PhotoLane(parts);
  }

  /** Returns the thumbnail of a row. Without one, makes it, unless the row is not rendered next time. */
  of(id: FileId): HTMLCanvasElement | undefined {
    if (this.#known.has(id)) {
      const found = this.#known.get(id);
      this.#known.delete(id);
      this.#known.set(id, found);
      return found;
    }
    if (this.#rendering.size === 0)
      queueMicrotask(() => {
        this.#wanted = this.#rendering;
        this.#rendering = new Set();
        void this.#run();
      });
    this.#rendering.add(id);
    return undefined;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (;;) {
      const [id] = this.#wanted;
      if (id === undefined) break;
      this.#wanted.delete(id);
      // It was rendered again while it was made.
      if (this.#known.has(id)) continue;
      await new Promise<void>((resolve) => (this.#parts.whenIdle ?? whenIdle)(resolve));
      const file = this.#parts.fileOf(id);
      // An upload of an earlier visit may get its file later.
      if (!file) continue;
      const image = await this.#imageOf(file).catch(() => undefined);
      this.#known.set(id, image && canvasOf(image));
      for (const [oldest] of this.#known) {
        if (this.#known.size <= MOST) break;
        this.#known.delete(oldest);
      }
      if (image) this.#parts.onReady();
    }
    this.#isRunning = false;
  }

  async #imageOf(file: File): Promise<ImageBitmap | undefined> {
    if (!/^(?:image|video)\//.test(file.type)) return undefined;
    const result = await this.#lane.run({ file, maxEdge: EDGE, wanted: 'thumbnail' });
    if (result instanceof ImageBitmap) return result;
    const isFilm = typeof result === 'string' && result.startsWith('video/');
    return isFilm ? frameOf(file.slice(0, file.size, result)) : undefined;
  }
}

function canvasOf(image: ImageBitmap): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  // Out of the flow, so that a high picture does not make the badge higher.
  canvas.style.cssText =
    'position:absolute;inset:0;inline-size:100%;block-size:100%;object-fit:cover;border-radius:inherit';
  canvas.getContext('bitmaprenderer')?.transferFromImageBitmap(image);
  return canvas;
}

/**
 * Resolves with a frame near the start of a film. Rejects if the browser cannot show it in time, or a policy forbids `blob:` media.
 */
async function frameOf(film: Blob): Promise<ImageBitmap> {
  const video = document.createElement('video');
  const url = URL.createObjectURL(film);
  try {
    return await abortable(draw(video, url), AbortSignal.timeout(FRAME_MS));
  } finally {
    video.removeAttribute('src');
    video.load();
    URL.revokeObjectURL(url);
  }
}

async function draw(video: HTMLVideoElement, url: string): Promise<ImageBitmap> {
  const reached = (type: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      video.addEventListener(type, resolve, { once: true });
      video.addEventListener('error', reject, { once: true });
    });
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  await reached('loadeddata');
  video.currentTime = Math.min(1, video.duration / 2);
  await reached('seeked');
  const { videoWidth, videoHeight } = video;
  const scale = Math.min(1, EDGE / Math.max(videoWidth, videoHeight));
  const [resizeWidth, resizeHeight] = [videoWidth * scale, videoHeight * scale].map((edge) =>
    Math.ceil(edge),
  );
  return createImageBitmap(video, { ...(resizeWidth && resizeHeight && { resizeWidth, resizeHeight }) });
}
