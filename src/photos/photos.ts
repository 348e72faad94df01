// Prepares photos for `image-max-edge` and `strip-location`. Loaded on demand.

import { workerStarter } from '../core/start-worker.ts';
import { abortable } from '../core/wait.ts';
import type { PhotoTask, runTask, TaskResult } from './photo-tasks.ts';
import { PHOTO_WORKER } from './photo-worker.ts';

/** Loads the code of the worker. `undefined` where the worker has a file only; without it, the photos are prepared in the page. */
export const workerText = PHOTO_WORKER.text;

export interface PhotoParts {
  /** Loads what the page needs without a worker. */
  readonly loadTasks: () => Promise<{ readonly runTask: typeof runTask }>;
  /** Starts the worker. Tests replace this function. */
  readonly startWorker?: () => Promise<Worker>;
}

/** Longest start of the worker, in milliseconds. */
const START_MS = 10_000;
/** Longest time of a task for reading its file, and again for all that follows, in milliseconds. */
const TASK_MS = 60_000;
/** Time that a task has in addition for reading each MiB, in milliseconds. A drive may be slow. */
const READ_MS_PER_MIB = 1000;
/** Time without a task after which the worker is closed, in milliseconds. */
const IDLE_MS = 10_000;

/** Runs one task at a time, in a worker of its own. Without a worker, the tasks run in the page. */
export class PhotoLane {
  readonly #parts: PhotoParts;
  readonly #startWorker: () => Promise<Worker>;
  #worker: Promise<Worker | undefined> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: PhotoParts) {
    this.#parts = parts;
    const start = workerStarter(PHOTO_WORKER, START_MS);
    this.#startWorker = parts.startWorker ?? (() => start(new AbortController().signal));
  }

  /**
   * Rejects with the signal's reason if the signal aborts, and with an error if the task fails. A file that is not read within
   * `longestMs`, plus a second for each MiB, is 'unreadable', and one that is not decoded within `longestMs` afterwards counts as
   * no image. The time begins with the task, not while it waits for others.
   */
  run(
    task: PhotoTask,
    signal = new AbortController().signal,
    longestMs = TASK_MS,
  ): Promise<TaskResult | 'unreadable'> {
    const result = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#ask(task, signal, longestMs);
    });
    this.#last = result.catch(() => undefined);
    return abortable(result, signal);
  }

  async #ask(task: PhotoTask, signal: AbortSignal, longestMs: number): Promise<TaskResult | 'unreadable'> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#startWorker().catch(() => undefined);
    const worker = await this.#worker;
    const run: typeof runTask = worker
      ? (...given) => ask(worker, ...given)
      : (await abortable(this.#parts.loadTasks(), AbortSignal.any([signal, AbortSignal.timeout(longestMs)])))
          .runTask;
    signal.throwIfAborted();
    // A decoder or a drive that hangs would hold up all other photos.
    const close = (): void => {
      if (!worker) return;
      worker.terminate();
      this.#worker = undefined;
    };
    try {
      return await inTime(run, task, longestMs, signal, close);
    } catch (error) {
      close();
      throw error;
    } finally {
      if (worker) this.#idle = setTimeout(close, IDLE_MS);
    }
  }
}

/** Runs a task. Calls `onLate` if its time is over, and resolves with what that means for the photo. */
async function inTime(
  run: typeof runTask,
  task: PhotoTask,
  longestMs: number,
  signal: AbortSignal,
  onLate: () => void,
): Promise<TaskResult | 'unreadable'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<TaskResult | 'unreadable'>((resolve, reject) => {
    const limit = (result: TaskResult | 'unreadable', ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        onLate();
        resolve(result);
      }, ms);
    };
    limit('unreadable', longestMs + (task.file.size / 2 ** 20) * READ_MS_PER_MIB);
    const onRead = (): void =>
      limit(task.wanted === 'without-location' ? 'unsupported' : undefined, longestMs);
    run(task, onRead).then(resolve, reject);
  });
  try {
    return await abortable(ended, signal);
  } finally {
    clearTimeout(timer);
  }
}

function ask(worker: Worker, task: PhotoTask, onRead?: () => void): Promise<TaskResult> {
  return new Promise((resolve, reject) => {
    worker.onerror = reject;
    worker.onmessage = ({ data }) => {
      if (data === 'read') onRead?.();
      else if ('error' in data) reject(new Error(data.error));
      else resolve(data.result);
    };
    worker.postMessage(task);
  });
}

let lane: PhotoLane | undefined;

/** Names of the formats that photos get. */
const EXTENSIONS: Readonly<Record<string, RegExp>> = {
  jpg: /\.(jpe?g|jfif)$/i,
  png: /\.png$/i,
  webp: /\.webp$/i,
};

/** Returns the name with the extension of a type such as `image/jpeg`. */
function nameFor(name: string, type: string): string {
  const extension = type.slice('image/'.length).replace('jpeg', 'jpg');
  return EXTENSIONS[extension]?.test(name) === false
    ? `${name.replace(/\.[a-z]\w{1,4}$/i, '')}.${extension}`
    : name;
}

/**
 * Resolves with a copy of a photo that has at most `maxEdge` pixels in width and height, and no metadata. Other files, smaller
 * photos and those that would not become smaller stay as they are; with `stripsLocation`, without their location. Resolves with
 * 'unsupported' if that is impossible, and with 'unreadable' if the file is not read in time.
 */
export async function preparePhoto(
  file: File,
  maxEdge: number,
  stripsLocation: boolean,
  parts: PhotoParts,
  signal: AbortSignal,
  longestMs?: number,
): Promise<File | 'unsupported' | 'unreadable'> {
  lane ??= new PhotoLane(parts);
  const wanted = stripsLocation ? 'without-location' : 'photo';
  const result = await lane.run({ file, maxEdge, wanted }, signal, longestMs);
  if (result === undefined) return file;
  if (!(result instanceof Blob)) return result as Extract<typeof result, 'unsupported' | 'unreadable'>;
  const { lastModified, name } = file;
  return new File([result], result.type === file.type ? name : nameFor(name, result.type), {
    type: result.type,
    lastModified,
  });
}
