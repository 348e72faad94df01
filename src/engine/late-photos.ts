// Loads the code for photos on demand, and waits for it while the browser is offline.

import { UploaderError } from '../core/errors.ts';
import type { Settings } from '../core/settings-table.ts';
import { abortable, loadEarly, online } from '../core/wait.ts';
import type * as photoTasks from '../photos/photo-tasks.ts';
import type * as photoModule from '../photos/photos.ts';

/** Longest wait for the network before the code is loaded all the same, in milliseconds: browsers may be wrong. */
const OFFLINE_MS = 30_000;
/** Longest time for loading a file of the code, in milliseconds. */
const LOAD_MS = 60_000;

export interface PhotoCode {
  readonly photos: () => Promise<{
    readonly preparePhoto: typeof photoModule.preparePhoto;
    readonly workerText?: typeof photoModule.workerText | undefined;
  }>;
  readonly tasks: () => Promise<Pick<typeof photoTasks, 'runTask'>>;
}

const OWN: PhotoCode = {
  photos: () => import('../photos/photos.ts'),
  tasks: () => import('../photos/photo-tasks.ts'),
};

/**
 * After an import that failed, Firefox (153) never loads this file again in the same page; Chromium (156) and WebKitGTK do. So in
 * Firefox nothing is loaded while it says that it is offline. Asking a server first would be a request that pages do not expect,
 * and that a policy may block.
 */
const remembersFailures = (): boolean => `${globalThis.navigator?.userAgent}`.includes('Firefox/');

const isOffline = (): boolean => globalThis.navigator?.onLine === false;

/** Loads code once. Rejects with `offline` if the code could not be loaded for this reason. */
type Late<T> = (mayTryOffline: boolean) => Promise<T>;

function once<T>(load: () => Promise<T>): Late<T> {
  let code: T | undefined;
  return async (mayTryOffline) => {
    if (code) return code;
    const wasOffline = isOffline();
    try {
      if (wasOffline && (!mayTryOffline || remembersFailures())) throw new Error('The browser is offline');
      code = await abortable(load(), AbortSignal.timeout(LOAD_MS));
      return code;
    } catch (cause) {
      throw wasOffline
        ? new UploaderError('offline', 'The code for photos cannot be loaded', { cause })
        : cause;
    }
  };
}

/** The code for photos, which is loaded when a photo needs it. Tests replace what loads it. */
export class LatePhotos {
  readonly #loadPhotos: Late<Awaited<ReturnType<PhotoCode['photos']>>>;
  readonly #loadTasks: Late<Awaited<ReturnType<PhotoCode['tasks']>>>;

  constructor({ photos, tasks }: PhotoCode = OWN) {
    this.#loadPhotos = once(photos);
    this.#loadTasks = once(tasks);
  }

  /** Loads the code early. */
  preload(): void {
    void loadEarly(async () => {
      const module = await this.#loadPhotos(false);
      await (module.workerText?.() ?? this.#loadTasks(false));
    });
  }

  /**
   * Prepares a photo. If the browser is offline and the code is not loaded, sends `offline`, and waits until the browser is online;
   * if that takes longer than half a minute, tries to load the code from time to time. Rejects if the code cannot be loaded, with
   * `file-unreadable`, and with `location-not-removed`.
   */
  async prepare(
    file: File,
    { imageMaxEdge, stripLocation }: Settings,
    signal: AbortSignal,
    send: (outcome: { readonly type: 'offline' | 'online' }) => void,
    photoMs?: number,
  ): Promise<File> {
    const parts = { loadTasks: () => this.#loadTasks(true) };
    for (let hasWaited = false; ; hasWaited = true) {
      try {
        const { preparePhoto } = await this.#loadPhotos(hasWaited);
        if (hasWaited) send({ type: 'online' });
        const photo = await preparePhoto(file, imageMaxEdge, stripLocation, parts, signal, photoMs);
        if (photo === 'unreadable') throw new UploaderError('file-unreadable', 'The file cannot be read');
        if (photo === 'unsupported')
          throw new UploaderError('location-not-removed', "The location can't be removed from this file");
        return photo;
      } catch (error) {
        if (!(error instanceof UploaderError) || error.code !== 'offline') throw error;
        send({ type: 'offline' });
        await online(OFFLINE_MS, signal);
      }
    }
  }
}

/** The photos of all engines of the page. */
export const photos = new LatePhotos();

export const preparesPhotos = ({ imageMaxEdge, stripLocation }: Settings): boolean =>
  stripLocation || imageMaxEdge < Number.POSITIVE_INFINITY;
