// Commands of the buttons: calls of public methods of the element, and of some methods of the engine.

import { UploaderError } from '../core/errors.ts';
import type { UndoController } from './undo-controller.ts';
import type { Commands } from './views/state.ts';

/** The element's methods that commands call. */
export type CommandHost = { requestUpdate(): void } & {
  readonly [K in Exclude<
    keyof Commands,
    'dismiss' | 'cancelSignIn' | 'dropRestored' | 'addInput' | keyof UndoCommands
  >]: (...args: Parameters<Commands[K]>) => Promise<void>;
};

/** Commands that can be undone. The element's methods of the same names can not. */
type UndoCommands = Pick<Commands, 'cancel' | 'remove' | 'undo' | 'holdUndo'>;

/** The engine's methods that commands call. */
export interface CommandEngine {
  readonly uploader: { dismissRejections(): unknown; cancelSignIn(): unknown };
}

/**
 * Creates the commands for the views. Ignores `UploaderError`s, because they are shown and dispatched elsewhere. Passes other
 * errors to `reportError`.
 */
export function createCommands(
  host: CommandHost,
  engine: CommandEngine,
  undo: Pick<UndoController, 'run' | 'undo' | 'hold'>,
  own: { dropRestored(): void; addInput(files: readonly File[]): Promise<void> },
): Commands {
  const run = (promise: Promise<void>): void => {
    // The next rendering of the engine's changes may be some time away. Users see what they did at once.
    setTimeout(() => host.requestUpdate());
    promise.catch((error: unknown) => {
      if (!(error instanceof UploaderError)) reportError(error);
    });
  };
  return {
    addFiles: (files) => run(host.addFiles(files)),
    browse: (kind) => run(host.browse(kind)),
    start: () => run(host.start()),
    pause: (id) => run(host.pause(id)),
    resume: (id) => run(host.resume(id)),
    cancel: (id) => undo.run('canceled', id),
    undo: (id) => undo.undo(id),
    holdUndo: (isHeld) => undo.hold(isHeld),
    retry: (id, name) => run(host.retry(id, name)),
    remove: (id) => undo.run('removed', id),
    clear: () => run(host.clear()),
    dropRestored: own.dropRestored,
    addInput: (files) => run(own.addInput(files)),
    signIn: (via) => run(host.signIn(via)),
    dismiss: () => void engine.uploader.dismissRejections(),
    cancelSignIn: () => void engine.uploader.cancelSignIn(),
  };
}
