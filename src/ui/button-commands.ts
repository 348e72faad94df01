// Commands of the buttons: calls of public methods of the element, and of some methods of the engine.

import { UploaderError } from '../core/errors.ts';
import type { FileId } from '../core/types.ts';
import type { Commands, FrameCommands } from './views/state.ts';

/** The element's methods that commands call. */
type Methods<Names extends keyof Commands> = {
  readonly [K in Names]: (...args: Parameters<Commands[K]>) => Promise<void>;
};

export type FrameHost = { requestUpdate(): void } & Methods<'addFiles' | 'browse'>;
export type CommandHost = { requestUpdate(): void } & Methods<
  'start' | 'pause' | 'resume' | 'retry' | 'clear' | 'signIn'
>;

/** The engine's methods that commands call. */
export interface CommandEngine {
  dismissRejections(): unknown;
  cancelSignIn(): unknown;
  readonly undo: { hold(isHeld: boolean): void };
}

/** Commands for several files of the list, which are announced. */
export interface ListCommands {
  /** Cancels or removes one file; without an id, all that are not done. */
  withdraw(outcome: 'canceled' | 'removed', id?: FileId): void;
  /** Cancels the files of a folder that are not done. */
  cancelFolder(path: string): void;
  chooseFolder(path: string): Promise<void>;
  undo(id?: FileId): void;
  retryFiles(ids: readonly FileId[]): Promise<void>;
}

/**
 * Renders the host, and ignores `UploaderError`s, because they are shown and dispatched elsewhere. Passes other errors to
 * `reportError`.
 */
function run(host: { requestUpdate(): void }, promise: Promise<void>): void {
  // The next rendering of the engine's changes may be some time away. Users see what they did at once.
  setTimeout(() => host.requestUpdate());
  promise.catch((error: unknown) => {
    if (!(error instanceof UploaderError)) reportError(error);
  });
}

/** Creates the commands that need no list. */
export const createFrameCommands = (
  host: FrameHost,
  shell: Pick<FrameCommands, 'dropRestored' | 'tryAgain'> & {
    addInput(files: readonly File[]): Promise<void>;
  },
): FrameCommands => ({
  addFiles: (files) => run(host, host.addFiles(files)),
  browse: (kind) => run(host, host.browse(kind)),
  addInput: (files) => run(host, shell.addInput(files)),
  dropRestored: shell.dropRestored,
  tryAgain: shell.tryAgain,
});

/** Adds the commands of the list to `frame`. Cancel and remove can be undone; the element's methods of the same names can not. */
export const createCommands = (
  frame: FrameCommands,
  host: CommandHost,
  engine: CommandEngine,
  list: ListCommands,
): Commands => ({
  ...frame,
  start: () => run(host, host.start()),
  pause: (id) => run(host, host.pause(id)),
  resume: (id) => run(host, host.resume(id)),
  chooseFolder: (path) => run(host, list.chooseFolder(path)),
  cancel: (id) => list.withdraw('canceled', id),
  cancelFolder: (path) => list.cancelFolder(path),
  undo: (id) => list.undo(id),
  holdUndo: (isHeld) => engine.undo.hold(isHeld),
  retry: (id, name) => run(host, host.retry(id, name)),
  retryFiles: (ids) => run(host, list.retryFiles(ids)),
  remove: (id) => list.withdraw('removed', id),
  clear: () => run(host, host.clear()),
  signIn: (via) => run(host, host.signIn(via)),
  dismiss: () => void engine.dismissRejections(),
  cancelSignIn: () => void engine.cancelSignIn(),
});
