// Thumbnails of images and videos in the list. Loaded on demand.

import { Lane } from '../core/lane.ts';
import type { FileId } from '../core/types.ts';
import { abortable, whenIdle } from '../core/wait.ts';
import type { TaskResult } from './photo-tasks.ts';
import { PhotoLane, type PhotoParts } from './photos.ts';

export { workerText } from './photos.ts';

/** Width and height of a thumbnail, in pixels: 40 CSS pixels on most screens. */
const EDGE = 96;
/** The most thumbnails in memory, 36 kB each. A thumbnail leaves with its row. */
const MOST_THUMBNAILS = 300;
/** Longest time for reading an image, for decoding it, and for a frame of a film, in milliseconds. */
const LONGEST_MS = 10_000;

export interface ThumbnailParts extends PhotoParts {
  /** Returns the file of an upload, if the page has it. */
  readonly fileOf: (id: FileId) => File | undefined;
  /** Called when a thumbnail is ready. */
  readonly onReady: () => void;
  /** Calls `work` when the page has nothing else to do. Tests replace this function. */
  readonly whenIdle?: (work: () => void) => unknown;
}

/** Makes thumbnails of the rows that are rendered, while the page is idle: of one image and one film at a time. */
export class Thumbnails {
  readonly #parts: ThumbnailParts;
  readonly #lane: PhotoLane;
  readonly #filmLane = new Lane(1, LONGEST_MS);
  /** Films of the current rendering whose frames are made. */
  readonly #frameStops = new Map<FileId, AbortController>();
  /** Thumbnails by file, the oldest first; `undefined` if a file has none. */
  readonly #thumbnails = new Map<FileId, HTMLCanvasElement | undefined>();
  /** Files of the current rendering that have none yet, from top to bottom. */
  #wantedIds = new Set<FileId>();
  #renderedIds = new Set<FileId>();
  #isRunning = false;

  constructor(parts: ThumbnailParts) {
    this.#parts = parts;
    this.#lane = new PhotoLane(parts);
  }

  /** Returns the thumbnail of a row. Without one, makes it, unless the row is not rendered next time. */
  of(id: FileId): HTMLCanvasElement | undefined {
    if (this.#thumbnails.has(id)) {
      const thumbnail = this.#thumbnails.get(id);
      this.#thumbnails.delete(id);
      this.#thumbnails.set(id, thumbnail);
      return thumbnail;
    }
    if (this.#renderedIds.size === 0)
      queueMicrotask(() => {
        this.#wantedIds = this.#renderedIds;
        this.#renderedIds = new Set();
        for (const [id, stop] of this.#frameStops) {
          if (this.#wantedIds.has(id)) continue;
          stop.abort();
          this.#frameStops.delete(id);
        }
        void this.#run();
      });
    this.#renderedIds.add(id);
    return undefined;
  }

  /** Forgets the thumbnail of a row that has left the list. */
  forget(id: FileId): void {
    this.#thumbnails.delete(id);
    this.#wantedIds.delete(id);
    this.#frameStops.get(id)?.abort();
    this.#frameStops.delete(id);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (;;) {
      const [id] = this.#wantedIds;
      if (id === undefined) break;
      this.#wantedIds.delete(id);
      // It was rendered again while it was made.
      if (this.#thumbnails.has(id) || this.#frameStops.has(id)) continue;
      await new Promise<void>((resolve) => (this.#parts.whenIdle ?? whenIdle)(resolve));
      const file = this.#parts.fileOf(id);
      // An upload of an earlier visit may get its file later.
      if (!file) continue;
      const result = await this.#read(file).catch(() => undefined);
      const film = filmIn(file, result);
      // Does not decode a film whose row has left the list meanwhile.
      if (film && this.#parts.fileOf(id)) void this.#makeFrame(id, film);
      else this.#keep(id, result instanceof ImageBitmap ? result : undefined);
    }
    this.#isRunning = false;
  }

  async #makeFrame(id: FileId, film: Blob): Promise<void> {
    const stop = new AbortController();
    this.#frameStops.set(id, stop);
    const frame = this.#filmLane.run(
      async (jobSignal) => this.#keep(id, await frameOf(film, jobSignal)),
      stop.signal,
    );
    await frame.catch(() => {
      if (!stop.signal.aborted) this.#keep(id, undefined);
    });
    if (!stop.signal.aborted) this.#frameStops.delete(id);
  }

  #keep(id: FileId, image: ImageBitmap | undefined): void {
    // The row may have left the list meanwhile.
    if (!this.#parts.fileOf(id)) {
      image?.close();
      return;
    }
    this.#thumbnails.set(id, image && canvasOf(image));
    for (const [oldest] of this.#thumbnails) {
      if (this.#thumbnails.size <= MOST_THUMBNAILS) break;
      this.#thumbnails.delete(oldest);
    }
    if (image) this.#parts.onReady();
  }

  async #read(file: File): Promise<TaskResult | 'unreadable'> {
    // Systems do not know the types of all photos.
    if (!/^(?:$|image\/|video\/)/.test(file.type)) return undefined;
    return this.#lane.run({ file, maxEdge: EDGE, wanted: 'thumbnail' }, undefined, LONGEST_MS);
  }
}

/** Returns the content of a file as a film, if it is one. */
function filmIn(file: File, result: TaskResult | 'unreadable'): Blob | undefined {
  const isFilm = typeof result === 'string' && result.startsWith('video/');
  return isFilm ? file.slice(0, file.size, result) : undefined;
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
 * Resolves with a frame near the start of a film. Rejects if the browser cannot show it before the signal aborts, or a policy
 * forbids `blob:` media. A frame that the browser delivers later is closed.
 */
async function frameOf(film: Blob, signal: AbortSignal): Promise<ImageBitmap> {
  const video = document.createElement('video');
  const url = URL.createObjectURL(film);
  const frame = draw(video, url);
  try {
    return await abortable(frame, signal);
  } catch (error) {
    frame.then(
      (lateFrame) => lateFrame.close(),
      () => undefined,
    );
    throw error;
  } finally {
    video.removeAttribute('src');
    video.load();
    URL.revokeObjectURL(url);
  }
}

async function draw(video: HTMLVideoElement, url: string): Promise<ImageBitmap> {
  const waitForEvent = (type: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      video.addEventListener(type, resolve, { once: true });
      video.addEventListener('error', reject, { once: true });
    });
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  await waitForEvent('loadeddata');
  video.currentTime = Math.min(1, video.duration / 2);
  await waitForEvent('seeked');
  const { videoWidth, videoHeight } = video;
  const scale = Math.min(1, EDGE / Math.max(videoWidth, videoHeight));
  const [resizeWidth, resizeHeight] = [videoWidth * scale, videoHeight * scale].map((edge) =>
    Math.ceil(edge),
  );
  return createImageBitmap(video, { ...(resizeWidth && resizeHeight && { resizeWidth, resizeHeight }) });
}
