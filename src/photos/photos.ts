// Prepares photos for `image-max-edge` and `strip-location`. Loaded on demand.

import { type Job, Lane } from '../core/lane.ts';
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
  readonly #lane = new Lane(1, TASK_MS);
  #worker: Promise<Worker | undefined> | undefined;
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
    return this.#lane.run((jobSignal, place) => this.#ask(task, longestMs, jobSignal, place), signal);
  }

  async #ask(
    task: PhotoTask,
    longestMs: number,
    ...[signal, { renew }]: Parameters<Job<TaskResult>>
  ): Promise<TaskResult | 'unreadable'> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#startWorker().catch(() => undefined);
    const starting = this.#worker;
    const worker = await starting;
    const run: typeof runTask = worker
      ? (...taskArgs) => ask(worker, ...taskArgs)
      : (await abortable(this.#parts.loadTasks(), signal)).runTask;
    signal.throwIfAborted();
    const close = (): void => {
      worker?.terminate();
      if (worker && this.#worker === starting) this.#worker = undefined;
    };
    // A decoder or a drive that hangs would hold up the next photo, which starts right after this event.
    signal.addEventListener('abort', close);
    let lateResult: TaskResult | 'unreadable' = 'unreadable';
    renew(longestMs + (task.file.size / 2 ** 20) * READ_MS_PER_MIB);
    const onRead = (): void => {
      lateResult = task.wanted === 'without-location' ? 'unsupported' : undefined;
      renew(longestMs);
    };
    try {
      return await abortable(run(task, onRead), signal);
    } catch (error) {
      if (signal.aborted) return lateResult;
      close();
      throw error;
    } finally {
      if (worker && !signal.aborted) this.#idle = setTimeout(close, IDLE_MS);
    }
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
  const resultKind = stripsLocation ? 'without-location' : 'photo';
  const result = await lane.run({ file, maxEdge, wanted: resultKind }, signal, longestMs);
  if (result === undefined) return file;
  if (!(result instanceof Blob)) return result as Extract<typeof result, 'unsupported' | 'unreadable'>;
  const { lastModified, name } = file;
  return new File([result], result.type === file.type ? name : nameFor(name, result.type), {
    type: result.type,
    lastModified,
  });
}
